"""One of several runs of a study in one folder, which a test starts at once."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.replication.replicate_tasks import SEQUENTIAL, toy

toy(Path(sys.argv[1]), 40, block=1).run(SEQUENTIAL)
