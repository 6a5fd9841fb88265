"""Your own models and judges: from a file of judgments to a leaderboard and a page.

python experiments/rank.py data.path=my.jsonl [model=position_aware] [data.columns.model_a=left] ...
"""

import html
import json
import logging
from functools import partial
from pathlib import Path

import matplotlib
from omegaconf import DictConfig, OmegaConf

from judgerank import Comparisons, FitResult, fit, plots
from judgerank.auditing.report import html as whole_page
from judgerank.config import ROOT, main, solver_settings
from judgerank.errors import ConfigError, NoMaximumError
from judgerank.inference import normal_quantile
from judgerank.judgments import Judgments
from judgerank.leaderboard import standings
from judgerank.leaderboard.page import Ranking, page
from judgerank.leaderboard.remarks import WITH_POSITIONS, leaning, on_design, on_fit, on_positions, on_questions
from judgerank.leaderboard.suggestions import bounding_comparisons, first_links, next_comparisons
from judgerank.model import MODELS
from judgerank.outputs import provenance, save_figures
from judgerank.publishing import replaceable, staged
from judgerank.reading import read_judgments
from judgerank.schemas.rank import Cluster
from judgerank.tables import STORED_FORMAT

log = logging.getLogger("judgerank")


def fitted_member(cfg: DictConfig, comparisons: Comparisons, name: str) -> FitResult:
    """A member of the family, or a refusal that says what would make it possible."""
    if name in MODELS and MODELS[name].has_slope and comparisons.covariate is None:
        raise ConfigError(f"model {name!r} needs a column of lengths (data.columns.length=NAME names it)")
    try:
        return fit(comparisons, name, *solver_settings(cfg.solver, name))
    except NoMaximumError as error:
        links = "; ".join(f"{a} with {b}" for a, b in first_links(comparisons, error))
        shrunk = "solver=penalised ranks them all the same, by shrinking scores toward each other"
        advice = f" (to begin with, compare {links}; {shrunk})" if links else ""
        raise type(error)(f"{error}{advice}", error.models) from None


def compute(cfg: DictConfig, judgments: Judgments) -> Ranking:
    comparisons = judgments.comparisons
    fitted = fitted_member(cfg, comparisons, cfg.model)
    remarks = on_fit(fitted) + on_design(comparisons, cfg.few)
    if cfg.model in WITH_POSITIONS and fitted.solution.spread is None:  # a test is of maxima
        test = leaning(fitted, partial(fitted_member, cfg, comparisons), cfg.level)
        remarks = on_positions(test, cfg.level) + remarks
    plan, clustered = bounding_comparisons(fitted, cfg.next, cfg.next_size), False
    if standings.has_intervals(fitted):
        plan = next_comparisons(fitted, cfg.next, cfg.next_size, cfg.level)
        if cfg.cluster is Cluster.question and "question_id" in judgments.frame:
            said = on_questions(fitted, judgments.question)
            remarks, clustered = remarks + said, not said
    if clustered:
        fitted = fitted.clustered(comparisons, judgments.question)
    tables = {
        "leaderboard": standings.leaderboard(fitted, cfg.level),
        "judges": standings.judges(fitted, judgments, cfg.level),
        "pairs": standings.pairs(fitted, cfg.level),
        "next": plan,
    }
    return Ranking(judgments, fitted, cfg.level, clustered, remarks, tables)


def write(ranking: Ranking, cfg: DictConfig, target: Path) -> None:
    with staged(target) as folder:
        for name, table in ranking.tables.items():
            table.to_csv(folder / f"{name}.csv", index=False, float_format=STORED_FORMAT, lineterminator="\n")
        figures = {
            "standings": plots.standings(ranking.tables["leaderboard"], ranking.title),
            "judges": plots.panel(ranking.tables["judges"], f"Judges: {ranking.judgments.title}"),
        }
        (folder / "figures").mkdir()
        save_figures(figures, folder / "figures")
        title = html.escape(ranking.title)
        (folder / "index.html").write_text(whole_page(page(ranking), title, folder), encoding="utf-8")
        run_json = provenance("rank", cfg, {ranking.judgments.name: ranking.judgments}, "")
        (folder / "run.json").write_text(json.dumps(run_json, indent=2) + "\n")


@main("rank")
def run(cfg: DictConfig) -> None:
    if not cfg.data.path:
        raise ConfigError("which file? (data.path=FILE, or make rank DATA=FILE)")
    normal_quantile(cfg.level)  # refuses what is not a level
    path = Path(cfg.data.path)
    target = Path(ROOT, cfg.results or Path("rankings", path.stem))
    replaceable(target, "rank")
    columns = OmegaConf.to_container(cfg.data.columns)
    judgments = read_judgments(path, cfg.data.format, columns)
    ranking = compute(cfg, judgments)
    with matplotlib.rc_context():
        write(ranking, cfg, target)
    board = ranking.tables["leaderboard"].astype(object).fillna("--")
    log.info("%s", board.to_string(index=False, float_format="{:.3f}".format))
    for remark in ranking.remarks:
        log.info("- %s", remark)
    log.info("the page: %s", target / "index.html")


if __name__ == "__main__":
    run()
