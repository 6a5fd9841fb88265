"""Runs of `judgerank collect` against a server on loopback: what is asked, kept, told, and never asked twice."""

import json
import math
import re
import subprocess
import sys
from collections import Counter

import pandas as pd
import pytest

from judgerank import Comparisons, fit
from judgerank.collecting.outcome import money, replies
from judgerank.collecting.prompt_settings import PAIRWISE
from judgerank.collecting.prompts import fill
from judgerank.data.arrays import generator
from replication.config import ROOT
from studies.torture.endpoint import better, serving
from tests.forked import environment
from tests.tool.collecting import JUDGES, KEY, MODELS, TOTAL, collected, cost_bound, judgments, rows


def test_judgments_are_collected_and_can_be_ranked(tmp_path):
    with serving() as server:
        done = collected(tmp_path, server.url)
        assert done.returncode == 0, done.stderr
        assert f"{TOTAL} judgments written, and 0 replies that cannot be read" in done.stdout
        assert set(server.answered.values()) == {1}
        again = collected(tmp_path, server.url)
        assert re.search(rf"judgments\.jsonl: {TOTAL}\b", again.stdout)
        assert len(server.requests) == TOTAL
    for body in server.requests:
        assert set(body) == {"model", "messages", "temperature", "max_tokens"}
        assert (body["temperature"], body["max_tokens"]) == (0, 1024)
        assert [message["role"] for message in body["messages"]] == ["user"]
        assert not any(model in body["messages"][0]["content"] for model in MODELS)
    records = judgments(tmp_path)
    assert {(r["judge_model"], r["model_sent"], r["model_answered"]) for r in records} == {
        ("j1",) * 3,
        ("j2",) * 3,
    }
    assert all(r["judge_preferred_model"] == ("a" if r["model_a"] > r["model_b"] else "b") for r in records)
    assert len({r["model_a"] < r["model_b"] for r in records}) == 2
    ranked = fit(
        Comparisons.from_frame(pd.read_json(tmp_path / "judgments.jsonl", lines=True)), solver="penalised"
    )
    assert list(ranked.ranks) == [3, 2, 1]


def test_a_file_that_an_earlier_version_wrote_is_gone_on_with(tmp_path):
    """Its records lack what is now told beside, and have the same digests."""
    with serving() as server:
        collected(tmp_path, server.url, "--comparisons", 3)
        records = judgments(tmp_path)
        assert {record["prompt"] for record in records} == {"0001c59040af"}  # as version 0.2.0 wrote it
        for record in records:
            del record["seconds"]
        path = tmp_path / "judgments.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        done = collected(tmp_path, server.url)
    assert done.returncode == 0, done.stderr
    assert len(judgments(tmp_path)) == len(server.requests) == TOTAL


# each judge by itself


def test_parameters_are_passed_on_as_they_are_and_null_leaves_one_out(tmp_path):
    params = {
        "max_tokens": None,
        "max_completion_tokens": 77,
        "temperature": None,
        "seed": 7,
        "odd": {"deep": [1]},
    }
    judges = [{"judge": "strict", "model": "my-org/strict", "params": params}, {"judge": "plain"}]
    with serving(lambda prompt, times: None) as server:
        done = collected(tmp_path, server.url, judges=judges)
    assert done.returncode == 0, done.stderr
    strict = [body for body in server.requests if body["model"] == "my-org/strict"]
    assert len(strict) == TOTAL / 2
    wanted = {"model", "messages", "max_completion_tokens", "seed", "odd"}
    assert all(set(body) == wanted and body["odd"] == {"deep": [1]} for body in strict)
    assert {body["max_completion_tokens"] for body in strict} == {77}
    asked_with = {(r["judge_model"], r.get("asked_with")) for r in judgments(tmp_path)}
    assert ("plain", None) in asked_with
    assert all(found for name, found in asked_with if name == "strict")


def test_a_server_that_takes_no_max_tokens_answers_once_the_parameter_is_left_out(tmp_path):
    with serving(refuses={"max_tokens", "temperature"}) as server:
        refused = collected(tmp_path, server.url, "--comparisons", 8)
        assert refused.returncode == 0, refused.stderr
        for name in ("j1", "j2"):
            assert f"judge '{name}' refuses temperature; it is asked without" in refused.stdout
            assert f"judge '{name}' refuses max_tokens; it is asked with max_completion_tokens" in refused.stdout
        assert len(server.requests) == 8 + 2 * 2  # each judge's first request alone learns both
        assert {tuple(record["asked_without"]) for record in judgments(tmp_path)} == {
            ("max_tokens", "temperature")
        }
        (tmp_path / "judgments.jsonl").unlink()
        params = {"max_tokens": None, "temperature": None, "max_completion_tokens": 50}
        judges = [{**judge, "params": params} for judge in JUDGES]
        done = collected(tmp_path, server.url, "--comparisons", 8, judges=judges)
    assert done.returncode == 0, done.stderr
    assert len(judgments(tmp_path)) == 8


def test_judges_are_asked_in_the_form_of_their_provider_and_with_their_own_keys(tmp_path):
    """An endpoint of OpenAI's form and one of Anthropic's, each with a key of its own."""
    with serving() as one, serving() as other:
        judges = [
            {"judge": "j1"},
            {
                "judge": "claude",
                "model": "claude-x",
                "provider": "anthropic",
                "base_url": other.origin,
                "api_key_env": "OTHER_KEY",
                "reasoning_budget": 2000,
                "params": {"temperature": 1.0},
            },
        ]
        prompt = tmp_path / "prompt.yaml"
        prompt.write_text("system: You judge answers.\n")
        keys = {"OTHER_KEY": "other-secret-9876"}
        done = collected(tmp_path, one.url, "--prompt", prompt, judges=judges, env=keys)
        assert done.returncode == 0, done.stderr
    assert one.keys == {f"Bearer {KEY}"}
    assert other.keys == {"other-secret-9876"}
    assert set(other.paths) == {"/v1/messages"}
    assert set(one.paths) == {"/v1/chat/completions"}
    for body in other.requests:
        assert body["max_tokens"] == 1024 + 2000
        assert body["thinking"] == {"type": "enabled", "budget_tokens": 2000}
        assert "You judge answers." in json.dumps(body["system"])
    assert all(body["messages"][0] == {"role": "system", "content": "You judge answers."} for body in one.requests)
    assert len(judgments(tmp_path)) == TOTAL
    files = b"".join(path.read_bytes() for path in tmp_path.iterdir()) + (done.stdout + done.stderr).encode()
    assert b"other-secret" not in files
    assert KEY.encode() not in files


def test_a_judge_elsewhere_needs_a_key_of_its_own(tmp_path):
    with serving() as one, serving() as other:
        judges = [{"judge": "j1"}, {"judge": "j2", "base_url": other.url}]
        done = collected(tmp_path, one.url, judges=judges)
        assert done.returncode == 1
        assert "judge 'j2' is not at the panel's base_url" in done.stderr
        assert one.requests == other.requests == []
        judges[1]["api_key_env"] = None
        done = collected(tmp_path, one.url, judges=judges)
    assert done.returncode == 0, done.stderr
    assert one.keys == {f"Bearer {KEY}"}
    assert not any(KEY in key for key in other.keys)


def test_a_judge_can_be_described_on_the_command_line(tmp_path):
    with serving() as server:
        described = "judge: third, model: my-org/third, params: {temperature: null}"
        done = collected(tmp_path, server.url, "--judge", described, "--judge", "fourth", "--comparisons", 40)
        assert done.returncode == 0, done.stderr
        bad = collected(tmp_path, server.url, "--judge", "judge: x, modle: y")
    assert "there is no key 'modle'; the nearest known one is 'model'" in bad.stderr
    bodies = {body["model"]: body for body in server.requests}
    assert set(bodies) == {"j1", "j2", "my-org/third", "fourth"}
    assert "temperature" not in bodies["my-org/third"]


def test_structured_replies_are_asked_for_and_given_up_where_they_are_refused(tmp_path):
    judges = [{"judge": "j1", "structured": True}]
    with serving() as server:
        collected(tmp_path, server.url, "--comparisons", 4, judges=judges)
    assert all("json_schema" in body["response_format"] for body in server.requests)
    assert {json.loads(record["raw"])["choice"] for record in judgments(tmp_path)} <= {"a", "b", "c"}
    assert all(record["judge_confidence"] for record in judgments(tmp_path))
    (tmp_path / "judgments.jsonl").unlink()
    with serving(refuses={"response_format"}) as server:
        done = collected(tmp_path, server.url, "--comparisons", 4, "--concurrent", 1, judges=judges)
    assert done.returncode == 0, done.stderr
    assert len(judgments(tmp_path)) == 4
    assert ["response_format" in body for body in server.requests] == [True, True, False, False, False, False]
    assert all("guided_json" in body for body in server.requests[2:])


def test_log_probabilities_of_the_letters_are_kept(tmp_path):
    with serving() as server:
        collected(tmp_path, server.url, judges=[{"judge": "j1", "logprobs": True}, {"judge": "j2"}])
    for record in judgments(tmp_path):
        choice = record["judge_preferred_model"]
        wanted = {choice: math.log(0.8), "c": math.log(0.1)} if record["judge_model"] == "j1" else None
        assert record.get("letters") == (pytest.approx(wanted) if wanted else None)


# what is shown


def test_criteria_make_files_of_their_own(tmp_path):
    text = PAIRWISE["text"] + "\nJudge by this alone: {criterion}.\n"
    criteria = {"correct": "is it {right}?", "kind": "is it kind?"}
    (tmp_path / "prompt.yaml").write_text(json.dumps({"text": text, "criteria": criteria}))

    def reply(prompt: str) -> str:
        a, b = (int(number) for number in re.findall(r"answer of quality (\d+)", prompt))
        turned = "is it kind?" in prompt
        return "a, 0.9" if (a > b) != turned else "b, 0.9"

    with serving(reply=reply) as server:
        done = collected(tmp_path, server.url, "--prompt", tmp_path / "prompt.yaml")
        again = collected(tmp_path, server.url, "--prompt", tmp_path / "prompt.yaml")
    assert done.returncode == again.returncode == 0, done.stderr
    assert len(server.requests) == 2 * TOTAL
    assert not (tmp_path / "judgments.jsonl").exists()
    ranked = {}
    for name in criteria:
        records = judgments(tmp_path, f"judgments.{name}.jsonl")
        assert len(records) == TOTAL
        assert len({record["prompt"] for record in records}) == 1
        ranked[name] = list(fit(Comparisons.from_frame(pd.DataFrame(records)), solver="penalised").ranks)
    assert ranked == {"correct": [3, 2, 1], "kind": [1, 2, 3]}
    prompts = {judgments(tmp_path, f"judgments.{name}.jsonl")[0]["prompt"] for name in criteria}
    assert len(prompts) == 2
    assert any("is it {right}?" in body["messages"][0]["content"] for body in server.requests)


def test_reference_answers_and_turns_are_shown_and_are_part_of_the_digest(tmp_path):
    told = [
        {
            **row,
            "question": ["First?", row["question"]],
            "answer": ["Yes.", row["answer"]],
            "reference": "It is 4.",
        }
        for row in rows()
    ]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in told))
    text = PAIRWISE["text"] + "\nA correct answer:\n{reference}\n"
    (tmp_path / "prompt.yaml").write_text(json.dumps({"text": text}))
    options = ("--prompt", tmp_path / "prompt.yaml", "--comparisons", 4)
    with serving() as server:
        done = collected(tmp_path, server.url, *options)
        assert done.returncode == 0, done.stderr
        for body in server.requests:
            shown = body["messages"][0]["content"]
            assert "A correct answer:\n```\nIt is 4.\n```" in shown
            assert shown.count("Turn 1:\n```\n") == 3
            assert shown.count("Turn 2:\n```\n") == 3
            assert "Turn 2:\n```\nQuestion" in shown
        changed = [{**row, "reference": "It is 5."} for row in told]
        (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in changed))
        done = collected(tmp_path, server.url, *options)
        assert re.search(r"\btexts of question 'q\d'", done.stderr)
        (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows()))
        done = collected(tmp_path, server.url, *options)
    assert "the prompt shows a reference answer, and question 'q0' has none" in done.stderr
    assert len(server.requests) == 4


def test_another_prompt_wants_another_file(tmp_path):
    with serving() as server:
        collected(tmp_path, server.url, "--comparisons", 2)
        for words in ("max_tokens: 5\n", "system: Be fair.\n"):
            (tmp_path / "other.yaml").write_text(words)
            done = collected(tmp_path, server.url, "--comparisons", 2, "--prompt", tmp_path / "other.yaml")
            assert done.returncode == 1
            assert re.search(r"judgments\.jsonl\b.*\bprompt\b.*another file", done.stderr.splitlines()[-1])


def test_what_changed_under_an_old_name_is_refused(tmp_path):
    one, two, warm = (
        [{"judge": "j1", "model": model, "params": params}]
        for model, params in (("one", {}), ("two", {}), ("one", {"top_p": 0.5}))
    )
    with serving() as server:
        collected(tmp_path, server.url, "--comparisons", 3, judges=one)
        before = (tmp_path / "judgments.jsonl").read_bytes()
        done = collected(tmp_path, server.url, judges=two)
        assert re.search("'j1'.*'one', not 'two'", done.stderr.splitlines()[-1])
        done = collected(tmp_path, server.url, judges=warm)
        assert re.search(r"'j1'.*\bparameters\b", done.stderr.splitlines()[-1])
        answers = tmp_path / "answers.jsonl"
        answers.write_text(answers.read_text().replace("an answer", "a later answer"))
        done = collected(tmp_path, server.url, judges=one)
        assert re.search(r"\btexts of question 'q\d'", done.stderr.splitlines()[-1])
        assert done.returncode == 1
        assert len(server.requests) == 3
    assert (tmp_path / "judgments.jsonl").read_bytes() == before


# money


PRICED = [{"judge": "j1", "prompt_price": 1000, "completion_price": 1000}]


def test_a_dry_run_sends_nothing_and_says_what_it_would_take(tmp_path):
    priced = [{"judge": "j1", "prompt_price": 1, "completion_price": 2}, {"judge": "j2"}]
    with serving() as server:
        done = collected(tmp_path, server.url, "--dry-run", key=None, judges=priced, currency="EUR")
    assert done.returncode == 0, done.stderr
    assert server.requests == []
    assert not (tmp_path / "judgments.jsonl").exists()
    cost, currency = cost_bound(done.stdout)
    prompt = fill(PAIRWISE["text"], "q", "a", "b")
    assert cost == pytest.approx(12 * (len(prompt) + 80 + 2 * 1024) / 1e6, rel=0.1)
    assert currency == "EUR"
    assert re.search(r"EUR, .*\bprice: j2$", done.stdout, re.MULTILINE)


def test_prices_that_are_not_given_are_those_of_the_list(tmp_path):
    known = {"judge": "mini", "model": "openai/gpt-4o-mini", "api_key_env": "OPENAI_API_KEY"}
    done = collected(tmp_path, None, "--dry-run", judges=[known])
    assert done.returncode == 0, done.stderr
    assert cost_bound(done.stdout)[0] > 0
    unknown = known | {"model": "openai/nobody-knows-this"}
    done = collected(tmp_path, None, "--budget", 1, judges=[unknown])
    assert re.search(r"\bbudget\b.*'mini'", done.stderr)


def test_a_budget_stops_the_run_before_it_is_exceeded(tmp_path):
    with serving() as server:
        # an answer costs 0.11, and might have cost ten times as much
        done = collected(tmp_path, server.url, "--budget", 2.0, "--concurrent", 4, judges=PRICED)
        assert done.returncode == 0, done.stderr
        assert re.search(r"^stopped: .*'j1' .*\bbudget$", done.stdout, re.MULTILINE)
        spent = float(done.stdout.split("spent ")[1].split()[0])
        count = len(judgments(tmp_path))
        assert spent == pytest.approx(0.11 * count)
        most = cost_bound(done.stdout)[0] / 12
        assert count == 1 + (2.0 - most) // 0.11  # those on their way are waited for, as they turn out cheaper
        again = collected(tmp_path, server.url, "--budget", 2.0, judges=PRICED)
        assert len(server.requests) == len(judgments(tmp_path)) == count  # earlier runs count
        assert "stopped" in again.stdout
        free = collected(tmp_path, server.url, "--budget", 1)
        assert re.search(r"\bbudget\b.*'j1'", free.stderr)


def test_usage_that_is_not_told_is_taken_at_its_most(tmp_path):
    silent = [{"judge": "no usage", "prompt_price": 0, "completion_price": 1000}]
    with serving() as server:
        done = collected(tmp_path, server.url, "--comparisons", 2, judges=silent)
    assert float(done.stdout.split("spent ")[-1].split()[0]) == pytest.approx(2 * 1.024)


def test_the_pilot_says_what_the_rest_will_take_and_spending_is_shown_as_it_goes(tmp_path):
    with serving() as server:
        done = collected(tmp_path, server.url, "--pilot", 3, "--pilot-only", judges=PRICED)
        assert done.returncode == 0, done.stderr
        assert len(server.requests) == 3
        assert "9 requests to go: expected cost 0.9900 USD, expected time" in done.stdout
        assert "9 requests have no answer yet" in done.stdout
        done = collected(tmp_path, server.url, judges=PRICED)
    assert "as the replies so far: expected cost 0.9900 USD" in done.stdout
    assert "spent 1.3200 USD" in done.stdout
    assert "spent 1.3200 USD" in done.stderr.split("judgments: 100%")[-1]
    assert len(server.requests) == 12


def test_the_pilot_tells_of_a_judge_who_goes_by_the_place(tmp_path):
    with serving(reply=lambda prompt: "a, 0.9" if prompt.startswith("j1") else better(prompt)) as server:
        done = collected(tmp_path, server.url)
    assert "judge 'j1' preferred the answer shown first 8 times of 8" in done.stdout
    assert "judge 'j2' preferred" not in done.stdout


# judges that do not work stop alone


@pytest.mark.parametrize("status", ["401", "402", "403", "404"])
def test_a_judge_who_is_refused_stops_alone_and_the_server_is_quoted(tmp_path, status):
    said = f"{status}: j2 may not be asked with {KEY}"
    with serving(lambda prompt, times: said if prompt.startswith("j2") else None) as server:
        done = collected(tmp_path, server.url, "--concurrent", 2)
    assert done.returncode == 1
    told = done.stderr.splitlines()[-1]
    assert (
        f"judge 'j2' was stopped: it refuses every request ({status}); it says: j2 may not be asked with" in told
    )
    assert KEY not in done.stdout + done.stderr
    assert len(judgments(tmp_path)) == TOTAL / 2
    assert sum(body["model"] == "j2" for body in server.requests) <= 2
    assert re.search(rf"^{TOTAL // 2} judgments\b", done.stdout, re.MULTILINE)


def test_a_dead_judge_costs_nothing_and_the_others_go_on(tmp_path):
    with serving() as server, serving() as dead:
        address = dead.url
        dead.server_close()
        judges = [*PRICED, {**PRICED[0], "judge": "dead", "base_url": address, "api_key_env": None}]
        given = ("--attempts", 2, "--patience", "0.5s", "--budget", 10)
        done = collected(tmp_path, server.url, *given, judges=judges)
    assert done.returncode == 1
    assert "judge 'dead' was stopped: " in done.stderr.splitlines()[-1]
    assert "connection" in done.stderr.splitlines()[-1]
    assert len(judgments(tmp_path)) == 12
    assert "spent 1.3200 USD of 10.0000 USD" in done.stdout


def test_a_judge_who_cannot_be_read_stops_after_its_pilot_and_can_be_asked_again(tmp_path):
    quiet = lambda prompt: "Hmm, hard to say." if prompt.startswith("j2") else better(prompt)  # noqa: E731
    with serving(reply=quiet) as server:
        done = collected(tmp_path, server.url, "--pilot", 4)
        assert done.returncode == 1
        assert "judge 'j2' was stopped: 4 of its last 4 replies cannot be read" in done.stderr.splitlines()[-1]
        assert "12 judgments written, and 4 replies that cannot be read" in done.stdout
        assert sum(body["model"] == "j2" for body in server.requests) == 4
        unread = [r for r in judgments(tmp_path) if r["judge_preferred_model"] == "unknown"]
        assert {record["raw"] for record in unread} == {"Hmm, hard to say."}
        server.reply = better
        done = collected(tmp_path, server.url)
        assert "16 of the judgments are there already" in done.stdout
        assert len(server.requests) == TOTAL
        done = collected(tmp_path, server.url, "--again", "unreadable")
    assert done.returncode == 0, done.stderr
    assert len(server.requests) == TOTAL + 4
    assert set(server.answered.values()) == {1, 2}
    frame = pd.DataFrame(judgments(tmp_path))
    assert len(frame) == TOTAL + 4
    read = frame[frame["judge_preferred_model"] != "unknown"]
    assert len(read) == len(read.drop_duplicates(["question_id", "model_a", "model_b", "judge_model"])) == TOTAL


def test_a_judge_with_more_than_a_tenth_in_another_form_is_paused_and_three_are_shown(tmp_path):
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows(12)))
    other = lambda prompt: "I prefer the second." if re.search(r"Question \d*[05]\?", prompt) else better(prompt)  # noqa: E731
    with serving(reply=other) as server:
        done = collected(tmp_path, server.url, "--concurrent", 1, judges=JUDGES[:1])
        assert done.returncode == 1
        n_asked, of_form = len(server.requests), [r for r in judgments(tmp_path) if r["raw"][0] == "I"]
        assert n_asked < 36 and {record["judge_preferred_model"] for record in of_form} == {"unknown"}
        of_all = rf"{len(of_form)} of (its )?{n_asked} replies are in another form than the prompt asks for"
        assert re.search(of_all, done.stderr.splitlines()[-1])
        assert re.search(of_all, done.stdout) and done.stdout.count('"I prefer the second."') == 3
        done = collected(tmp_path, server.url, "--other-forms", 1, judges=JUDGES[:1])
    assert done.returncode == 0, done.stderr
    assert len(server.requests) == len(judgments(tmp_path)) == 36


def test_one_reply_and_small_amounts_are_told_as_such():
    assert replies(1, "is cut", "are cut") == "1 reply is cut"
    assert replies(2, "is cut", "are cut") == "2 replies are cut"
    told = [money(amount, "USD") for amount in (0.0, 0.0000123, 0.00057, 0.25)]
    assert told == ["0.0000 USD", "0.000012 USD", "0.00057 USD", "0.2500 USD"]


def test_an_empty_reply_of_a_model_that_thought_to_the_end_is_told_as_such(tmp_path):
    def thinks(prompt: str, times: int) -> str | None:
        return "thinks" if times == 1 else None

    with serving(thinks) as server:
        done = collected(tmp_path, server.url, "--comparisons", 6, "--pilot", 3)
        assert "0 judgments written, and 6 replies that cannot be read" in done.stdout
        assert "replies are empty, their tokens went into thoughts (finish_reason length)" in done.stdout
        assert {(r["judge_preferred_model"], r["finish_reason"]) for r in judgments(tmp_path)} == {
            ("unknown", "length")
        }
        longer = [{**judge, "params": {"max_tokens": 4096}} for judge in JUDGES]
        done = collected(tmp_path, server.url, "--comparisons", 6, "--again", "unreadable", judges=longer)
    assert done.returncode == 0, done.stderr
    assert {body["max_tokens"] for body in server.requests} == {1024, 4096}
    assert "6 judgments written, and 0 replies" in done.stdout


def test_a_substituted_model_is_told(tmp_path):
    with serving(model="other-model") as server:
        done = collected(tmp_path, server.url, "--comparisons", 20)
    assert "judge 'j1' was sent as 'j1' and answered as 'other-model'" in done.stdout
    assert "one model, 'other-model', answered for 2 judges: j1, j2" in done.stdout


def test_the_pace_is_kept_by_each_judge_and_by_all(tmp_path):
    slow = [{"judge": "slow", "requests_per_minute": 600}, {"judge": "quick"}]
    with serving() as server:
        options = ("--per-minute", 1200, "--comparisons", 20, "--concurrent", 10)
        collected(tmp_path, server.url, *options, judges=slow)
    assert max(server.times) - min(server.times) >= 19 * 0.05 * 0.8
    times = [t for t, body in zip(server.times, server.requests, strict=True) if body["model"] == "slow"]
    assert max(times) - min(times) >= (len(times) - 1) * 0.1 * 0.8


def test_the_worked_example_of_the_tutorial_runs(tmp_path):
    page = (ROOT / "docs/tutorials/collect.md").read_text()
    block = page.split("<!-- worked example: run by tests/tool/test_collecting_runs.py -->\n```sh\n")[1]
    block = block.split("```")[0]
    script = re.sub(r"^judgerank", f"{sys.executable} -m judgerank", block, flags=re.MULTILINE)
    script = script.replace("OPENAI_API_KEY=...", f"OPENAI_API_KEY={KEY}")
    assert script.count("judgments.jsonl") == 3
    script = script.replace("judgments.jsonl", str(tmp_path / "judgments.jsonl"))
    script = script.replace("rankings/example", str(tmp_path / "page"))
    quality = {"careful": 3, "hasty": 2, "confused": 1}
    answers = [json.loads(line) for line in (ROOT / "examples/answers.jsonl").read_text().splitlines()]

    def reply(prompt: str) -> str:
        first, second = re.split(r"\bModel [AB]\b.*:", prompt)[-2:]
        found = [
            max(quality[row["model"]] * len(row["answer"]) for row in answers if row["answer"] in part)
            for part in (first, second)
        ]
        return "a, 0.80" if found[0] > found[1] else "b, 0.80"

    with serving(reply=reply) as server:
        panel = (ROOT / "examples/panel.yaml").read_text().replace("http://localhost:8000/v1", server.url)
        (tmp_path / "panel.yaml").write_text(panel)
        script = script.replace("examples/panel.yaml", f"{tmp_path / 'panel.yaml'} --per-minute 0")
        done = subprocess.run(["bash", "-ec", script], cwd=ROOT, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "at most 72 requests" in done.stdout
    assert "run next:" in done.stdout
    assert len(judgments(tmp_path)) == len(server.requests) == 72
    board = pd.read_csv(tmp_path / "page/leaderboard.csv")
    assert list(board["model"]) == ["careful", "hasty", "confused"]
    assert board[["low", "high"]].notna().all(axis=None)
    page = (tmp_path / "page/index.html").read_text()
    assert all(model in page for model in quality)
    assert "penalised" in page


# by rounds, until enough is known


def test_collecting_until_the_best_is_known_asks_less_than_all_and_says_who_it_is(tmp_path):
    """Five models of qualities far apart, one coin-flipping judge; every judgment is asked once."""
    models = ("m0", "m1", "m2", "m3", "m4")
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows(40, models)))

    def reply(prompt: str) -> str:
        chance = generator(1, prompt).random()
        first, second = (int(number) for number in re.findall(r"answer of quality (\d+)", prompt))
        p = 0.5 if prompt.startswith("coin") else 1 / (1 + math.exp(2.0 * (second - first)))
        return "a, 0.9" if chance < p else "b, 0.9"

    judges = [{"judge": name, "prompt_price": 1000} for name in ("good", "fair", "coin")]
    with serving(reply=reply) as server:
        done = collected(tmp_path, server.url, "--until", "top 1 separated", judges=judges)
        assert done.returncode == 0, done.stderr
        assert re.search(r"^reached \D*\d+ .*top 1 separated\b.*; .*\bm4\b", done.stdout, re.MULTILINE)
        (record,) = [json.loads(path.read_text()) for path in tmp_path.glob("*.run.json")]
        assert record["until"]["reached"]
        assert {row["judge"] for row in record["until"]["without_judge"]} == {"good", "fair", "coin"}
        assert all(sentence in done.stdout for sentence in record["until"]["carried"])
        assert "too few" not in done.stdout
        records = judgments(tmp_path)
        assert len(records) == len(server.requests) < 1200
        asked = Counter((r["question_id"], r["model_a"], r["model_b"], r["judge_model"]) for r in records)
        assert set(asked.values()) == {1}
        again = collected(tmp_path, server.url, "--until", "top 1 separated", judges=judges)
        assert re.search(r"^reached \D*\d+ ", again.stdout, re.MULTILINE)
        for until in ("soon", "top 5"):
            refused = collected(tmp_path, server.url, "--until", until, judges=judges)
            assert refused.returncode == 1 and until in refused.stderr.splitlines()[-1]
        some = collected(tmp_path, server.url, "--until", "all", "--pilot", 0, judges=judges)
    assert some.returncode == 1 and "--pilot" in some.stderr.splitlines()[-1]


def test_few_questions_are_said_to_be_no_ground_for_a_stop(tmp_path):
    """Five questions, and forty above, of which nothing is said."""
    models = ("m0", "m1", "m2", "m3", "m4")
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows(5, models)))
    with serving(reply=lambda prompt: "a, 0.9") as server:
        judges = [{"judge": "x"}, {"judge": "y"}]
        done = collected(tmp_path, server.url, "--until", "top 1 separated", judges=judges)
    assert done.returncode == 0, done.stderr
    assert re.search(r"warning: .*\b5 questions\b.*\bsign flips\b.*\bfewer than \d+\b", done.stdout + done.stderr)
    assert re.search("^not .*: top 1 separated", done.stdout, re.MULTILINE)


def test_a_budget_ends_collecting_by_rounds_too(tmp_path):
    with serving(reply=lambda prompt: "c, 0.5") as server:
        done = collected(tmp_path, server.url, "--until", "all", "--budget", 2.5, judges=PRICED)
    assert done.returncode == 0, done.stderr
    assert re.search(r"not reached: all \(\d claims open\); the budget is spent", done.stdout)
    assert re.search(r"look: \d+ judgments, spent [\d.]+ USD; \d of 3 claims open, ", done.stdout)
    assert float(done.stdout.split("spent ")[-1].split()[0]) <= 2.5


@pytest.mark.parametrize("own_maker", ["recuse", "count"])
def test_collecting_by_rounds_asks_no_judge_about_its_own_makers_models(own_maker, tmp_path):
    """Of three judges gpt-4o always prefers gpt-4o-mini, the worst model."""
    models = ("claude-haiku", "gemini-flash", "gpt-4o-mini")
    answers = [row | {"answer": f"answer of {row['model']} to {row['question']}"} for row in rows(40, models)]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in answers))
    quality = {"claude-haiku": 2, "gemini-flash": 1, "gpt-4o-mini": 0}

    def reply(prompt: str) -> str:
        judge, (first, second) = prompt.split()[0], re.findall(r"answer of (\S+) to", prompt)
        if judge == "gpt-4o" and "gpt-4o-mini" in (first, second):
            return "a, 0.9" if first == "gpt-4o-mini" else "b, 0.9"
        p = 1 / (1 + math.exp(1.5 * (quality[second] - quality[first])))
        return "a, 0.9" if generator(1, prompt).random() < p else "b, 0.9"

    judges = [{"judge": name} for name in ("gpt-4o", "j1", "j2")]
    options = ["--until", "top 1 separated", "--pilot", 8, "--own-maker", own_maker]
    with serving(reply=reply) as server:
        done = collected(tmp_path, server.url, *options, judges=judges)
    assert done.returncode == 0, done.stderr
    own = [
        record
        for record in judgments(tmp_path)
        if record["judge_model"] == "gpt-4o" and "gpt-4o-mini" in (record["model_a"], record["model_b"])
    ]
    if own_maker == "recuse":
        assert len(own) <= 8  # of the pilot
        assert "the order is claude-haiku" in done.stdout
    else:
        assert len(own) > 8
