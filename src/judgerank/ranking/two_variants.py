"""Two variants of a system: which is in use, and which may replace it.

Apart from the verdict, so that the gate does not load what a ranking needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from judgerank.reading.file_formats import bare_name

VARIANTS = (  # of names, or names of files, that say which variant is in use, and which may replace it
    *(("without", "with"), ("without_skill", "with_skill"), ("old_skill", "new_skill")),
    *(("old", "new"), ("before", "after"), ("baseline", "candidate")),
)


def variants_of(models: Sequence[str], files: Sequence[str | Path]) -> tuple[str, str] | None:
    """The variant in use and the one that may replace it, by their names or those of two files of scores.

    None where names do not say which is which. Prompts may have names of files, such as ``old.txt``.
    """
    name_by_stem = {Path(name).stem: name for name in models}
    for baseline, candidate in VARIANTS:
        if len(models) == 2 and {baseline, candidate} == set(name_by_stem):
            return name_by_stem[baseline], name_by_stem[candidate]
    by_file = tuple(bare_name(Path(file)) for file in files)
    return (by_file[0], by_file[1]) if len(by_file) == 2 and sorted(models) == sorted(by_file) else None
