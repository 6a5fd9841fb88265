"""The audit: every number and claim of the paper against the stored results, with a verdict for each.

python experiments/audit.py        (computes nothing but the comparison)
"""

import json
import logging
from pathlib import Path

import matplotlib
import pandas as pd
from omegaconf import DictConfig

from judgerank.errors import DataUnavailableError
from judgerank.plots.style import save_figures
from judgerank.publishing import STORED_FORMAT, staged
from replication import plots
from replication.auditing.audit import RESULTS, audit, totals
from replication.auditing.claims import claims
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
    folder = Path(ROOT, cfg.results)
    results = Results(folder)
    audited = whole(results)
    brief, table = page(audited, results, folded_numbers=False), every_number(audited, results)
    html = whole_page(brief, "Audit of the paper's numbers and claims", folder, [table], ("place", "verdict"))
    with staged(folder, "audit.json") as written:
        for name, frame in (("audit", audited.numbers), ("audit_claims", _flat(audited.claims))):
            frame.to_csv(written / f"{name}.csv", index=False, float_format=STORED_FORMAT, lineterminator="\n")
        (written / "audit.md").write_text(page(audited, results))
        (written / "audit.html").write_text(html)
    draw(cfg, audited)
    keep_current(markdown_in(Path(ROOT, place) for place in cfg.pages), blocks(audited, results))
    log.info("%s", totals(audited.numbers).set_index("place").T.to_string())


def draw(cfg: DictConfig, audited: Audit) -> None:
    """The picture at the head of the README."""
    with matplotlib.rc_context(), staged(Path(ROOT, cfg.figures, "audit"), "figures.json") as folder:
        save_figures({"verdicts": plots.verdicts(audited.numbers, [str(one) for one in RESULTS])}, folder)
        (folder / "figures.json").write_text(json.dumps({"section": "audit", "surrogate": False}))


def _flat(decided: pd.DataFrame) -> pd.DataFrame:
    return decided.assign(tables=decided["tables"].map(" ".join))


if __name__ == "__main__":
    run()
