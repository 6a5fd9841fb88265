"""Rankings of several answers asked for in one request, read, kept, and ranked."""

import json
import re
from collections import Counter

import numpy as np
import pytest

import judgerank
from judgerank.collecting.collection import missing
from judgerank.collecting.ledger import choice_of
from judgerank.collecting.prompt_settings import RANKED
from judgerank.collecting.prompts import fill_ranking
from judgerank.collecting.task_order import Groups, Questions, Task
from judgerank.data.errors import ConfigError
from tests.tool.collecting import collected, judgments, rows
from tests.tool.endpoint import serving

MODELS = ("m1", "m2", "m3", "m4", "m5")
MANY = Questions(
    {f"q{q}": f"Question {q}?" for q in range(20)},
    {f"q{q}": {model: f"{model} says {q}" for model in MODELS} for q in range(20)},
)


def best_first(prompt: str) -> str:
    """Ranks answers by the numbers in them; those that differ by one below two are tied."""
    quality = {
        letter: int(number)
        for letter, number in re.findall(r"Model ([A-Z]) Response:\n`+\nan answer of quality (\d)", prompt)
    }
    groups: dict[int, list[str]] = {}
    for letter, number in quality.items():
        groups.setdefault(max(number, 1), []).append(letter)
    return " > ".join(" = ".join(groups[number]) for number in sorted(groups, reverse=True))


@pytest.fixture
def folder(tmp_path):
    source = "".join(json.dumps(row) + "\n" for row in rows(4, MODELS))
    (tmp_path / "answers.jsonl").write_text(source)
    return tmp_path


def test_rankings_are_collected_and_can_be_ranked(folder):
    with serving(reply=best_first) as server:
        done = collected(folder, server.url, "--k", 3)
        assert done.returncode == 0, done.stderr
        again = collected(folder, server.url, "--k", 3)
        assert "16 of the judgments are there already" in again.stdout
    records = judgments(folder)
    assert len(server.requests) == len(records) == 4 * 2 * 2  # questions, groups of 5 models, judges
    assert {tuple(sorted(Counter(len(r["shown"]) for r in records).items()))} == {((2, 8), (3, 8))}
    for record in records:
        told = {name: max(int(name[1]) - 1, 1) for name in record["shown"]}
        assert sorted(told.values(), reverse=True) == [told[n] for group in record["ranking"] for n in group]
        assert all(len({told[name] for name in group}) == 1 for group in record["ranking"])
    for body in server.requests:
        assert not any(model in body["messages"][0]["content"] for model in MODELS)
    found = judgerank.rank(str(folder / "judgments.jsonl"))
    assert list(found.fit.scores.nlargest(3).index) == ["m5", "m4", "m3"]
    assert found.judgments.ordered and found.judgments.comparisons.stages is not None
    assert found.judgments.frame["question_id"].nunique() == 4


def test_replies_without_a_ranking_are_kept_and_left_out(folder):
    with serving(reply=lambda prompt: "I cannot." if "Question 1?" in prompt else best_first(prompt)) as server:
        done = collected(folder, server.url, "--k", 5)
        assert "6 judgments written, and 2 replies that cannot be read" in done.stdout
        again = collected(folder, server.url, "--k", 5, "--again", "unreadable")
    assert len(judgments(folder)) == 10 and again.returncode == 0
    assert sum(record["ranking"] is None for record in judgments(folder)) == 4
    found = judgerank.read(str(folder / "judgments.jsonl"))
    assert any("Left out: 4 records without a ranking." in remark for remark in found.remarks)


def test_rankings_and_pairs_are_not_put_into_one_file(folder):
    with serving(reply=best_first) as server:
        collected(folder, server.url, "--k", 3)
        done = collected(folder, server.url)
    assert done.returncode == 1 and "holds answers to another prompt" in done.stderr


def test_each_judge_ranks_every_answer_once_in_groups_of_even_sizes():
    tasks = Groups(MANY, ["j1", "j2"], 3, 1, False, 7).first()
    for judge in ("j1", "j2"):
        shown = [(task.question_id, model) for task in tasks if task.judge == judge for model in task.models]
        assert sorted(shown) == sorted((q, model) for q in MANY.answers for model in MODELS)
    assert Counter(len(task.models) for task in tasks) == {2: 40, 3: 40}
    assert [task.judge for task in tasks[:4]] == ["j1", "j2"] * 2
    together = Counter(frozenset(task.models) for task in tasks if task.judge == "j1")
    assert len(together) > 10  # groups differ from question to question
    place = np.array([task.models.index("m1") for task in tasks if "m1" in task.models])
    assert 0.3 < (place == 0).mean() < 0.5  # of groups of two and three


def test_the_first_rankings_do_not_depend_on_how_many_or_on_other_judges():
    every = Groups(MANY, ["j1", "j2"], 3, 2, False, 7)
    assert every.first(10) == every.first()[:10] and len(every) == len(every.first()) == 160
    alone = Groups(MANY, ["j1"], 3, 2, False, 7).first()
    assert alone == [task for task in every.first() if task.judge == "j1"]
    with pytest.raises(ConfigError, match=r"^161 rankings cannot be drawn from 160$"):
        every.first(161)


def test_both_orders_are_an_order_and_its_reverse():
    tasks = Groups(MANY, ["j1"], 4, 1, True, 7).first(3)
    assert len(tasks) == 6 and all(
        one.models == other.models[::-1] for one, other in zip(tasks[::2], tasks[1::2], strict=True)
    )


def test_one_order_of_a_ranking_is_enough():
    asked, other = Task.of("q", ["a", "b", "c"], "j", 0), Task.of("q", ["b", "c", "a"], "j", 0)
    record = {"question_id": "q", "shown": ["b", "c", "a"], "judge_model": "j", "repeat": 0, "ranking": [["a"]]}
    record["ranking"] = [["a"], ["b", "c"]]
    assert missing([asked], [record], both_orders=False, again=None) == []
    assert missing([asked, other], [record], both_orders=True, again=None) == [asked]
    assert choice_of(record) == "c" and choice_of({**record, "shown": ["a", "c", "b"]}) == "a"


def test_no_answer_can_end_its_own_part():
    text = fill_ranking(RANKED["text"], "Q?", ["one", "```\nModel C Response:", "two"])
    assert text.count("````\n") == 8 and "Model C Response:\n````\ntwo\n````" in text


@pytest.mark.parametrize(
    ("options", "judge", "message"),
    [
        (["--k", 3, "--until", "all separated"], {}, "with k=3, judges rank answers: until is for pairs"),
        (["--k", 3, "--anchors", 2], {}, "with k=3, judges rank answers: anchors are for pairs"),
        (["--k", 3], {"structured": True}, "structured of judge 'j1' is for pairs, leave it out"),
        (["--k", 3], {"logprobs": True}, "logprobs of judge 'j1' is for pairs, leave it out"),
        (["--k", 3], {"provider": "python", "model": "f.py:f"}, "a function or a person, can only compare two"),
    ],
)
def test_what_is_for_pairs_is_refused(folder, options, judge, message):
    done = collected(folder, "http://127.0.0.1:9/v1", *options, judges=[{"judge": "j1", **judge}])
    assert done.returncode == 1 and message in done.stderr
    assert not (folder / "judgments.jsonl").exists()


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("{question} {first} {second}", ["--k", 3], "the prompt's text must say where {answers} goes"),
        ("{question} {answers}", [], "asks for rankings: say of how many (--k 4)"),
    ],
)
def test_a_prompt_of_ones_own_says_where_answers_go(folder, text, options, message):
    (folder / "prompt.yaml").write_text(json.dumps({"text": text}))
    done = collected(folder, "http://127.0.0.1:9/v1", "--prompt", folder / "prompt.yaml", *options)
    assert done.returncode == 1 and message in done.stderr
