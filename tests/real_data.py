"""The paper's judgments, for the tests that need them, and made-up sets in the layout of the Hugging Face hub.

Such a set is a README.md with its configurations, and data/*.parquet.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from replication.datasets import find_file

FILES = {
    "chatbot_arena": "judge_results_10k_chatbot_arena.json",
    "mt_bench": "judge_results_10k_mtbench.json",
    "ultrafeedback": "judge_results_10k_ultrafeedback.json",
}
IN_HOUSE = "in_house_data.json"
needs_in_house = pytest.mark.skipif(not find_file(IN_HOUSE), reason=f"{IN_HOUSE} is not at hand (JUDGERANK_DATA)")
needs_data = pytest.mark.skipif(
    not all(find_file(name) for name in FILES.values()),
    reason="the paper's judgments are not at hand (JUDGERANK_DATA)",
)

# Made-up sets.

MODELS = ["gpt-4", "gpt-3.5-turbo", "claude-v1", "vicuna-13b-v1.2", "alpaca-13b", "llama-13b"]
TALK = [{"role": "user", "content": "made up"}, {"role": "assistant", "content": "answer"}]


def votes(many: int, seed: int = 0) -> pd.DataFrame:
    """Votes in the columns of lmsys/mt_bench_human_judgments, whole conversations among them."""
    rng = np.random.default_rng(seed)
    pairs = np.array([rng.permutation(len(MODELS))[:2] for _ in range(many)])
    better = rng.random(many) < 1 / (1 + np.exp((pairs[:, 0] - pairs[:, 1]) / 2.0))
    frame = pd.DataFrame({"question_id": 81 + np.arange(many) % 80})
    frame["model_a"], frame["model_b"] = (np.array(MODELS)[pairs[:, side]] for side in (0, 1))
    frame["winner"] = np.where(rng.random(many) < 0.1, "tie", np.where(better, "model_a", "model_b"))
    frame["judge"] = [f"expert_{number}" for number in rng.integers(5, size=many)]
    frame["conversation_a"] = frame["conversation_b"] = [TALK] * many
    return frame.assign(turn=1 + np.arange(many) // 80 % 2)


def written(folder: Path, configurations: dict[str, dict[str, pd.DataFrame]]) -> Path:
    """Write a set: tables by split, by configuration."""
    (folder / "data").mkdir(parents=True)
    lines = ["---", "configs:"]
    for name, splits in configurations.items():
        lines += [f"- config_name: {name}", "  data_files:"]
        for split, table in splits.items():
            table.to_parquet(folder / "data" / f"{name}-{split}-00000-of-00001.parquet")
            lines += [f"  - split: {split}", f"    path: data/{name}-{split}-*"]
    (folder / "README.md").write_text("\n".join([*lines, "license: cc-by-4.0", "---", "# Made up", ""]))
    return folder
