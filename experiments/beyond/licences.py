"""Licence, source and known vulnerabilities of every package in the lock file; fails if one needs a decision.

python experiments/beyond/licences.py        (computes nothing; asks osv.dev, if it can be reached)
"""

import sys
from pathlib import Path

from replication.config import ROOT
from studies.licences import advisories, licences


def run(lock: Path) -> int:
    table = licences(lock)
    print(table.drop(columns="problem").to_markdown(index=False, tablefmt="github"))
    refused = table[table["problem"] != ""]
    for row in refused.itertuples():
        print(f"{row.package} {row.version} {row.problem} ({row.licence})", file=sys.stderr)
    print(f"{len(table)} packages, {len(refused)} with a licence to look at")
    vulnerabilities = advisories(lock)
    if vulnerabilities is None:
        print("Vulnerabilities were not checked: pip-audit could not reach osv.dev.", file=sys.stderr)
    elif len(vulnerabilities):
        print(vulnerabilities.to_markdown(index=False, tablefmt="github"), file=sys.stderr)
    else:
        print("no known vulnerabilities")
    return int(len(refused) > 0 or (vulnerabilities is not None and len(vulnerabilities) > 0))


if __name__ == "__main__":
    sys.exit(run(ROOT / "requirements.lock"))
