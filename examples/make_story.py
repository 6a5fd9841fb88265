"""The example files in `story`: simulated judgments of the tutorials' stories.

Three judges compare three models on 100 prompts in November, and a fourth model with each of them in December. In
January they compare two versions of its prompt: the new one is better in chat and worse on safety.

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
OLD_PROMPT, NEW_PROMPT = "prompt-1", "prompt-2"
LEADS = {"chat": (150, 0.7), "safety": (50, -0.9)}  # questions, and the new prompt's lead in quality


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


def of_two_prompts(seed: int = 11) -> pd.DataFrame:
    """Records of January, with a category."""
    rng = np.random.default_rng(seed)
    rows: list[tuple[str, ...]] = []
    categories = [category for category, (count, _) in LEADS.items() for _ in range(count)]
    for number, category in enumerate(categories):
        lead = LEADS[category][1] + 0.6 * rng.normal()
        for judge, (gamma, position) in JUDGES.items():
            first, second = rng.permutation([OLD_PROMPT, NEW_PROMPT]).tolist()
            sign = 1 if first == NEW_PROMPT else -1
            winner = "model_a" if rng.random() < expit(sign * gamma * lead + position) else "model_b"
            rows.append((f"q{number:03d}", first, second, judge, winner, category))
    return pd.DataFrame(rows, columns=["question", "model_a", "model_b", "judge", "winner", "category"])


if __name__ == "__main__":
    for name, table in {**judgments(), "january": of_two_prompts()}.items():
        table.to_csv(HERE / f"{name}.csv", index=False, lineterminator="\n")
