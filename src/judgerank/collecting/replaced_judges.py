"""Judgments of judges or a prompt that have changed go to a file of their own, and judges are asked again."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Iterable

from judgerank.collecting.addresses import addressed
from judgerank.collecting.collection import digest, judge_change
from judgerank.collecting.ledger import Record, opened
from judgerank.collecting.prices import priced
from judgerank.collecting.settings import Collection
from judgerank.data.listing import counted, listed
from judgerank.writing.atomic import replace_file

log = logging.getLogger("judgerank")
EARLIER = ".earlier.jsonl"  # end of the name of the file beside the judgments


def set_changed_judges_aside(settings: Collection, wait: float = 0.0) -> None:
    """Move judgments that the same request would not give now to a file beside the others, and say so.

    They are of another prompt, or of judges that are no longer what they were. All others stay, those of judges
    who are not in the panel among them.

    Parameters
    ----------
    settings : Collection
    wait : float
        Seconds to wait for another run that writes to the file of judgments.
    """
    path = settings.output
    if not path.exists():
        return
    judges = addressed(priced(settings), settings.prompt, settings.allow_env_url)
    with opened(path, wait) as ledger:
        prompt = digest(settings.prompt)
        changed = [
            record.get("prompt") != prompt
            or judge_change(record, judges.get(record["judge_model"]), settings.moved) is not None
            for record in ledger.records
        ]
        if not any(changed):
            return
        aside, kept = (
            [record for record, is_changed in zip(ledger.records, changed, strict=True) if is_changed == part]
            for part in (True, False)
        )
        earlier = path.with_name(path.name + EARLIER)
        before = earlier.read_text(encoding="utf-8") if earlier.exists() else ""
        replace_file(earlier, before + _lines(aside))
        replace_file(path, _lines(kept))
    names = Counter(record["judge_model"] for record in aside)
    log.info(
        "%s of judges or a prompt that have changed are in %s: %s",
        counted(len(aside), "judgment"),
        earlier.name,
        listed(names),
    )


def _lines(records: Iterable[Record]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
