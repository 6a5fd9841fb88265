"""The paper's judgments, for the tests that need them."""

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
