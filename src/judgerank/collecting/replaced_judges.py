"""Judgments that no longer count go to a file of their own: of changed judges or prompts, or earlier answers."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterable

from judgerank.collecting.addresses import addressed
from judgerank.collecting.collection import digest, judge_change
from judgerank.collecting.ledger import Record, opened
from judgerank.collecting.prices import priced
from judgerank.collecting.settings import Collection
from judgerank.data.listing import counted, listed
from judgerank.writing.atomic import replace_file

log = logging.getLogger("judgerank")
EARLIER = ".earlier.jsonl"  # end of the name of the file beside the judgments


def set_aside(settings: Collection, is_earlier: Callable[[Record], bool], wait: float = 0.0) -> None:
    """Move judgments that no request would give now to a file beside the others, and say how many.

    They are of another prompt, of judges that are no longer what they were, or of earlier answers. All others
    stay, those of judges who are not in the panel among them.

    Parameters
    ----------
    settings : Collection
    is_earlier : function of a record
        Whether a judgment is of earlier answers.
    wait : float
        Seconds to wait for another run that writes to the file of judgments.
    """
    path = settings.output
    if not path.exists():
        return
    judges = addressed(priced(settings), settings.prompt, settings.allow_env_url)
    with opened(path, wait) as ledger:
        prompt = digest(settings.prompt)
        kept, changed, superseded = [], [], []
        for record in ledger.records:
            judge = judges.get(record["judge_model"])
            if is_earlier(record):
                superseded.append(record)
            elif record.get("prompt") != prompt or judge_change(record, judge, settings.moved) is not None:
                changed.append(record)
            else:
                kept.append(record)
        if not changed and not superseded:
            return
        earlier = path.with_name(path.name + EARLIER)
        before = earlier.read_text(encoding="utf-8") if earlier.exists() else ""
        replace_file(earlier, before + _lines([*superseded, *changed]))
        replace_file(path, _lines(kept))
    if superseded:
        log.info("%s of earlier answers are in %s", counted(len(superseded), "judgment"), earlier.name)
    if changed:
        log.info(
            "%s of judges or a prompt that have changed are in %s: %s",
            counted(len(changed), "judgment"),
            earlier.name,
            listed(Counter(record["judge_model"] for record in changed)),
        )


def _lines(records: Iterable[Record]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
