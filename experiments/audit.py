"""The audit: every number printed in the paper against the stored results, with a verdict for each.

python experiments/audit.py        (computes nothing but the comparison)
"""

import logging
from pathlib import Path

from omegaconf import DictConfig

from judgerank.auditing.audit import Results, audit, totals
from judgerank.auditing.findings import FINDINGS
from judgerank.auditing.report import html, page, readme_blocks, with_block
from judgerank.config import ROOT, main
from judgerank.publishing import replace_file, staged
from judgerank.tables import STORED_FORMAT

log = logging.getLogger("judgerank")


@main("audit")
def run(cfg: DictConfig) -> None:
    folder = Path(ROOT, cfg.results)
    results = Results(folder)
    findings = [(finding, *finding.check(results)) for finding in FINDINGS]
    audited = audit(results, {finding.name for finding, holds, _ in findings if holds})
    text = page(audited, findings, results)
    with staged(folder, "audit.json") as written:
        audited.to_csv(written / "audit.csv", index=False, float_format=STORED_FORMAT, lineterminator="\n")
        (written / "audit.md").write_text(text)
        (written / "audit.html").write_text(html(text, "Audit of the paper's numbers", folder))
    if cfg.readme:
        readme = Path(ROOT, cfg.readme)
        for name, content in readme_blocks(audited, findings, results).items():
            replace_file(readme, with_block(readme.read_text(), name, content))
    log.info("%s", totals(audited).to_string(index=False))


if __name__ == "__main__":
    run()
