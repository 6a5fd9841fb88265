"""Images in questions and answers: who is sent them, in what form, at what cost; their bytes are kept nowhere."""

import json
from base64 import b64decode, b64encode
from pathlib import Path

import pytest

from judgerank.collecting import images
from judgerank.collecting.answer_sources import read_questions
from judgerank.collecting.costs import prompt_tokens
from judgerank.collecting.images import content_of, mode_of, tokens_of
from judgerank.collecting.settings import Judge
from judgerank.reading.answers.found import Named, images_in
from replication.config import ROOT
from tests.tool.collecting import collected, judgments
from tests.tool.endpoint import serving
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
        anew = collected(tmp_path, server.url, "--output", tmp_path / "anew.jsonl", judges=[SEES])
        assert anew.returncode == 0 and len(server.requests) == 4
        named = collected(tmp_path, server.url, judges=[SEES | {"images": "name"}])
        assert "is about other texts or images" in named.stderr


def big(folder: Path) -> str:
    (folder / "big.png").write_bytes(PNG + bytes(images.LARGEST))
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
        (outside, "lies outside of the folder of the answers"),
        (linked, "lies outside of the folder of the answers"),
        (text_file, "is no png, jpeg, gif, webp file"),
        (lambda folder: "s3://bucket/cat.png", "is no address (http, https), no file and no data URI"),
        (lambda folder: "data:image/png;base64,@@@", "is no Base64"),
        (lambda folder: "data:image/svg+xml,<svg/>", "is no png, jpeg, gif, webp file"),
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
        done = collected(tmp_path, server.place, judges=judges)
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
        costs.append(float(done.stdout.partition("estimated cost at most ")[2].split()[0]))
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
