"""The example file `judgments.csv`: simulated judgments of five models by four judges on 150 questions.

python examples/make_judgments.py > examples/judgments.csv
"""

import sys

import numpy as np
import pandas as pd
from scipy.special import expit

SCORES = {"aster": 0.9, "birch": 0.4, "cedar": 0.3, "dahlia": -0.5, "elder": -1.1}
JUDGES = {
    "judge-large": (1.8, 0.1),
    "judge-medium": (1.2, 0.4),
    "judge-leaning": (0.8, 1.6),
    "judge-small": (0.6, 0.0),
}
TIES = 0.08


def judgments(seed: int = 2026) -> pd.DataFrame:
    """One record for each of 150 questions and four judges; every judge has a discrimination and a position."""
    rng = np.random.default_rng(seed)
    rows = []
    for question in range(150):
        for judge, (gamma, position) in JUDGES.items():
            first, second = rng.choice(list(SCORES), 2, replace=False).tolist()
            chance = expit(gamma * (SCORES[first] - SCORES[second]) + position)
            winner = "tie" if rng.random() < TIES else "model_a" if rng.random() < chance else "model_b"
            rows.append((f"q{question:03d}", first, second, judge, winner))
    return pd.DataFrame(rows, columns=["question", "model_a", "model_b", "judge", "winner"])


if __name__ == "__main__":
    judgments().to_csv(sys.stdout, index=False, lineterminator="\n")
