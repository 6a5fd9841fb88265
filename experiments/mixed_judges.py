"""Section 5.4: a panel of mostly weak judges (Table 2), and panels with every share of weak judges.

python experiments/mixed_judges.py [dataset=ultrafeedback] [pool=[judge,...]] [panel=6] ...
"""

import logging

import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig

from judgerank.data.errors import ConfigError
from judgerank.data.judgments import Judgments
from replication import plots, published
from replication.config import both_fits
from replication.estimators import estimators_of
from replication.outputs import section_command
from replication.resampled_tables import endings_of, gains_of, replications_of, summary_of
from replication.resampling import FullData, Panel, correlations, empanelled, full_data_of, study_of
from replication.tables import Replications, Table, discrimination, fit_rows

log = logging.getLogger("replication")
POINT = ("n_weak", "panel", "n_comparisons")


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table | Replications]:
    (judgments,) = data.values()
    title = judgments.title
    full_data = full_data_of(judgments, both_fits(cfg.solver, judgments.comparisons))
    pool = pool_of(cfg, full_data)
    fits = both_fits(cfg.solver, judgments.comparisons.with_judges(pool))
    gammas = discrimination(fits["judge_aware"], cfg.level, judgments.name)
    gammas["full_data"] = full_data.discrimination[gammas["judge"]].to_numpy()
    gammas["paper"] = published.numbers("mixed_judges", "discrimination").reindex(gammas["judge"]).to_numpy()
    rows = [
        {"method": method, "reference": name, **correlations(fitted.scores, reference)}
        for name, reference in full_data.references.items()
        for method, fitted in fits.items()
    ]
    agreement = pd.DataFrame(rows)
    log.info("%s, pool of %d: correlations\n%s", title, len(pool), agreement.to_string(index=False))
    study = sweep_of(cfg, full_data)
    study.run(cfg.parallel)
    draws = replications_of(study, POINT)
    sweep = summary_of(draws, POINT, cfg.paper_repeats)
    sweep.insert(0, "share_weak", sweep["n_weak"] / sweep["panel"])
    return {
        "discrimination": Table(gammas, f"{title}: discriminations within the pool (Table 2)"),
        "agreement": Table(agreement, f"{title}: fits to the pool's comparisons against each reference", 4),
        "fits": Table(fit_rows(list(fits.values()), cfg.level), f"{title}: the fits to the pool's comparisons", 4),
        "sweep": Table(
            sweep,
            f"{title}: random panels by share of weak judges, equally many comparisons, by estimator",
            4,
        ),
        "gains": Table(
            gains_of(draws, POINT), f"{title}: correlations of judge-aware less those of BTL on the same panels", 4
        ),
        "endings": Table(endings_of(draws, POINT), f"{title}: how the fits of the sweep ended, by estimator"),
        "replications": Replications(draws, f"{title}: correlations of every panel of the sweep, by estimator"),
    }


def pool_of(cfg: DictConfig, full_data: FullData) -> list[str]:
    """The configured judges; without any, the set's least and its most discriminating ones.

    Raises
    ------
    ConfigError
        Naming the configured judges that the set lacks.
    """
    if cfg.pool is not None:
        missing = [judge for judge in cfg.pool if judge not in full_data.comparisons.judges]
        if missing or not cfg.pool:
            lacking = f"{cfg.dataset.title} has no judge {', '.join(missing)}" if missing else "it names no judge"
            without = f"pool=null takes the {cfg.n_weak} weakest, {cfg.n_strong} strongest"
            raise ConfigError(f"pool: {lacking} ({without})")
        return list(cfg.pool)
    order = full_data.discrimination.sort_values(kind="stable").index
    log.info("no pool: the set's %d weakest judges, %d strongest", cfg.n_weak, cfg.n_strong)
    return [*order[: cfg.n_weak], *order[len(order) - cfg.n_strong :]]


def sweep_of(cfg: DictConfig, full_data: FullData):
    """Panels of weak judges (the less discriminating half of the set) and strong ones, by number of weak ones."""
    order = full_data.discrimination.sort_values(kind="stable").index.tolist()
    half = len(order) // 2
    panel = min(cfg.panel, half)
    shared = (tuple(order[:half]), tuple(order[-half:]), panel, cfg.n_comparisons, estimators_of(cfg))
    cells = {f"weak{n}": Panel(n, *shared) for n in range(panel + 1)}
    return study_of(cfg, "mixed_judges", empanelled, full_data, cells)


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    return {
        "sweep": plots.weak_share(tables["sweep"], f"Panels with weak judges{suffix}"),
        "pool": plots.pool(tables["discrimination"], f"Discriminations within the pool{suffix}"),
    }


run = section_command("mixed_judges", compute, draw)

if __name__ == "__main__":
    run()
