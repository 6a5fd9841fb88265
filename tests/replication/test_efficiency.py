"""Claims in words: what counts as holding, as clear, and over which places."""

import numpy as np
import pandas as pd
import pytest

from replication.efficiency import efficiency_claims, tally
from replication.replicate import Study
from replication.resampling import Subsample

NOISE = np.array([-1.0, 1.0, -1.0, 1.0, 0.0, 0.0]) * 0.01


def curves(rise: float, lead: float, judges: float) -> dict[str, list[dict]]:
    """Records of a grid of K and T: correlation by T, judge-aware's lead, and a change with K."""
    records = {}
    for k in (4, 8):
        for t in (1000, 2000, 3000):
            level = 0.8 + rise * t / 1000 + judges * (k == 8)
            records[f"k{k}-t{t}"] = [
                {
                    f"correlations/{m}/{m}/pearson": level + noise + lead * (m == "judge_aware")
                    for m in ("judge_aware", "btl")
                }
                for noise in NOISE
            ]
    return records


def claims(monkeypatch, tmp_path, **shape) -> pd.DataFrame:
    records = curves(**shape)
    cells = {name: Subsample(*map(int, name[1:].split("-t")), solvers={}) for name in records}
    monkeypatch.setattr(Study, "records", lambda self, cell: iter(records[cell]))
    study = Study("made_up", None, cells, dict.fromkeys(cells, len(NOISE)), 1, tmp_path)
    return efficiency_claims(study, 2).set_index(["claim", "method"])


def test_each_claim_is_over_its_own_places(monkeypatch, tmp_path):
    found = claims(monkeypatch, tmp_path, rise=0.05, lead=0.01, judges=-0.03)
    ahead = found.loc[("judge-aware is at least as close as BTL, each to its own full-data fit", "both")]
    assert ahead[["places", "hold", "clear", "clearly_not"]].tolist() == [6, 6, 6, 0]
    closer = found.loc[("closer with more comparisons", "btl")]
    assert closer[["places", "hold", "clear", "clearly_not"]].tolist() == [4, 4, 4, 0]
    few = found.loc[("less close with more judges at T = 1000", "btl")]
    assert few[["places", "hold", "clear"]].tolist() == [1, 1, 1]
    many = found.loc[("more close with more judges at T = 3000", "btl")]
    assert many[["places", "hold", "clearly_not"]].tolist() == [1, 0, 1]


def test_claims_fall_when_the_curves_turn(monkeypatch, tmp_path):
    found = claims(monkeypatch, tmp_path, rise=-0.05, lead=-0.01, judges=0.03)
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
