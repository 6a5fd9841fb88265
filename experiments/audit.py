"""The audit: every number and claim of the paper against the stored results, with a verdict for each.

python experiments/audit.py [accept_falls=true] [accept_stale=true]       (computes nothing but the comparison)

It ends with an error and writes nothing if a stored file is not the one that its run wrote, if a run had other
settings than conf/, if one of the paper's sections is stale, if the verdict of a number or a claim is worse than
the stored one, or if a printed number was altered. Verdicts that are better than the stored ones are named.
"""

import json
import logging
from pathlib import Path

import pandas as pd
import yaml
from omegaconf import DictConfig

from judgerank.data.errors import DataUnavailableError
from judgerank.plots.looks import in_style
from judgerank.writing.atomic import STORED_FORMAT, replace_file, staged
from judgerank.writing.sidecars import written as files_written
from replication import plots, published
from replication.auditing.audit import RESULTS, audit, totals
from replication.auditing.claims import claims
from replication.auditing.doc_blocks import blocks, keep_current, markdown_in
from replication.auditing.findings import FINDINGS, check_finding
from replication.auditing.page import Audit, every_number, freshness_line, html_page, page
from replication.auditing.results import Missing, Results
from replication.auditing.reviewing import manifest, written
from replication.auditing.stored_checks import require_as_recorded, require_fresh, require_no_fall, with_freshness
from replication.config import ROOT, main
from replication.freshness import LOTS, files_stored, made_by, settings_of, stale, tables_of
from replication.plots.drawn import figure_record
from replication.plots.labels import save_figures

log = logging.getLogger("replication")


def full_audit(results: Results) -> Audit:
    """All that the audit tells of the stored results.

    Raises
    ------
    DataUnavailableError
        If nothing is stored.
    """
    if not any(results.folder.rglob("*.csv")):
        raise DataUnavailableError(f"no results are stored in {results.folder}: run `make reproduce`")
    checked = [check_finding(finding, results) for finding in FINDINGS]
    numbers = audit(results, {entry.finding.name for entry in checked if entry.holds})
    return Audit(numbers, checked, claims(results))


@main("audit")
def run(cfg: DictConfig) -> None:
    published.require_unaltered()
    folder = Path(ROOT, cfg.results)
    results = Results(folder)
    require_as_recorded(results.audit, cfg.accept_falls)
    listed = stale(folder, LOTS[:1])
    if not cfg.accept_stale:
        require_fresh(listed)
    audited = with_freshness(full_audit(results), listed, results)
    if not cfg.accept_falls:
        require_no_fall(results.audit, audited.numbers, audited.claims)
    brief, table = page(audited, results), every_number(audited, results)
    html = html_page(
        brief, "Audit of the paper's numbers and claims", results.audit, [table], ("place", "verdict")
    )
    with staged(results.audit, "audit.json") as stored:
        for name, frame in (("audit", audited.numbers), ("audit_claims", _flat(audited.claims))):
            frame.to_csv(stored / f"{name}.csv", index=False, float_format=STORED_FORMAT, lineterminator="\n")
        (stored / "audit.md").write_text(brief)
        (stored / "audit.html").write_text(html)
        made = made_by("audit", settings_of(cfg), files_stored(folder), "tables")
        (stored / "audit.json").write_text(json.dumps({"made_by": made}))
    draw(cfg, audited)
    if cfg.pages:
        publish(cfg, audited, results)
    log.info("%s\n%s", totals(audited.numbers).set_index("place").T.to_string(), freshness_line(audited))


def publish(cfg: DictConfig, audited: Audit, results: Results) -> None:
    """Keep current what tells of the results elsewhere: pages, the manifest, the article and the letter."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    replace_file(Path(ROOT, cfg.codecheck), manifest(audited, results, citation))
    try:
        articles = written(Path(ROOT, cfg.articles), audited, results, citation)
    except Missing as error:
        log.warning("the article and the letter are left as they are: %s", error)
        articles = {}
    for name, text in articles.items():
        replace_file(Path(ROOT, cfg.articles, name), text)
    keep_current(markdown_in(Path(ROOT, path) for path in cfg.pages), blocks(audited, results), results)


def draw(cfg: DictConfig, audited: Audit) -> None:
    """The picture at the head of the README."""
    with in_style(), staged(Path(ROOT, cfg.figures, "paper", "audit"), "figures.json") as folder:
        figures = {"verdicts": plots.verdicts(audited.numbers, [str(verdict) for verdict in RESULTS])}
        save_figures(figures, folder)
        drawn_from = tables_of(files_written(Path(ROOT, cfg.results, "paper"), "audit.json") or {})
        record = {"section": "audit", "surrogate": False, **figure_record(figures)}
        record["made_by"] = made_by("audit", settings_of(cfg), drawn_from, "figures")
        (folder / "figures.json").write_text(json.dumps(record))


def _flat(decided: pd.DataFrame) -> pd.DataFrame:
    return decided.assign(tables=decided["tables"].map(" ".join))


if __name__ == "__main__":
    run()
