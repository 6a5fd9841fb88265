"""Kill `judgerank collect` at random moments and go on: ``python -m tests.tool.kill_collecting [TIMES]``."""

import sys
import tempfile
from pathlib import Path

from tests.tool import test_collecting_batches as batches
from tests.tool.collecting import TOTAL
from tests.tool.test_collecting_servers import killed_and_gone_on

if __name__ == "__main__":
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    found = []
    for seed in range(times):
        with tempfile.TemporaryDirectory() as folder:
            found.append(killed_and_gone_on(Path(folder), seed))
    kept, twice = (sum(column) for column in zip(*found, strict=True))
    print(f"{times} kills: {kept} of {times * TOTAL} judgments were kept, none lost; {twice} were on their way")
    for form in batches.FORMS:
        submitted = 0
        for seed in range(times):
            with tempfile.TemporaryDirectory() as folder:
                submitted += batches.killed_and_gone_on(Path(folder), form, seed)
        told = f"{times} kills by batch ({form}): {submitted} of {times * batches.HALF} requests were submitted"
        print(f"{told}, none of them twice")
