"""What was made from what, for machines: ro-crate-metadata.json, read off the records of the stored runs.

python experiments/crate.py        (computes nothing)

It stands at the top of the project, because a crate describes only what is below it, and the graph goes from
scripts to figures. It is not kept in the repository: every new run would make it out of date.
"""

import json
import tomllib

from judgerank.writing.atomic import replace_file
from replication.config import ROOT
from replication.crate import crate_of


def run() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    graph = crate_of(ROOT, project)
    replace_file(ROOT / "ro-crate-metadata.json", json.dumps(graph, indent=1, sort_keys=True) + "\n")
    print(f"ro-crate-metadata.json: {len(graph['@graph'])} entities")


if __name__ == "__main__":
    run()
