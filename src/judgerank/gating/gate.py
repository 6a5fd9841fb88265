"""May the candidate ship? From judgments to a verdict with its warnings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path

import pandas as pd

from judgerank.data.errors import ConfigError
from judgerank.data.judgments import Judgments
from judgerank.data.representation import Shown
from judgerank.gating.answer_pairs import paired, texts_of
from judgerank.gating.decision import Evidence, by_category, evidence, holm, outcome
from judgerank.gating.gate_result import Criterion, Result
from judgerank.gating.judged import Judged, judged
from judgerank.gating.needed import more_needed
from judgerank.gating.rule import Rule
from judgerank.gating.scores import scored
from judgerank.gating.uninformative import uninformative
from judgerank.gating.verdict_text import sentence, text
from judgerank.model.kinds.family import family_of, own_table, plain
from judgerank.reading.read import Source, read_judgments

ALL = "all"  # name of the one criterion where none is named


@dataclass(frozen=True, eq=False, repr=False)
class Gate(Shown, Result):
    """A verdict, with ways to show it; attributes are those of `Result`."""

    def to_html(self) -> str:
        """The page as one HTML text that needs nothing beside it."""
        from judgerank.gating.verdict_page import to_html

        return to_html(self)

    def __str__(self) -> str:
        return text(self)

    def _line(self) -> str:
        return sentence(self)

    def _table(self) -> pd.DataFrame:
        return pd.DataFrame(
            [
                (criterion.name, *astuple(criterion.evidence)[:-1], criterion.p_block)
                for criterion in self.criteria
            ],
            columns=["criterion", *(field.name for field in fields(Evidence))],
        )


def gate(
    source: Source | Mapping[str, Source],
    baseline: str,
    candidate: str,
    rule: Rule | None = None,
    candidate_model: str | None = None,
    question_cost: float | None = None,
    currency: str = "USD",
    answers: tuple[str | Path, str | Path] | None = None,
) -> Gate:
    """Decide whether a candidate may replace a baseline, from judgments of the two by a panel.

    Parameters
    ----------
    source : anything that `judgerank.read` reads, or a mapping of names of criteria to such
    baseline, candidate : str
        Their names in the judgments.
    rule : Rule, optional
        What is to be shown; by default that the candidate's win rate is not below one half by more than .05.
    candidate_model : str, optional
        The model behind the candidate, such as ``gpt-5``, to find judges of its maker; its name by default.
    question_cost : float, optional
        What one more question costs, in the `currency`.
    answers : pair of paths, optional
        Files of the baseline's and the candidate's answers, to show on the page; JSON Lines with ``question_id``,
        ``question`` and ``answer``.

    Raises
    ------
    DataError, DataUnavailableError
        If the judgments cannot be read, or do not compare the two.
    ConfigError
        If a setting of the rule is out of range.
    """
    rule = rule or Rule()
    named = (
        {str(name): judgments_of for name, judgments_of in source.items()}
        if isinstance(source, Mapping)
        else {ALL: source}
    )
    if not named:
        raise ConfigError("there are no criteria")
    read = {name: read_judgments(judgments_of) for name, judgments_of in named.items()}
    tables = {name: judged(judgments_of, baseline, candidate) for name, judgments_of in read.items()}
    texts = texts_of(paired(*map(Path, answers))) if answers else {}
    result = decided(tables, rule, candidate_model, question_cost, currency)
    return replace(result, texts=texts, remarks=remarks_on(read))


def remarks_on(read: Mapping[str, Judgments]) -> tuple[str, ...]:
    """What to know of how judgments were read, by criterion where there are several."""
    several = len(read) > 1
    return tuple(
        f"{name}: {remark}" if several else remark
        for name, judgments_of in read.items()
        for remark in judgments_of.remarks
    )


def decided(
    tables: Mapping[str, Judged],
    rule: Rule,
    candidate_model: str | None = None,
    question_cost: float | None = None,
    currency: str = "USD",
    after: Rule | None = None,
) -> Gate:
    """The verdict on judgments by criterion; `gate` says what the rest is.

    `after` is the rule of the next look, by default the one that follows the rule's.
    """
    after = after or rule.next_look
    criteria, verdict = _verdict(tables, rule)
    related = _related(tables, candidate_model)
    without = _without(tables, {name: set(related) for name in tables}, rule)
    weak = {name: uninformative(table) for name, table in tables.items()}
    without_weak = _without(tables, {name: set(judges_of) for name, judges_of in weak.items()}, rule)
    several = len(tables) > 1
    uninformative_texts = {
        f"{who} on {name}" if several else who: what for name in weak for who, what in weak[name].items()
    }
    may_grow = verdict == "inconclusive" and not is_one_order(criteria)  # which no number of questions mends
    needed = more_needed([criterion.scores for criterion in criteria], after) if may_grow else None
    cost = None if needed is None or question_cost is None else needed * question_cost
    judges_of = Gate(
        verdict, rule, criteria, needed, cost, currency, related, without, after, uninformative_texts, without_weak
    )
    return replace(judges_of, categories=by_category(tables, rule))


def _without(tables: Mapping[str, Judged], judges: Mapping[str, set[str]], rule: Rule) -> str | None:
    """The verdict without some judges, by criterion; None where there are none or nobody else."""
    if not any(judges.values()):
        return None
    reduced = {name: table.without(judges[name]) for name, table in tables.items()}
    remaining = {name: table for name, table in reduced.items() if table is not None}
    return _verdict(remaining, rule)[1] if len(remaining) == len(tables) else None


def _verdict(tables: Mapping[str, Judged], rule: Rule) -> tuple[tuple[Criterion, ...], str]:
    scores = [scored(table.preference, table.first) for table in tables.values()]
    evidences = [evidence(criterion_scores, rule) for criterion_scores in scores]
    adjusted = holm([criterion_scores.p_block for criterion_scores in evidences])
    used = [
        table.of(criterion_scores.used) for table, criterion_scores in zip(tables.values(), scores, strict=True)
    ]
    silent = [table.silent for table in tables.values()]
    criteria = tuple(map(Criterion, tables, used, scores, evidences, adjusted, silent))
    return criteria, outcome(evidences, rule, is_one_order(criteria))


def is_one_order(criteria: Sequence[Criterion]) -> bool:
    """Whether the candidate always had the same place, on any criterion."""
    return any(criterion.scores.order == "one" for criterion in criteria)


def _related(tables: Mapping[str, Judged], candidate_model: str | None) -> tuple[str, ...]:
    """Judges that are the candidate, or of its maker's models; not those that are of the baseline's, too."""
    families = own_table()
    related: set[str] = set()
    for table in tables.values():
        candidate = candidate_model or table.candidate
        family = family_of(candidate, families)
        if candidate_model is None and family and family == family_of(table.baseline, families):
            continue  # both are of the same maker: a partial judge has no side
        related |= {
            judge
            for judge in table.judges
            if plain(judge) == plain(candidate) or (family and family_of(judge, families) == family)
        }
    return tuple(sorted(related))
