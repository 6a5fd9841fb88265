"""The example files `story/november.csv` and `story/december.csv`: simulated judgments of the tutorial's story.

Three judges compare three models on 100 prompts in November, and a fourth model with each of them in December.

python examples/make_story.py
"""

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit

HERE = Path(__file__).parent / "story"
SCORES = {"our-v1": -0.5, "vendor": 0.3, "our-v2": 0.35, "our-v3": 1.0}
JUDGES = {"judge-a": (1.6, 0.1), "judge-b": (1.2, 0.3), "judge-c": (0.9, -0.2)}  # discrimination, position
NEW, PROMPTS = "our-v3", 100


def judgments(seed: int = 7) -> dict[str, pd.DataFrame]:
    """Records by month; every answer has a quality of its own, which all judges see."""
    rng = np.random.default_rng(seed)
    rows: dict[str, list[tuple[str, ...]]] = {"november": [], "december": []}
    for prompt in range(PROMPTS):
        quality = {model: score + 0.4 * rng.normal() for model, score in SCORES.items()}
        for pair in combinations(SCORES, 2):
            for judge, (gamma, position) in JUDGES.items():
                first, second = rng.permutation(pair).tolist()
                chance = expit(gamma * (quality[first] - quality[second]) + position)
                winner = "model_a" if rng.random() < chance else "model_b"
                month = "december" if NEW in pair else "november"
                rows[month].append((f"p{prompt:03d}", first, second, judge, winner))
    columns = ["question", "model_a", "model_b", "judge", "winner"]
    return {month: pd.DataFrame(records, columns=columns) for month, records in rows.items()}


if __name__ == "__main__":
    for name, table in judgments().items():
        table.to_csv(HERE / f"{name}.csv", index=False, lineterminator="\n")
