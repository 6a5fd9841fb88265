"""Which model answered: not the one asked for, another one from some day on, or one for several judges."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from judgerank.collecting.ledger import Record

# what providers add to a model's name to say which version of it answers: a day, a number, `latest`
VERSION = re.compile(r"[-@:](\d{4}-\d{2}-\d{2}|\d{8}|\d{6}|\d{2}-\d{2,4}|\d{3,4}|v\d+|latest)$")


def substituted(records: Iterable[Record]) -> Iterator[str]:
    """Sentences on judges not answered by the model asked for, by several, or by one that answered for others too.

    Records are in the order of their time. A version of the model asked for is that model, but no two versions are
    one.
    """
    judges: dict[str, set[str]] = {}
    answered: dict[str, dict[str, str]] = {}  # by judge, the models in order, and since when
    differs: Counter[tuple[str, str, str]] = Counter()
    for record in records:
        name, judge = record.get("model_answered"), record["judge_model"]
        if not name:
            continue
        judges.setdefault(name, set()).add(judge)
        answered.setdefault(judge, {}).setdefault(name, str(record.get("asked_at", ""))[:10])
        if not is_the_same(record["model_sent"], name):
            differs[judge, record["model_sent"], name] += 1
    for (judge, sent, name), count in sorted(differs.items()):
        yield f"judge {judge!r} was sent as {sent!r} and answered as {name!r}, {count} times"
    for judge, models in sorted(answered.items()):
        if len(models) > 1:
            since = ", then ".join(f"{name!r}{f' from {day}' if day else ''}" for name, day in models.items())
            yield f"judge {judge!r} was not one model all the time: {since}"
    for name, those in sorted(judges.items()):
        if len(those) > 1:
            yield f"one model, {name!r}, answered for {len(those)} judges: {', '.join(sorted(those))}"


def is_the_same(sent: str, answered: str) -> bool:
    """Whether a name is that of the model asked for, or of a version of it where none was asked for."""
    asked, said = (name.rpartition("/")[2].lower() for name in (sent, answered))
    return said == asked or VERSION.sub("", said) in (asked, asked.removesuffix("-latest"))
