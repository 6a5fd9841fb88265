"""Who answers is one idea: models on servers, functions and people in one panel, by one interface."""

import asyncio
import io
import json

import pytest
from typer.testing import CliRunner

from judgerank.cli import app
from judgerank.collecting.respondents import ShownComparison, respondents
from judgerank.collecting.response import JudgeRefused, Refused, Reply
from judgerank.collecting.settings import Judge
from tests.tool.collecting import KEY, command, judgments, rows
from tests.tool.endpoint import serving

SHOWN = ShownComparison("Q?", "one", ("two", "turns"), [{"role": "user", "content": "Which?"}])


class Server:
    """Says which judge was asked what."""

    async def attempt(self, judge, messages):
        return Reply(f"a, 0.9 {judge.judge} {messages[0]['content']}", None, None, 1, 1, None)


def test_every_respondent_answers_by_the_same_method(tmp_path, monkeypatch):
    (tmp_path / "rule.py").write_text(
        "def judge(question, first, second): return 'b' if question == 'Q?' else 'a'"
    )
    panel = {
        "llm": Judge(judge="llm", base_url="http://here/v1"),
        "rule": Judge(judge="rule", provider="python", model=f"{tmp_path}/rule.py"),
        "ann": Judge(judge="ann", provider="person"),
    }
    monkeypatch.setattr("sys.stdin", io.StringIO("t\n"))

    async def compared():
        return {name: (await one.compare(SHOWN)).text for name, one in respondents(panel, Server()).items()}

    assert asyncio.run(compared()) == {"llm": "a, 0.9 llm Which?", "rule": "b", "ann": "c"}


@pytest.mark.parametrize(("typed", "said"), [("A\n", "a"), ("2\n", "b"), ("x\n?\n0\n", "c")])
def test_a_person_sees_no_names_and_is_asked_until_a_key_is_known(monkeypatch, capsys, typed, said):
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    ann = respondents({"ann": Judge(judge="ann", provider="person")}, Server())["ann"]
    assert asyncio.run(ann.compare(SHOWN)).text == said
    shown = capsys.readouterr().err
    assert "--- ANSWER A ---\none\n" in shown
    assert "--- ANSWER B ---\ntwo\nturns\n" in shown


@pytest.mark.parametrize(("typed", "error"), [("s\n", Refused), ("q\n", JudgeRefused), ("", JudgeRefused)])
def test_a_person_may_skip_and_stop(monkeypatch, typed, error):
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    ann = respondents({"ann": Judge(judge="ann", provider="person")}, Server())["ann"]
    with pytest.raises(Refused) as raised:
        asyncio.run(ann.compare(SHOWN))
    assert type(raised.value) is error


def test_a_panel_of_a_model_and_a_person_is_collected_and_marked(tmp_path):
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows(1)))
    judges = [{"judge": "j"}, {"judge": "ann", "provider": "person"}]
    with serving() as server:
        asked = command(tmp_path, server.url, judges=judges)
        done = CliRunner().invoke(app, asked, env={"OPENAI_API_KEY": KEY}, input="a\nb\nt\n")
    assert done.exit_code == 0, done.output
    kept = judgments(tmp_path)
    votes = [row["judge_preferred_model"] for row in kept if row["judge_model"] == "ann"]
    assert sorted(votes) == ["a", "b", "c"]
    assert [row.get("human", False) for row in kept] == [row["judge_model"] == "ann" for row in kept]
    assert "asked at this terminal: ann" in done.output


def test_a_person_has_no_address():
    with pytest.raises(ValueError, match=r"'ann'.*\bbase_url\b"):
        Judge(judge="ann", provider="person", base_url="http://here/v1")
