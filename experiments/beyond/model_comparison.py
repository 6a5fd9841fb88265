"""Beyond the paper: what leanings towards a position, ties and shrinkage explain that discrimination does not.

python experiments/beyond/model_comparison.py [dataset=chatbot_arena] [folds=5] [members=[btl,judge_aware]] ...
"""

import logging
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig

from judgerank import Fit, fit
from judgerank.data.connectivity import position_share
from judgerank.data.judgments import Judgments
from judgerank.inference.wald import likelihood_ratio
from replication import published
from replication.config import solver_settings
from replication.statistics import spearman
from replication.tables import Table
from studies import plots
from studies.config import section_command
from studies.cross_validation import cross_validated, folds_of
from studies.dependence import agreements

log = logging.getLogger("studies")
# member: the one it contains
NESTED = {"judge_aware": "btl", "position_only": "btl", "position_aware": "judge_aware"}
NESTED |= {"position_length": "position_aware", "judge_aware_ties": "btl_ties"}
NESTED |= {"position_aware_ties": "judge_aware_ties"}


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    (judgments,) = data.values()
    title = judgments.title
    comparisons = judgments.comparisons if judgments.lengths is None else judgments.with_lengths()
    fitters = {
        m: partial(fit, model=m) for m in cfg.members if comparisons.covariate is not None or "length" not in m
    }
    for left_out in set(cfg.members) - set(fitters):
        log.info("%s: no %s, since the questions' lengths are not known", title, left_out)
    fitters = {m: partial(fitter, solver=solver_settings(cfg.solver, m)) for m, fitter in fitters.items()}
    fitters |= {f"{m}_shrunk": partial(fit, model=m, solver="penalised") for m in cfg.shrunk}
    fits = {name: fitter(comparisons) for name, fitter in fitters.items()}
    scores = cross_validated(comparisons, fitters, folds_of(judgments, cfg.folds, cfg.seed))
    table = members_table(fits, scores, judgments)
    ranking = pd.DataFrame({f"rank_{name}": fitted.ranks for name, fitted in fits.items()})
    ranking = ranking.join(pd.DataFrame({f"score_{name}": fitted.scores for name, fitted in fits.items()}))
    share = position_share(comparisons.aggregate())
    log.info("%s, %.0f%% of a leaning towards a position could not be imitated by scores", title, 100 * share)
    log.info("%s", table.to_string(index=False, float_format="%.4f"))
    best = "rank_position_aware" if "position_aware" in fits else ranking.columns[0]
    tables = {
        "members": Table(table, f"{title}: members of the family, {cfg.folds} folds of whole questions", 4),
        "folds": Table(scores, f"{title}: what each fold gave", 4),
        "ranking": Table(
            ranking.sort_values(best).rename_axis("model").reset_index(), f"{title}: ranks and scores by member"
        ),
    }
    if {"judge_aware", "position_aware", "position_aware_ties"} <= fits.keys():
        judges = judges_table(fits, judgments, cfg.level)
        tables["judges"] = Table(judges, f"{title}: what each judge does, {cfg.level:.0%} intervals")
    reference = people(judgments)
    if reference is not None and "judge_aware" in fits:
        table = people_table(cfg, judgments, fits, reference)
        tables["people"] = Table(table, f"{title}: agreement with people, over resampled questions", 4)
    return tables


def people(judgments: Judgments) -> pd.Series | None:
    """Ratings of the models by people, where there are any."""
    if judgments.name != "chatbot_arena" or judgments.is_surrogate:
        return None
    return published.numbers("chatbot_arena_human", "elo")


def members_table(fits: dict[str, Fit], scores: pd.DataFrame, judgments: Judgments) -> pd.DataFrame:
    """One row per member: fit, test against the member it contains, held-out scores, agreement with people.

    Likelihoods of two outcomes and of three cannot be compared with each other, nor penalised maxima with either.
    """
    total = judgments.comparisons.n_comparisons
    elo = people(judgments)
    rows = []
    for member, fitted in fits.items():
        df, free = fitted.n_parameters, fitted.solution.spread is None
        row = {"member": member, "status": str(fitted.status), "outcomes": 2 + fitted.model.has_ties}
        row |= {"parameters": df, "log_likelihood": fitted.log_likelihood, "statistic": np.nan, "p_value": np.nan}
        inner = fits.get(NESTED.get(member, ""))
        if inner is not None:
            test = likelihood_ratio(inner.log_likelihood, fitted.log_likelihood, df - inner.n_parameters)
            row |= dict(zip(("statistic", "p_value"), test, strict=True))
        row["aic"] = 2 * df - 2 * fitted.log_likelihood if free else np.nan
        row["bic"] = np.log(total) * df - 2 * fitted.log_likelihood if free else np.nan
        folds = scores[scores["member"] == member]
        weight = folds["comparisons"] / folds["comparisons"].sum()
        for measure in ("log_loss", "log_loss_three"):
            row[measure] = float(weight @ folds[measure])
            row[f"{measure}_se"] = float(folds[measure].std() / np.sqrt(len(folds)))
        row["accuracy"] = float(weight @ folds["accuracy"])
        if "judge_aware" in fits:
            row["models_moved"] = int((fitted.ranks != fits["judge_aware"].ranks).sum())
        if elo is not None:
            row["spearman_human"] = spearman(fitted.scores[elo.index], elo)
        rows.append(row)
    return pd.DataFrame(rows)


def people_table(cfg, judgments: Judgments, fits: dict[str, Fit], reference: pd.Series) -> pd.DataFrame:
    """Spearman with people by member, and how it differs from the judge-aware one, with percentile intervals.

    Differences are paired: every member is fitted to the same resamples of the questions. What people's own
    ratings leave open is not in the intervals.
    """
    compared = {name: f for name, f in fits.items() if f.solution.spread is None and not f.model.has_ties}
    compared = {name: f for name, f in compared.items() if not f.model.has_slope}
    correlations = agreements(cfg.seed, cfg.resamples, judgments, compared, reference)
    at_fit = {name: spearman(f.scores[reference.index], reference) for name, f in compared.items()}
    ends = [0.5 - cfg.level / 2, 0.5 + cfg.level / 2]
    rows = []
    for name in compared:
        values, difference = correlations[name], correlations[name] - correlations["judge_aware"]
        row = {"member": name, "spearman": at_fit[name]} | dict(
            zip(("low", "high"), values.quantile(ends), strict=True)
        )
        row |= {"less": "judge_aware", "difference": at_fit[name] - at_fit["judge_aware"]}
        row |= dict(zip(("difference_low", "difference_high"), difference.quantile(ends), strict=True))
        rows.append(
            row | {"difference_mean": difference.mean(), "level": cfg.level, "resamples": len(correlations)}
        )
    return pd.DataFrame(rows)


def judges_table(fits: dict[str, Fit], judgments: Judgments, level: float) -> pd.DataFrame:
    """Discrimination with and without positions, position, and ties, by judge."""
    fitted = fits["position_aware"]
    rows = fitted.confidence_intervals(level)
    ties = fits["position_aware_ties"].confidence_intervals(level)
    columns = {"discrimination_judge_aware": fits["judge_aware"].discrimination}
    for parameter in ("discrimination", "position", "tie"):
        source = ties if parameter == "tie" else rows
        part = source[source["parameter"] == parameter].set_index("name")
        columns |= {
            parameter: part["estimate"],
            f"low_{parameter}": part["low"],
            f"high_{parameter}": part["high"],
        }
    frame = pd.DataFrame(columns)
    frame["share_tie"] = judgments.judges.set_index("judge")["share_tie"]
    frame["status"] = fitted.judge_status
    return frame.sort_values("position", kind="stable").rename_axis("judge").reset_index()


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    if "judges" not in tables:
        return {}
    return {"judges": plots.character(tables["judges"], f"What the judges do{suffix}")}


run = section_command("model_comparison", compute, draw)

if __name__ == "__main__":
    run()
