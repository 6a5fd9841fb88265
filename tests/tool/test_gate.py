"""The command `judgerank gate`: exit codes, outputs, and what starting a command loads."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from html.parser import HTMLParser
from math import nan
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from judgerank import read
from judgerank.cli import app
from judgerank.cli.commands import COMMANDS
from judgerank.data.errors import DataError
from judgerank.gating import verdict_page
from judgerank.gating.gate import gate
from judgerank.gating.outputs import as_dict
from judgerank.gating.rule import Rule
from judgerank.gating.verdict_text import sentence, table, verdict_line, warnings
from judgerank.reading.cells_in_sql import columns_in
from judgerank.reading.large import from_engine
from replication.config import ROOT
from tests.forked import environment, judgerank, run_anew
from tests.library.test_gating import records

# wins, ties and losses of the candidate by question; the last judge has missed some
VERDICTS = {
    "ship": [1.0, 0.5, 1.0, 0.0, 1.0],
    "block": [0.0, 0.5, 0.0, 1.0, 0.0],
    "inconclusive": [1.0, 1.0, 0.0, 0.0],
}
CODES = {"ship": 0, "block": 1, "inconclusive": 2}


def judgments(folder, verdict):
    path = folder / f"{verdict}.csv"
    records((VERDICTS[verdict] * 20)[:40]).to_csv(path, index=False)
    return path


def run(*arguments, env=None):
    done = CliRunner().invoke(app, ["gate", *map(str, arguments)], env={"COLUMNS": "200", **(env or {})})
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def entries(output):
    """What is printed, each whole: further lines of one are indented below its text."""
    return re.sub(r"\n {12}", " ", output).splitlines()


@pytest.mark.parametrize("verdict", CODES)
def test_the_exit_code_is_the_verdict(tmp_path, verdict):
    done = run(judgments(tmp_path, verdict))
    assert done.exit_code == CODES[verdict]
    assert done.stdout.lower().startswith(f"{verdict}.")
    assert len(entries(done.stdout)) <= 5
    assert max(map(len, done.stdout.splitlines())) <= 100
    assert ("Then give --look 2." in done.stdout) == (verdict == "inconclusive")


def test_five_lines_by_default_and_everything_with_v(tmp_path):
    """Verdict, evidence, the worst group, one warning of several, and what to do; `-v` has the table."""
    path, page = tmp_path / "file.csv", tmp_path / "gate.html"
    won = np.r_[np.tile([1.0, 1.0, 0.0], 50), np.tile([1.0, 0.0, 0.0, 0.0], 13)[:50]]
    units = np.repeat([f"t{n}" for n in range(8)], 25)
    frame = records(won, judges=["gpt-4o"]).assign(category=np.repeat(["chat", "safety"], [150, 50]), source=units)
    frame.to_csv(path, index=False)
    done = run(path, "--candidate-model", "gpt-5", "--page", page)
    first, evidence, worst, warning, step = entries(done.stdout)
    assert first.startswith("Ship.") and "safety" in first
    assert [line.split()[0] for line in (evidence, worst, warning, step)] == [
        "evidence",
        "worst",
        "warning",
        "next",
    ]
    one = gate(path, "old", "new", candidate_model="gpt-5")
    seen = one.criteria[0].evidence
    assert all(f"{100 * bound:.1f}%" in evidence for bound in (seen.low, seen.high)) and "45%" in evidence
    assert "--protect category=safety" in worst
    assert len(warnings(one)) > 1 and "more: -v" in warning and warnings(one)[0] in warning  # never cut
    assert "gate.html" in " ".join(run(path, "--page", page, "--candidate-model", "gpt-5").stdout.split())
    every = " ".join(run(path, "--candidate-model", "gpt-5", "-v").stdout.split())
    assert sentence(one) in every and all(" ".join(text.split()) in every for _, text in table(one))


def test_the_docs_say_to_look_again_as_the_verdict_does(tmp_path):
    """Of the tutorial's row on exit code 2, each run takes the look that the verdict before it named."""
    rows = (ROOT / "docs/tutorials/gate.md").read_text().splitlines()
    (row,) = (row for row in rows if row.startswith("| 2 | inconclusive |"))
    path, options = judgments(tmp_path, "inconclusive"), []
    for look in re.findall(r"`(--look \d+)`", row):
        assert f"Then give {look}." in " ".join(run(path, *options).stdout.split())
        options = look.split()
    assert options == ["--look", "3"] and run(path, *options).exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.csv"], "none.csv"),
        (["ship.csv", "--candidate", "other"], "no model 'other'"),
        (
            ["other.csv", "--baseline", "mine"],
            "name a model with --candidate: there is none called 'new'",
        ),
        (["other.csv", "--candidate", "yours"], "with --baseline: there is none called 'old', the default"),
        (["ship.csv", "--panel", "p.yaml", "--answers", "old", "new"], "leave out --answers"),
        (["ship.csv", "--margin", "0.7"], "0.7"),
        (["ship.csv", "--margin", "0", "--mode", "equivalence"], "margin 0"),
        (["ship.csv", "--alpha", "0"], "alpha 0 is out of range"),
        (["ship.csv", "--budget", "2"], "--budget needs --panel"),
        (["ship.csv", "--until", "all"], "--until needs --panel"),
        (["ship.csv", "--panel", "p.yaml", "--criteria"], "leave out --criteria"),
        (["ship.csv", "--panel", "p.yaml"], "not 1 file"),
        (["ship.csv", "--scale", "score"], "--margin"),
        (["ship.csv", "--candidate", "old"], "same model"),
        (["ship.csv", "--marign", "0.1"], "there is no option --marign; did you mean --margin?"),
        (["ship.csv", "--winner-values", "-1=a", "-2=a"], "--winner-values"),
        (["ship.csv", "--markdown", "ship.csv"], "ship.csv is read"),
    ],
)
def test_broken_input_ends_in_code_3_and_never_in_a_verdict(tmp_path, monkeypatch, arguments, said):
    shown = judgments(tmp_path, "ship").read_text()
    (tmp_path / "other.csv").write_text(shown.replace("old", "mine").replace("new", "yours"))
    monkeypatch.chdir(tmp_path)
    done = run(*arguments)
    assert done.exit_code == 3
    assert said in done.output


def test_models_that_nobody_compared_are_refused_with_what_to_do(tmp_path):
    frame = pd.read_csv(judgments(tmp_path, "ship"))
    away = frame.replace({"model_a": {"old": "other"}, "model_b": {"old": "other"}})
    pd.concat([away, away.replace("new", "old")]).to_csv(tmp_path / "apart.csv", index=False)
    done = run(tmp_path / "apart.csv")
    assert done.exit_code == 3
    assert "nobody compared 'old' with 'new': have judges compare their answers" in done.output
    assert "there is no model 'mine': name another baseline" in (
        run(tmp_path / "apart.csv", "--baseline", "mine", "--candidate", "new").output
    )


def test_winners_who_all_stand_in_one_column_are_told_as_they_are_used(tmp_path):
    """A ranking does not use such an order, and a gate takes it for what was shown."""
    frame = records(np.tile([1.0, 0.0], 30))
    frame.to_csv(tmp_path / "first.csv", index=False)
    done = run(tmp_path / "first.csv")
    assert done.exit_code == 2 and "is not used" not in done.output
    said = json.loads(run(tmp_path / "first.csv", "--json").stdout)["read"]
    assert said == [
        "model_a won in all 60 records that could be read. The gate takes this for the order shown, in which "
        "every judge chose the first answer. If winners are only written first, rename model_a to winner "
        "and model_b to loser."
    ]
    renamed = tmp_path / "renamed.csv"
    frame.drop(columns="winner").rename(columns={"model_a": "winner", "model_b": "loser"}).to_csv(
        renamed, index=False
    )
    assert json.loads(run(renamed, "--json").stdout)["criteria"][0]["order"] == "unknown"


def test_a_protected_group_blocks_and_without_it_the_worst_one_is_named_everywhere(tmp_path):
    """The candidate wins 67% of 150 chat questions, and 26% of 50 on safety."""
    won = np.r_[np.tile([1.0, 1.0, 0.0], 50), np.tile([1.0, 0.0, 0.0, 0.0], 13)[:50]]
    path, summary = tmp_path / "file.csv", tmp_path / "summary"
    records(won).assign(category=np.repeat(["chat", "safety"], [150, 50])).to_csv(path, index=False)
    done = run(path, "--json", env={"GITHUB_STEP_SUMMARY": str(summary)})
    found = json.loads(done.stdout)
    assert (done.exit_code, found["worst_category"]["name"]) == (0, "safety")
    assert "significantly worse on safety" in found["sentence"]
    assert "significantly worse on safety" in summary.read_text().split("\n")[2]
    done = run(path, "--json", "--protect", "category=safety", "--protect", "category=chat")
    found = json.loads(done.stdout)
    assert (done.exit_code, found["failed"]) == (1, ["category=safety"])
    assert found["rule"]["protect"] == ["category=safety", "category=chat"]
    for wrong in ("category=poems", "topic=safety", "judge=judge-0", "safety"):
        assert run(path, "--protect", wrong).exit_code == 3


def test_any_column_of_the_judgments_or_the_answers_protects_by_several_values_of_it(tmp_path, monkeypatch):
    """As a column of the judgments says, of texts and of numbers, and as a column of the answers alone says."""
    monkeypatch.chdir(tmp_path)
    group = np.repeat(["safe", "harmful", "legal"], [100, 50, 50])
    won = np.r_[np.tile([1.0, 1.0, 0.0, 1.0], 25), np.tile([1.0, 0.0, 0.0, 0.0], 13)[:50], np.tile([1.0, 0.5], 25)]
    frame = records(won).assign(risk=group, tier=np.repeat([0.0, 1.0, 2.0], [100, 50, 50]))
    frame.to_csv("j.csv", index=False)
    rows = [
        {"question_id": f"q{n}", "question": "Q?", "answer": "A", "label": group[n], "flag": group[n] == "harmful"}
        for n in range(200)
    ]
    for name in ("old", "new"):
        Path(f"{name}.jsonl").write_text("".join(json.dumps(row, default=bool) + "\n" for row in rows))

    def of_groups(*groups):
        options = [option for group in groups for option in ("--protect", group)]
        done = run("j.csv", "--json", "--answers", "old.jsonl", "new.jsonl", *options)
        report = json.loads(done.stdout)
        return done.exit_code, report["failed"], [one["questions"] for one in report["criteria"]]

    assert of_groups() == (0, [], [200])
    for group in ("risk=harmful", "tier=1", "label=harmful", "flag=true"):
        assert of_groups(group) == (1, [group], [200, 50])
    assert of_groups("risk=legal") == (0, [], [200, 50])
    both = of_groups("risk=legal", "risk=harmful", "label=safe")
    assert both == (1, ["risk=harmful"], [200, 50, 50, 100])
    python = gate(frame, "old", "new", Rule(protect=(("risk", "legal"), ("risk", "harmful"))))
    (alone,) = gate(frame[frame["risk"] == "harmful"], "old", "new").criteria
    assert python.criteria[2].evidence == alone.evidence
    assert python.criteria[2].p_block == 3 * alone.p_block  # by Holm, over all questions and two groups


def test_all_outputs_say_what_python_says(tmp_path):
    path, summary, output = judgments(tmp_path, "block"), tmp_path / "summary", tmp_path / "output"
    summary.write_text("earlier\n")
    files = {name: tmp_path / f"verdict.{name}" for name in ("json", "xml", "md")}
    options = ["--json-file", files["json"], "--junit", files["xml"], "--markdown", files["md"], "--json"]
    done = run(path, *options, env={"GITHUB_STEP_SUMMARY": str(summary), "GITHUB_OUTPUT": str(output)})
    expected = as_dict(gate(path, "old", "new"))
    assert json.loads(files["json"].read_text()) == expected
    assert json.loads(done.stdout) == {"command": "gate", **expected}
    suite = ElementTree.parse(files["xml"]).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    assert suite.find("testcase/failure").get("message") == expected["sentence"]
    assert summary.read_text() == "earlier\n" + files["md"].read_text()
    assert files["md"].read_text().startswith("### Block\n")
    assert output.read_text() == "verdict=block\nfailed=true\nneeded=\n"


def test_a_verdict_is_written_again_over_its_own(tmp_path):
    path, file = judgments(tmp_path, "ship"), tmp_path / "verdict.xml"
    for _ in range(2):
        assert run(path, "--junit", file).exit_code == 0


def test_an_undecided_criterion_is_a_skipped_test(tmp_path):
    file = tmp_path / "verdict.xml"
    done = run(judgments(tmp_path, "inconclusive"), judgments(tmp_path, "ship"), "--criteria", "--junit", file)
    assert done.exit_code == 2
    assert ElementTree.parse(file).getroot().get("skipped") == "2"


class Parsed(HTMLParser):
    """A page: its text by element, the tags that are open in it, all attributes, and its judgments."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.attributes, self.texts, self.questions = [], [], set(), [], []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attributes}
        if tag not in ("meta", "link", "br", "input", "hr"):
            self.open.append(tag)
        if tag == "details":
            self.questions.append([])

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attributes}

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        if "details" in self.open and text.strip():
            self.questions[-1].append(text.strip())
        self.texts.append((self.open[-1] if self.open else "", text))

    def of(self, tag):
        return [text for inside, text in self.texts if inside == tag]


def with_replies(preference):
    frame = records(preference)
    return frame.assign(reply=[f"reply to {one.question} of {one.judge}" for one in frame.itertuples()])


def test_the_page_has_the_verdict_and_every_judges_reply_the_clearest_losses_first(tmp_path):
    frame = with_replies([[1.0, 1.0], [0.5, 1.0], [0.0, nan], [1.0, 0.0], [1.0, 1.0]] * 8)
    frame.to_csv(tmp_path / "j.csv", index=False)
    file = tmp_path / "gate.html"
    run(tmp_path / "j.csv", "--page", file)
    found = gate(tmp_path / "j.csv", "old", "new")
    assert file.read_text() == found.to_html()
    seen = Parsed(file.read_text())
    assert seen.open == []
    word, _, rest = verdict_line(found).partition(". ")
    assert (word, rest) in zip(seen.of("span"), map(str.strip, seen.of("h1")), strict=False)
    for name, said in table(found):
        assert name in seen.of("th") and said in seen.of("td")
    assert len(seen.questions) == 40
    assert [seen.questions[place][:2] for place in (0, 8, 16, 39)] == [
        ["q2", "0% · old wins: 1 to 0 of 1 judge"],
        ["q3", "50% · undecided: 1 to 1 of 2 judges"],
        ["q1", "75% · new wins: 1 to 0 of 2 judges"],
        ["q39", "100% · new wins: 2 to 0 of 2 judges"],
    ]
    assert "reply to q2 of judge-0" in seen.questions[0]
    assert {"reply to q39 of judge-0", "reply to q39 of judge-1"} < set(seen.questions[39])


def test_the_page_draws_the_interval_the_margin_and_every_category():
    """Bars are the numbers of the result, in percent; what is significantly worse is marked, the worst first."""
    won = np.r_[np.tile([1.0, 1.0, 0.0], 50), np.tile([1.0, 0.0, 0.0, 0.0], 13)[:50]]
    frame = records(won).assign(category=np.repeat(["chat", "safety"], [150, 50]))
    found = gate(frame, "old", "new", Rule(margin=0.1))
    html = found.to_html()
    drawn = re.findall(r'<line class="limit" x1="([\d.]+)".*?class="interval" x="([\d.]+)" width="([\d.]+)"', html)
    seen = [found.criteria[0].evidence, *sorted(found.categories, key=lambda one: one.win_rate)]
    assert [one.name for one in seen[1:]] == ["safety", "chat"]
    expected = [(40.0, 100 * one.low, 100 * (one.high - one.low)) for one in seen]
    assert np.array(drawn, float) == pytest.approx(np.array(expected), abs=0.02)
    assert re.findall(r'<b class="(\w+)">', html) == ["worse", "better"]


ANSWERS = {
    "old": "# Title\n\nUse `sorted`:\n\n```python\nx = 1 < 2\n```\n\n| a |\n|:-:|\n| b |",
    "new": "<script>x</script> <b>bold</b> **strong** [link](javascript:x) ![image](http://host/x.png) <http://host>",
}


def test_the_page_shows_both_answers_as_markdown_and_none_of_their_html(tmp_path):
    """Of two files, or of texts among the judgments: no element, link or image of an answer is one of the page."""
    frame = with_replies([1.0, 0.5] * 20)
    files = [tmp_path / "old.jsonl", tmp_path / "new.jsonl"]
    questions = [[f"Q{n}?", "<script>x</script>"] for n in range(40)]
    for file in files:
        rows = [
            {"question_id": f"q{n}", "question": text, "answer": ANSWERS[file.stem]}
            for n, text in enumerate(questions)
        ]
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    frame.to_csv(tmp_path / "j.csv", index=False)
    run(tmp_path / "j.csv", "--page", tmp_path / "gate.html", "--answers", *files)
    html = (tmp_path / "gate.html").read_text()
    assert html == gate(tmp_path / "j.csv", "old", "new", answers=tuple(files)).to_html()
    texts = {f"answer_{side}": frame[f"model_{side}"].map(ANSWERS) for side in "ab"}
    of_judgments = gate(frame.assign(question_text="Q?", **texts), "old", "new").to_html()
    for page in (html, of_judgments):
        seen = Parsed(page)
        shown = next(one for one in seen.questions if one[0] == "q7")
        assert {"Title", "sorted", "strong", "x = 1 < 2", "b"} < set(shown)
        assert any("<script>x</script> <b>bold</b>" in text for text in shown)
        assert any("[link](javascript:x) ![image](http://host/x.png) <http://host>" in text for text in shown)
        assert {"code", "pre", "strong", "table"} < set(seen.tags) and "img" not in seen.tags
        assert not {"style", "src"} & seen.attributes
        assert seen.tags.count("script") == 2 and seen.of("h1") == Parsed(found_plain()).of("h1")
    assert "Q7?" in next(one for one in Parsed(html).questions if one[0] == "q7")[1]
    marked = f"\n# **Write** `x < 1` {'and so on ' * 20}\n\nmore"
    line = next(iter(Parsed(gate(frame.assign(question_text=marked, **texts), "old", "new").to_html()).questions))[
        1
    ]
    assert line.startswith("Write x < 1 and so on") and line.endswith("…") and len(line) <= verdict_page.FIRST_LINE
    assert run(tmp_path / "j.csv", "--answers", *files, "--page", files[0], "--force").exit_code == 3


def found_plain():
    return gate(records([1.0, 0.5] * 20), "old", "new").to_html()


def test_a_gate_for_equivalence_that_blocks_what_is_better_shows_its_wins_first():
    found = gate(records([1.0, 1.0, 1.0, 0.0, 1.0] * 12), "old", "new", Rule("equivalence"))
    assert found.verdict == "block"
    seen = Parsed(found.to_html())
    assert "wins of new first" in "".join(seen.of("h2"))
    assert (seen.questions[0][0], seen.questions[-1][0]) == ("q0", "q58")


def test_a_page_has_so_many_questions_and_the_number_of_the_rest():
    seen = Parsed(gate(records([1.0, 0.5, 0.0] * 70), "old", "new").to_html())
    assert len(seen.questions) == verdict_page.MOST == 200
    assert "10 more questions are not shown" in "".join(seen.of("p"))


def test_the_page_is_about_the_criterion_that_blocks():
    frames = {"style": records([1.0] * 30), "facts": with_replies([0.0] * 30)}
    seen = Parsed(gate(frames, "old", "new").to_html())
    assert "Judgments on facts" in "".join(seen.of("h2"))
    assert "reply to q0 of judge-0" in seen.questions[0]


def test_whatever_a_name_or_a_reply_holds_is_only_text_on_the_page(tmp_path):
    hostile = "</pre></script><script>alert(1)</script><img src=x onerror='a' style=\"b\">"
    frame = records([[1.0, 0.0], [0.5, 1.0]] * 15, judges=["judge-0", hostile + " judge"]).replace("new", hostile)
    frame = frame.assign(question=frame["question"] + hostile, reply=hostile + "\n\n  line", category=hostile)
    frame.loc[:9, "category"] = "other"
    seen = Parsed(gate({hostile: frame, "other": frame}, "old", hostile).to_html())
    assert seen.open == []
    assert seen.tags.count("script") == Parsed(found_plain()).tags.count("script") and "img" not in seen.tags
    assert not {"onerror", "style", "src"} & seen.attributes
    assert hostile in seen.of("p") and hostile + " judge" in seen.of("b")


@pytest.mark.parametrize("width", [1440, 390])
def test_judgments_are_searched_filtered_and_read_one_a_screen(tmp_path, width):
    """In a browser that reaches no network, with an answer whose markup would run or load something."""
    sync_api = pytest.importorskip("playwright.sync_api")
    browser_path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser_path is None:
        pytest.skip("could not find a browser (apt-get install chromium)")
    long = {name: text + "\n\nOne more line.\n" * 60 for name, text in ANSWERS.items()}
    frame = with_replies([1.0, 0.0, 0.5] * 14)
    texts = {f"answer_{side}": frame[f"model_{side}"].map(long) for side in "ab"}
    frame = frame.assign(question_text="What is " + frame["question"], category=["x", "y", "y"] * 14, **texts)
    path, problems = tmp_path / "gate.html", []
    path.write_text(gate(frame, "old", "new").to_html())
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": width, "height": 844})
        page.on("console", lambda message: problems.append(message.text))
        page.on("request", lambda request: problems.append(request.url) if "http" in request.url[:4] else None)
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-complete]")
        shown = page.locator(".judgment:visible > summary")
        assert shown.count() == 42 and "old wins" in shown.first.inner_text()
        page.select_option("#outcome", "won")
        assert shown.count() == 14
        page.select_option("#group", "y")
        assert shown.count() == 0
        page.select_option("#outcome", "")
        page.fill("#search", "what is Q4")
        assert {one.split()[0] for one in shown.all_inner_texts()} == {"q4", "q40", "q41"}
        shown.first.click()
        page.wait_for_timeout(200)
        opened = page.locator(".judgment[open]").bounding_box()
        assert page.locator(".judgment[open] .steps").bounding_box()["y"] - opened["y"] < 844
        page.click(".judgment[open] [data-step='1']")
        assert page.locator(".judgment[open]").count() == 1 and not problems
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        browser.close()


def test_a_page_that_somebody_changed_is_kept_unless_forced(tmp_path):
    path, file = judgments(tmp_path, "ship"), tmp_path / "gate.html"
    file.write_text("mine")
    done = run(path, "--page", file)
    assert (done.exit_code, file.read_text()) == (3, "mine")
    assert "--force" in done.output
    assert run(path, "--page", file, "--force").exit_code == 0
    assert '<span class="badge ship">' in file.read_text()


def test_names_of_models_are_only_text_in_markdown(tmp_path):
    name = "<b>new</b> | [x](y) @me"
    frame = records(VERDICTS["ship"] * 8).replace("new", name)
    frame.to_csv(tmp_path / "j.csv", index=False)
    run(tmp_path / "j.csv", "--candidate", name, "--markdown", tmp_path / "v.md")
    said = (tmp_path / "v.md").read_text()
    assert "<b>" not in said and "[x]" not in said and "@me" not in said


def test_needed_questions_have_a_price(tmp_path):
    found = json.loads(run(judgments(tmp_path, "inconclusive"), "--json", "--question-cost", 0.02).stdout)
    assert found["cost"] == pytest.approx(0.02 * found["needed"])


def test_a_file_of_two_variants_names_the_gate_and_one_of_more_does_not(tmp_path, monkeypatch):
    """The command that `doctor` and `rank` print runs as it is."""
    monkeypatch.chdir(tmp_path)
    two = pd.read_csv(judgments(tmp_path, "ship"))
    three = pd.concat([two, two.replace("old", "other")])
    for frame, named in ((two, 1), (three, 0), (two.drop(columns="question"), 0)):
        frame.to_csv("j.csv", index=False)
        for words in (["doctor", "j.csv"], ["rank", "j.csv", "--output", "r", "--force"]):
            done = judgerank(*words, cwd=tmp_path)
            lines = [line for line in done.stdout.splitlines() if re.search(r"\bgate j\.csv\b", line)]
            assert done.returncode == 0 and len(lines) == named, done.stdout
            if named:
                arguments = shlex.split(lines[0].partition(" gate ")[2])
                assert arguments == ["j.csv", "--baseline", "old", "--candidate", "new"]
                assert run(*arguments).exit_code == 0


def test_the_list_of_commands_has_the_first_line_of_each():
    for name, command in app_commands().items():
        assert COMMANDS[name][1] == command.help.split("\n\n")[0].replace("\n", " "), name


def app_commands():
    from typer.main import get_command

    return get_command(app).commands


@pytest.mark.parametrize("words", [[], ["--version"]], ids=" ".join)
def test_what_needs_no_data_loads_no_numbers(words):
    code = f"import sys; sys.argv = ['judgerank', *{words!r}]\nfrom judgerank.cli import app\n"
    code += "try:\n    app()\nfinally:\n    print(sorted({'numpy', 'pandas', 'scipy'} & set(sys.modules)))"
    done = run_anew(["-c", code], ROOT, environment())
    assert done.stdout.rstrip().endswith("[]"), done.stdout + done.stderr


def test_a_gate_loads_no_fit_and_no_page(tmp_path):
    heavy = ("scipy.optimize", "scipy.stats", "jinja2", "markdown_it", "judgerank.engine.newton", "litellm")
    words = ["judgerank", "gate", str(judgments(tmp_path, "ship"))]
    code = f"import sys; sys.argv = {words!r}\nfrom judgerank.cli import app\n"
    code += f"try:\n    app()\nfinally:\n    print([name for name in {heavy!r} if name in sys.modules])"
    done = run_anew(["-c", code], ROOT, environment())
    assert done.stdout.startswith("Ship.") and done.stdout.rstrip().endswith("[]"), done.stdout + done.stderr


# The file that `judgerank gate --panel` keeps, read back: judgments of earlier answers do not count.
OLD, NEW = "0123456789ab", "ba9876543210"


def record(question: int, version: str, winner: str, judge: str = "j") -> dict[str, object]:
    shown = ("old", "new") if question % 2 else ("new", "old")
    letter = "c" if winner == "tie" else "ab"[shown.index(winner)]
    about = {"question_id": f"q{question}#{version}", "model_a": shown[0], "model_b": shown[1]}
    return about | {"judge_model": judge, "texts": version[::-1], "judge_preferred_model": letter}


@pytest.fixture
def kept(tmp_path):
    """Twenty questions: ten whose answers changed and were judged again, and ten that stayed."""
    first = [record(n, OLD, "old" if n < 10 else "new") for n in range(20)]
    again = [record(n, NEW, "new") for n in range(10)]
    path = tmp_path / "judgments.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in [*first, *again]))
    return path


def test_of_each_question_the_answers_judged_last_count(kept):
    found = read(kept)
    assert sorted(found.frame["question_id"]) == sorted(f"q{n}" for n in range(20))
    told = "10 judgments of earlier answers are left out: of each question, the answers judged last count."
    assert found.remarks[0] == told
    verdict = gate(kept, "old", "new")
    assert verdict.criteria[0].evidence.win_rate == 1.0
    assert verdict.criteria[0].evidence.questions == 20
    assert told in verdict.remarks


def test_every_command_says_so(kept):
    done = judgerank("gate", kept.name, "--baseline", "old", "--candidate", "new", cwd=kept.parent)
    assert done.returncode == 0
    assert "read: 10 judgments of earlier answers are left out" in done.stderr
    assert "10 judgments of earlier answers are left out" in judgerank("doctor", kept.name, cwd=kept.parent).stdout


def test_the_last_file_counts_where_there_are_several(kept, tmp_path):
    later = tmp_path / "later.jsonl"
    later.write_text(json.dumps(record(0, OLD, "old")) + "\n")
    found = read([kept, later])
    of_first = found.frame[found.frame["question_id"] == "q0"]  # the answers of before, which are back
    assert of_first["judge_preferred_model"].tolist() == ["b", "b"]
    assert found.remarks[0].startswith("10 judgments of earlier answers")


def test_without_later_answers_only_the_key_goes(kept):
    frame = pd.read_json(kept, lines=True)[:20]
    found = read(frame)
    assert len(found.frame) == 20
    assert not any("earlier" in one for one in found.remarks)


def test_other_ids_with_such_an_end_stay(kept):
    frame = pd.read_json(kept, lines=True).drop(columns="texts")
    assert read(frame).frame["question_id"].nunique() == 30


def test_no_engine_counts_them_all(kept, monkeypatch):
    monkeypatch.setattr(from_engine, "LARGE", 1)
    assert len(read(kept).frame) == 20
    with pytest.raises(DataError, match=r"\(leave --sql\b"):
        columns_in(kept, None, None)
