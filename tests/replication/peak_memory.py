"""Bytes that Python held at most while a study ran and its records were read, for each number of replications."""

import sys
import tracemalloc
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.replication.replicate_tasks import SEQUENTIAL, toy, wordy

for many in map(int, sys.argv[2:]):
    study = toy(Path(sys.argv[1], str(many)), many, cells={"a": {}}, task=wordy, block=25)
    tracemalloc.start()
    assert study.run(SEQUENTIAL) == many
    assert sum(len(record["text"]) for record in study.records("a")) == 1000 * many
    print(tracemalloc.get_traced_memory()[1])
    tracemalloc.stop()
