"""One judgment as it is kept: what was asked, what was answered, and what it took."""

from __future__ import annotations

from datetime import UTC, datetime

from judgerank.collecting.ledger import Record
from judgerank.collecting.replies import parse, strength
from judgerank.collecting.response import Reply


def record_of(asked: Record, reply: Reply, tokens_at_most: tuple[float, float], graded: bool = False) -> Record:
    """A record, whose first keys are what was asked; what is rare is there only where there is something to say.

    Tokens at most are kept where the reply does not say what it used, and strength where it was asked for
    (`graded`).
    """
    choice, confidence = parse(reply.text)
    untold = reply.prompt_tokens is None or reply.completion_tokens is None
    beside = {
        "strength": strength(reply.text) if graded else None,
        "cached_tokens": reply.cached,
        "cache_written_tokens": reply.cache_written,
        "tokens_at_most": tokens_at_most if untold else None,
        "refusal": reply.refusal,
        "asked_without": sorted(reply.asked_without),
        "letters": reply.letters_for(choice),
    }
    return {
        **asked,
        "judge_preferred_model": choice,
        "judge_confidence": confidence,
        "raw": reply.text,
        "model_answered": reply.model,
        "finish_reason": reply.finish_reason,
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "asked_at": datetime.now(UTC).isoformat(timespec="seconds"),
        **{name: value for name, value in beside.items() if value},
    }
