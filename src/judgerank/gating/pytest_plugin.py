"""pytest plugin: a fixture that fails a test where a panel of judges finds the new answers worse."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from judgerank.gating.gate import Gate
    from judgerank.gating.rule import Rule
    from judgerank.reading.read import Source

Answers = str | Path | Callable[[str], str]
OPTION = "--judgerank-judgments"
NAMES = "old", "new"
DEFAULT = ".judgerank/judgments.jsonl"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where judgments are kept, so that unchanged answers are never judged twice."""
    parser.addoption(OPTION, default=DEFAULT, metavar="FILE", help="judgments of the fixture judgerank_gate, kept")


@pytest.fixture
def judgerank_gate(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Gate]:
    """Function of two sets of answers and a panel that fails a test on block, and skips it where undecided.

    ``judgerank_gate(old, new, panel, questions=None, rule=None, budget=None)``: old and new are files of answers,
    or functions from a question to an answer, with the questions' texts by id; panel is a YAML file of judges.
    ``judgerank_gate(old, new, judgments=FILE, rule=None)`` asks nobody: old and new are their names in judgments
    that are there. What cannot be used fails the test with one sentence. ``own_maker`` and ``makers`` are those of
    `judgerank.gate`; ``allow_hosts`` are hosts that judges may be asked at.
    """
    ledger = Path(request.config.rootpath, request.config.getoption(OPTION))

    def check(
        old: Answers,
        new: Answers,
        panel: str | Path | None = None,
        questions: Mapping[str, str] | None = None,
        rule: Rule | None = None,
        budget: float | None = None,
        judgments: Source | None = None,
        own_maker: str = "recuse",
        makers: Mapping[str, str] | None = None,
        allow_hosts: Sequence[str] = (),
    ) -> Gate:
        from judgerank.data.errors import JudgerankError
        from judgerank.gating.callers import PYTEST, as_called
        from judgerank.gating.gate import gate
        from judgerank.gating.verdict_text import sentence

        failure = ""
        try:
            if judgments is not None:
                result = gate(judgments, str(old), str(new), rule, own_maker=own_maker, makers=makers)
            else:
                both = zip(NAMES, (old, new), strict=True)
                files = [_file(tmp_path / f"{name}.jsonl", answers, questions) for name, answers in both]
                by_name = tuple((makers or {}).items())
                how = {"budget": budget, "allow_hosts": tuple(allow_hosts)}
                result = _asked(files, panel, ledger, rule, how, (own_maker, by_name))
        except JudgerankError as error:
            failure = f"judgerank_gate: {as_called(str(error), PYTEST)}"
        if failure:  # outside, lest pytest print the error that led to it, too
            pytest.fail(failure, pytrace=False)
        message = as_called(sentence(result), PYTEST)
        if result.verdict == "block":
            pytest.fail(message, pytrace=False)
        if result.verdict == "inconclusive":
            pytest.skip(message)
        return result

    return check


def _file(path: Path, answers: Answers, questions: Mapping[str, str] | None) -> Path:
    from judgerank.data.errors import ConfigError
    from judgerank.gating.answer_pairs import write_answers

    if isinstance(answers, str | Path):
        return Path(answers)
    if not isinstance(questions, Mapping) or not questions:
        raise ConfigError("answers of a function take questions: a mapping of ids to texts")
    write_answers(path, questions, answers)
    return path


def _asked(
    files: list[Path],
    panel: str | Path | None,
    ledger: Path,
    rule: Any,
    how: dict[str, Any],
    own: tuple[str, tuple[tuple[str, str], ...]],
) -> Gate:
    from judgerank.data.errors import ConfigError
    from judgerank.data.modules import asking
    from judgerank.gating.answer_pairs import paired
    from judgerank.gating.rule import Rule

    if panel is None:
        raise ConfigError("name the judges to ask (panel=FILE), or judgments that are there (judgments=FILE)")
    with asking():
        from judgerank.collecting.settings import read_panel
        from judgerank.gating.panel_rounds import Asked, ask_until_decided, without_own_maker
    requests = without_own_maker(Asked(read_panel(Path(panel), []), ledger, **how), *own)
    return ask_until_decided(paired(*files), requests, rule or Rule())
