"""Judges asked by batch: the same judgments at half the price, and no request paid for twice whatever happens."""

import json
import random
import re
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from judgerank.collecting.batches import providers as forms
from judgerank.data.listing import counted
from studies.torture.endpoint import Batching, Server, better, complete_file, serving
from tests.forked import Forked
from tests.tool.collecting import KEY, TOTAL, Done, collected, cost_bound, judgments, rows, started

PILOT = 3
HALF = TOTAL // 2  # requests to each of two judges
FORMS = ("openai", "anthropic")
STEPS = [("openai", step) for step in ("upload", "create", "look", "results")]
STEPS += [("anthropic", step) for step in ("create", "look", "results")]
OPTIONS = ("--pilot", PILOT, "--poll", 0.01)
FEW = PILOT + 2  # requests where more would go as these do
OF_FEW = ("--comparisons", FEW)
CHANGES = ("reply_id", "address", "asked_at", "seconds", "batch")  # in a record, from one run to the next
LATER = 10**9  # looks


def judge(form: str, server: Server, **more) -> dict:
    """One that is asked by batch."""
    at = {"openai": server.url, "anthropic": server.origin}[form]
    return {"judge": "j1", "provider": form, "base_url": at, "api_key_env": "OPENAI_API_KEY", "batch": True} | more


def run(folder: Path, server: Server, form: str, *options: object, more: list[dict] = (), **settings) -> Done:
    return collected(folder, None, *OPTIONS, *options, judges=[judge(form, server, **settings), *more])


def asked(record: dict) -> tuple:
    return tuple(record[key] for key in ("question_id", "model_a", "model_b", "judge_model", "repeat"))


def complete(folder: Path, server: Server, count: int = HALF) -> bool:
    """Whether every judgment is there once, was paid for once, and nothing is on its way."""
    records = judgments(folder)
    return (
        len({asked(record) for record in records}) == len(records) == count
        and set(server.answered.values()) == {1}
        and not (folder / "judgments.jsonl.batches.json").exists()
    )


# as live, for half


@pytest.mark.parametrize("form", FORMS)
def test_a_batch_gives_the_judgments_that_live_requests_do_for_half(tmp_path, form):
    prices = {"prompt_price": 1000, "completion_price": 1000}  # an answer costs 0.11
    settings = {"structured": True, "logprobs": True} if form == "openai" else {"reasoning_budget": 500}
    settings |= {"params": {"seed": 7}}
    (tmp_path / "live").mkdir()
    with serving() as server:
        done = run(tmp_path, server, form, **prices, **settings)
        assert done.returncode == 0, done.stderr
        assert server.batching.steps["create"] == 1
        assert len(server.requests) == PILOT
        assert complete(tmp_path, server)
        spent = PILOT * 0.11 + (HALF - PILOT) * 0.055
        assert f"spent {spent:.4f} USD\n" in done.stdout
        again = run(tmp_path, server, form, **prices, **settings)
        assert re.search(rf"judgments\.jsonl: {HALF}\b", again.stdout)
        assert f"spent {spent:.4f} USD\n" in again.stdout  # earlier runs' batches are at half too
        assert server.batching.steps["create"] == 1
        assert server.keys == {{"openai": f"Bearer {KEY}", "anthropic": KEY}[form]}
    with serving() as server:
        run(tmp_path / "live", server, form, batch=False, **settings)
    plain, live = (
        {asked(record): {key: record[key] for key in record.keys() - set(CHANGES)} for record in judgments(folder)}
        for folder in (tmp_path, tmp_path / "live")
    )
    assert plain == live
    batched = [record for record in judgments(tmp_path) if "batch" in record]
    assert len(batched) == HALF - PILOT
    assert {record["batch"] for record in batched} == {"batch-0"}
    assert not any("seconds" in record for record in batched)


def test_costs_are_told_beforehand_and_the_pilot_is_at_the_full_price(tmp_path):
    prices = {"prompt_price": 0, "completion_price": 1000}
    with serving() as server:
        done = run(tmp_path, server, "openai", "--dry-run", **prices)
        whole_price = HALF * 1024 * 1000 / 1e6
        assert cost_bound(done.stdout) == (pytest.approx((PILOT + (HALF - PILOT) / 2) * 1.024), "USD")
        done = run(tmp_path, server, "openai", "--dry-run", batch=False, **prices)
        assert cost_bound(done.stdout) == (pytest.approx(whole_price), "USD")
        done = run(tmp_path, server, "openai", "--dry-run", batch_discount=0.75, **prices)
        assert cost_bound(done.stdout) == (pytest.approx((PILOT + (HALF - PILOT) / 4) * 1.024), "USD")
        done = run(tmp_path, server, "openai", "--pilot-only", **prices)
        assert re.search(rf"\b{(HALF - PILOT) * 0.005:.4f} USD\b.*\ba day\b", done.stdout)
        assert server.batching.steps == {}
        assert server.requests


def test_batches_wait_side_by_side_and_live_judges_go_on(tmp_path):
    """No batch ends before the other is submitted and every live request is answered."""
    one, other = Batching(looks=LATER), Batching(looks=LATER)
    with serving(batching=one) as first, serving(batching=other) as second:

        def look(step: str, times: int) -> None:
            live = sum(count for prompt, count in first.answered.items() if prompt.startswith("live"))
            if live == HALF and one.batches and other.batches:
                one.looks = other.looks = 0

        one.faults = other.faults = look
        more = [
            judge("anthropic", second, judge="j2"),
            {**judge("openai", first), "judge": "live", "batch": False},
        ]
        done = run(tmp_path, first, "openai", more=more)
        assert done.returncode == 0, done.stderr
        assert len(judgments(tmp_path)) == 3 * HALF
        assert set((first.answered + second.answered).values()) == {1}


def test_a_batch_has_no_more_bytes_than_the_provider_takes(tmp_path, monkeypatch):
    most = 4000
    monkeypatch.setattr(type(forms.FORMS["openai"]), "most_bytes", most)
    with serving() as server:
        done = run(tmp_path, server, "openai")
        assert done.returncode == 0, done.stderr
        sizes = [len(content) for content in server.batching.files.values()]
        assert all(most / 2 < size <= most for size in sizes[:-1])
        assert len(sizes) > 1
        assert complete(tmp_path, server)


def test_a_batch_has_so_many_requests_and_a_model_that_was_not_asked_for_is_told(tmp_path):
    with serving(model="other-model") as server:
        done = run(tmp_path, server, "openai", batch_size=4)
        assert server.batching.steps["create"] == 3
        assert [batch["count"] for batch in server.batching.batches.values()] == [4, 4, 1]
        assert complete(tmp_path, server)
    assert f"judge 'j1' was sent as 'j1' and answered as 'other-model', {HALF} times" in done.stdout


def test_a_budget_is_kept_by_what_batches_may_cost_at_most(tmp_path):
    with serving() as server:
        prices = {"prompt_price": 1000, "completion_price": 1000}
        done = run(tmp_path, server, "openai", "--budget", 3.0, **prices)
        assert done.returncode == 0, done.stderr
        sizes = [batch["count"] for batch in server.batching.batches.values()]
        most = cost_bound(done.stdout)[0] / (PILOT + (HALF - PILOT) / 2)
        spent = PILOT * 0.11
        for size in sizes:  # each as many requests as there was money for at most
            assert spent + size * most / 2 <= 3.0 < spent + (size + 1) * most / 2 or sum(sizes) == HALF - PILOT
            spent += size * 0.055
        assert len(sizes) > 1
        assert complete(tmp_path, server)
    with serving() as server:
        (tmp_path / "judgments.jsonl").unlink()
        done = run(tmp_path, server, "openai", "--budget", 1.2, "--pilot", 0, **prices)
        assert "stopped: the next request to judge 'j1' might exceed the budget" in done.stdout
        assert float(done.stdout.split("spent ")[1].split()[0]) <= 1.2
        assert complete(tmp_path, server, len(judgments(tmp_path)))


@pytest.mark.parametrize(
    ("settings", "options", "words"),
    [
        ({"model": "mistral/small", "base_url": None}, (), "judge 'j1' cannot be asked by batch"),
        ({"provider": "mistral"}, (), "those of openai and anthropic, not of mistral"),
        ({}, ("--until", "all"), "judge 'j1' is asked by batch, and collecting until"),
        ({"batch_discount": 2.0}, (), "batch_discount"),
    ],
)
def test_what_cannot_go_by_batch_is_refused(tmp_path, settings, options, words):
    with serving() as server:
        done = run(tmp_path, server, "openai", *options, **settings)
        assert done.returncode == 1
        assert words in done.stderr.splitlines()[-1]
        assert server.requests == []


# ended while a batch is on its way


def wait_for(running: Forked, server: Server, step: str) -> None:
    while not server.batching.steps[step] and running.poll() is None:
        time.sleep(0.005)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_was_ended_while_it_waited_is_gone_on_with(tmp_path, form, end):
    with serving(batching=Batching(looks=LATER)) as server:
        judges = [judge(form, server, prompt_price=1000, completion_price=1000)]
        running = started(tmp_path, None, *OPTIONS, judges=judges)
        wait_for(running, server, "look")
        second = collected(tmp_path, None, *OPTIONS, judges=judges)
        assert "judgments.jsonl is being written by another run" in second.stderr
        begun = time.monotonic()
        running.send_signal(end)
        stdout, stderr = running.communicate(timeout=60)
        if end == signal.SIGINT:
            assert time.monotonic() - begun < 30
            assert running.returncode == 130
            assert f"batch batch-0 of judge 'j1' goes on with {HALF - PILOT} requests; run it again" in stdout
            assert "USD set aside for batches" in stdout
            assert stderr.splitlines()[-1] == "judgerank collect: interrupted; what was finished is kept"
        server.batching.looks = 0
        done = collected(tmp_path, None, *OPTIONS, judges=judges)
        assert done.returncode == 0, done.stderr
        assert re.search(rf"^{HALF - PILOT} requests .*\bbatches\b", done.stdout, re.MULTILINE)
        assert re.search(rf"^{HALF - PILOT} judgments\b", done.stdout, re.MULTILINE)
        assert len(server.requests) == PILOT
        assert (server.batching.steps["create"], server.batching.steps["list"]) == (1, 0)  # its name was stored
        assert complete(tmp_path, server)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_a_kill_between_sending_a_batch_and_its_answer_pays_for_nothing_twice(tmp_path, form):
    """It is looked for among others of the same size, on several pages, before anything is submitted anew."""
    with serving() as server:
        for other in ("a", "b", "c"):
            (tmp_path / other).mkdir()
            run(tmp_path / other, server, form, *OF_FEW, judge=other, model="m")

        def kill(step: str, times: int) -> str | None:
            if step == "create" and running.poll() is None:
                running.kill()
                running.wait()
                return "lost"
            return None

        server.batching.faults = kill
        server.answered.clear()
        running = started(tmp_path, None, *OPTIONS, *OF_FEW, judges=[judge(form, server)])
        running.communicate(timeout=60)
        assert json.loads((tmp_path / "judgments.jsonl.batches.json").read_text())["batches"][0]["batch"] == ""
        made = server.batching.steps["create"]
        for other in ("d", "e", "f"):
            (tmp_path / other).mkdir()
            run(tmp_path / other, server, form, *OF_FEW, judge=other, model="m")
        done = run(tmp_path, server, form, *OF_FEW)
        assert done.returncode == 0, done.stderr
        assert server.batching.steps["create"] == made + 3
        own = {prompt: count for prompt, count in server.answered.items() if prompt.startswith("j1\n")}
        assert set(own.values()) == {1}
        assert len(judgments(tmp_path)) == FEW


def killed_and_gone_on(folder: Path, form: str, seed: int) -> int:
    """Kill a run that asks by four batches at a random moment, and go on; how many requests it had submitted."""
    rng = random.Random(seed)
    with serving() as server:
        judges, options = [judge(form, server, batch_size=3)], ("--pilot", 0, "--poll", 0.01)
        running = started(folder, None, *options, judges=judges)
        steps = rng.randrange(4 * len([step for each, step in STEPS if each == form]))
        while server.batching.steps.total() < steps and running.poll() is None:
            time.sleep(0.002)
        time.sleep(rng.random() * 0.05)
        running.kill()
        running.communicate()
        time.sleep(0.2)  # the server does what was on its way
        submitted = sum(server.answered.values())
        done = collected(folder, None, *options, judges=judges)
        assert done.returncode == 0, done.stderr
        assert complete(folder, server)
    return submitted


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_a_kill_at_any_moment_loses_nothing_and_pays_for_nothing_twice(tmp_path, form):
    killed_and_gone_on(tmp_path, form, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_a_batch_that_was_never_submitted_is_submitted_by_the_next_run(tmp_path, form):
    fault = lambda step, times: "gone" if step == "create" else None  # noqa: E731
    with serving(batching=Batching(fault)) as server:
        done = run(tmp_path, server, form, "--patience", "0.3s")
        assert done.returncode == 1
        assert "judge 'j1' was stopped: its batch interface fails (connection)" in done.stderr
        sent = server.batching.steps["create"]
        assert f"a batch of judge 'j1' with {HALF - PILOT} requests may be submitted" in done.stdout
        server.batching.faults = lambda step, times: "404" if step == "list" else None
        refused = run(tmp_path, server, form)
        assert "its batch interface fails (404)" in refused.stderr  # it cannot be known
        assert server.batching.steps["create"] == sent
        assert (tmp_path / "judgments.jsonl.batches.json").exists()
        server.batching.faults = lambda step, times: None
        done = run(tmp_path, server, form)
        assert done.returncode == 0, done.stderr
        assert complete(tmp_path, server)


def test_a_run_killed_while_it_kept_the_answers_keeps_none_twice(tmp_path):
    with serving() as server:
        fault = lambda step, times: "broken" if step == "results" else None  # noqa: E731
        server.batching.faults = fault
        run(tmp_path, server, "openai", "--attempts", 1)
        state = (tmp_path / "judgments.jsonl.batches.json").read_bytes()
        server.batching.faults = lambda step, times: None
        run(tmp_path, server, "openai")
        path = tmp_path / "judgments.jsonl"
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[: PILOT + 4]))
        (tmp_path / "judgments.jsonl.batches.json").write_bytes(state)
        done = run(tmp_path, server, "openai")
        assert re.search(rf"^{HALF - PILOT - 4} judgments\b", done.stdout, re.MULTILINE)
        assert complete(tmp_path, server)


def test_nonces_are_drawn_and_a_later_run_reads_a_batch_by_those_of_the_earlier_one(tmp_path):
    def reply(prompt: str) -> str:
        return f"{re.search('Example: (verdict-[0-9a-f]{8}): ', prompt)[1]}: {better(prompt)}"

    nonces = []
    for folder in (tmp_path / "one", tmp_path / "other"):
        folder.mkdir()
        (folder / "prompt.yaml").write_text("nonce: true")
        asked_by_nonce = ("--prompt", folder / "prompt.yaml")
        with serving(reply=reply) as server:
            server.batching.faults = lambda step, times: "broken" if step == "results" else None
            run(folder, server, "openai", "--attempts", 1, *asked_by_nonce)
            assert (folder / "judgments.jsonl.batches.json").exists()
            server.batching.faults = lambda step, times: None
            done = run(folder, server, "openai", *asked_by_nonce)
            assert done.returncode == 0, done.stderr
            assert complete(folder, server)
        records = judgments(folder)
        assert {record["judge_preferred_model"] for record in records} == {"a", "b"}
        nonces.append({record["nonce"] for record in records})
    assert [len(words) for words in nonces] == [HALF, HALF]
    assert not nonces[0] & nonces[1]  # of the same questions, answers and judge


def test_what_is_on_its_way_stays_of_one_study(tmp_path):
    with serving(batching=Batching(lambda step, times: "401" if step == "look" else None)) as server:
        run(tmp_path, server, "openai")
        state = tmp_path / "judgments.jsonl.batches.json"
        before = state.read_bytes()
        (tmp_path / "judgments.jsonl").write_bytes(b"")  # the batch alone tells
        (tmp_path / "other.yaml").write_text("system: Be fair.\n")
        told = {
            r"batches\.json\b.*\bprompt\b.*another file": run(
                tmp_path, server, "openai", "--prompt", tmp_path / "other.yaml"
            ),
            r"batches\.json.*'j1'.*'j1', not 'm'": run(tmp_path, server, "openai", model="m"),
            r"batches\.json.*'j1'.*\bparameters\b": run(tmp_path, server, "openai", params={"top_p": 0.5}),
        }
        answers = tmp_path / "answers.jsonl"
        text = answers.read_text()
        answers.write_text(text.replace("an answer", "a later answer"))
        told[r"batches\.json.*\btexts of question 'q\d'"] = run(tmp_path, server, "openai")
        answers.write_text("".join(json.dumps(row) + "\n" for row in rows(1)))
        told[r"batches\.json.*'m\d' and 'm\d' in question 'q\d'"] = run(tmp_path, server, "openai")
        answers.write_text(text)
        state.write_bytes(before[:-30])
        told[r"judgments\.jsonl\.batches\.json is no"] = run(tmp_path, server, "openai")
        state.write_bytes(before.replace(b'"repeat"', b'"repeated"'))
        told[r"judgments\.jsonl\.batches\.json\b.*\brequests\b"] = run(tmp_path, server, "openai")
        for named, done in told.items():
            assert done.returncode == 1
            assert re.search(named, done.stderr.splitlines()[-1]), done.stderr
        state.write_bytes(before)
        without = collected(tmp_path, None, *OPTIONS, judges=[judge("openai", server, judge="j2", batch=False)])
        assert without.returncode == 0, without.stderr
        assert re.search(rf"'j1' .*\b{HALF - PILOT}\b.*\bpanel\b", without.stdout)
        assert state.read_bytes() == before
        server.batching.faults = lambda step, times: None
        done = run(tmp_path, server, "openai", batch=False)  # what is on its way is fetched by a live judge too
        assert done.returncode == 0, done.stderr
        assert server.batching.steps["create"] == 1
        assert not state.exists()


@pytest.mark.slow
@pytest.mark.parametrize("when", ["in the pilot", "after it", "for another criterion"])
def test_money_for_batches_on_their_way_is_kept_and_nobody_waits_for_it_in_vain(tmp_path, when):
    """A live judge has money for a few requests; the batch cannot be looked at, so that it keeps its own."""
    prices = {"prompt_price": 1000, "completion_price": 1000}
    criteria = {"criteria": {"one": "One?", "two": "Two?"}, "text": "{criterion}{question}{first}{second}"}
    by_criterion = when == "for another criterion"
    (tmp_path / "prompt.yaml").write_text(json.dumps(criteria if by_criterion else {}))
    options = ("--prompt", tmp_path / "prompt.yaml", "--attempts", 1, "--concurrent", 1)
    with serving(batching=Batching(lambda step, times: "401" if step == "look" else None)) as server:
        done = run(tmp_path, server, "openai", *options, **prices)
        told = re.findall(r"spent ([\d.]+) USD, ([\d.]+) USD set aside for batches", done.stdout)
        spent, aside = map(float, told[-1])
        live = judge("openai", server, judge="live", batch=False, **prices)
        judges = [judge("openai", server, **prices), live]
        pilot = ("--pilot", 0) if when == "after it" else ()
        limit = ("--budget", spent + aside + (1.5 if by_criterion else 2.2))
        running = started(tmp_path, None, *OPTIONS, *options, *pilot, *limit, judges=judges)
        stdout, stderr = running.communicate(timeout=60)
        assert running.returncode == 1, stderr
        assert "stopped: the next request to judge 'live' might exceed the budget" in stdout
        count = sum(number for prompt, number in server.answered.items() if prompt.startswith("live"))
        assert 1 <= count <= 5  # each may cost more than 1, and costs 0.11
        assert f"{aside:.4f} USD set aside for batches" in stdout


# what comes of a batch


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("again", [True, False], ids=["by batch", "live"])
def test_requests_without_an_answer_are_counted_and_asked_the_next_time(tmp_path, form, again):
    """Which ones, a prompt's place among all decides: never five in a row, which would stop the judge."""
    kinds, seen = (None, "expired", None, "400", "missing", None, "broken"), []

    def outcome(prompt: str) -> str | None:
        seen.append(kinds[len(seen) % len(kinds)])
        return seen[-1]

    with serving(batching=Batching(outcome=outcome)) as server:
        done = run(tmp_path, server, form, prompt_price=1000)
        assert done.returncode == 0, done.stderr
        assert "set aside" not in done.stderr.split("judgments: 100%")[-1]  # it was given back
        count = Counter(seen)
        names = {
            "openai": {"expired": "batch_expired", "400": "400", "missing": "batch completed"},
            "anthropic": {"expired": "expired", "400": "invalid_request_error", "missing": "batch ended"},
        }[form]
        for kind, name in (names | {"broken": "unreadable.*"}).items():
            several = counted(count[kind], "attempt"), counted(count[kind], "request")
            told = rf"judge 'j1': {several[0]} failed \({name}\), {several[1]} given up"
            assert re.search(told, done.stdout)
        assert "it says: not this one" in done.stdout
        assert len(judgments(tmp_path)) == PILOT + count[None]
        assert re.search(rf"^{HALF - PILOT - count[None]} requests\b.* run it again", done.stdout, re.MULTILINE)
        server.batching.outcome = lambda prompt: None
        done = run(tmp_path, server, form, "--pilot", 1, batch=again)
        assert done.returncode == 0, done.stderr
        assert server.batching.steps["create"] == 1 + again
        assert complete(tmp_path, server)


def test_a_batch_that_fails_as_a_whole_stops_its_judge(tmp_path):
    with serving(batching=Batching(end="failed")) as server:
        done = run(tmp_path, server, "openai")
        assert done.returncode == 1
        assert (
            "5 requests in a row were given up, the last for batch failed; it says: too many tokens wait"
            in done.stderr
        )
        assert len(judgments(tmp_path)) == PILOT
        server.answered.clear()  # none of it was paid for
        server.batching.end = "completed"
        assert run(tmp_path, server, "openai", "--pilot", 0).returncode == 0
        assert len(judgments(tmp_path)) == HALF
        assert set(server.answered.values()) == {1}


@pytest.mark.parametrize("form", FORMS)
def test_results_of_no_request_are_counted_and_kept_out(tmp_path, form):
    def stray(lines):
        other = json.loads(lines[0]) | {"custom_id": "someone-else-1"}
        return complete_file([json.dumps(other).encode(), *lines, lines[0]])

    with serving(batching=Batching(tamper=stray)) as server:
        done = run(tmp_path, server, form)
        assert done.returncode == 0, done.stderr
        assert "judge 'j1': 2 attempts failed (result of no request)" in done.stdout
        assert complete(tmp_path, server)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "tamper",
    [
        lambda lines: complete_file(lines)[:-20],
        lambda lines: complete_file([b"[]", *lines]),
        lambda lines: complete_file([b'{"custom_id": 7}', *lines]),
        lambda lines: b"\xff\xfe" + complete_file(lines),
    ],
    ids=["torn", "list", "number", "bytes"],
)
def test_results_that_are_cut_off_are_noticed_and_fetched_by_the_next_run(tmp_path, form, tamper):
    with serving(batching=Batching(tamper=tamper)) as server:
        done = run(tmp_path, server, form, *OF_FEW, "--attempts", 2)
        assert done.returncode == 1
        assert "judge 'j1': 2 attempts failed (unreadable" in done.stdout
        assert len(judgments(tmp_path)) == PILOT
        server.batching.tamper = complete_file
        done = run(tmp_path, server, form, *OF_FEW)
        assert done.returncode == 0, done.stderr
        assert server.batching.steps["create"] == 1
        assert complete(tmp_path, server, FEW)


@pytest.mark.parametrize("form", FORMS)
def test_fewer_results_than_told_are_kept_and_the_others_asked_by_the_next_run(tmp_path, form):
    """The one without a result may have been charged for, and counts as much as it may cost."""
    prices = {"prompt_price": 1000, "completion_price": 1000}
    with serving(batching=Batching(tamper=lambda lines: complete_file(lines[:-1]))) as server:
        done = run(tmp_path, server, form, "--attempts", 2, **prices)
        assert done.returncode == 0, done.stderr
        assert "judge 'j1': 2 attempts failed (fewer results)" in done.stdout
        assert "judge 'j1': 1 attempt failed (no result), 1 request given up" in done.stdout
        assert "1 attempt ended without an answer and may have been charged" in done.stdout
        assert len(judgments(tmp_path)) == HALF - 1
        assert not (tmp_path / "judgments.jsonl.batches.json").exists()
        told = PILOT * 0.11 + (HALF - PILOT - 1) * 0.055
        assert float(done.stdout.split("spent ")[-1].split()[0]) > told + 0.5
        server.batching.tamper = complete_file
        done = run(tmp_path, server, form, **prices)
    assert done.returncode == 0, done.stderr
    assert len(judgments(tmp_path)) == HALF


# faults of the server at each step


@pytest.mark.slow
@pytest.mark.parametrize(("form", "step"), STEPS)
@pytest.mark.parametrize("fault", ["401", "404", "400: no"])
def test_a_step_that_is_refused_stops_the_judge_and_loses_nothing(tmp_path, form, step, fault):
    with serving(batching=Batching(lambda at, times: fault if at == step else None)) as server:
        done = run(tmp_path, server, form, *OF_FEW)
        assert done.returncode == 1
        told = f"judge 'j1' was stopped: its batch interface fails ({fault[:3]}); it says: no"
        assert told in done.stderr.splitlines()[-1]
        assert server.batching.steps[step] == 1
        assert len(judgments(tmp_path)) == PILOT
        assert (tmp_path / "judgments.jsonl.batches.json").exists() == (step in ("look", "results"))
        server.batching.faults = lambda at, times: None
        done = run(tmp_path, server, form, *OF_FEW, "--pilot", 0)
        assert done.returncode == 0, done.stderr
        assert len(server.batching.batches) == 1
        assert complete(tmp_path, server, FEW)


@pytest.mark.slow
@pytest.mark.parametrize(("form", "step"), STEPS)
@pytest.mark.parametrize("fault", ["429 0.01", "503", "cut", "gone", "broken", "html", "lost"])
def test_a_step_that_fails_is_tried_again_and_nothing_is_submitted_twice(tmp_path, form, step, fault):
    with serving(batching=Batching(lambda at, times: fault if at == step and times < 3 else None)) as server:
        done = run(tmp_path, server, form, *OF_FEW)
        assert done.returncode == 0, done.stderr
        kind = {"broken": "unreadable", "html": "unreadable"}.get(fault, fault.split()[0])
        kind = "connection" if fault in ("cut", "gone", "lost") else kind
        lost = (step, fault) == ("create", "lost")  # it was submitted the first time, and found
        assert f"judge 'j1': {counted(1 if lost else 2, 'attempt')} failed ({kind}" in done.stdout
        further = step == "look" and fault != "lost"  # one at a batch that goes on still
        assert server.batching.steps[step] == (1 if lost else 3) + further
        assert len(server.batching.batches) == 1
        assert complete(tmp_path, server, FEW)


@pytest.mark.parametrize(("form", "step"), STEPS)
def test_no_step_is_sent_on_to_another_host_with_the_key(tmp_path, form, step):
    with serving() as other:
        fault = f"redirect {other.url}/batches"
        with serving(batching=Batching(lambda at, times: fault if at == step else None)) as server:
            done = run(tmp_path, server, form, *OF_FEW)
            assert done.returncode == 1
            place = other.url.removeprefix("http://").removesuffix("/v1")
            assert re.search(rf"'j1'.*\(redirect\).* {re.escape(place)}\b", done.stderr.splitlines()[-1])
        assert other.keys == set()
        assert other.batching.steps == other.sent == {}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("step", ["look", "results"])
@pytest.mark.parametrize("fault", ["drip", "endless", "50 MB"])
def test_bodies_without_an_end_are_left(tmp_path, form, step, fault):
    with serving(batching=Batching(lambda at, times: fault if at == step and times < 2 else None)) as server:
        done = run(tmp_path, server, form, *OF_FEW, "--timeout", 1 if fault == "drip" else 2)
        assert done.returncode == 0, done.stderr
        kinds = ("timeout)",) if fault == "drip" else ("timeout)", "body")  # a busy machine may be late
        assert any(f"judge 'j1': 1 attempt failed ({kind}" in done.stdout for kind in kinds)
        assert complete(tmp_path, server, FEW)


def test_keys_and_odd_letters_of_a_server_are_not_told(tmp_path):
    def outcome(prompt: str) -> str | None:
        return "expired"

    def tamper(lines):
        return complete_file(lines).replace(b"it took too long", f"{KEY} \\u001b[2J late".encode())

    with serving(batching=Batching(outcome=outcome, tamper=tamper)) as server:
        done = run(tmp_path, server, "openai")
    assert "it says: (the key) [2J late" in done.stdout
    files = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert KEY not in done.stdout + done.stderr + files.decode()
    assert "\x1b" not in done.stdout + done.stderr
