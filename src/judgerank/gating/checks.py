"""Tests of one criterion under what they assume: judges who agree, answers that are all there, one shared bias.

Judges with few answers are compared with themselves, which is a test by itself. Every other check can only make a
decision harder. So no combination of them raises an error rate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judgerank.data.arrays import FloatArray
from judgerank.gating.decision import Evidence, bounds, p_not_above, p_values
from judgerank.gating.judge_differences import JudgeDifferences, judge_differences
from judgerank.gating.judged import Judged
from judgerank.gating.missing import Silence, requested, score_runs_with, scored_with, silence, unanswered
from judgerank.gating.rule import EQUIVALENCE, RANDOM, Rule
from judgerank.gating.scores import Scores, fair_leads
from judgerank.gating.shared_bias import SIGNIFICANT, WithinJudges, favours_by_order, within_judges

UNTESTED = 0.5  # p-value of a bias where nothing was shown first


@dataclass(frozen=True)
class Checks:
    """What departs from the assumptions of a criterion's tests.

    Attributes
    ----------
    scores, lowest, highest : Scores
        Without missing answers, and with those that a ship counts as losses, or as wins.
    differences : JudgeDifferences
    silence : Silence, optional
        None where too few answers are missing to test it.
    n_lost : int
        Missing answers, and questions that nobody answered, that a ship counts as losses.
    shared_bias : float
        p-value of "the position bias of pooled judges does not favour the candidate".
    within : WithinJudges, optional
        Judges with few answers compared with themselves; None where there is no crowd of them, or orders are said
        to be random.
    go_by_place : bool
        Whether every judge picks one place, whoever is shown there: nothing is decided then.
    """

    scores: Scores
    lowest: Scores
    highest: Scores
    differences: JudgeDifferences
    silence: Silence | None
    n_lost: int
    shared_bias: float
    within: WithinJudges | None = None
    go_by_place: bool = False

    @property
    def tested(self) -> Scores:
        """The scores that are tested: those within judges with few answers, where any are left."""
        return self.scores if self.within is None or self.within.scores is None else self.within.scores

    @property
    def bias_by_order(self) -> int:
        """1 where the shared bias favours the candidate, -1 where it hurts it, 0 where neither is significant.

        It is 0 where judges are compared with themselves, since no bias is shared there.
        """
        if self.within is not None:
            return 0
        return int(self.shared_bias <= SIGNIFICANT) - int(1 - self.shared_bias <= SIGNIFICANT)

    def p_values(self, rule: Rule) -> tuple[float, float]:
        """p-values of "the candidate must not ship" and of "nothing speaks against the candidate"."""
        if self.go_by_place:
            return 1.0, 1.0
        p_ship, p_block = p_values(self.scores, rule) if self.within is None else self.within.p_values(rule)
        if self.differences.differ and rule.like_these:
            p_ship, p_block = (
                max(p_ship, self.differences.p_ship(rule)),
                max(p_block, self.differences.p_block(rule)),
            )
        if self.n_lost:
            extremes = (self.lowest, self.highest) if rule.mode == EQUIVALENCE else (self.lowest,)
            p_ship = max(p_ship, *(p_values(scores, rule)[0] for scores in extremes))
        favours, hurts = self.bias_by_order > 0, self.bias_by_order < 0
        if rule.mode == EQUIVALENCE:
            favours = hurts = favours or hurts
        return max(p_ship, float(favours)), max(p_block, float(hurts))

    def bounds(self, rule: Rule) -> tuple[float, float]:
        """The wider of the one-sided bounds of the win rate; position bias that cannot be taken off is in none."""
        low, high = bounds(self.scores, rule) if self.within is None else self.within.bounds(rule)
        if self.differences.differ and rule.like_these:
            low_among, high_among = self.differences.bounds(rule.level)
            low, high = min(low, low_among), max(high, high_among)
        if self.n_lost:
            low = min(low, bounds(self.lowest, rule)[0])
            high = max(high, bounds(self.highest, rule)[1]) if rule.mode == EQUIVALENCE else high
        return low, high

    def evidence(self, rule: Rule) -> Evidence:
        """What the questions say, with the larger p-values and the wider bounds."""
        (low, high), (p_ship, p_block) = self.bounds(rule), self.p_values(rule)
        return Evidence(len(self.scores.scores), self.tested.win_rate, low, high, p_ship, p_block)


def checked(table: Judged, scores: Scores, rule: Rule) -> Checks:
    """Check what the tests of one criterion assume; of scores, that missing ones are no worse than the others."""
    if table.is_scored:
        n_failed = 0 if rule.missing == RANDOM else len(table.failed)
        low, high = (score_runs_with(table, end, rule.cluster) if n_failed else scores for end in (-1.0, 1.0))
        return Checks(scores, low, high, JudgeDifferences(), None, n_failed, UNTESTED)
    leads, unit = fair_leads(table.preference, table.first), table.sampled(rule.cluster)
    silent = silence(table.judges, leads)
    rejects = silent is not None and silent.rejects
    is_random = rule.missing == RANDOM and not rejects
    lost = np.zeros(table.preference.shape, bool) if is_random else requested(table)
    if rejects:
        is_answered = ~np.isnan(table.preference)
        lost |= ~is_answered & is_answered.any(axis=0)
    n_nobody = 0 if is_random else unanswered(table)
    n_lost = int(lost.sum()) + n_nobody
    lowest, highest = (
        (scored_with(table, lost, preference, n_nobody, unit) for preference in (0.0, 1.0))
        if n_lost
        else (scores, scores)
    )
    shared_bias = favours_by_order(table.preference, table.first)
    within = None if rule.random_orders else within_judges(table.preference, table.first, unit)
    differences = judge_differences(leads, unit)
    return Checks(scores, lowest, highest, differences, silent, n_lost, shared_bias, within, _go_by_place(table))


# Judges who go by place, whoever is shown there.
SURE = 0.05  # level of each test of a judge
MOSTLY = 0.8  # share of answers for one place, in both orders, above which a judge goes by place
FEWEST_IN_ONE_PLACE = 6  # answers that all pick one place: by a coin 3% of the time, as 2 * 0.5**6


def _go_by_place(table: Judged) -> bool:
    """Whether every judge does, so that any candidate would look as good as the baseline."""
    leads = (leads_by_order(table, judge) for judge in table.judges)
    return len(table.judges) > 0 and all(lead is not None and by_place(lead) != "" for lead in leads)


def place_of_all(table: Judged) -> str:
    """The place that all answers pick in both orders, where there are enough to say so; else empty."""
    rows = table.rows
    if table.is_scored or len(rows) < FEWEST_IN_ONE_PLACE or rows["first"].nunique() < 2:
        return ""
    places = set[float](rows["first"].astype(float) * np.sign(rows["preference"].astype(float) - 0.5))
    return "first" if places == {1.0} else "second" if places == {-1.0} else ""


def leads_by_order(table: Judged, judge: str) -> FloatArray | None:
    """Preference for the candidate less one half, with it shown first and second, shape (Q, 2); nan for none."""
    rows = table.rows[(table.rows["judge"] == judge) & table.rows["first"].isin((1.0, -1.0))]
    if rows.empty:
        return None
    mean = rows.groupby(["question", "first"])["preference"].mean().astype(float).unstack("first")
    return mean.reindex(index=table.questions, columns=[1.0, -1.0]).to_numpy(float) - 0.5


def by_place(lead: FloatArray) -> str:
    """Whether a judge picks one place in both orders, and how often."""
    of_first = [(0.5 + lead[:, 0]), (0.5 - lead[:, 1])]
    of_first = [values[~np.isnan(values)] for values in of_first]
    share = float(np.concatenate(of_first).mean())
    chosen = of_first if share > 0.5 else [1 - values for values in of_first]
    if any(p_not_above(values, MOSTLY) > SURE for values in chosen):
        return ""
    return f"picks the {'first' if share > 0.5 else 'second'} answer {max(share, 1 - share):.0%} of the time"
