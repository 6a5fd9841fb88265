"""A ranking as a page in Markdown; `pages.whole_page` makes one file of it that needs nothing beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from judgerank.judgments import Judgments
from judgerank.leaderboard import kept
from judgerank.leaderboard.suggestions import CHANCE
from judgerank.result import FitResult

if TYPE_CHECKING:
    from pandas.api.typing import NAType

    from judgerank.leaderboard.ranking import Ranking

MEMBERS = {
    "btl": "P(i beats j) = sigmoid(s_i - s_j): all judges alike (Bradley and Terry, 1952)",
    "judge_aware": "P(i beats j, judge k) = sigmoid(gamma_k (s_i - s_j)), gamma_k the judge's discrimination",
    "length": "P(i beats j, judge k, length z) = sigmoid(exp(alpha_k + beta_k z) (s_i - s_j))",
    "position_only": "P(first preferred, judge k) = sigmoid(s_first - s_second + b_k), b_k the judge's leaning",
    "position_aware": "P(first preferred, judge k) = sigmoid(gamma_k (s_first - s_second) + b_k), gamma_k the "
    "judge's discrimination and b_k its leaning",
    "position_length": "P(first preferred, judge k, length z) = sigmoid(exp(alpha_k + beta_k z) "
    "(s_first - s_second) + b_k)",
}
TIES = "odds of first, second, tie e^(eta/2) : e^(-eta/2) : nu_k (Davidson, 1970), eta = "
MEMBERS |= {
    "btl_ties": f"{TIES}s_first - s_second",
    "judge_aware_ties": f"{TIES}gamma_k (s_first - s_second), gamma_k the judge's discrimination",
    "position_aware_ties": f"{TIES}gamma_k (s_first - s_second) + b_k, gamma_k the judge's discrimination and b_k "
    "its leaning",
}
HEADS = {"low": "from", "high": "to", "rank_low": "rank from", "rank_high": "rank to", "judge_model": "judge"}
HEADS |= {"p_holm": "p, Holm", "p_value": "p", "share_a": "first", "share_b": "second", "share_tie": "tie"}
HEADS |= {"model_a": "shown first", "model_b": "shown second", "width_after": "width then"}
HEADS |= {"to_separate": "to separate"}
NO_FIGURES = "There are no figures: the extra `plot` draws them (pip install 'judgerank[plot]')."


def page(ranking: Ranking, figures: bool = True, beside: bool = True) -> str:
    """The ranking in Markdown.

    Parameters
    ----------
    ranking : Ranking
    figures : bool
        Whether figures/standings.png and figures/judges.png are there to be shown.
    beside : bool
        Whether the page has its tables and run.json beside it, to link to.
    """
    judgments, c, level = ranking.judgments, ranking.fitted.comparisons, ranking.settings.level
    remarks = "\n".join(f"- {plain(text)}" for text in ranking.remarks) or "Nothing stands out."
    told = (
        f"{c.n_comparisons:.0f} comparisons of {len(c.models)} models by {_count(len(c.judges), 'judge')}, from "
        f"{plain(judgments.source.get('file', 'a table'))} ({_count(len(judgments.frame), 'record')})."
    )
    files = kept.file_names(ranking.tables).values()
    tables = f" Beside this page: {', '.join(f'[{file}]({file})' for file in files)}.{kept.told(ranking.tables)}"
    parts = [
        f"# {plain(ranking.title)}",
        told + (tables if beside else ""),
        "## What to know first",
        remarks,
        "## Leaderboard",
        f"Intervals at {level:.0%}. The range of ranks holds for all models{_each(ranking)} at once.",
        _table(ranking.tables["leaderboard"]),
        "![Scores and ranks](figures/standings.png)" if figures else NO_FIGURES,
        "## Judges",
        "Shares are of the answers for the model shown first, for the second, and of ties.",
        _table(ranking.tables["judges"]),
        "![Judges](figures/judges.png)" if figures else "",
        "## Neighbours in rank",
        _pairs(ranking),
        "## What to collect next",
        _next(ranking),
        "## How this was computed",
        _method(ranking, beside),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _each(ranking: Ranking) -> str:
    """What statements about all models are of where components are ranked apart."""
    return " of a component" if len(ranking.fits) > 1 else ""


def _pairs(ranking: Ranking) -> str:
    board = ranking.tables["leaderboard"]
    pairs = ranking.tables["pairs"].query("comparable")
    place = {name: number for number, name in enumerate(board["model"])}
    neighbours = pairs[pairs["second"].map(place) - pairs["first"].map(place) == 1].drop(columns="comparable")
    many = len(ranking.tables["pairs"]) - len(pairs)
    beside = f" {many} pairs of models of different components are not comparable." if many else ""
    if "separated" not in pairs:
        return f"Without intervals no pair can be separated.{beside}\n\n" + _table(neighbours)
    known = pairs["separated"].notna()
    apart = int(pairs["separated"][known].sum())
    told = (
        f"{apart} of {int(known.sum())} pairs of models are separated at {ranking.settings.level:.0%} "
        f"(Holm, all pairs{_each(ranking)} at once).{beside}"
    )
    columns = ["first", "second", "difference", "low", "high", "p_value", "p_holm", "separated"]
    return f"{told}\n\n{_table(neighbours[columns])}"


def _next(ranking: Ranking) -> str:
    plan = ranking.tables["next"]
    if plan.empty:
        return "Without intervals there is no telling which comparisons would shorten them."
    if plan["width"].isna().all():
        columns = list(plan.columns)
        columns = columns[: columns.index("comparisons") + 1]
        return (
            "Before there can be intervals, judges who never answered against the order must be seen to do so. "
            f"That is likeliest between neighbours in rank, the closest first.\n\n{_table(plan[columns])}"
        )
    where = "" if ranking.fitted.model.has_position else " (show each pair in both orders equally often)"
    return (
        "Of the pairs of models that are not separated, the one with the widest interval is named in each line; "
        f"the comparisons of the line shorten it the most, given the lines before{where}. Judges count for what "
        "they are known to tell at least. The last column says how many comparisons of the two, spread evenly "
        f"over the judges, separate them with a chance of {CHANCE:.0%} if they differ as estimated; there is no "
        "number where they are too close or the judges known too badly."
        f"\n\n{_table(plan.rename(columns={'first': 'for', 'second': 'against'}))}"
    )


def _method(ranking: Ranking, beside: bool) -> str:
    named = len(ranking.fits) > 1
    texts = [
        (f"Component {number}: " if named else "") + _fit_of(fitted, ranking.judgments)
        for number, fitted in enumerate(ranking.fits, 1)
    ]
    scale = (
        "Scores sum to zero, discriminations have geometric mean one over the judges above zero; scores' "
        "intervals and pairs are on the scale at which scores are known best, since the order does not depend "
        "on it."
    )
    kept = " [run.json](run.json) has the settings, the file's checksum and the versions." if beside else ""
    return "\n\n".join([*texts, scale + kept])


def _fit_of(fitted: FitResult, judgments: Judgments) -> str:
    spread = (
        f"Intervals allow for dependence within each of the {judgments.frame['question_id'].nunique()} questions "
        "(sandwich covariance)."
        if fitted.robust is not None
        else "Intervals take comparisons as independent (inverse expected information)."
    )
    fitting = "maximum likelihood"
    if fitted.solution.spread is not None:
        widths = ", ".join(
            f"{name.replace('_', ' ')} {value:.2f}" for name, value in fitted.solution.spread.items()
        )
        fitting = (
            f"penalised maximum likelihood (standard deviations of what is shrunk toward the panel: {widths})"
        )
    ties = "ties an outcome of their own" if fitted.model.has_ties else "ties as half a win for either"
    return (
        f"Model `{fitted.model.name}`: `{MEMBERS[fitted.model.name]}`, {fitting}, {ties}. "
        f"Status: {fitted.status}; log-likelihood {fitted.log_likelihood:.3f}; "
        f"{_count(fitted.n_parameters, 'free parameter')}. {spread}"
    )


def _table(frame: pd.DataFrame) -> str:
    heads = [HEADS.get(name, name.replace("low_", "from ").replace("high_", "to ")) for name in frame.columns]
    numeric = [
        pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind) for kind in frame.dtypes
    ]
    lines = [heads, ["---:" if is_number else "---" for is_number in numeric]]
    for row in frame.astype(object).itertuples(index=False):
        lines.append([_cell(value, name) for value, name in zip(row, frame.columns, strict=True)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: str | float | NAType | None, column: str) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if pd.isna(value):
        return "--"
    if isinstance(value, float):
        if column in ("p_value", "p_holm") and value < 0.0005:
            return plain("<0.001")
        return f"{value:.3f}" if abs(value) < 1e5 else f"{value:.1e}"
    return plain(str(value))


def plain(text: str) -> str:
    """A text that neither Markdown nor HTML takes for markup."""
    return "".join(x if x.isalnum() or x in " .,:;()%=?'/-" else f"&#{ord(x)};" for x in text)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
