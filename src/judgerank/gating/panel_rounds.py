"""Ask a panel by rounds, only until the gate is decided."""

from __future__ import annotations

import json
import logging
from collections.abc import Container, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import pandas as pd

from judgerank.collecting.addresses import addressed, require_hosts
from judgerank.collecting.collection import move_outdated
from judgerank.collecting.costs import priced, spent_before, spent_into
from judgerank.collecting.ledger import Ledger, Record
from judgerank.collecting.run import collect
from judgerank.collecting.settings import Collection, Panel
from judgerank.data.errors import EndpointError
from judgerank.gating.answer_pairs import NEW, OLD, Pair, labels_of, require_columns, texts_of
from judgerank.gating.decision import INCONCLUSIVE
from judgerank.gating.gate import ALL, Gate, decided
from judgerank.gating.gate_result import Makers, OwnVotes, unasked
from judgerank.gating.judged import Judged, judged, with_ties
from judgerank.gating.rule import Rule
from judgerank.ranking.recusal import RECUSE
from judgerank.reading.layouts.answer_versions import KEY, TEXTS
from judgerank.reading.read import judgments_of

log = logging.getLogger("judgerank")
LONGEST_WAIT = 3600.0  # seconds for other gates that ask into the same file, as tests that run in parallel do
FIRST, GROWTH = 10, 1.5  # questions at the first look, and their growth from look to look


@dataclass(frozen=True)
class Asked:
    """How a panel is asked.

    Attributes
    ----------
    panel : Panel
    output : Path
        File of judgments: what is there is not asked again, by whatever run.
    budget : float, optional
        What judgments of these answers may cost in all, those of earlier runs included, as in `collect`.
    order : {"random", "both"}
    allow_env_url : bool
        Ask at addresses that environment variables name.
    allow_hosts : tuple of str
        Hosts that judges may be asked at, beside those of `judgerank.collecting.addresses.require_hosts`.
    names : pair of str
        What baseline and candidate are called in the verdict.
    own : OwnVotes
        Judges by the maker of one of the two models (`without_own_maker`).
    prune : bool
        Set judgments of earlier answers to the same questions aside.
    """

    panel: Panel
    output: Path
    budget: float | None = None
    order: Literal["random", "both"] = "random"
    allow_env_url: bool = False
    allow_hosts: tuple[str, ...] = ()
    names: tuple[str, str] = (OLD, NEW)
    own: OwnVotes = field(default_factory=OwnVotes)
    prune: bool = False


def without_own_maker(
    requests: Asked, own_maker: str = RECUSE, makers: Makers = (), candidate_model: str | None = None
) -> Asked:
    """The same without judges whose votes would not count; all of them where no others are in the panel.

    Parameters
    ----------
    requests : Asked
    own_maker, makers
        As of `judgerank.rank`.
    candidate_model : str, optional
        The model behind the candidate.
    """
    panel = requests.panel
    own = unasked([judge.judge for judge in panel.judges], requests.names, own_maker, makers, candidate_model)
    judges = [judge for judge in panel.judges if judge.judge not in own.recused]
    return replace(requests, panel=panel.model_copy(update={"judges": judges}), own=own)


def ask_until_decided(pairs: Sequence[Pair], requests: Asked, rule: Rule) -> Gate:
    """Ask about more questions at every look, until one decides, or no question or money is left.

    Look k is at a number of questions that is fixed beforehand, and spends its part of alpha, so that stopping
    early makes no decision less sure. A look that the rule has says which run this is: all runs share alpha, too.
    Questions whose answers are equal in both files are ties, and not asked.

    Raises
    ------
    ConfigError, DataError, EndpointError
        As `judgerank.collecting.run.collect` raises them; the last if no judge answers at all.
    """
    before = prepared(pairs, requests, rule)
    sizes = looks(len(pairs))
    for number, size in enumerate(sizes, 1):
        complete = ask_about(pairs[:size], requests, before)
        this, after = (replace(rule, look=number, run=run) for run in (rule.look, (rule.look or 1) + 1))
        result = looked_at(pairs[:size], requests, this, after)
        if result.verdict != INCONCLUSIVE or not complete:
            break
        log.info("look %d: %d questions, not decided yet", number, size)
    return result


def prepared(pairs: Sequence[Pair], requests: Asked, rule: Rule) -> float:
    """What the file cost for other answers than these, after judgments of changed judges have left it.

    Those of earlier answers to these questions leave it, too, where that is asked for.

    Raises
    ------
    ConfigError
        If a judge is at a host that nobody has named, or the answers lack a column that the rule needs.
    DataError
        If a question has no unit of sampling.
    """
    require_columns(pairs, rule.cluster, (column for column, _ in rule.protect))
    settings = settings_of(requests, Path("questions.jsonl"), None)
    require_hosts(addressed(priced(settings), settings.prompt, requests.allow_env_url), requests.allow_hosts)
    current = {pair.question_id: pair.key for pair in pairs}

    def is_of_earlier_answers(record: Record) -> bool:
        key = KEY.fullmatch(record["question_id"])
        return requests.prune and key is not None and current.get(key[1], key[0]) != key[0]

    move_outdated(settings, is_of_earlier_answers, LONGEST_WAIT)
    return spent(requests) - spent(requests, {pair.key for pair in pairs})


def ask_all(pairs: Sequence[Pair], requests: Asked, rule: Rule) -> Gate:
    """Ask about all questions, and decide once."""
    ask_about(pairs, requests, prepared(pairs, requests, rule))
    return looked_at(pairs, requests, rule)


def looks(n: int) -> list[int]:
    """Questions at each look, of n that there are."""
    sizes, size = [], float(FIRST)
    while size < n:
        sizes.append(int(size))
        size *= GROWTH
    return [*sizes, n]


def settings_of(requests: Asked, questions: Path, budget: float | None) -> Collection:
    """What `collect` is told."""
    return Collection(
        questions=(str(questions),),
        panel=requests.panel,
        output=requests.output,
        order=requests.order,
        budget=budget,
        pilot=0,
        allow_env_url=requests.allow_env_url,
    )


def ask_about(pairs: Sequence[Pair], requests: Asked, before: float) -> bool:
    """Ask what is not in the file yet; whether every question got an answer from some judge."""
    rows = [row for pair in pairs if not pair.is_same for row in pair.rows()]
    if not rows:
        return True
    budget = None if requests.budget is None else before + requests.budget
    with TemporaryDirectory() as folder:
        questions = Path(folder, "questions.jsonl")
        questions.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        try:
            collect(settings_of(requests, questions, budget), wait=LONGEST_WAIT)
        except EndpointError as error:
            if not requests.output.exists():
                raise
            log.warning("warning: %s", error)
    answered = (
        {record["question_id"] for record in Ledger(requests.output).records}
        if requests.output.exists()
        else set()
    )
    return all(pair.is_same or pair.key in answered for pair in pairs)


def spent(requests: Asked, questions: Container[str] | None = None) -> float:
    """What the file cost, by today's prices; only the judgments of the questions with these keys, if given."""
    if not requests.output.exists():
        return 0.0
    settings = settings_of(requests, Path("questions.jsonl"), None)
    ledger, judges = Ledger(requests.output), priced(settings)
    if questions is None:
        return spent_into(ledger, judges)
    return spent_before([record for record in ledger.records if record["question_id"] in questions], judges)


def looked_at(pairs: Sequence[Pair], requests: Asked, rule: Rule, after: Rule | None = None) -> Gate:
    """The verdict on these questions, from what is in the file; further questions cost what these did.

    `after` is the rule of the next run, by default the one that follows the rule's.
    """
    rule = replace(rule, random_orders=True)  # as they are drawn when judges are asked
    cost = spent(requests, {pair.key for pair in pairs}) / len(pairs)
    tables, currency = {ALL: table_of(pairs, requests)}, requests.panel.currency
    result = decided(tables, rule, requests.own, cost or None, currency, after)
    return replace(result, texts=texts_of(pairs))


def table_of(pairs: Sequence[Pair], requests: Asked) -> Judged:
    """Judgments of these questions alone, and ties where both answers are equal."""
    names = {pair.key: pair.question_id for pair in pairs if not pair.is_same}
    judges = [judge.judge for judge in requests.panel.judges]
    records = Ledger(requests.output).records if requests.output.exists() else []
    selected = [
        {key: value for key, value in record.items() if key != TEXTS}
        | {"question_id": names[record["question_id"]]}
        for record in records
        if record["question_id"] in names and record["judge_model"] in judges
    ]
    table = None
    if selected:
        read = judgments_of(pd.DataFrame(selected), copies="keep")
        table = (
            judged(read, OLD, NEW)
            .called(*requests.names)
            .asked(judges, [*names.values()], requests.budget is None)
        )
    same = [pair.question_id for pair in pairs if pair.is_same]
    return with_ties(table, same, judges, requests.names).labelled(labels_of(pairs))
