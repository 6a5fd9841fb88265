"""Claims in words: what counts as holding, as clear, and over which places."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from replication.resampled_tables import efficiency_claims, tally

NOISE = np.array([-1.0, 1.0, -1.0, 1.0, 0.0, 0.0]) * 0.01


def curves(rise: float, lead: float, judges: float) -> pd.DataFrame:
    """Draws of a grid of K and T: correlation by T, judge-aware's lead, and a change with K."""
    rows = []
    for k, t, (replication, noise) in product((4, 8), (1000, 2000, 3000), enumerate(NOISE)):
        for method in ("judge_aware", "btl"):
            value = 0.8 + rise * t / 1000 + judges * (k == 8) + noise + lead * (method == "judge_aware")
            rows.append((k, t, replication, method, method, value))
    frame = pd.DataFrame(
        rows, columns=["n_judges", "n_comparisons", "replication", "method", "reference", "pearson"]
    )
    exact = frame.assign(estimator="exact", pearson=frame["pearson"].where(frame["replication"] == 0))
    return pd.concat([exact, frame.assign(estimator="algorithm_1")]).assign(spearman=np.nan)


def claims(estimator: str = "algorithm_1", **shape: float) -> pd.DataFrame:
    found = efficiency_claims(curves(**shape), 2)
    return found[found["estimator"] == estimator].set_index(["claim", "method"])


def test_each_claim_is_over_its_own_places():
    found = claims(rise=0.05, lead=0.01, judges=-0.03)
    ahead = found.loc[("judge-aware is at least as close as BTL, each to its own full-data fit", "both")]
    assert ahead[["places", "hold", "clear", "clearly_not"]].tolist() == [6, 6, 6, 0]
    closer = found.loc[("closer with more comparisons", "btl")]
    assert closer[["places", "hold", "clear", "clearly_not"]].tolist() == [4, 4, 4, 0]
    few = found.loc[("less close with more judges at T = 1000", "btl")]
    assert few[["places", "hold", "clear"]].tolist() == [1, 1, 1]
    many = found.loc[("more close with more judges at T = 3000", "btl")]
    assert many[["places", "hold", "clearly_not"]].tolist() == [1, 0, 1]


def test_a_difference_of_one_draw_is_neither_clear_nor_clearly_not():
    found = claims("exact", rise=0.05, lead=0.01, judges=-0.03)
    assert (found["places"] > 0).all()
    assert not found[["clear", "clearly_not"]].any().any()


def test_claims_fall_when_the_curves_turn():
    found = claims(rise=-0.05, lead=-0.01, judges=0.03)
    assert found.loc[("closer with more comparisons", "judge_aware"), "clearly_not"] == 4
    ahead = found.loc[("judge-aware is at least as close as BTL, each to its own full-data fit", "both")]
    assert ahead[["hold", "clearly_not", "hold_paper_repeats"]].tolist() == [0, 6, 0]


def test_what_noise_may_explain_is_not_clear():
    noisy = pd.Series([0.1, -0.1, 0.12, -0.08, np.nan])
    row = tally("any", "pearson", "btl", [(noisy, None), (noisy, noisy + 1.0)], 1)
    assert (row["places"], row["hold"], row["clear"], row["clearly_not"]) == (2, 1, 0, 1)
    assert row["hold_paper_repeats"] == pytest.approx(1)


def test_a_place_where_no_repeat_gave_both_fits_is_left_out():
    some, none = pd.Series([0.1, 0.2, 0.3]), pd.Series([np.nan, np.nan, np.nan])
    row = tally("claim", "pearson", "btl", [(some, None), (none, None), (some, none)], 2)
    assert (row["places"], row["hold"], row["clear"], row["clearly_not"]) == (1, 1, 1, 0)
