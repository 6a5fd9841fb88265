"""Gates that decide by the sizes of scores, or by what was sampled together: tasks, runs, other units."""

from __future__ import annotations

import json
import re
import shlex

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import ttest_1samp

from judgerank import Rule, gate, read
from judgerank.data.arrays import generator
from judgerank.data.errors import ConfigError, DataError
from judgerank.gating.decision import bounds, p_not_above, p_values
from judgerank.gating.rule import POINTS
from judgerank.gating.score_runs import ScoreRuns
from judgerank.gating.scores import scored
from judgerank.order.flips import p_above
from tests.forked import judgerank
from tests.tool.test_gate import run


def table_of(differences, judges=("rubric",)):
    """Scores of two variants, by tasks and runs, with these differences, shape (Q, R)."""
    rng = np.random.default_rng(4)
    rows = []
    for (task, epoch), difference in np.ndenumerate(np.asarray(differences, float)):
        level = rng.uniform(max(0.0, -difference), min(1.0, 1 - difference))
        for model, score in (("old", level), ("new", level + difference)):
            for judge in judges:
                row = {"question_id": f"t{task}", "epoch": epoch, "model": model, "judge": judge, "score": score}
                rows.append(row | {"category": "odd" if task % 2 else "even"})
    return pd.DataFrame(rows)


def runs_of(differences):
    differences = np.asarray(differences, float)
    task = np.repeat(np.arange(len(differences)), differences.shape[1])
    return ScoreRuns(differences.ravel(), task, np.arange(len(differences)))


def drawn(n_tasks, n_runs, mean, rng):
    return rng.normal(mean, 0.15, (n_tasks, n_runs)) + rng.normal(0, 0.1, (n_tasks, 1))


def test_sizes_decide_where_signs_do_not():
    """Eight slight gains and four large losses: by signs the candidate wins two thirds, and it is worse."""
    differences = np.repeat([[0.05]] * 8 + [[-0.9]] * 4, 3, axis=1)
    verdict = gate(read(table_of(differences)), "old", "new")
    assert verdict.verdict == "block" and verdict.rule.scale == POINTS
    seen = verdict.criteria[0].evidence
    assert_allclose(2 * seen.win_rate - 1, differences.mean(), atol=1e-12)
    assert seen.questions == 12
    rates = re.findall(r'class="(?:won|lost|even)">(\S+) · ', verdict.to_html())
    assert rates == ["-90"] * 4 + ["+5"] * 8


@pytest.mark.parametrize("n_tasks", [5, 12, 40])
def test_p_values_are_the_larger_of_runs_exchanged_and_a_t_test_of_tasks(n_tasks):
    differences = drawn(n_tasks, 3, 0.1, np.random.default_rng(n_tasks))
    runs = runs_of(differences)
    for threshold in (-0.05, 0.0, 0.1):
        by_t = ttest_1samp(differences.mean(axis=1), threshold, alternative="greater").pvalue
        exchanged = p_above((differences - threshold).ravel())
        assert_allclose(runs.p_above(threshold), max(by_t, exchanged), rtol=1e-10)
        assert_allclose(runs.p_above(threshold), runs_of(-differences).p_below(-threshold), rtol=1e-10)


def test_one_run_of_each_task_is_tested_by_flips_of_tasks():
    differences = np.array([[0.2], [0.3], [0.25], [0.1], [0.3]])
    assert runs_of(differences).p_above(0.0) == p_above(differences.ravel()) == 0.5**5


def test_a_bound_excludes_what_its_test_rejects():
    rng = np.random.default_rng(1)
    for n_tasks, n_runs in ((5, 3), (12, 2), (40, 1)):
        runs = runs_of(drawn(n_tasks, n_runs, 0.05, rng))
        least, largest = runs.least(0.05), runs.largest(0.05)
        assert runs.p_above(least - 1e-6) <= 0.05 < runs.p_above(least + 1e-6)
        assert runs.p_below(largest + 1e-6) <= 0.05 < runs.p_below(largest - 1e-6)


@pytest.mark.parametrize(("n_tasks", "verdict"), [(5, "inconclusive"), (12, "inconclusive"), (40, "ship")])
def test_few_equal_scores_do_not_show_that_nothing_breaks(n_tasks, verdict):
    """A suite that both versions pass throughout: a loss of one run in twenty shows in 60 runs, mostly."""
    assert gate(read(table_of(np.zeros((n_tasks, 3)))), "old", "new").verdict == verdict


def test_levels_are_held_on_equal_variants_and_at_the_margin():
    """Pass or fail in three runs of 5 and 12 tasks: the true level is at most .05 each way."""
    rng, n_sets = np.random.default_rng(7), 300
    for n_tasks in (5, 12):
        rejected = np.zeros(3)
        for _ in range(n_sets):
            chance = rng.beta(1, 1, (n_tasks, 1))
            both = (rng.random((2, n_tasks, 3)) < chance).astype(float)
            runs = runs_of(both[0] - both[1])
            worse = runs_of(both[0] - both[1] - 0.05)
            rejected += [runs.p_above(0) <= 0.05, runs.p_below(0) <= 0.05, worse.p_above(-0.05) <= 0.05]
        assert (rejected / n_sets <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / n_sets)).all()


def test_units_that_were_sampled_together_are_tested_together():
    differences = np.repeat(drawn(4, 1, 0.3, np.random.default_rng(0)), 10, axis=0)
    unit = np.repeat(np.arange(4), 10)
    alone = ScoreRuns(differences.ravel(), np.arange(40), np.arange(40))
    together = ScoreRuns(differences.ravel(), np.arange(40), unit)
    assert alone.p_above(0) < 1e-6 < 0.5**4 <= together.p_above(0)


def test_a_missing_score_counts_as_a_loss_unless_it_is_missing_at_random():
    differences = np.full((12, 3), 0.05) + np.random.default_rng(0).normal(0, 0.01, (12, 3))
    frame = table_of(differences)
    frame.loc[(frame["model"] == "new") & (frame["epoch"] == 0) & (frame["category"] == "odd"), "score"] = np.nan
    assert gate(read(frame), "old", "new").verdict == "inconclusive"
    assert gate(read(frame), "old", "new", Rule(missing="random")).verdict == "ship"
    nobody = table_of(differences)
    nobody.loc[(nobody["model"] == "new") & (nobody["question_id"].isin(["t0", "t1"])), "score"] = np.nan
    lowest = gate(read(nobody), "old", "new").criteria[0].checks.lowest
    assert len(lowest.scores) == 12 and (lowest.scores == 0).sum() == 2


def test_several_judges_are_one_difference_a_run():
    differences = drawn(12, 3, 0.0, np.random.default_rng(2))
    one, three = (gate(read(table_of(differences, judges)), "old", "new") for judges in (("x",), ("x", "y", "z")))
    assert one.criteria[0].evidence == three.criteria[0].evidence


def test_a_scale_of_its_own_is_taken_as_shares():
    """Grades from 1 to 10 are read as shares of the range from the lowest to the highest."""
    differences = drawn(12, 3, 0.2, np.random.default_rng(3)).clip(-0.9, 0.9)
    frame = table_of(differences)
    grades = frame.assign(score=1 + 9 * frame["score"])
    high, low = frame["score"].max(), frame["score"].min()
    shares, points = (gate(read(of), "old", "new").criteria[0].evidence.win_rate for of in (grades, frame))
    assert_allclose((2 * shares - 1) * (high - low), 2 * points - 1, atol=1e-9)


def test_a_look_spends_its_part_and_a_rule_is_on_the_scale_of_the_file(tmp_path):
    frame = table_of(drawn(12, 3, 0.3, np.random.default_rng(5)))
    scores = gate(read(frame), "old", "new", Rule(look=2)).criteria[0].scores
    assert p_values(scores, Rule(look=2, scale=POINTS)) == p_values(scores, Rule(scale=POINTS))
    assert bounds(scores, Rule(look=2, scale=POINTS))[0] < bounds(scores, Rule(scale=POINTS))[0]
    with pytest.raises(ConfigError):
        gate(read(frame), "old", "new", Rule(scale="score", margin=0.2))
    pairs = pd.DataFrame({"question_id": ["q1"], "model_a": ["old"], "model_b": ["new"], "winner": ["a"]})
    with pytest.raises(ConfigError):
        gate(read(pairs), "old", "new", Rule(scale=POINTS))
    path = tmp_path / "scores.csv"
    frame.to_csv(path, index=False)
    found = json.loads(run(path, "--json", "--protect", "category=odd", "--look", "1").stdout)
    (every, odd) = found["criteria"]
    assert found["rule"]["scale"] == POINTS and odd["questions"] == 6 and every["score"]["estimate"] is None
    assert every["difference"]["low"] < every["difference"]["estimate"] < every["difference"]["high"]


# Files of runs with and without a change, in their makers' form.

SCORES = {"low": drawn(12, 3, 0.0, np.random.default_rng(8)).clip(-0.4, 0.4) + 0.4}
SCORES["high"] = (SCORES["low"] + 0.15).clip(0, 1)


def plugin_evals(with_, without):
    """``claude plugin eval --json``, schema 1."""

    def arm(scores):
        return [
            {"score": score, "passed": score >= 1, "turns": 5, "costUsd": 0.2, "error": None, "graders": []}
            for score in scores.tolist()
        ]

    cases = [
        {
            "name": f"case-{task}",
            "dir": f"evals/case-{task}",
            "runsPerCase": 3,
            "graders": [{"name": "finding", "type": "llm", "weight": 1}],
            "arms": {"with": arm(with_[task]), "without": arm(without[task])},
            "aggregates": {"score": 1, "scoreWithout": 0.5, "delta": 0.5},
        }
        for task in range(12)
    ]
    suite = {"root": "evals", "ablation": "with-without", "threshold": 0.9}
    return {"schemaVersion": 1, "claudeVersion": "2.1.275", "partial": False, "suite": suite, "cases": cases}


def benchmark(with_, without):
    """skill-creator's benchmark.json."""
    runs = [
        {
            "eval_id": task,
            "eval_name": f"task {task}",
            "configuration": configuration,
            "run_number": run_number + 1,
            "result": {"pass_rate": float(score), "passed": 6, "failed": 1, "total": 7, "tokens": 3800},
            "expectations": [{"text": "a file", "passed": True, "evidence": "seen"}],
            "notes": [],
        }
        for configuration, scores in (("with_skill", with_), ("without_skill", without))
        for (task, run_number), score in np.ndenumerate(scores)
    ]
    metadata = {"skill_name": "pdf", "evals_run": list(range(12)), "runs_per_configuration": 3}
    summary = {"with_skill": {"pass_rate": {"mean": 0.5, "stddev": 0.1}}, "delta": {"pass_rate": "+0.15"}}
    return {"metadata": metadata, "runs": runs, "run_summary": summary, "notes": ["Eval 3 varies"]}


def write_gradings(folder, with_, without):
    """skill-creator's workspace of an iteration, with files beside the gradings."""
    for configuration, scores in (("with_skill", with_), ("without_skill", without)):
        for (task, run_number), score in np.ndenumerate(scores):
            run_folder = folder / f"eval-{task}" / configuration / f"run-{run_number + 1}"
            (run_folder / "outputs").mkdir(parents=True)
            (run_folder / "outputs" / "table.csv").write_text("a,b\n1,2\n")
            (run_folder / "timing.json").write_text('{"total_tokens": 84852}')
            grading = {
                "expectations": [{"text": "a file", "passed": True, "evidence": "seen"}],
                "summary": {"passed": 2, "failed": 1, "total": 3, "pass_rate": float(score)},
                "claims": [{"claim": "12 fields", "type": "factual", "verified": True, "evidence": "counted"}],
            }
            (run_folder / "grading.json").write_text(json.dumps(grading))


def deepeval(scores, **more):
    """A test run as deepeval keeps it, with a metric of which less is better."""

    def metric(name, score, passed):
        return {
            "name": name,
            "threshold": 0.5,
            "success": bool(passed),
            "score": float(score),
            "evaluationModel": "gpt-4.1",
        }

    cases = [
        {
            "name": f"test_case_{place}",
            "input": f"question {task}",
            "actualOutput": "an answer",
            "success": True,
            "metricsData": [
                metric("Correctness [GEval]", score, score >= 0.5),
                metric("Contradictions", 1 - score, 1 - score <= 0.5),
            ],
        }
        for place, ((task, _), score) in enumerate(np.ndenumerate(scores.round(6)))
    ]
    summary = [{"metric": "Correctness [GEval]", "scores": [0.5], "passes": 1, "fails": 0, "errors": 0}]
    return {"testFile": "test_it.py", "testCases": cases, "metricsScores": summary, **more}


def evaluated(scores):
    """Results of deepeval's ``evaluate``, dumped."""
    results = [
        {"name": case["name"], "input": case["input"], "success": True, "metrics_data": case["metricsData"]}
        for case in deepeval(scores)["testCases"]
    ]
    return {"test_results": results, "confident_link": None}


def promptfoo(new, old):
    """A report of one provider on two prompts, repeated."""
    results = [
        {
            "provider": {"id": "openai:gpt-5", "label": ""},
            "prompt": {"raw": f"{prompt} {task}", "label": f"{prompt}.txt"},
            "promptIdx": place,
            "vars": {"task": str(task)},
            "success": True,
            "score": float(score),
            "gradingResult": {
                "pass": True,
                "score": float(score),
                "componentResults": [
                    {"pass": True, "score": float(score), "assertion": {"type": "llm-rubric", "value": "right"}}
                ],
            },
        }
        for place, (prompt, scores) in enumerate((("old", old), ("new", new)))
        for (task, _), score in np.ndenumerate(scores)
    ]
    return {"evalId": "e", "results": {"version": 3, "results": results, "prompts": []}, "config": {}}


def of_one_prompt(report):
    """The same with the results of its first prompt alone."""
    results = [one for one in report["results"]["results"] if one["promptIdx"] == 0]
    return report | {"results": report["results"] | {"results": results}}


def inspect_log(scores):
    samples = [
        {
            "id": int(task),
            "epoch": epoch + 1,
            "scores": {name: {"value": float(scores[task, epoch])} for name in ("judge_a", "judge_b")},
        }
        for task, epoch in np.ndindex(scores.shape)
    ]
    return {"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}, "samples": samples}


def one_file(content):
    def write(folder, new, old):
        (folder / "runs.json").write_text(json.dumps(content(new, old)))
        return ["runs.json"]

    return write


def two_files(content):
    def write(folder, new, old):
        for name, scores in (("before", old), ("after", new)):
            (folder / f"{name}.json").write_text(json.dumps(content(scores)))
        return ["before.json", "after.json"]

    return write


def write_workspace(folder, new, old):
    write_gradings(folder / "iteration-1", new, old)
    return ["iteration-1"]


PROMPTS = ["--baseline", "old.txt", "--candidate", "new.txt"]
FORMS = {
    "plugin evals": (one_file(plugin_evals), [], ("without", "with")),
    "benchmark": (one_file(benchmark), [], ("without_skill", "with_skill")),
    "gradings": (write_workspace, [], ("without_skill", "with_skill")),
    "deepeval": (two_files(deepeval), [], ("before", "after")),
    "deepeval's kept run": (two_files(lambda scores: {"testRunData": deepeval(scores)}), [], ("before", "after")),
    "deepeval's results": (two_files(evaluated), [], ("before", "after")),
    "promptfoo's prompts": (one_file(promptfoo), PROMPTS, ("old.txt", "new.txt")),
    "two reports of promptfoo": (
        two_files(lambda scores: of_one_prompt(promptfoo(scores, scores))),
        [],
        ("before", "after"),
    ),
    "logs of inspect": (two_files(inspect_log), [], ("before", "after")),
}


@pytest.mark.parametrize("form", FORMS)
def test_files_of_runs_are_read_as_their_makers_write_them(tmp_path, monkeypatch, form):
    """Every form gives the verdict of the same scores in a table, in either direction."""
    monkeypatch.chdir(tmp_path)
    write, options, names = FORMS[form]
    for place, (new, old) in enumerate((("high", "low"), ("low", "high"))):
        folder = tmp_path / str(place)
        folder.mkdir()
        monkeypatch.chdir(folder)
        found = json.loads(run(*write(folder, SCORES[new], SCORES[old]), *options, "--json").stdout)
        (criterion,) = found["criteria"]
        assert (criterion["baseline"], criterion["candidate"]) == names
        assert_allclose(criterion["difference"]["estimate"], (SCORES[new] - SCORES[old]).mean(), atol=1e-5)
        expected = gate(read(table_of(SCORES[new] - SCORES[old])), "old", "new").criteria[0].evidence
        assert criterion["questions"] == 12 and found["rule"]["scale"] == POINTS
        assert_allclose([criterion["p_ship"]], [expected.p_ship], rtol=1e-3)
        assert found["verdict"] == ("ship" if new == "high" else "block")


@pytest.mark.parametrize("form", FORMS)
def test_doctor_and_rank_name_the_gate_with_the_variant_in_use_where_the_gate_has_it(tmp_path, monkeypatch, form):
    """The command that they print decides as the gate that is given no names, or the names in their order."""
    monkeypatch.chdir(tmp_path)
    write, _, (in_use, changed) = FORMS[form]
    files = write(tmp_path, SCORES["high"], SCORES["low"])
    ranked = [["rank", *files, "--output", "r"]] if form in ("plugin evals", "deepeval") else []
    for words in (["doctor", *files], *ranked):
        done = judgerank(*words, cwd=tmp_path)
        (line,) = (line for line in done.stdout.splitlines() if re.search(r"\bgate \S", line))
        question, _, command = line.partition("? ")
        assert question.endswith(f"May {changed} replace {in_use}")
        found = json.loads(run(*shlex.split(command.partition(" gate ")[2]), "--json").stdout)
        criterion = found["criteria"][0]
        assert (criterion["baseline"], criterion["candidate"]) == (in_use, changed)
        assert found["verdict"] == "ship"


def test_a_grading_without_a_rate_counts_what_passed_and_one_outside_its_folders_is_refused(tmp_path):
    write_gradings(tmp_path / "eval", SCORES["high"], SCORES["low"])
    grading = {"expectations": [{"text": "x", "passed": True}, {"text": "y", "passed": False}], "summary": {}}
    path = tmp_path / "eval" / "eval-0" / "with_skill" / "run-1" / "grading.json"
    path.write_text(json.dumps(grading))
    frame = read(tmp_path / "eval").frame
    (gap,) = frame["score_gap"][(frame["question_id"] == "eval-0") & (frame["item"] == "run-1")]
    assert_allclose(abs(gap), abs(0.5 - SCORES["low"][0, 0]), atol=1e-12)


def test_runs_of_one_variant_name_what_is_missing(tmp_path):
    path = tmp_path / "runs.json"
    content = plugin_evals(SCORES["high"], SCORES["low"])
    for case in content["cases"]:
        del case["arms"]["without"]
    path.write_text(json.dumps(content))
    done = run(path)
    assert done.exit_code == 3 and "one model" in done.output


# A gate whose questions were sampled together: what is tested, what is said of other units, what is refused.

LEVEL = 0.05


def drawn_in_groups(rng: np.random.Generator, n_templates: int, size: int, sd: float) -> pd.DataFrame:
    """Three judges on questions whose difference in quality templates share, equal on average."""
    shared = rng.normal(0.0, sd, n_templates).repeat(size)
    lead = shared + rng.normal(0.0, 0.5, n_templates * size)
    rows = []
    for number, of_question in enumerate(lead):
        for judge in range(3):
            new_first, wins = rng.random() < 0.5, rng.random() < 1 / (1 + np.exp(-of_question))
            names = ("new", "old") if new_first else ("old", "new")
            rows.append(
                (*names, f"j{judge}", "a" if wins == new_first else "b", f"q{number}", f"t{number // size}")
            )
    return pd.DataFrame(rows, columns=["model_a", "model_b", "judge", "winner", "question", "template"])


@pytest.fixture(scope="module")
def suite() -> pd.DataFrame:
    return drawn_in_groups(generator(0, "gate clusters"), 10, 8, 1.0)


def test_a_unit_for_every_question_changes_nothing(suite):
    plain = gate(suite, "old", "new")
    named = gate(suite.assign(unit=suite["question"]), "old", "new", Rule(cluster="unit"))
    assert plain.criteria[0].evidence == named.criteria[0].evidence
    assert (plain.verdict, plain.needed) == (named.verdict, named.needed)


def test_the_tests_are_those_of_the_units_means_where_sizes_are_equal(suite):
    by_template = gate(suite, "old", "new", Rule(cluster="template")).criteria[0]
    within = by_template.scores.within
    units = by_template.judged.units("template")
    means = np.bincount(units, within) / 8
    threshold = by_template.scores.place_of(Rule().lowest)
    assert_allclose(by_template.evidence.p_ship, p_not_above(means, threshold), rtol=1e-9)
    by_question = gate(suite, "old", "new").criteria[0].evidence
    assert by_template.evidence.low < by_question.low and by_template.evidence.high > by_question.high
    assert by_template.evidence.win_rate == by_question.win_rate


def test_larger_units_count_for_more_but_no_more_than_they_can():
    preference, unit = np.array([[1.0], [1.0], [1.0], [0.0], [1.0]]), np.array([0, 0, 0, 1, 2])
    scores = scored(preference, np.zeros((5, 1)), unit)
    by_unit = scores.by_unit(scores.within, 0.5)
    assert_allclose(by_unit, [1.0, 0.5 - 0.5 / 3, 0.5 + 0.5 / 3])
    assert_allclose(scores.by_unit(scores.within, 0.8).mean() - 0.8, 0.0, atol=1e-12)  # the mean of all is 0.8


def test_it_says_what_the_verdict_would_be_by_columns_that_may_be_units(suite):
    by_question, by_template = (gate(suite, "old", "new", Rule(cluster=name)) for name in ("question", "template"))
    (other,) = by_question.by_other_units
    assert (other.name, other.size, other.verdict) == ("template", 10, by_template.verdict)
    assert other.evidences == (by_template.criteria[0].evidence,)
    assert by_template.by_other_units == ()
    assert gate(suite.drop(columns="template"), "old", "new").by_other_units == ()


def test_false_blocks_keep_their_level_by_template_and_not_by_question():
    rng, blocked = generator(0, "gate clusters", "level"), {"question": 0, "template": 0}
    for _ in range(60):
        table = drawn_in_groups(rng, 10, 8, 1.0)
        for name in blocked:
            blocked[name] += gate(table, "old", "new", Rule(cluster=name)).verdict == "block"
    assert blocked["template"] <= LEVEL * 60 + 3 * np.sqrt(60 * LEVEL * (1 - LEVEL)) < blocked["question"] + 3


@pytest.mark.parametrize("cluster", ["templat", "judge_model"])
def test_what_is_no_unit_of_questions_is_refused(suite, cluster):
    with pytest.raises(DataError, match=cluster):
        gate(suite, "old", "new", Rule(cluster=cluster))


def test_the_command_takes_the_unit_and_keeps_it(suite, tmp_path):
    file = tmp_path / "votes.csv"
    suite.to_csv(file, index=False)
    done = judgerank("gate", file, "--cluster", "template", "--json")
    report = json.loads(done.stdout)
    assert done.returncode in (0, 1, 2) and report["rule"]["cluster"] == "template"
    assert (
        report["criteria"][0]["low"]
        == gate(suite, "old", "new", Rule(cluster="template")).criteria[0].evidence.low
    )
    assert judgerank("gate", file, "--cluster", "templat").returncode == 3
