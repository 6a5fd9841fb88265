"""Every section of the paper in minutes, and one page with the paper's numbers beside ours.

python experiments/smoke.py [workers=1] ...
"""

import logging
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from omegaconf import DictConfig

from judgerank.writing.atomic import replace_file
from replication.auditing.page import html_page
from replication.auditing.results import LOTS
from replication.auditing.smoke import HERE, Layered, compared, smoke_page
from replication.config import ROOT, launched, main
from replication.errors import NotAsStoredError

log = logging.getLogger("replication")


def run_all(cfg: DictConfig, results: Path, figures: Path) -> dict[str, str]:
    """Run the sections, several at a time; returns those that failed, with what they said last."""

    def run_section(section: str) -> str:
        for folder in (results, figures):  # an earlier run's tables would be taken for this one's
            for lot in LOTS:
                shutil.rmtree(folder / lot / section, ignore_errors=True)
        start = time.monotonic()
        error = launched(section, f"results={results}", f"figures={figures}", *cfg.sections[section])
        log.info("%s: %s, %.0f s", section, error or "done", time.monotonic() - start)
        return error

    with ThreadPoolExecutor(cfg.workers) as pool:
        errors = dict(zip(cfg.sections, pool.map(run_section, cfg.sections), strict=True))
    return {section: why for section, why in errors.items() if why}


@main("smoke")
def run(cfg: DictConfig) -> None:
    start = time.monotonic()
    stored, fresh, figures = (Path(ROOT, folder) for folder in (cfg.stored, cfg.results, cfg.figures))
    failed = run_all(cfg, fresh, figures)
    results = Layered(stored, fresh, frozenset(cfg.monte_carlo))
    numbers = compared(results)
    text = smoke_page(numbers, results, figures, failed)
    fresh.mkdir(parents=True, exist_ok=True)
    replace_file(fresh / "index.html", html_page(text, "The paper's tables and figures, and ours", fresh))
    verdicts = numbers[numbers["from"] == HERE]["verdict"].value_counts()
    log.info("of the numbers of this run:\n%s", verdicts.to_string())
    log.info("%s, after %.0f s", fresh / "index.html", time.monotonic() - start)
    if failed:
        raise NotAsStoredError(f"sections that did not run: {', '.join(failed)}")


if __name__ == "__main__":
    run()
