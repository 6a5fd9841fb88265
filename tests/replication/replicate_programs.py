"""Programs that tests of replications start: ``shared FOLDER``, one of several runs of a study in one folder;
``memory FOLDER COUNT...``, bytes that Python held at most while a study ran and its records were read.
"""

import sys
import tracemalloc
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.replication.replicate_tasks import SEQUENTIAL, toy, wordy


def shared(folder: str) -> None:
    toy(Path(folder), 40, block=1).run(SEQUENTIAL)


def memory(folder: str, *counts: str) -> None:
    """Print the bytes for each number of replications."""
    for many in map(int, counts):
        study = toy(Path(folder, str(many)), many, cells={"a": {}}, task=wordy, block=25)
        tracemalloc.start()
        assert study.run(SEQUENTIAL) == many
        assert sum(len(record["text"]) for record in study.records("a")) == 1000 * many
        print(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()


if __name__ == "__main__":
    {"shared": shared, "memory": memory}[sys.argv[1]](*sys.argv[2:])
