"""Scores of one model on samples, out of logs; two models' scores on the same sample are a comparison.

inspect_ai: ``EvalLog`` in https://inspect.aisi.org.uk/eval-logs.html, as JSON or as an ``.eval`` archive.

lm-evaluation-harness: ``samples_<task>_<date>.jsonl`` of ``--log_samples``, in a folder that alone names the model
(lm_eval/loggers/evaluation_tracker.py in https://github.com/EleutherAI/lm-evaluation-harness).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from judgerank.data.errors import DataError
from judgerank.data.judgments import ITEM
from judgerank.data.listing import counted, listed
from judgerank.reading.layouts import strength
from judgerank.reading.layouts.table import SCORE_GAP, SCORE_SCALE, Layout, Table, values
from judgerank.reading.layouts.texts import WORDS, plain
from judgerank.reading.layouts.words import number

# Whether more or less of a score is better, by the name of what it measures, and the note that says so.
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


SCORES = ("model", "question", ITEM, "judge", "score")  # an item is what two scores must share to be compared
CATEGORY = "category"  # beside these, where a table has one
CHOICE = "choice"  # likewise, where the best of a sample was chosen and the others were not ordered
GAPS = "gaps"  # likewise, where gaps between scores are strength
GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # inspect_ai: correct, partial, incorrect, no answer
GRADES |= {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
LETTERS = {"C", "P", "I", "N"}
HARNESS_OWN = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "model"}
HARNESS_OWN |= {"doc_hash", "prompt_hash", "target_hash"}
SAMPLES_FILE = re.compile(r"samples_(.+?)(_\d{4}-\d\d-\d\dT[\d.:-]*\d)?(\.jsonl?|\.ndjson|\.parquet|\.csv)")


JUDGMENTS = "judgerank"  # in the metadata of a score: the judgments of a panel (`judgerank.inspecting`)


def judgments_within(samples: object) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """The judgments of a panel in a log's samples, each with its sample."""
    pairs = []
    for sample in samples if isinstance(samples, list) else ():
        scores = sample.get("scores") if isinstance(sample, Mapping) else None
        for score in scores.values() if isinstance(scores, Mapping) else ():
            metadata = score.get("metadata") if isinstance(score, Mapping) else None
            stored = metadata.get(JUDGMENTS) if isinstance(metadata, Mapping) else None
            pairs += [(sample, judgment) for judgment in stored if isinstance(judgment, Mapping)] if stored else []
    return pairs


def paired(scores: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Comparisons of any two models' scores on the same sample, and what to know of them.

    A scorer, or a metric, is taken as a judge. The models stand in the order of their names, since none was shown
    first. A comparison with a score that is missing is one that is not read.

    Raises
    ------
    DataError
        If a model has two scores where it should have one, or no two models have a sample in common.
    """
    models = sorted(scores["model"].unique(), key=str)
    if len(models) < 2:
        raise DataError(
            f"there are scores of one model only, {models[0]!r}: add a log of another, on the same samples"
        )
    key = ["question", ITEM, "judge"]
    if CATEGORY in scores:
        key, scores = [*key, CATEGORY], scores.assign(category=scores[CATEGORY].fillna(""))
    twice = scores.duplicated(["model", *key])
    if twice.any():
        row = scores[twice].iloc[0]
        raise DataError(
            f"model {row['model']!r} has two scores of {row['judge']!r} on sample {row['question']!r} (a column "
            "such as 'turn', 'epoch' or 'criterion' would distinguish them; --column run=NAME names one, and "
            "--copies keep takes them for repeated runs)"
        )
    present = scores.assign(there=True).pivot(index=key, columns="model", values="there").notna()
    value = scores.pivot(index=key, columns="model", values="score").astype(float)
    scale = _scales(value)
    parts = [_pair(value, present, scale, a, b) for a, b in combinations(models, 2)]
    frame = pd.concat(parts, ignore_index=True)
    frame = (strength.by_gaps(frame) if GAPS in scores else frame).drop(columns="gap")
    if not scores.duplicated(["model", "question", "judge"]).any():
        frame = frame.drop(columns=ITEM)
    if frame.empty:
        raise DataError(
            "no sample has scores of two models: logs are of the same task and samples if they can be compared"
        )
    letters = frame["judge_preferred_model"]
    made, ties = int(letters.notna().sum()), int((letters == "c").sum())
    alone = int((present.sum(axis=1) == 1).sum())
    was, were = ("was" if count == 1 else "were" for count in (alone, made))
    left = f"; {counted(alone, 'score')} without another on the same sample {was} left out" if alone else ""
    return frame, (
        f"{counted(made, 'comparison')} {were} made of the scores of two models on the same sample: "
        f"{ties} of them {'is a tie' if ties == 1 else 'are ties'}{left}."
    )


def _scales(value: pd.DataFrame) -> pd.Series:
    """Length of each judge's scale: 1 where all scores are from 0 to 1, else from the lowest to the highest.

    Scores of which less is better have their sign changed.
    """
    low = value.min(axis=1).groupby(level="judge").min()
    high = value.max(axis=1).groupby(level="judge").max()
    in_shares = ((low >= 0) & (high <= 1)) | ((low >= -1) & (high <= 0))
    return (high - low).where(~in_shares & (high > low), 1.0)


def _pair(value: pd.DataFrame, present: pd.DataFrame, scale: pd.Series, a: str, b: str) -> pd.DataFrame:
    rows = value[present[a] & present[b]]
    gap = (rows[a] - rows[b]).to_numpy()
    letters = np.select([gap > 0, gap < 0], ["a", "b"], "c").astype(object)
    letters[np.isnan(gap)] = None
    question, item, judge = (rows.index.get_level_values(name) for name in ("question", ITEM, "judge"))
    lengths = scale.reindex(judge).to_numpy()
    columns = {
        ITEM: item,
        "model_a": a,
        "model_b": b,
        "judge_model": judge,
        "judge_preferred_model": letters,
        "gap": gap,
        SCORE_GAP: gap / lengths,
        SCORE_SCALE: lengths,
    }
    if CATEGORY in rows.index.names:
        columns[CATEGORY] = pd.Index(
            [name or None for name in rows.index.get_level_values(CATEGORY)], dtype=object
        )
    return pd.DataFrame({"question_id": question, **columns}, index=range(len(rows))).astype(object)


def inspect_logs(table: Table) -> Iterator[tuple[Mapping[str, Any], Any]]:
    """The header of every log of inspect_ai, which names its model and task, and its samples as they are.

    Raises
    ------
    DataError
        If a header does not.
    """
    logs = zip(values(table.frame, "eval"), values(table.frame, "samples"), strict=True)
    for position, (header, samples) in enumerate(logs, 1):
        if not (isinstance(header, Mapping) and isinstance(header.get("model"), str) and header.get("task")):
            raise DataError(f"log {position} does not name its model and task")
        yield header, samples


def _inspect(table: Table) -> pd.DataFrame:
    rows: list[tuple[str, str, str, str, float | None]] = []
    for position, (header, samples) in enumerate(inspect_logs(table), 1):
        if not isinstance(samples, list) or not samples:
            raise DataError(f"log {position} has no samples")
        rows += _log(header, samples)
    return pd.DataFrame(rows, columns=list(SCORES))


def _log(header: Mapping[str, Any], samples: Iterable[Any]) -> Iterator[tuple[str, str, str, str, float | None]]:
    """Every score of every sample; a sample that has failed has none of those that others have."""
    scores_by_sample = [_scores(position, sample) for position, sample in enumerate(samples, 1)]
    scorers = _scorers(scores_by_sample)
    if not scorers:
        raise DataError(
            "no sample of the log has a score" + (" that is a number" if any(scores_by_sample) else "")
        )
    for position, (sample, scores) in enumerate(zip(samples, scores_by_sample, strict=True), 1):
        question = f"{header['task']}/{sample['id']}"
        for name, sign in scorers.items():
            value = _require_grade(position, name, scores.get(name))
            grade = None if value is None else sign * value
            yield header["model"], question, epoch_of(sample), name, grade


def epoch_of(sample: Mapping[str, Any]) -> str:
    """In which of several runs over the samples a model answered."""
    return f"epoch {sample.get('epoch', 1)}"


def _scorers(scores_by_sample: Sequence[Mapping[str, object]]) -> dict[str, float]:
    """Scorers, with 1 where more is better, else -1; a text throughout, such as an answer, is no score."""
    signs = {}
    for name in sorted({name for scores in scores_by_sample for name in scores}):
        graded = [scores[name] for scores in scores_by_sample if grade_of(scores.get(name)) is not None]
        if graded:
            in_letters = any(isinstance(value, str) and value in LETTERS for value in graded)
            signs[name] = -1.0 if lower_is_better(name) and not in_letters else 1.0
    return signs


def _on_inspect(table: Table) -> Iterator[str]:
    """How far a log goes, which scores are better, and what counts as a judge."""
    yield from _unfinished(table)
    signs: dict[str, float] = {}
    for samples in values(table.frame, "samples"):
        signs |= _scorers([_scores(position, sample) for position, sample in enumerate(samples, 1)])
    yield _directions_of(signs)
    yield "Each scorer counts as a judge."


def _directions_of(signs: Mapping[str, float]) -> str:
    less = [name for name, sign in signs.items() if sign < 0]
    return on_directions(less, signs.keys() - {*less})


def _scores(position: int, sample: Any) -> dict[str, object]:
    """The values of a sample's scores by name, those in a mapping or a list one by one; none if it is invalid."""
    if not isinstance(sample, Mapping) or sample.get("id") is None:
        raise DataError(f"sample {position} has no id")
    by_name: dict[str, object] = {}
    scores = sample.get("scores") or {}
    if not isinstance(scores, Mapping):
        raise DataError(f"sample {position} has {scores!r} as its scores, which are not named")
    for name, score in scores.items() if not sample.get("invalidation") else ():
        value = score.get("value") if isinstance(score, Mapping) else score
        parts = dict(enumerate(value, 1)) if isinstance(value, list) else value
        by_name |= (
            {f"{name}/{key}": part for key, part in parts.items()} if isinstance(parts, Mapping) else {name: value}
        )
    return by_name


def _require_grade(position: int, name: str, value: object) -> float | None:
    """A grade; None where there is none."""
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return None
    grade = grade_of(value)
    if grade is None:
        raise DataError(f"sample {position} has {value!r} as {name!r}, which is neither a number nor C, P, I or N")
    return grade


def grade_of(value: object) -> float | None:
    """A grade as a number, if it is one or stands for one."""
    if isinstance(value, bool):
        return float(value)
    return GRADES.get(value, GRADES.get(value.lower(), number(value))) if isinstance(value, str) else number(value)


def _unfinished(table: Table) -> Iterator[str]:
    """That a log is of a run that did not end well."""
    if "status" not in table.frame:
        return
    for status, samples in zip(values(table.frame, "status"), values(table.frame, "samples"), strict=True):
        if status not in (None, "success"):
            what = "was not finished" if status == "started" else f"ended as {status!r}"
            yield f"A run {what}: what there is of its {len(samples)} samples is read."


def _harness(table: Table) -> pd.DataFrame:
    model, task = model_and_task(table)
    frame = table.frame
    usable = _metrics(frame)
    if not usable:
        raise DataError("no metric of this log has one number for each sample")
    columns = {name: values(frame, name).tolist() for name in usable}
    listed = map(_listed, values(frame, "metrics")) if "metrics" in frame else [None] * len(frame)
    filters = values(frame, "filter") if "filter" in frame else [None] * len(frame)
    models = values(frame, "model") if "model" in frame else [model] * len(frame)
    hashes = values(frame, "doc_hash") if "doc_hash" in frame else [None] * len(frame)
    rows = []
    ids = values(frame, "doc_id")
    for row, (doc, reported, name, who, mark) in enumerate(zip(ids, listed, filters, models, hashes, strict=True)):
        if doc is None or not isinstance(who, str):
            raise DataError(f"record {row + 1} has no {'doc_id' if doc is None else 'model'!r}")
        for metric in usable:
            if reported is None or metric in reported:
                score = _metric(row + 1, metric, columns[metric][row])
                judge = metric if name in (None, "none") else f"{metric},{name}"
                rows.append((who, f"{task}/{doc}", str(mark), judge, score))
    return pd.DataFrame(rows, columns=list(SCORES))


def model_and_task(table: Table) -> tuple[str, str]:
    if table.path is None:
        if "model" not in table.frame:
            raise DataError(
                "the model is named by the folder of the file, and a table has none (add a column 'model')"
            )
        return "", "samples"
    named = SAMPLES_FILE.match(table.path.name)
    return table.path.absolute().parent.name, named[1] if named else table.path.name.split(".")[0]


def _of_file(table: Table) -> str:
    """The task, and the model where the records do not name it."""
    model, task = model_and_task(table)
    return task if "model" in table.frame else f"{model}/{task}"


def _metrics(frame: pd.DataFrame) -> list[str]:
    """Metrics with a number for some sample; those that are lists throughout cannot be compared by sample."""
    names: Iterable[str] = [name for name in frame.columns if name not in HARNESS_OWN]
    if "metrics" in frame:
        reported = {name for listed in values(frame, "metrics") for name in _listed(listed) or ()}
        names = [name for name in names if name in reported]
    return [name for name in names if any(_number(value) is not None for value in values(frame, name))]


def _listed(value: object) -> list[str] | None:
    """Names in a list, if it is one."""
    return [str(name) for name in value] if isinstance(value, list | np.ndarray) else None


def _used(frame: pd.DataFrame) -> dict[str, list[str]]:
    columns = {"model": ["model"], "question": ["doc_id", "doc_hash"], "judge": ["metrics", "filter"]}
    present = {key: [name for name in names if name in frame] for key, names in columns.items()}
    return {key: names for key, names in present.items() if names} | {"scores": _metrics(frame)}


def _on_harness(table: Table) -> Iterator[str]:
    """Which scores are better, and that filters of one run are scorers of the same answers."""
    yield _directions_of({name: -1.0 if lower_is_better(name) else 1.0 for name in _metrics(table.frame)})
    filters = sorted(set(values(table.frame, "filter").dropna().astype(str))) if "filter" in table.frame else []
    if len(filters) > 1:
        yield (
            f"Filters {', '.join(filters)} score the same answers by nearly the same rule, and count as judges of "
            "their own (leave the records of all but one out to count these answers once)."
        )


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, bool) else None if isinstance(value, str) else number(value)


def _metric(record: int, name: str, value: object) -> float | None:
    """A score of which more is better."""
    if value is None:
        return None
    score = _number(value)
    if score is None:
        raise DataError(f"record {record} has {value!r} as {name!r}, not a number")
    return -score if lower_is_better(name) else score


INSPECT = Layout(
    "inspect_ai's log of samples",
    ("eval", "samples"),
    _inspect,
    lambda table: {"scores": ["samples"], "model and task": ["eval"]},
    also=lambda columns, table: not any(judgments_within(samples) for samples in table.frame["samples"]),
    of_scores=True,
    ordered=False,
    accepts=frozenset(),
    notes=_on_inspect,
    aliases={},
)
HARNESS = Layout(
    "lm-evaluation-harness's log of samples",
    ("doc_id", "doc", "filtered_resps"),
    _harness,
    lambda table: _used(table.frame),
    remark="A model is the folder that the file is in; each metric, and each filter of it, counts as a judge.",
    of_scores=True,
    ordered=False,
    accepts=frozenset(),
    notes=_on_harness,
    of_file=_of_file,
    aliases={},
    reads=("metrics", "filter", "doc_hash"),
)


# Judgments of a panel in logs of inspect_ai, which the scorer of `judgerank.inspecting` keeps by sample.

OF_PANEL = {
    "model_a": "model_a",
    "model_b": "model_b",
    "judge_model": "judge_model",
    "judge_preferred_model": "judge_preferred_model",
    "reply": "raw",
}


def _panel_frame(table: Table) -> pd.DataFrame:
    rows = []
    logs = zip(values(table.frame, "eval"), values(table.frame, "samples"), strict=True)
    for position, (header, samples) in enumerate(logs, 1):
        if not isinstance(header, Mapping) or not header.get("task"):
            raise DataError(f"log {position} does not name its task")
        for sample, judgment in judgments_within(samples):
            row = {name: judgment.get(key) for name, key in OF_PANEL.items()}
            rows.append({"question_id": f"{header['task']}/{sample.get('id')}", ITEM: epoch_of(sample), **row})
    frame = pd.DataFrame(rows, dtype=object)
    return frame.drop(columns=ITEM) if (frame[ITEM] == frame[ITEM].iloc[0]).all() else frame


PANELS = Layout(
    "judgments of a panel in a log of inspect_ai",
    ("eval", "samples"),
    _panel_frame,
    lambda table: {"judgments": ["samples"], "question": ["eval"]},
    also=lambda columns, table: any(judgments_within(samples) for samples in table.frame["samples"]),
    remark="A question is a sample of a task; other scores of the samples are not read.",
    accepts=frozenset(),
    aliases={},
)
LAYOUTS = (INSPECT, HARNESS, PANELS)
