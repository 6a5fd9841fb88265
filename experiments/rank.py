"""Your own models and judges: from a file of judgments to a leaderboard and a page.

python experiments/rank.py data.path=my.jsonl [model=judge_aware] [data.columns.model_a=left] ...
"""

import html
import json
import logging
from functools import partial
from pathlib import Path

import matplotlib
import pandas as pd
from omegaconf import DictConfig, OmegaConf

from judgerank import Comparisons, FitResult, fit
from judgerank.errors import ConfigError, NoMaximumError
from judgerank.judgments import Judgments
from judgerank.leaderboard import remarks, standings
from judgerank.leaderboard.members import default_member, on_rivals
from judgerank.leaderboard.page import Ranking, page
from judgerank.leaderboard.parts import links_between, never_compared, parts_of
from judgerank.leaderboard.suggestions import bounding_comparisons, first_links, next_comparisons
from judgerank.model import MODELS
from judgerank.pages import html as whole_page
from judgerank.publishing import replaceable, staged
from judgerank.reading import read_judgments
from replication import plots
from replication.config import ROOT, main, solver_settings
from replication.outputs import provenance, save_figures
from replication.schemas.rank import Cluster
from replication.tables import STORED_FORMAT

log = logging.getLogger("replication")


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


def ranked(
    cfg: DictConfig, judgments: Judgments, name: str
) -> tuple[FitResult, list[str], dict[str, pd.DataFrame]]:
    """One component of the comparison graph: its fit, what to know of it, and its tables."""
    comparisons = judgments.comparisons
    refit = partial(fitted_member, cfg, comparisons)
    fitted = refit(name)
    said = []
    if name in remarks.WITH_POSITIONS or name in remarks.WITHOUT_POSITIONS:
        test = remarks.leaning(fitted, refit, cfg.level)
        said += remarks.on_positions(test, cfg.level, fitted.model.has_position)
    said += on_rivals(fitted, refit) + remarks.on_fit(fitted) + remarks.on_design(comparisons, cfg.few)
    plan = bounding_comparisons(fitted, cfg.next, cfg.next_size)
    if standings.has_intervals(fitted):
        if cfg.cluster is Cluster.question and "question_id" in judgments.frame:
            too_few = remarks.on_questions(fitted, judgments.question)
            said += too_few
            fitted = fitted if too_few else fitted.clustered(comparisons, judgments.question)
        plan = next_comparisons(fitted, cfg.next, cfg.next_size, cfg.level, cfg.few)
    tables = {
        "leaderboard": standings.leaderboard(fitted, cfg.level),
        "judges": standings.judges(fitted, judgments, cfg.level),
        "pairs": standings.pairs(fitted, cfg.level),
        "next": plan,
    }
    return fitted, said, tables


def compute(cfg: DictConfig, judgments: Judgments) -> Ranking:
    parts = parts_of(judgments)
    name, said = cfg.model, []
    if name is None:
        name, why = default_member([part.comparisons for part in parts])
        said.append(why)
    groups = [part.comparisons.models for part in parts]
    said += remarks.on_parts(groups, links_between(judgments))
    said += remarks.on_dropped(judgments.comparisons, never_compared(judgments))
    done, refused = [], []
    for part in parts:
        try:
            done.append(ranked(cfg, part, name))
        except NoMaximumError as error:
            refused.append(error)
            said.append(f"Not ranked: {remarks.listed(part.comparisons.models)}, since {error}.")
    if not done:
        raise refused[0]
    for number, (_, of_part, _) in enumerate(done, 1):
        said += [f"Component {number}: {text}" if len(parts) > 1 else text for text in of_part]
    fits = [fitted for fitted, _, _ in done]
    tables = {key: standings.together([tables[key] for _, _, tables in done]) for key in done[0][2]}
    if len(parts) > 1:
        tables["pairs"] = pd.concat([tables["pairs"], standings.across(groups)], ignore_index=True)
    return Ranking(judgments, fits, cfg.level, said, tables)


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


def require_same_source(target: Path, path: str) -> None:
    """Refuse a folder with the ranking of another file, such as one of the same name in another folder.

    Raises
    ------
    ConfigError
    """
    try:
        earlier = json.loads((target / "run.json").read_text())["config"]["data"]["path"]
    except (OSError, ValueError, KeyError, TypeError):
        return
    if earlier != path:
        raise ConfigError(
            f"{target} holds the ranking of {earlier}, which would be replaced (results=FOLDER names another)"
        )


@main("rank")
def run(cfg: DictConfig) -> None:
    if cfg.data.path is None:
        raise ConfigError("which file? (data.path=FILE, or make rank DATA=FILE)")
    path = Path(cfg.data.path)
    cfg.data.path = str(path.absolute())  # what tells files of one name apart
    target = Path(ROOT, cfg.results or Path("rankings", path.stem))
    replaceable(target, "rank")
    require_same_source(target, cfg.data.path)
    columns = OmegaConf.to_container(cfg.data.columns)
    judgments = read_judgments(path, cfg.data.format, columns)
    ranking = compute(cfg, judgments)
    try:
        with matplotlib.rc_context():
            write(ranking, cfg, target)
    except OSError as error:  # no right to write there, no room, or a file where a folder should be
        raise ConfigError(f"the ranking cannot be written to {target}: {error.strerror or error}") from None
    board = ranking.tables["leaderboard"].astype(object).fillna("--")
    log.info("%s", board.to_string(index=False, float_format="{:.3f}".format))
    for remark in ranking.remarks:
        log.info("- %s", remark)
    log.info("the page: %s", target / "index.html")


if __name__ == "__main__":
    run()
