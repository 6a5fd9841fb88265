"""Effects by judge besides quality: the length of an answer, or who made it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from judgerank.data.arrays import BoolArray
from judgerank.data.cache import remembered
from judgerank.data.errors import JudgerankError
from judgerank.data.judgments import Judgments
from judgerank.data.listing import listed, p_of
from judgerank.fits.judge_effects import alike, judge_effects
from judgerank.fits.result import Fit
from judgerank.model.block import Records
from judgerank.model.kinds import family, style
from judgerank.order.claims import significant
from judgerank.ranking.choices import FAMILY
from judgerank.ranking.components import fit_member
from judgerank.ranking.recusal import recusal_of
from judgerank.ranking.study import Component, Finding
from judgerank.trust.sentences import MOST_PARAMETERS, MOST_ROWS

LENGTH = "length"
BY_JUDGE = "Effects by judge: "  # how the remark begins on one coefficient for judges who differ
STYLE = "style"
OF_MAKERS = (family.OWN, family.MAKER)
# how `problem` begins
BEGINNINGS = ("prefers ", f"favours {family.OWN}", f"favours {family.MAKER}", "marks down ", "goes by ")
LEAST = float(np.log(0.6 / 0.4))  # log-odds from which a significant effect is a problem: 60% between equal models


def of_component(component: Component) -> Finding:
    """The table ``effects``, and a warning where one coefficient stands for judges who differ."""
    effects = effects_of(component)
    if effects.empty:
        return Finding()
    pooled = _style_columns(component)
    if any(block.partition(":")[0] == FAMILY for block in component.settings.blocks):
        pooled += [family.OWN, family.MAKER]
    remarks = [text for effect in pooled for text in on_one_coefficient(effects, effect, component)]
    return Finding(remarks, {"effects": effects})


@remembered
def effects_of(component: Component) -> pd.DataFrame:
    """Effects by judge of length, of columns of the block ``style``, and of families, where they are known."""
    if component.judgments.comparisons.stages is not None:  # they take answers one by one
        return pd.DataFrame()
    try:
        member, judgments, is_counted = _without_own_maker(component)
    except JudgerankError:
        return pd.DataFrame()
    records = Records.of(judgments)
    large = member.n_parameters > MOST_PARAMETERS or len(records.comparisons) > MOST_ROWS
    parts = [] if large or component.requested.merged else [part for part in _columns(component, records) if part]
    if not parts:
        return pd.DataFrame()
    names = [name for labels, _ in parts for name in labels]
    values = np.column_stack([columns for _, columns in parts])
    of_makers = np.array([name in OF_MAKERS for name in names])
    values[is_counted[:, None] == of_makers] = 0.0  # makers by votes that do not count, the rest by those that do
    question = judgments.question if "question_id" in judgments.frame else None
    comparisons = member.model.observed(records.comparisons)
    try:
        return judge_effects(member, comparisons, values, names, question, is_counted)
    except JudgerankError:  # without intervals
        return pd.DataFrame()


def _without_own_maker(component: Component) -> tuple[Fit, Judgments, BoolArray]:
    """A fit that holds no votes on models of a judge's own maker, as far as possible; all votes; which it holds.

    Scores that hold them make others seem partial: who does not share a judge's preference for a model that it put
    too high, seems to prefer the rival.
    """
    fitted, judgments, recusal = component.member, component.judgments, component.recusal
    settings = component.settings
    if not settings.is_recused:
        recusal = recusal_of(judgments, makers=settings.makers)
        if not recusal.counts.all():
            fitted = fit_member(recusal.counted.comparisons, fitted.model, settings.solver)
    if recusal is None or recusal.counts.all():
        return fitted, judgments, np.ones(len(judgments.comparisons), bool)
    judgments, rows = recusal.with_left_out(judgments if settings.is_recused else recusal.counted)
    return fitted, judgments, recusal.counts[rows]


def _columns(component: Component, records: Records) -> list[tuple[list[str], np.ndarray] | None]:
    columns: list[tuple[list[str], np.ndarray] | None] = []
    for name in dict.fromkeys([LENGTH, *_style_columns(component)]):
        if {f"{name}_a", f"{name}_b"} <= {*records.frame.columns}:
            columns.append(_of_style(name, records))
    c = records.comparisons
    labels, values = family.own_columns(c, family.relations(c.judges, c.models, dict(component.settings.makers)))
    return [*columns, (list(labels), values)] if labels else columns


def _of_style(name: str, records: Records) -> tuple[list[str], np.ndarray] | None:
    try:
        return [name], style.standardised(records, name, STYLE)[:, None]
    except JudgerankError:  # not given everywhere, or alike
        return None


def _style_columns(component: Component) -> list[str]:
    """Columns of the blocks ``style`` that are asked for."""
    parts = [block.partition(":") for block in component.settings.blocks]
    return [column for name, _, columns in parts if name == STYLE for column in columns.split(",") if column]


def strongest(effects: pd.DataFrame, judge: str, level: float) -> pd.Series | None:
    """The effect that is clearest of those that are significant and large for a judge, as a row of the table."""
    selected = significant(effects[effects["judge"] == judge], level) if len(effects) else effects
    selected = selected[selected["estimate"].abs() >= LEAST] if len(selected) else selected
    return selected.sort_values("p_value", kind="stable").iloc[0] if len(selected) else None


def problem(effects: pd.DataFrame, judge: str, level: float) -> str:
    """The problem of a judge, beginning as one of `BEGINNINGS`; empty if nothing is significant and large."""
    row = strongest(effects, judge, level)
    if row is None:
        return ""
    if row["effect"] == LENGTH:
        return f"prefers {'longer' if row['estimate'] > 0 else 'shorter'} answers"
    if row["effect"] in OF_MAKERS:
        return f"{'favours' if row['estimate'] > 0 else 'marks down'} {row['effect']}"
    return f"goes by {row['effect']}"


def reason(effects: pd.DataFrame, judge: str, level: float) -> str:
    """How strong that is, in a sentence without a full stop; empty if nothing is significant and large."""
    row = strongest(effects, judge, level)
    if row is None:
        return ""
    share = f"{1 / (1 + np.exp(-row['estimate'])):.0%} of the time"
    if row["effect"] == family.OWN:
        return f"picks its own answer {share} against an equally good one"
    if row["effect"] == family.MAKER:
        return f"picks its maker's other models {share} against equally good answers"
    more = "the longer answer" if row["effect"] == LENGTH else f"the answer with more {row['effect']}"
    return f"picks {more} {share} between two equal models (a difference of one standard deviation)"


def on_one_coefficient(effects: pd.DataFrame, effect: str, component: Component) -> list[str]:
    """A warning where an effect of which a block has one coefficient for all judges differs by judge."""
    selected = effects[effects["effect"] == effect]
    p = alike(selected) if len(selected) else 1.0
    if p > 1 - component.settings.level:
        return []
    most = list(selected.loc[selected["estimate"].abs().sort_values(ascending=False).index[:3], "judge"])
    if effect in OF_MAKERS:
        in_what, named = f"how much they favour {effect.replace('its', 'their')}", most[0]
        then = f"corrects too little for {named}. Compare with the ranking without that judge."
    else:
        in_what, named = effect, listed(most)
        then = f"can move models the wrong way. Use --block style_by_judge:{effect} instead."
    return [
        f"{BY_JUDGE}Judges differ in {in_what} (p {p_of(p)}), most of all {named}. "
        f"One coefficient for all judges {then}"
    ]
