"""One judgment as it is kept: what was asked, what was answered, and what it took."""

from __future__ import annotations

from datetime import UTC, datetime

from judgerank.collecting.ledger import RANKING, SHOWN, UNKNOWN, Record
from judgerank.collecting.ranked_replies import ranking
from judgerank.collecting.replies import parse, strength
from judgerank.collecting.response import Reply


def record_of(asked: Record, reply: Reply, tokens_at_most: tuple[float, float], graded: bool = False) -> Record:
    """A record, whose first keys are what was asked; what is rare is there only where there is something to say.

    Tokens at most are kept where the reply does not say what it used, and strength where it was asked for
    (`graded`).
    """
    answer = _answer(asked, reply)
    untold = reply.prompt_tokens is None or reply.completion_tokens is None
    beside = {
        "strength": strength(reply.text) if graded else None,
        "cached_tokens": reply.cached,
        "cache_written_tokens": reply.cache_written,
        "tokens_at_most": tokens_at_most if untold else None,
        "refusal": reply.refusal,
        "asked_without": sorted(reply.asked_without),
        "letters": reply.letters_for(answer.get("judge_preferred_model", UNKNOWN)),
    }
    return {
        **asked,
        **answer,
        "raw": reply.text,
        "model_answered": reply.model,
        "finish_reason": reply.finish_reason,
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "asked_at": datetime.now(UTC).isoformat(timespec="seconds"),
        **{name: value for name, value in beside.items() if value},
    }


def _answer(asked: Record, reply: Reply) -> Record:
    """What a reply says: a choice and a confidence, or a ranking, its models in groups from best to worst."""
    if SHOWN not in asked:
        choice, confidence = parse(reply.text)
        return {"judge_preferred_model": choice, "judge_confidence": confidence}
    shown = asked[SHOWN]
    found = ranking(reply.text, len(shown))
    return {RANKING: found and [[shown[place] for place in group] for group in found]}
