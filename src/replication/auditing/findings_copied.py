"""Findings about numbers that the paper copied: where sources differ, and what the sizes of judges count."""

from __future__ import annotations

import pandas as pd

from replication import published
from replication.auditing.claims_judges import correlations_by_set, gamma_by_set, told_by_set
from replication.auditing.copied import Copied, copied
from replication.auditing.finding import finding
from replication.auditing.registry import registry
from replication.auditing.results import Missing, Results
from replication.model_sizes import Counted, all_parameters, printed_sizes, size_in_name


def sources() -> list[tuple[dict, Copied | None]]:
    """Every copied number with what its source has; None where no source was found."""
    found: list[tuple[dict, Copied | None]] = []
    for entry in registry().query("kind == 'cited'").to_dict("records"):
        try:
            found.append((entry, copied(entry["table"], entry["row"], entry["column"])))
        except Missing:
            found.append((entry, None))
    return found


@finding("Copied numbers that their sources have otherwise", "make audit")
def copied_otherwise(_: Results) -> tuple[bool, str]:
    every = sources()
    read = [(entry, source) for entry, source in every if source]
    off = [(entry, source) for entry, source in read if not source.matches(entry["printed"])]
    told = (
        f"{entry['place']}, {entry['row']}, {entry['column']}: printed {entry['printed']}, source {source.text} "
        f"({source.reason})"
        for entry, source in off
    )
    text = (
        f"Of {len(every)} numbers that the paper copied, {len(read)} were found in a source or in the model's "
        f"name; {len(read) - len(off)} of these agree. The others: {'; '.join(told)}. For Table A.6 the paper "
        "names Cui et al. (2024), whose table was not at hand; their AlpacaEval column quotes the leaderboard. "
        "Table 1 says that its first three columns are from Zheng et al. (2023); the fourth is from there, too."
    )
    return len(off) > 0, text


@finding(
    "Table A.8 mixes total and active parameters",
    "make judge_reliability",
    "judge_reliability/discrimination.csv",
    figure="judge_reliability/size_against_discrimination.png",
)
def mixed_sizes(results: Results) -> tuple[bool, str]:
    every, printed = all_parameters(), printed_sizes()
    other = every.index[(every != printed) & printed.notna()]
    told = (f"{name} {printed[name]:g}B, all {every[name]:g}B" for name in other)
    active = [name for name in other if size_in_name(name).counted is Counted.ACTIVE]
    named = {name: size_in_name(name) for name in published.table("judge_discrimination").index}
    total = [name for name, size in named.items() if size and size.counted is Counted.ALL and "-A" in name]
    gamma = gamma_by_set(results)
    found = [correlations_by_set(gamma, sizes.dropna()) for sizes in (printed, every)]
    text = (
        f"The sizes of Table A.8 are those in the judges' names. They count all parameters of some mixtures of "
        f"experts ({', '.join(total)}) and the active ones or a product for others: {'; '.join(told)}. The rank "
        f"correlation of size and discrimination is, as printed, {told_by_set(found[0])}, and with all parameters "
        f"{told_by_set(found[1])}."
    )
    return len(active) > 0 and len(total) > 0 and _lower(found), text


def _lower(found: list[dict[str, tuple[float, float]]]) -> bool:
    printed, every = (pd.Series({name: rank for name, (rank, _) in one.items()}) for one in found)
    return bool((every < printed).any())
