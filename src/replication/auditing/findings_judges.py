"""Findings about the judges and their answers."""

from __future__ import annotations

import pandas as pd

from judgerank.engine.adam import Adam
from replication import published
from replication.auditing.claim import PUBLIC, TITLES, finding, stored_sets
from replication.auditing.results import Results
from replication.stopping import LIMIT, ROUND, Tried

FOND = 0.85  # share of answers in one slot from which a judge is said to have a favourite
FEWEST = 30  # shared items from which an agreement says something
SETTING = list(Tried(1).columns())


@finding(
    "UltraFeedback's likelihood has no interior maximum, and the printed column is an iteration that was stopped",
    "make judge_reliability",
    "judge_reliability/fits.csv",
    "judge_reliability/discrimination.csv",
    "judge_reliability/stopped_settings.csv",
    "judge_reliability/stopped_iterate.csv",
    "judge_reliability/settings_tried.csv",
    figure="judge_reliability/stopping_path.png",
)
def no_interior_maximum(results: Results) -> tuple[bool, str]:
    status = results.value("judge_reliability/fits.csv", "dataset=ultrafeedback; fit=judge_aware", "status")
    judges = results.rows("judge_reliability/discrimination.csv", "dataset=ultrafeedback").set_index("judge")
    zero = judges.index[judges["status"] == "zero"].tolist()
    printed = published.numbers("judge_discrimination", "ultrafeedback")
    text = (
        f"The judge-aware likelihood of UltraFeedback has its maximum over gamma >= 0 with {len(zero)} judges at "
        f"zero ({', '.join(zero)}). The printed column, with every gamma from {printed.min()} up, therefore "
        f"cannot be the maximum. {_stopped(results)}{_other_sets(results)}"
    )
    return status == "boundary" and len(zero) > 0 and printed.min() > 0, text


def _stopped(results: Results) -> str:
    """Which stop of Algorithm A.1 gives the printed numbers, and what was searched for it."""
    numbers = results.table("judge_reliability/stopped_iterate.csv")
    tried = results.rows("judge_reliability/settings_tried.csv", "dataset=ultrafeedback")
    best = results.table("judge_reliability/stopped_settings.csv").iloc[0]
    top = results.value("judge_reliability/fits.csv", "dataset=ultrafeedback; fit=judge_aware", "log_likelihood")
    code = Adam()
    both = tried["matched"] + tried["scores_matched"]
    steps = (tried["step_scores"] == code.step_scores) & (tried["step_judges"] == code.step_judges)
    rates = (tried["beta1"] == code.beta1) & (tried["beta2"] == code.beta2)
    other_settings = tried[SETTING].ne(best[SETTING]).any(axis=1) & (tried["stop"] == LIMIT)
    return (
        f"Algorithm A.1 passes through it. From {best['start']}, in steps of {best['step_scores']:g} for scores "
        f"and {best['step_judges']:g} for log-discriminations, with decay rates {best['beta1']:g} and "
        f"{best['beta2']:g} and epsilon {best['epsilon']:g}, {numbers['reproduced'].sum()} of {len(numbers)} "
        f"numbers ({best['of']} discriminations, and the {best['scores_of']} judge-aware scores of Table A.6) "
        f"come out as printed after {best['iteration']:,} iterations, {top - best['log_likelihood']:.1f} below "
        f"the maximum in log-likelihood. The published code has steps of {code.step_scores:g} and "
        f"{code.step_judges:g}, decay rates {code.beta1:g} and {code.beta2:g}, and epsilon {code.epsilon:g}. We "
        f"searched for the two steps and the stop, among {len(tried[SETTING].drop_duplicates())} settings, whose "
        "lists were narrowed down by these numbers. So this shows how the numbers can come about, not that they "
        f"did; but it is one run for all of them, and its settings are round. At multiples of {ROUND:,} "
        f"iterations no other setting gives more than {both[other_settings].max()}. In the published steps, at "
        f"any iteration, at most {both[steps & rates].max()} come out with the published decay rates, and "
        f"{both[steps & ~rates].max()} with others."
    )


def _other_sets(results: Results) -> str:
    """Where else judges sit at zero."""
    details = []
    for name in stored_sets(results, "complete_ranking/{}/judges.csv"):
        judges = results.table(f"complete_ranking/{name}/judges.csv")
        zero = judges.loc[judges["status"] == "zero", "judge"].tolist()
        if name != "ultrafeedback":
            details.append(f"{TITLES[name]}: {', '.join(zero) if zero else 'none'}")
    return f" Judges at zero elsewhere: {'; '.join(details)}."


@finding(
    "Slots follow names on the public sets, and some judges mostly answer with one slot",
    "make data_overview",
    *(f"data_overview/{name}/{table}.csv" for name in PUBLIC for table in ("size", "judges")),
    figure="data_overview/ultrafeedback/answers.png",
)
def slots(results: Results) -> tuple[bool, str]:
    names = stored_sets(results, "data_overview/{}/judges.csv")
    size = "data_overview/{}/size.csv"
    share = {name: results.value(size.format(name), "", "share_first_is_alphabetically_smaller") for name in names}
    fond, count = [], 0
    for name in names:
        judges = results.table(f"data_overview/{name}/judges.csv")
        largest = judges[["share_a", "share_b"]].max(axis=1)
        chosen = judges[largest >= FOND]
        count += len(chosen)
        preferred_slots = (f"{row.judge} {'a' if row.share_a > row.share_b else 'b'} "
                f"{max(row.share_a, row.share_b):.0%}" for row in chosen.itertuples())  # fmt: skip
        fond.append(f"{TITLES[name]}: {', '.join(preferred_slots) or 'none'}")
    text = (
        "The model shown first is the alphabetically smaller one in "
        + ", ".join(f"{value:.1%} ({TITLES[name]})" for name, value in share.items())
        + f" of the records. Judges with at least {FOND:.0%} of their answers in one slot: {'; '.join(fond)}. "
        "Where "
        "slots follow names, such a judge looks like one that ranks the models by name. Not every judge with a "
        "low "
        f"discrimination is of this kind: {_other_weak(results)}."
    )
    public = [share[name] for name in share if name in PUBLIC]
    return len(public) > 0 and min(public) > 0.99 and count > 0, text


def _other_weak(results: Results) -> str:
    details = []
    for judge in ("marin-community/marin-8b-instruct", "mistralai/Mistral-7B-Instruct-v0.1"):
        row = results.rows("data_overview/chatbot_arena/judges.csv", f"judge={judge}").iloc[0]
        details.append(
            f"on Chatbot Arena {judge} answers a {row['share_a']:.0%}, b {row['share_b']:.0%}, tie "
            f"{row['share_tie']:.0%}"
        )
    return "; ".join(details)


@finding(
    "Four judge ids agree with each other as one model would",
    "make judge_reliability",
    "judge_reliability/agreement.csv",
    "judge_reliability/discrimination.csv",
    "judge_reliability/merged.csv",
)
def one_judge_four_names(results: Results) -> tuple[bool, str]:
    alike = results.table("judge_reliability/agreement.csv")
    alike = alike[alike["shared"] >= FEWEST]
    gamma = results.table("judge_reliability/discrimination.csv").set_index(["dataset", "judge"])["discrimination"]
    is_separate, details = [], []
    for name, rows in alike.groupby("dataset"):
        # two judges who always prefer the same slot agree too: strong judges are the fair comparison
        strong = set(gamma[name].index[gamma[name] > 1])
        same, peers = rows[rows["one_model"]], rows[~rows["one_model"]]
        peers = peers[peers["judge_1"].isin(strong) & peers["judge_2"].isin(strong)]
        if len(same) and len(peers):
            is_separate.append(same["agreement"].min() > peers["agreement"].max())
            details.append(
                f"{TITLES.get(name, name)} {_range(same)}, two other judges with a discrimination above one "
                f"{_range(peers)}"
            )
    merged = results.table("judge_reliability/merged.csv")
    change = [
        f"{TITLES.get(name, name)} mean width {rows['mean_width'].iloc[0]:.3f} to "
        f"{rows['mean_width'].iloc[1]:.3f}, largest change of rank {rows['largest_rank_change'].max()}"
        for name, rows in merged.groupby("dataset")
    ]
    ids = sorted(set(alike.loc[alike["one_model"], ["judge_1", "judge_2"]].to_numpy().ravel()))
    text = (
        f"The published request scripts send one model name for {', '.join(ids)}. How often two of them give "
        f"equal answers to the same items: {'; '.join(details)}. If they are one model, the panel counts it four "
        f"times; merged into one judge with one vote an item: {'; '.join(change)}. Which model answered when the "
        "data were collected the files do not say."
    )
    return len(is_separate) > 0 and all(is_separate), text


def _range(pairs: pd.DataFrame) -> str:
    share = pairs["agreement"]
    return f"{share.min():.1%} to {share.max():.1%} ({len(pairs)} pairs, {pairs['shared'].min()} or more items)"


@finding(
    "The list of judges and the judges in the files",
    "make data_overview",
    *(f"data_overview/{name}/judges.csv" for name in PUBLIC),
)
def judges_in_the_files(results: Results) -> tuple[bool, str]:
    names = stored_sets(results, "data_overview/{}/judges.csv")
    judges = pd.concat(results.table(f"data_overview/{name}/judges.csv") for name in names)
    used, listed = set(judges["judge"]), set(published.table("judge_llms").index)
    text = (
        f"Judges in the files ({', '.join(TITLES[name] for name in names)}) that the paper's list (Table A.5) "
        f"does not have: {', '.join(sorted(used - listed)) or 'none'}. Listed, and in none of these files: "
        f"{', '.join(sorted(listed - used)) or 'none'}."
    )
    return len(used - listed) > 0, text
