"""Whether more or less of a score is better, by the name of what it measures, and the note that says so."""

from __future__ import annotations

import re
from collections.abc import Iterable

from judgerank.data.listing import listed
from judgerank.reading.layouts.texts import WORDS, plain

OF_LESS = (
    "mse rmse mae mape smape msle rmsle nmse error errors loss losses nll crossentropy entropy brier ece regret "
    "wer cer ter mer der fpr fnr fdr eer perplexity ppl bpb bpc toxicity hallucination hallucinations bias "
    "profanity latency cost costs price duration runtime ttft distance divergence fid kid"
)
OF_RATES = "bits per byte, bits per character, bits per token, false positive, false negative, failure rate"
OF_TIMES = "response time, elapsed time"
OF_MORE = (  # beside them: cost_efficiency, hallucination_free, bias_detection_f1
    "accuracy acc f1 auc auroc precision recall similarity ratio detection efficiency effectiveness free no non "
    "not without avoidance reduction resistance awareness correction recovery handling safety inverse negative neg"
)
LESS, TURNED = frozenset(OF_LESS.split()), frozenset(OF_MORE.split())
PHRASES = (*OF_RATES.split(", "), *OF_TIMES.split(", "))
NAME_OF_PEOPLE = "Mae"
TO_TURN = "Where that is wrong, change the sign of the scores."


def lower_is_better(name: str) -> bool:
    """Whether less of what a name says is better, as of mse, word_perplexity, error_rate and latency."""
    written = filter(None, re.split(WORDS, name.replace("/", "_")))
    words = [word.casefold() for word in written if word != NAME_OF_PEOPLE]
    of_less = TURNED.isdisjoint(words) and not LESS.isdisjoint(words)
    return of_less or any(phrase in " ".join(words) for phrase in PHRASES)


def is_metric(name: str) -> bool:
    """Whether a name is nothing but a metric of which lower is better, such as wer: a judge may have it, too."""
    words = plain(name).replace("_", " ")
    return words in LESS or words in PHRASES


def on_directions(lower: Iterable[str], higher: Iterable[str]) -> str:
    """Which direction is taken for better, of scores by what they measure, and how to turn one."""
    down, up = listed(sorted(set(lower))), listed(sorted(set(higher)))
    if not down:
        return f"Higher is better{f' for {up}' if up else ''}. {TO_TURN}"
    return f"Lower is better for {down}, by the name{f'; higher is better for {up}' if up else ''}. {TO_TURN}"
