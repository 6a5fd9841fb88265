"""Findings about numbers that the paper copied: where sources differ, and what the sizes of judges count."""

from __future__ import annotations

import pandas as pd

from replication import published
from replication.auditing.claim import Estimates, Estimator
from replication.auditing.claims_judges import correlations_by_set, correlations_text, gamma_by_set
from replication.auditing.copied_numbers import Agreement, Copied, agreement, copied
from replication.auditing.finding import finding
from replication.auditing.registry import registry
from replication.auditing.results import Missing, Results
from replication.model_sizes import Counted, all_parameters, printed_sizes, size_in_name

PRINTED_NORM = "maximum"  # of the stopping rule of Algorithm A.1


def sources() -> list[tuple[dict, list[Copied]]]:
    """Every copied number with what its sources have; an empty list where no source was found."""
    listed: list[tuple[dict, list[Copied]]] = []
    for entry in registry().query("kind == 'cited'").to_dict("records"):
        try:
            listed.append((entry, copied(entry["table"], entry["row"], entry["column"])))
        except Missing:
            listed.append((entry, []))
    return listed


@finding("Copied numbers that their sources have otherwise", "make audit")
def copied_otherwise(_: Results) -> tuple[bool, str]:
    every = sources()
    by_agreement: dict[Agreement, list[str]] = {kind: [] for kind in Agreement}
    for entry, read in (pair for pair in every if pair[1]):
        where = "; ".join(f"{source.text} ({source.reason})" for source in read)
        number = f"{entry['place']}, {entry['row']}, {entry['column']}: printed {entry['printed']}, source {where}"
        by_agreement[agreement(entry["printed"], read)].append(number)
    different, disputed, unknown = (
        by_agreement[kind] for kind in (Agreement.DIFFERENT, Agreement.DISPUTED, Agreement.UNKNOWN)
    )
    text = (
        f"Of {len(every)} numbers that the paper copied, {sum(map(len, by_agreement.values()))} were found in a "
        f"source or in the model's name; {len(by_agreement[Agreement.EQUAL])} of these agree. Others by a source "
        f"at first hand: {'; '.join(different) or 'none'}. Others by the maker, and as printed by a third party: "
        f"{'; '.join(disputed) or 'none'}. For Table A.6 the paper names Cui et al. (2024), whose table was not "
        f"at hand; their AlpacaEval column quotes the leaderboard. Where the leaderboard has another number, "
        f"nothing follows for the copy: {'; '.join(unknown) or 'none'}. Table 1 says that its first three "
        "columns are from Zheng et al. (2023); the fourth is from there, too."
    )
    return len(different) > 0, text


@finding("The published code has other settings than the paper prints", "make audit")
def settings_of_the_code(_: Results) -> tuple[bool, str]:
    in_code = published.cited().query("column == 'in_code'").set_index("row")
    repeats, norm = (in_code.at[name, "value"] for name in ("efficiency_repeats", "stopping_norm"))
    printed_repeats = published.table("in_text").at["efficiency_repeats", "printed"]
    code = in_code.at["stopping_norm", "source"]
    text = (
        f"This is by {code}. Section 5.3 says that every condition is repeated {printed_repeats} times; the "
        f"{in_code.at['efficiency_repeats', 'place']} repeats it {repeats} times. Algorithm A.1 as printed stops "
        f"when the {PRINTED_NORM} norm of the updates is small enough; the {in_code.at['stopping_norm', 'place']} "
        f"in the code takes the {norm} norm. The {norm} norm of n updates is up to the square root of n times the "
        "largest of them, so the code may iterate longer than the printed rule."
    )
    return repeats != printed_repeats or norm != PRINTED_NORM, text


@finding(
    "Table A.8 mixes total and active parameters",
    "make judge_reliability",
    "judge_reliability/discrimination.csv",
    figure="judge_reliability/size_against_discrimination.png",
)
def mixed_sizes(results: Results) -> tuple[bool, str]:
    every, printed = all_parameters(), printed_sizes()
    differing = every.index[(every != printed) & printed.notna()]
    differences = (f"{name} {printed[name]:g}B, all {every[name]:g}B" for name in differing)
    active = [name for name in differing if size_in_name(name).counted is Counted.ACTIVE]
    named = {name: size_in_name(name) for name in published.table("judge_discrimination").index}
    total = [name for name, size in named.items() if size and size.counted is Counted.ALL and "-A" in name]
    gamma = gamma_by_set(Estimates(results, Estimator.EXACT))
    correlations = [correlations_by_set(gamma, sizes.dropna()) for sizes in (printed, every)]
    text = (
        "The sizes of Table A.8 are those in the judges' names. They count all parameters of some mixtures of "
        f"experts ({', '.join(total)}) and the active ones or a product for others: {'; '.join(differences)}. The "
        f"rank correlation of size and discrimination is, as printed, {correlations_text(correlations[0])}, and "
        f"with all parameters {correlations_text(correlations[1])}."
    )
    return len(active) > 0 and len(total) > 0 and _lower(correlations), text


def _lower(correlations: list[dict[str, tuple[float, float]]]) -> bool:
    printed, every = (pd.Series({name: rank for name, (rank, _) in by_set.items()}) for by_set in correlations)
    return bool((every < printed).any())
