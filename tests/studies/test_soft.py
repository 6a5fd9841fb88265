"""Probabilities in place of letters: how they are simulated, what a share of a win means, and what is stored."""

import json
import re
from dataclasses import asdict, replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, ndtr

from judgerank import fit, read
from judgerank.data.arrays import generator
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import NoMaximumError
from replication.config import ROOT
from replication.differences import TOLERANCES
from studies import plots, soft_labels
from studies.default_fits import gain
from studies.soft_labels import ANSWERED, Answering
from tests.drawn import name_of
from tests.replication.test_config import composed
from tests.replication.test_sections import run

WEAK_SURE = name_of(ANSWERED, Answering(confidence=soft_labels.WEAK_ARE_SURE))
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(80)


@pytest.fixture(scope="module")
def worth():
    return pd.read_csv(ROOT / "results/beyond/soft/worth.csv").set_index(["way", "setting"])


def drawn(how: Answering, seed: int = 1):
    return soft_labels.drawn(np.random.default_rng(seed), how)


def stays_near(values: np.ndarray, mean: np.ndarray, judge: np.ndarray, sign: np.ndarray) -> None:
    """By judge, residuals that point towards the better model are as often above as below what is expected."""
    off = (values - mean) * sign
    for k in np.unique(judge):
        mine = off[judge == k]
        assert abs(mine.sum()) < 4 * np.sqrt((mine**2).sum())


@pytest.mark.parametrize(
    "how",
    [
        Answering(drawn=True),
        Answering(),
        Answering(confidence=soft_labels.WEAK_ARE_SURE, noise=2.0),
        Answering(equal=True, drawn=True),
    ],
)
def test_letters_and_probabilities_have_the_law_that_is_told(how, monkeypatch):
    monkeypatch.setattr(soft_labels, "N_JUDGMENTS", 60_000)
    rows, p, _ = drawn(how)
    gamma, c = soft_labels.DISCRIMINATION[rows.judge], np.array(how.confidence)[rows.judge]
    d = (0.0 if how.equal else 1.0) * (soft_labels.SCORES[rows.first] - soft_labels.SCORES[rows.second])
    centre, sd = gamma * d, np.sqrt((gamma * soft_labels.ITEM_SD) ** 2 + soft_labels.READING_SD**2)

    def mean(of, centre, sd):
        return of(centre[:, None] + sd[:, None] * NODES) @ WEIGHTS / WEIGHTS.sum()

    letter = mean(expit, centre, sd) if how.drawn else ndtr(centre / sd)
    stated = c * centre, np.hypot(c * sd, how.noise)
    sign = np.sign(soft_labels.SCORES[rows.first] - soft_labels.SCORES[rows.second])
    stays_near(rows.outcome, letter, rows.judge, sign)
    stays_near(p, mean(expit, *stated), rows.judge, sign)
    stays_near((p - 0.5) ** 2, mean(lambda x: (expit(x) - 0.5) ** 2, *stated), rows.judge, np.ones(len(p)))
    if how == Answering():  # the side of p is the letter's
        assert_array_equal(p > 0.5, rows.outcome == 1)


def test_how_sure_may_be_unrelated_and_the_side_not(monkeypatch):
    monkeypatch.setattr(soft_labels, "N_JUDGMENTS", 20_000)
    rows, p, _ = drawn(Answering(unrelated=True))
    sure = (2 * p - 1) * (2 * rows.outcome - 1)
    assert (sure >= 0).all()
    # one p is worth E[w]^2 / E[w^2] letters of equal models: 3/4 of one
    assert sure.mean() == pytest.approx(1 / 2, abs=0.01)
    assert sure.mean() ** 2 / (sure**2).mean() == pytest.approx(3 / 4, abs=0.01)


def test_a_judge_sure_at_random_says_nothing_by_its_probabilities_and_all_others_as_before(monkeypatch):
    monkeypatch.setattr(soft_labels, "N_JUDGMENTS", 6_000)
    (rows, p, _), (plain, before, _) = drawn(Answering(at_random=1)), drawn(Answering())
    last = rows.judge == len(soft_labels.DISCRIMINATION) - 1
    assert_array_equal(rows.outcome, plain.outcome)
    assert_array_equal(p[~last], before[~last])
    assert_allclose(np.unique(p[last]), expit([-soft_labels.SURE, soft_labels.SURE]))
    assert abs(np.corrcoef(p[last], rows.outcome[last])[0, 1]) < 0.1
    assert fit(replace(rows, outcome=p)).discrimination.iloc[-1] < 0.1  # although it states the surest p


def test_all_judges_answer_an_item_or_one_does():
    rows, _, item = drawn(Answering(together=True))
    judges = len(soft_labels.DISCRIMINATION)
    for of in (rows.first, rows.second):
        assert (of.reshape(-1, judges) == of[::judges, None]).all()
    assert_array_equal(item, np.arange(len(rows)) // judges)
    assert len(set(drawn(Answering())[2])) == len(rows) == soft_labels.N_JUDGMENTS


def test_probabilities_of_zero_and_one_are_letters_exactly():
    rows, p, item = drawn(Answering(rounded=True))
    assert_array_equal(p, rows.outcome)
    found = soft_labels.fits_of(rows, p)
    for by_letter, by_p in (("letter", "p"), ("letter, BTL", "p, BTL")):
        one, other = found[by_letter][0], found[by_p][0]
        assert_array_equal(one.scores, other.scores)
        assert_array_equal(one.covariance, other.covariance)
        assert_array_equal(one.clustered(rows, item).covariance, other.clustered(rows, item).covariance)


def test_a_share_is_a_win_and_a_loss_with_weights_that_are_one_observation():
    rows, p, item = drawn(Answering())
    shares = replace(rows, outcome=p)
    twice = np.tile(np.arange(len(rows)), 2)
    halves = replace(rows.take(twice), outcome=np.repeat([1.0, 0.0], len(rows)), count=np.r_[p, 1 - p])
    whole, split = fit(shares), fit(halves)
    assert_allclose(split.scores, whole.scores, atol=1e-7)
    assert split.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-9)
    one, other = whole.clustered(shares, item), split.clustered(halves, item[twice])
    assert_allclose(other.standard_errors, one.standard_errors, rtol=1e-5)
    apart = split.clustered(halves, np.arange(len(halves)))
    assert (
        apart.standard_errors[: len(soft_labels.SCORES)] > 1.2 * one.standard_errors[: len(soft_labels.SCORES)]
    ).all()


def test_it_does_not_matter_which_model_is_named_first():
    rows, p, item = drawn(Answering(noise=1.0))
    swapped = replace(rows, first=rows.second, second=rows.first, outcome=1 - rows.outcome)
    for one, other in zip(
        soft_labels.fits_of(rows, p).values(), soft_labels.fits_of(swapped, 1 - p).values(), strict=True
    ):
        assert_allclose(other[0].scores, one[0].scores, atol=1e-7)
        errors = (fitted.clustered(of, item).standard_errors for fitted, of in (one, other))
        assert_allclose(*errors, rtol=1e-5)


def test_how_sure_a_judge_states_it_is_weighs_unless_dispersion_is_allowed_for():
    """Near one half p is linear in the margin, so that the same is known however flat it is stated."""
    flat = tuple(0.002 for _ in soft_labels.DISCRIMINATION)
    scaled = {}
    for name, confidence in {"alike": flat, "one is surer": (0.02, *flat[1:])}.items():
        rows, p, _ = drawn(Answering(confidence=confidence))
        fits = {way: fitted for way, (fitted, _) in soft_labels.fits_of(rows, p).items()}
        again = fits["p, weighted"]
        for _ in range(5):  # one step is nearly there, many are there
            again = fit(soft_labels.weighted(replace(rows, outcome=p), again))
        scaled[name] = {way: f.scores / f.scores.std() for way, f in {**fits, "settled": again}.items()}
    moved = {way: np.abs(scores - scaled["one is surer"][way]).max() for way, scores in scaled["alike"].items()}
    assert moved["letter"] == 0
    assert moved["settled"] < 1e-3
    assert moved["p, weighted"] < 0.05
    assert min(moved["p"], moved["p, BTL"]) > 0.2


def test_the_discrimination_is_that_of_what_is_stated(monkeypatch):
    monkeypatch.setattr(soft_labels, "N_JUDGMENTS", 6_000)
    flat = tuple(0.02 for _ in soft_labels.DISCRIMINATION)
    one, other = (
        soft_labels.fits_of(*drawn(Answering(confidence=confidence))[:2])["p"][0].discrimination
        for confidence in (flat, (*flat[:-1], 0.06))
    )
    assert (other / other.iloc[0] / (one / one.iloc[0])).iloc[-1] == pytest.approx(3, rel=0.01)


def test_few_probabilities_have_a_maximum_where_as_many_letters_have_none(monkeypatch):
    monkeypatch.setattr(soft_labels, "N_JUDGMENTS", 20)
    rows, p, _ = drawn(Answering(), seed=3)
    with pytest.raises(NoMaximumError):
        fit(rows, "btl")
    assert fit(replace(rows, outcome=p), "btl").converged


def test_the_gain_counts_letters(monkeypatch):
    """Twice as many letters come out as worth about two each."""

    def squared(many: int) -> list[float]:
        monkeypatch.setattr(soft_labels, "N_JUDGMENTS", many)
        fits = (fit(drawn(Answering(), seed)[0], "btl").scores.to_numpy() for seed in range(150))
        return [float(((s / s.std() - soft_labels.SCORES / soft_labels.SCORES.std()) ** 2).mean()) for s in fits]

    found = gain(pd.Series(squared(1200)), pd.Series(squared(600)))
    assert abs(found["gain"] - 2) < 3 * found["gain_se"] < 0.8


def test_failures_are_counted():
    record = {f"{measure}/{way}": 0.5 for measure in ("squared", "error_clustered") for way in soft_labels.WAYS}
    record["squared/letter"], record["error_clustered/p"] = 1.0, 0.4
    records = [{**record, "replication": 0}, {**record, "replication": 1}, {"replication": 2, "failure": "x"}]
    rows = pd.DataFrame(soft_labels.answered(pd.DataFrame(records), "name")).set_index("way")
    assert (rows["failed"] == 1).all() and (rows["n_replications"] == 3).all()
    assert rows["gain"].tolist() == [1, 2, 2, 1, 1] and rows["gain_se"].max() == 0
    assert rows["narrower"].tolist() == [0, 1, 0, 0, 0]


def test_a_run_writes_what_it_should(tmp_path):
    done = run("soft", tmp_path, "replications=2", f"cache={tmp_path / 'cache'}", "parallel=sequential")
    assert done.returncode == 0, done.stderr
    tables = [pd.read_csv(tmp_path / f"results/beyond/soft/{name}.csv") for name in ("worth", "equal")]
    assert [*dict.fromkeys(pd.concat(tables)["setting"])] == list(ANSWERED)
    assert (tmp_path / "figures/beyond/soft/soft.png").is_file()


def test_a_stored_setting_comes_out_again(worth):
    name, cfg = WEAK_SURE, composed("soft")
    settings = {"how": asdict(ANSWERED[name]), "level": cfg.level}
    seeds = (generator(cfg.seed, "soft", name, r) for r in range(cfg.replications))
    rows = soft_labels.answered(pd.DataFrame([soft_labels.answered_once(settings, rng) for rng in seeds]), name)
    for row in rows:
        stored = worth.loc[(row["way"], name)]
        for column, value in row.items():
            if isinstance(value, float):
                assert stored[column] == pytest.approx(value, rel=TOLERANCES["monte_carlo"].relative)


def test_stored_results_are_as_is_said(worth):
    p, by_btl, even = (worth.loc[way] for way in ("p", "p, BTL", "p, weighted"))
    better = p["gain"] - 2 * p["gain_se"] > 1
    worse = p["gain"] + 2 * p["gain_se"] < 1
    assert list(p.index[worse]) == [
        WEAK_SURE,
        *(name for name, how in ANSWERED.items() if how.unrelated or how.noise),
    ]
    assert (better | worse).all()
    # the narrower intervals are the better ranking
    assert (p["narrower"][better] > 0.75).all() and (p["narrower"][worse] < 0.1).all()
    assert even.loc[WEAK_SURE, "gain"] > 1.5
    assert by_btl.loc[name_of(ANSWERED, Answering(at_random=1)), "gain"] < 1
    assert p.loc[WEAK_SURE, "discrimination"] < 0
    letter, shared, by_chance = (
        name_of(ANSWERED, how) for how in (Answering(), Answering(together=True), Answering(drawn=True))
    )
    assert 1 < p.loc[shared, "gain"] < p.loc[letter, "gain"] < p.loc[by_chance, "gain"]
    # clustered errors are right throughout, the others far too wide where p is worth most
    assert (p["covered_clustered"] > 0.92).all()
    assert (p["covered_plug_in"][[by_chance, letter]] > 0.99).all()
    equal = pd.read_csv(ROOT / "results/beyond/soft/equal.csv")
    assert (equal["separated_clustered"] - 2 * equal["separated_clustered_se"] <= 0.05).all()
    assert (worth["failed"] == 0).all() and (equal["failed"] == 0).all()


def test_the_figure_shows_every_setting(worth):
    left, right = plots.soft(worth.reset_index(), "t").axes
    assert [text.get_text() for text in left.get_yticklabels()] == list(worth.loc["p"].index)
    assert len(left.containers) == len(right.containers) == 3


def test_the_example_turns_judgments_into_probabilities_that_are_read(tmp_path, monkeypatch):
    page = (ROOT / "docs/beyond/soft.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    letters = [{"a": np.log(0.6), "b": np.log(0.2)}, {"b": np.log(0.5), "c": np.log(0.25)}, None, None]
    names = {"model_a": "x", "model_b": "y", "judge_model": "j"}
    records = [
        {"question_id": n, **names, "judge_preferred_model": choice, "letters": told}
        for n, (choice, told) in enumerate(zip(["a", "b", "c", "unknown"], letters, strict=True))
    ]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "judgments.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))
    exec(compile(code, "soft.md", "exec"), {})
    found = read("probabilities.csv")
    assert isinstance(found.comparisons, Comparisons) and sum(found.comparisons.dropped.values()) == 1
    assert_allclose(found.comparisons.outcome, [0.75, 1 / 6, 0.5])
    assert len(np.unique(found.question)) == 3
    assert not any("too wide" in remark for remark in found.remarks)
    pd.read_csv("probabilities.csv").drop(columns="question_id").to_csv("without.csv", index=False)
    assert any("too wide" in remark for remark in read("without.csv").remarks)
