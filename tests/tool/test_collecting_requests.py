"""Requests with images, for rankings of several answers, and to people: what is asked, read and kept."""

import asyncio
import io
import json
import re
from base64 import b64decode, b64encode
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import judgerank
from judgerank.cli import app
from judgerank.collecting import prompts
from judgerank.collecting.answer_sources import read_questions
from judgerank.collecting.collection import missing
from judgerank.collecting.costs import prompt_tokens
from judgerank.collecting.ledger import choice_of
from judgerank.collecting.prompt_settings import RANKED
from judgerank.collecting.prompts import content_of, fill_ranking, mode_of, tokens_of
from judgerank.collecting.respondents import ShownComparison, respondents
from judgerank.collecting.response import JudgeRefused, Refused, Reply
from judgerank.collecting.settings import Judge
from judgerank.collecting.task_order import Groups, Questions, Task
from judgerank.data.errors import ConfigError
from judgerank.reading.answers.found import Named, images_in
from replication.config import ROOT
from studies.torture.endpoint import serving
from tests.tool.collecting import KEY, collected, command, cost_bound, judgments, rows
from tests.tool.record_platforms import DOT
from tests.tool.test_answers import log, phoenix_recorded, written  # noqa: F401  # a fixture

PNG = b64decode(DOT.partition(",")[2])
ELSEWHERE = "https://example.com/cat.png"
SEES = {"judge": "sees", "model": "gpt-4o", "images": "send"}


def message(*places: str) -> list[dict]:
    parts = [{"type": "image_url", "image_url": {"url": place}} for place in places]
    return [{"role": "user", "content": [{"type": "text", "text": "What is this?"}, *parts]}]


def table(folder: Path, *places: str) -> None:
    """A question with images, and one without."""
    answers = [
        {"question_id": name, "question": question, "model": model, "answer": f"an answer of quality {n}"}
        for name, question in (("seen", message(*places)), ("plain", [{"role": "user", "content": "Why?"}]))
        for n, model in enumerate(("m1", "m2"))
    ]
    written(folder / "answers.jsonl", answers)


def contents(server) -> list:
    return [body["messages"][-1]["content"] for body in server.requests]


def sent_images(server) -> list[str]:
    parts = (part for content in contents(server) if isinstance(content, list) for part in content)
    return [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]


def test_a_judge_that_sees_is_sent_images_and_their_bytes_are_kept_nowhere(tmp_path):
    (tmp_path / "cat.png").write_bytes(PNG + b"cat")
    cat = f"data:image/png;base64,{b64encode(PNG + b'cat').decode()}"
    table(tmp_path, DOT, "cat.png", ELSEWHERE)
    with serving() as server:
        done = collected(tmp_path, server.url, judges=[SEES])
        assert done.returncode == 0, done.stderr
        assert sent_images(server) == [DOT, cat, ELSEWHERE]
    (content,) = (each for each in contents(server) if isinstance(each, list))
    assert [part["type"] for part in content] == ["text", "image_url"] * 3 + ["text"]
    assert content[2]["text"] == "\n[image: cat.png]"
    stored = "".join(path.read_text() for path in tmp_path.glob("judgments*"))
    assert DOT[30:60] not in stored and cat[-30:] not in stored and "base64" not in stored
    assert sorted(len(record.get("images", [])) for record in judgments(tmp_path)) == [0, 3]
    shown = next(record["images"] for record in judgments(tmp_path) if "images" in record)
    assert shown[0].startswith("image/png, sha256 ") and shown[1:] == ["cat.png", ELSEWHERE]


@pytest.mark.parametrize(
    ("more", "requests", "said"),
    [
        ({}, 1, "is not known to see images: 1 of its 2 requests show one and are left out"),
        ({"images": "skip"}, 1, "has images: skip: 1 of its 2 requests"),
        ({"images": "name"}, 2, "is shown only the names of images, in 1 request"),
    ],
)
def test_a_judge_that_does_not_see_is_asked_the_others_or_shown_names(tmp_path, more, requests, said):
    table(tmp_path, DOT)
    with serving() as server:
        done = collected(tmp_path, server.url, judges=[{"judge": "blind", **more}])
        assert done.returncode == 0, done.stderr
        assert said in done.stdout + done.stderr
        assert len(server.requests) == requests and not sent_images(server)
        collected(tmp_path, server.url, judges=[{"judge": "blind", **more}])
        assert len(server.requests) == requests


def test_another_picture_under_the_same_name_is_no_answer_to_the_first(tmp_path):
    table(tmp_path, "cat.png")
    with serving() as server:
        for picture in (b"cat", b"dog"):
            (tmp_path / "cat.png").write_bytes(PNG + picture)
            done = collected(tmp_path, server.url, judges=[SEES])
        assert done.returncode == 1 and "is about other texts or images of question 'seen'" in done.stderr
        assert len(server.requests) == 2
        anew = collected(tmp_path, server.url, "--judgments", tmp_path / "anew.jsonl", judges=[SEES])
        assert anew.returncode == 0 and len(server.requests) == 4
        named = collected(tmp_path, server.url, judges=[SEES | {"images": "name"}])
        assert "is about other texts or images" in named.stderr


def big(folder: Path) -> str:
    (folder / "big.png").write_bytes(PNG + bytes(prompts.LARGEST))
    return "big.png"


def outside(folder: Path) -> str:
    (folder.parent / "outside.png").write_bytes(PNG)
    return "../outside.png"


def linked(folder: Path) -> str:
    (folder.parent / "target.png").write_bytes(PNG)
    (folder / "link.png").symlink_to(folder.parent / "target.png")
    return "link.png"


def text_file(folder: Path) -> str:
    (folder / "secret.png").write_text("password: 12345")
    return "secret.png"


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (lambda folder: "absent.png", "there is no image absent.png"),
        (big, "has 5.0 MB, and 5 are taken"),
        (outside, "not sent:"),
        (linked, "not sent:"),
        (text_file, "is not a png, jpeg, gif, webp file"),
        (lambda folder: "s3://bucket/cat.png", "image s3://bucket/cat.png "),
        (lambda folder: "data:image/png;base64,@@@", "Base64"),
        (lambda folder: "data:image/svg+xml,<svg/>", "is not a png, jpeg, gif, webp file"),
    ],
)
def test_images_that_are_not_sent(tmp_path, place, said):
    folder = tmp_path / "study"
    folder.mkdir()
    table(folder, place(folder))
    with serving() as server:
        done = collected(folder, server.url, judges=[SEES])
        assert done.returncode == 1 and not server.requests
    assert "question 'seen': " in done.stderr and said in done.stderr
    assert not (folder / "judgments.jsonl").exists()


def test_each_provider_is_sent_images_in_its_own_form(tmp_path):
    table(tmp_path, DOT)
    judges = [SEES | {"judge": "claude", "model": "claude-sonnet-5", "provider": "anthropic"}]
    with serving() as server:
        done = collected(tmp_path, server.origin, judges=judges)
        assert done.returncode == 0, done.stderr
    (source,) = (part["source"] for each in contents(server) for part in each if part["type"] == "image")
    assert source["type"] == "base64" and source["media_type"] == "image/png" and b64decode(source["data"]) == PNG


def test_a_dry_run_shows_the_image_and_what_it_may_cost(tmp_path):
    table(tmp_path, DOT)
    priced = SEES | {"prompt_price": 1.0, "completion_price": 0.0}
    costs = []
    for more in ({"images": "name"}, {}, {"image_tokens": 500_000}):
        with serving() as server:
            done = collected(tmp_path, server.url, "--dry-run", judges=[priced | more])
            assert not server.requests
        costs.append(cost_bound(done.stdout)[0])
        assert ("data:image/png;base64" in done.stdout) == (not more or "image_tokens" in more)
        assert DOT not in done.stdout
    assert costs[1] - costs[0] == pytest.approx(3779e-6, abs=2e-4) and costs[2] - costs[0] == pytest.approx(
        0.5, abs=1e-3
    )


def test_batches_carry_images_and_their_record_does_not(tmp_path):
    table(tmp_path, DOT)
    with serving() as server:
        done = collected(tmp_path, server.url, "--pilot", 0, "--poll", 0.05, judges=[SEES | {"batch": True}])
        assert done.returncode == 0, done.stderr
    assert len(judgments(tmp_path)) == 2
    assert not any("base64" in path.read_text() for path in tmp_path.glob("judgments*"))


@pytest.mark.parametrize(
    ("model", "mode", "tokens"),
    [
        ("openai/gpt-5-mini", "send", 12_000),
        ("openai/gpt-4o-mini", "send", 48_169),
        ("openai/gpt-4.1", "send", 3779),
        ("openai/o3-mini", "skip", 0),
        ("anthropic/claude-sonnet-4-5", "send", 1600),
        ("anthropic/claude-opus-4-8", "send", 4784),
        ("gemini/gemini-2.5-flash", "send", 6192),
        ("gemini/gemini-3-pro", "send", 2240),
        ("groq/qwen2.5-vl-72b", "send", 16_384),
        ("groq/llama-3.3-70b", "skip", 16_384),
    ],
)
def test_families_that_see(model, mode, tokens):
    """The reference has the tokens, too."""
    judge = Judge(judge="j", model=model)
    assert (mode_of(judge), tokens_of(judge)) == (mode, tokens)
    assert not tokens or f"{tokens:,}" in (ROOT / "docs/reference/collect.md").read_text()
    assert mode_of(Judge(judge="j", model=model, images="name")) == "name"
    assert tokens_of(Judge(judge="j", model=model, image_tokens=7)) == 7


def test_a_judge_that_used_more_for_an_image_is_counted_on_for_that():
    judge = Judge(judge="j", model="openai/gpt-4.1")
    named = Named("cat", ELSEWHERE)
    content = content_of("A [image: cat] and [image: dog]", {"cat": named})
    assert [part["type"] for part in content] == ["text", "image_url", "text"]
    plain = prompt_tokens(judge, [{"content": "A [image: cat] and [image: dog]"}])
    assert prompt_tokens(judge, [{"content": content}]) == plain + 3779


def test_images_are_found_in_every_form(tmp_path):
    anthropic = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}}
    forms = [
        {"type": "input_image", "image_url": ELSEWHERE},
        {"type": "image", "image": "cat.png"},
        json.dumps(message(ELSEWHERE)),  # promptfoo's prompts
        {"deep": [{"type": "image", "source": {"type": "url", "url": ELSEWHERE}}]},
    ]
    assert [one.place for one in images_in(forms)] == [ELSEWHERE, "cat.png", ELSEWHERE, ELSEWHERE]
    assert [one.place for one in images_in([anthropic, {"type": "audio", "data": "x"}])] == [
        "data:image/png;base64,QUJD"
    ]


def test_an_image_in_a_log_of_inspect_that_keeps_long_texts_apart(tmp_path):
    content = [{"type": "text", "text": "Look."}, {"type": "image", "image": "attachment://abc"}]
    sample = {"id": 1, "epoch": 1, "input": [{"role": "user", "content": content}], "attachments": {"abc": DOT}}
    output = {"choices": [{"message": {"role": "assistant", "content": "red"}}]}
    for model in ("a", "b"):
        written(tmp_path / f"{model}.json", log(model, sample | {"output": output, "messages": []}))
    read = read_questions(str(tmp_path), {})
    (text,) = read.text.values()
    (reference,) = read.images
    assert text == f"Look.\n[image: {reference}]" and read.images[reference].place == DOT


def test_an_image_of_an_experiment_of_phoenix(phoenix_recorded):  # noqa: F811
    read = read_questions("phoenix:recorded", {})
    (reference,) = read.images
    assert read.images[reference].place == DOT
    assert sum(f"[image: {reference}]" in text for text in read.text.values()) == 2


# Rankings of several answers asked for in one request, read, kept, and ranked.

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
    assert done.returncode == 1 and re.search(r"judgments\.jsonl\b.*\bprompt\b.*another file\b", done.stderr)


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
    with pytest.raises(ConfigError, match=r"^161 rankings cannot be drawn from 160: "):
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
        (["--k", 3, "--until", "top 2 separated"], {}, "with k=3, judges rank answers: until is for pairs"),
        (["--k", 3, "--anchors", 2], {}, "with k=3, judges rank answers: anchors are for pairs"),
        (["--k", 3], {"structured": True}, "structured of judge 'j1' is for pairs, leave it out"),
        (["--k", 3], {"logprobs": True}, "logprobs of judge 'j1' is for pairs, leave it out"),
        (["--k", 3], {"provider": "python", "model": "f.py:f"}, "judge 'j1', a function"),
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
        ("{question} {answers}", [], "(--k 4)"),
    ],
)
def test_a_prompt_of_ones_own_says_where_answers_go(folder, text, options, message):
    (folder / "prompt.yaml").write_text(json.dumps({"text": text}))
    done = collected(folder, "http://127.0.0.1:9/v1", "--prompt", folder / "prompt.yaml", *options)
    assert done.returncode == 1 and message in done.stderr


# Who answers is one idea: models on servers, functions and people in one panel, by one interface.

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
