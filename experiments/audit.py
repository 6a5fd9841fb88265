"""The audit: every number and claim of the paper against the stored results, with a verdict for each.

python experiments/audit.py [accept_falls=true]       (computes nothing but the comparison)

It ends with an error and writes nothing if the verdict of a number or a claim is worse than the stored one, or if
a printed number was altered.
"""

import logging
from pathlib import Path

import pandas as pd
from omegaconf import DictConfig

from judgerank.errors import DataUnavailableError
from judgerank.publishing import STORED_FORMAT, staged
from replication import published
from replication.auditing.audit import audit, totals
from replication.auditing.claims import claims
from replication.auditing.falls import require_no_fall
from replication.auditing.findings import FINDINGS, tell
from replication.auditing.page import Audit, every_number, page
from replication.auditing.results import Results
from replication.auditing.shown import blocks, keep_current, markdown_in
from replication.config import ROOT, main
from replication.pages import whole_page

log = logging.getLogger("replication")


def whole(results: Results) -> Audit:
    """All that the audit tells of the stored results.

    Raises
    ------
    DataUnavailableError
        If nothing is stored.
    """
    if not any(results.folder.rglob("*.csv")):
        raise DataUnavailableError(f"no results are stored in {results.folder}: run `make reproduce`")
    told = [tell(finding, results) for finding in FINDINGS]
    numbers = audit(results, {one.finding.name for one in told if one.holds})
    return Audit(numbers, told, claims(results))


@main("audit")
def run(cfg: DictConfig) -> None:
    published.require_unaltered()
    folder = Path(ROOT, cfg.results)
    results = Results(folder)
    audited = whole(results)
    if not cfg.accept_falls:
        require_no_fall(folder, audited.numbers, audited.claims)
    brief, table = page(audited, results, folded_numbers=False), every_number(audited, results)
    html = whole_page(brief, "Audit of the paper's numbers and claims", folder, [table], ("place", "verdict"))
    with staged(folder, "audit.json") as written:
        for name, frame in (("audit", audited.numbers), ("audit_claims", _flat(audited.claims))):
            frame.to_csv(written / f"{name}.csv", index=False, float_format=STORED_FORMAT, lineterminator="\n")
        (written / "audit.md").write_text(page(audited, results))
        (written / "audit.html").write_text(html)
    keep_current(markdown_in(Path(ROOT, place) for place in cfg.pages), blocks(audited, results), results)
    log.info("%s", totals(audited.numbers).set_index("place").T.to_string())


def _flat(decided: pd.DataFrame) -> pd.DataFrame:
    return decided.assign(tables=decided["tables"].map(" ".join))


if __name__ == "__main__":
    run()
