"""How well members predict questions left out, beside the one that ranks: by other code, and where none does."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

from judgerank import Comparisons, fit, rank
from judgerank.inference.wald import normal_quantile
from judgerank.model.members import MODELS
from judgerank.model.streams import generator
from judgerank.order.scale import scale_of, standardised
from judgerank.ranking.default_member import DEFAULT
from judgerank.ranking.studies import prediction
from judgerank.ranking.studies.prediction import FOLDS, compared, held_out, mean_of, sample_of
from judgerank.reading.read import judgments_of, read_judgments
from replication.datasets import find_file
from tests.real_data import FILES, needs_data

LEANING = ((1.5, 1.0, 0.6), (1.5, -1.0, 0.5))  # discriminations and positions
ALL_WITHOUT_TIES = ("btl", "judge_aware", "position_only", "position_aware")


def frame_of(seed, gamma, position, size=900, ties=0.1, scores=(1.0, 0.3, -0.3, -1.0)) -> pd.DataFrame:
    """Judgments of a hundred questions, in random order of presentation."""
    rng = generator(0, "members", seed)
    gamma, b, s = np.array(gamma), np.array(position), np.array(scores)
    i = rng.integers(len(s), size=size)
    j = (i + rng.integers(1, len(s), size=size)) % len(s)
    k = rng.integers(len(gamma), size=size)
    won = rng.random(size) < expit(gamma[k] * (s[i] - s[j]) + b[k])
    answer = np.where(rng.random(size) < ties, "tie", np.where(won, "a", "b"))
    names = {"model_a": [f"m{x}" for x in i], "model_b": [f"m{x}" for x in j], "judge": [f"j{x}" for x in k]}
    return pd.DataFrame({**names, "winner": answer, "question": rng.integers(100, size=size)})


@pytest.fixture(scope="module")
def leaning() -> pd.DataFrame:
    return frame_of("leaning", *LEANING)


@pytest.fixture(scope="module")
def ranking(leaning):
    return rank(leaning)


def log_loss(table: pd.DataFrame) -> pd.Series:
    return table.set_index("member")["log_loss"]


@pytest.mark.parametrize("name", ["judge_aware", "position_aware_ties"])
def test_losses_are_those_of_fits_without_the_question(leaning, name):
    """Fold by fold with dictionaries, where the member says what it expects of one comparison."""
    sample = sample_of(judgments_of(leaning.head(200)))
    c, total = sample.comparisons, np.zeros(sample.unit.max() + 1)
    tested = np.concatenate([rows for *_, rows in sample.folds])
    assert sorted(tested) == list(range(len(c)))
    for *_, rows in sample.folds:
        inside = {int(sample.unit[row]) for row in rows}
        kept = np.array([row for row in range(len(c)) if int(sample.unit[row]) not in inside])
        fitted = fit(c.take(kept), name)
        for row in rows:
            a, b, k = c.models[c.first[row]], c.models[c.second[row]], c.judges[c.judge[row]]
            mine = kept[c.judge[kept] == c.judge[row]]
            tie = (np.sum(c.outcome[mine] == 0.5) + 0.5) / (len(mine) + 1)
            first, second = fitted.predict(a, b, k), 1 - fitted.predict(a, b, k)
            if fitted.model.has_ties:
                tie = fitted.tie_probability(c.take(np.array([row])))[0]
                second = 1 - tie - first
            else:
                first, second = (1 - tie) * first, (1 - tie) * second
            total[sample.unit[row]] -= np.log({1.0: first, 0.5: tie, 0.0: second}[float(c.outcome[row])])
    parameters, losses = held_out(sample, MODELS[name])
    assert_allclose(losses, total, atol=1e-5)
    assert parameters == fit(c, name).n_parameters


def test_the_error_of_a_mean_is_that_of_resampled_questions():
    rng = np.random.default_rng(0)
    weight = rng.integers(1, 9, 200).astype(float)
    total = weight * rng.normal(0.5, 0.1, 200) + rng.normal(0, 1, 200)
    mean, error = mean_of(total, weight)
    assert mean == pytest.approx(total.sum() / weight.sum())
    drawn = rng.integers(200, size=(2000, 200))
    assert error == pytest.approx((total[drawn].sum(axis=1) / weight[drawn].sum(axis=1)).std(), rel=0.1)


def test_the_member_that_ranks_is_told_beside_the_others(leaning, ranking):
    table = ranking.tables["members"]
    assert sorted(table["member"]) == sorted([*MODELS, "position_aware (shrunk)"])
    assert table.loc[table["ranks"], "member"].tolist() == ["position_aware (shrunk)"]
    assert table["parameters"].dropna().is_monotonic_increasing
    loss = log_loss(table)
    assert loss["position_aware"] < loss["judge_aware"] - 0.05
    best = table.loc[table["log_loss"].idxmin()]
    assert (best["worse"], best["worse_error"]) == (0, 0)
    assert_allclose(table["worse"], table["log_loss"] - best["log_loss"], atol=1e-12)
    used = "position_aware (shrunk)"
    (told,) = [remark for remark in ranking.remarks if "held-out comparisons" in remark]
    assert f"{loss[used]:.4f}" in told
    assert f"; {leaning['question'].nunique()} questions in {FOLDS} folds)" in told
    own = table.set_index("member").loc[used]
    assert best["member"] == "position_aware" and own["worse"] <= 2 * own["worse_error"]
    assert f"difference {own['worse']:.4f}, SE {own['worse_error']:.4f};" in told
    assert told.startswith(f"{used} and position_aware (exact) predict held-out comparisons equally well")
    assert f"log-loss {own['log_loss']:.4f} vs {best['log_loss']:.4f}" in told and "To use it" not in told
    assert "How well each member of the family predicts" in ranking.to_html()
    named = rank(leaning, model="position_aware")
    assert "members" not in named.tables and "How well each member of the family predicts" not in named.to_html()
    pd.testing.assert_frame_equal(named.tables["pairs"], ranking.tables["pairs"])


def test_it_is_one_of_the_tables_that_are_written(ranking, tmp_path):
    ranking.write(tmp_path / "out")
    kept = pd.read_csv(tmp_path / "out" / "members.csv")
    assert_allclose(kept["log_loss"], ranking.tables["members"]["log_loss"].astype(float))
    ranking.export(tmp_path / "members.md", "members")
    assert len((tmp_path / "members.md").read_text().splitlines()) == 3 + len(MODELS)


@pytest.mark.parametrize("by", ["question", None])
def test_neither_the_order_of_records_nor_counts_matter(leaning, by):
    data = leaning if by else leaning.drop(columns="question")
    table, (told,) = compared(judgments_of(data), "position_aware")
    again, (same,) = compared(judgments_of(data.sample(frac=1, random_state=1)), "position_aware")
    assert_allclose(again["log_loss"].astype(float), table["log_loss"].astype(float), atol=1e-7)
    assert same == told
    assert ("100 questions" in told) == bool(by) and (f"{len(data)} comparisons" in told) != bool(by)
    if by:
        twice, _ = compared(judgments_of(pd.concat([data, data]), copies="keep"), "position_aware")
        counted, _ = compared(judgments_of(data.assign(n=2), columns={"count": "n"}), "position_aware")
        pd.testing.assert_frame_equal(counted, twice, check_exact=False, atol=1e-7)


def test_another_member_is_advised_only_if_it_predicts_better_by_more_than_two_errors():
    data = {"member": ["a", "b"], "parameters": [1, 2], "log_loss": [0.85, 0.84], "note": ""}
    table = pd.DataFrame(data).assign(worse=[0.01, 0.0], worse_error=[0.004, 0.0])
    (said,) = prediction._sentences(table, "a", "5 questions")
    assert said.startswith("b predicts held-out comparisons better than a (log-loss 0.8400 vs 0.8500, ")
    assert said.endswith("To use it: --model b.")
    (said,) = prediction._sentences(table.assign(worse_error=[0.006, 0.0]), "a", "5 questions")
    assert said.startswith("a and b predict held-out comparisons equally well, within chance (log-loss 0.8500 vs ")
    (said,) = prediction._sentences(table, "b", "5 questions")
    assert said.startswith(
        "b predicts held-out comparisons better than a, the next of 2 models (log-loss 0.8400 vs "
    )
    shrunk = table.replace({"a": "b (shrunk)"})
    (said,) = prediction._sentences(shrunk, "b (shrunk)", "5 questions")
    assert said.startswith("b (exact) predicts held-out comparisons better than b (shrunk) ")
    assert said.endswith("To use it: --solver newton.")


# where there is nothing to tell, or a member is none


def test_where_models_are_equal_members_predict_alike():
    """Coin flips: whoever has more parameters predicts no better than btl, by more than chance."""
    data = frame_of("coins", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), scores=(0.0,) * 4)
    table = compared(judgments_of(data), "position_aware")[0].dropna(subset="log_loss")
    fewest = table.iloc[0]
    assert fewest["member"] == "btl" and fewest["worse"] <= 2 * fewest["worse_error"]
    assert table["log_loss"].min() > 0.9 * -(0.1 * np.log(0.1) + 0.9 * np.log(0.45))


def test_a_member_with_a_judge_who_runs_off_is_not_compared():
    data = frame_of("sure", (1.0, 0.8, 1e9), (0.0, 0.0, 0.0), ties=0.0)
    ranking = rank(data, solver="newton")
    table = ranking.tables["members"].set_index("member")
    assert table.loc["position_aware", "note"] == "no maximum: a parameter of j2 grows without limit"
    assert table.loc["position_aware", "ranks"] and np.isnan(table.loc["position_aware", "log_loss"])
    assert {"btl", "position_only"} == set(table.index[table["log_loss"].notna()])
    said = "How well position_aware predicts held-out comparisons is not known (no maximum"
    assert sum(remark.startswith(said) for remark in ranking.remarks) == 1
    assert (table.loc[["btl_ties", "length"], "note"] == ["there are no ties", "there are no lengths"]).all()


def test_positions_that_scores_imitate_are_not_compared(leaning):
    upper = leaning["model_a"].isin(["m0", "m1"]) & leaning["model_b"].isin(["m2", "m3"])
    ranking = rank(leaning[upper])
    table = ranking.tables["members"].set_index("member")
    assert table.loc["judge_aware (shrunk)", "ranks"]
    with_positions = [name for name, member in MODELS.items() if member.has_position and not member.has_slope]
    assert (table.loc[with_positions, "note"] == "the order of presentation follows the models").all()


def test_too_few_questions_leave_nothing_to_say(leaning):
    few = leaning[leaning["question"] < FOLDS - 1]
    ranking = rank(few, solver="penalised")
    assert ranking.tables["members"]["log_loss"].isna().all()
    assert not any("held-out" in text for text in ranking.remarks)
    notes = ranking.tables["members"].set_index("member")["note"]
    assert notes["btl"] == f"there are fewer than {FOLDS} to leave out"


def test_of_components_the_largest_is_compared(leaning):
    other = leaning.assign(model_a="x" + leaning["model_a"], model_b="x" + leaning["model_b"])
    both = rank(pd.concat([leaning, other[(other[["model_a", "model_b"]] != "xm3").all(axis=1)]]))
    alone = rank(leaning)
    pd.testing.assert_frame_equal(both.tables["members"], alone.tables["members"])


def test_answers_by_a_judge_of_one_fold_alone_are_left_out_and_counted(leaning):
    one = leaning.assign(judge=leaning["judge"].where(leaning["question"] != 7, "only there"))
    many = int((leaning["question"] == 7).sum())
    table, (told,) = compared(judgments_of(one), "position_only")
    assert f"({many} by judges who are in one fold only left out)" in told
    assert table.set_index("member").loc["btl", "log_loss"] > 0


def test_large_sets_are_compared_on_part_of_them(leaning, monkeypatch):
    monkeypatch.setattr(prediction, "MOST_MODELS", 3)
    monkeypatch.setattr(prediction, "MOST_ROWS", 200)
    judgments = judgments_of(leaning)
    sample = sample_of(judgments)
    c = judgments.comparisons
    times = np.bincount(c.first, minlength=4) + np.bincount(c.second, minlength=4)
    assert sorted(sample.comparisons.models) == sorted(np.array(c.models)[np.argsort(-times, kind="stable")[:3]])
    assert 150 < len(sample.comparisons) <= 200
    assert "of the 3 models compared most and " in sample.description
    among = leaning[leaning[["model_a", "model_b"]].isin(sample.comparisons.models).all(axis=1)]
    assert np.isin(np.bincount(sample.unit), among["question"].value_counts()).all()  # whole questions
    assert compared(judgments, "position_aware")[1][0].endswith(
        "comparisons drawn at random). To use it: --model position_only."
    )
    monkeypatch.setattr(prediction, "MOST_ROWS", 1)
    assert len(np.unique(sample_of(judgments).unit)) == prediction.LEAST  # questions larger than that are kept


def test_many_comparisons_are_drawn_of_few_models_if_these_have_enough(leaning, monkeypatch):
    judgments = judgments_of(leaning)
    c = judgments.comparisons
    times = np.bincount(c.first, minlength=4) + np.bincount(c.second, minlength=4)
    most = np.array(c.models)[np.argsort(-times, kind="stable")]
    monkeypatch.setattr(prediction, "DENSE", 2)
    met = [int(np.isin(leaning[["model_a", "model_b"]], most[:many]).all(axis=1).sum()) for many in (2, 3)]
    for rows, many in ((met[0] - 1, 2), (met[0] + 1, 3), (met[1] + 1, 4)):
        monkeypatch.setattr(prediction, "MOST_ROWS", rows)
        sample = sample_of(judgments)
        assert sorted(sample.comparisons.models) == sorted(most[:many])
        assert (f"of the {many} models compared most" in sample.description) == (many < 4)


def test_the_models_compared_most_may_never_meet(monkeypatch):
    monkeypatch.setattr(prediction, "MOST_MODELS", 2)
    data = frame_of("never", *LEANING, scores=(1.0, 0.5, 0.0, -0.5, -1.0))
    apart = data[data[["model_a", "model_b"]].isin(["m0", "m1"]).sum(axis=1) == 1]
    table, said = compared(judgments_of(apart), "position_aware")
    assert table["log_loss"].notna().any() and said[0].endswith("questions in 5 folds).")


# why the default is not chosen by prediction


def one_standard_error(sample, names) -> str:
    """The member with fewest parameters within one standard error of the best."""
    found = {name: held_out(sample, MODELS[name]) for name in names}
    best = min(found, key=lambda name: found[name][1].sum())
    weight = np.bincount(sample.unit).astype(float)
    gaps = {name: mean_of(losses - found[best][1], weight) for name, (_, losses) in found.items()}
    return min((name for name in names if gaps[name][0] <= gaps[name][1]), key=lambda name: found[name][0])


TRUE = np.array([0.6, 0.2, 1.0, -1.0, -0.6, -0.2])
LEAN = np.array([0.5, 0.5, 0.5, 0.5, -0.25, 0.0])


def leaning_slightly(seed: int) -> Comparisons:
    """Six judges who lean a little, shown the earlier name first nineteen times in twenty; TRUE scores."""
    rng, size = generator(0, "leaning slightly", seed), 1200
    i, j = np.sort([rng.choice(len(TRUE), 2, replace=False) for _ in range(size)], axis=1).T
    turned = rng.random(size) < 0.05
    i, j = np.where(turned, j, i), np.where(turned, i, j)
    judge, gamma = rng.integers(6, size=size), np.exp(np.linspace(-0.4, 0.4, 6))
    won = rng.random(size) < expit(gamma[judge] * (TRUE[i] - TRUE[j]) + LEAN[judge])
    names = tuple(f"m{n}" for n in range(len(TRUE))), tuple(f"j{k}" for k in range(6))
    return Comparisons(*names, i, j, judge, won.astype(float))


def share_held(data: Comparisons, name: str) -> float:
    """Share of the 95% intervals of standardised scores that hold."""
    fitted = fit(data, name)
    scale = scale_of(fitted)
    shape, covariance = standardised(scale.scores, scale.covariance(fitted.covariance))
    inside = np.abs(shape - TRUE / TRUE.std()) <= normal_quantile(0.95) * np.sqrt(np.diag(covariance))
    return float(inside.mean())


def test_choosing_by_prediction_hurts_where_leanings_are_slight_and_the_order_follows_the_names():
    """Such leanings predict little, and move scores: the member chosen has intervals that hold less often."""
    gained, chosen = [], []
    for seed in range(60):
        data = leaning_slightly(seed)
        chosen.append(one_standard_error(prediction.sampled(data, np.arange(len(data)), ""), ALL_WITHOUT_TIES))
        gained.append(share_held(data, DEFAULT) - share_held(data, chosen[-1]))
    assert "btl" in chosen
    assert np.mean(gained) > 2 * np.std(gained) / np.sqrt(len(gained))


@needs_data
@pytest.mark.parametrize("name", FILES)
def test_of_members_that_take_ties_for_half_the_default_predicts_best_on_real_sets(name):
    table = compared(read_judgments(find_file(FILES[name])), "position_aware")[0].set_index("member")
    alike = table[[not MODELS[member].has_ties for member in table.index]]
    assert alike["log_loss"].idxmin() == "position_aware"
    ahead = table.loc["judge_aware", "worse"] - table.loc["position_aware", "worse"]
    assert ahead > 5 * table.loc["judge_aware", "worse_error"]
