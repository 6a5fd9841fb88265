"""What judges do besides judging quality, block by block: on real sets, and found on simulated ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from judgerank.data.arrays import IntArray, generator
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import DataError, JudgerankError, NoMaximumError
from judgerank.data.frames import question_name
from judgerank.data.judgments import Judgments
from judgerank.fits.fit import fit
from judgerank.fits.heldout import held_out
from judgerank.fits.result import Fit
from judgerank.inference.wald import normal_quantile, wald
from judgerank.model.block import Records
from judgerank.model.kinds.category import in_category
from judgerank.order.pairs import pairwise, rank_intervals
from judgerank.order.scale import standardised
from replication.datasets import find_file
from replication.replicate import Record

N_MODELS, QUESTIONS, EACH, CATEGORIES = 6, 80, 15, 4  # of simulated data; comparisons of a question
COUNTS = {"characters": ("characters_turn_1", "characters_turn_2"), "words": ("words_turn_1",)}
COUNTS |= {"list_lines": ("list_lines_turn_1",), "bold": ("bold_turn_1",)}


def records_of(judgments: Judgments, questions: str | None, answers: str | None) -> Records:
    """The records of a set with the category of each question, and counts of each answer, where these are at hand.

    Counts are log(1 + the sum over turns).

    Parameters
    ----------
    judgments : Judgments
    questions : str, optional
        JSON Lines with question_id and category.
    answers : str, optional
        CSV with question_id, model and the columns of `COUNTS`.
    """
    records = Records.of(judgments)
    frame = records.frame.assign(
        question_id=[question_name(question_id) for question_id in records.frame["question_id"]]
    )
    path = find_file(questions) if questions and not judgments.is_surrogate else None
    if path is not None:
        question_table = pd.read_json(path, lines=True, dtype={"question_id": str}).set_index("question_id")
        if "category" in question_table:
            frame["category"] = frame["question_id"].map(question_table["category"])
    path = find_file(answers) if answers and not judgments.is_surrogate else None
    if path is not None:
        counts = pd.read_csv(path, dtype={"question_id": str}).set_index(["question_id", "model"])
        answered = {side: pd.MultiIndex.from_frame(frame[["question_id", f"model_{side}"]]) for side in "ab"}
        if all(answers.isin(counts.index).all() for answers in answered.values()):
            for side, of in answered.items():
                for name, columns in COUNTS.items():
                    frame[f"{name}_{side}"] = np.log1p(counts.loc[of, list(columns)].sum(axis=1).to_numpy())
    return Records(records.comparisons, frame)


def of_blocks(
    records: Records, name: str, blocks: Sequence[str], members: Sequence[str], folds: int, seed: int, level: float
) -> tuple[list[dict], pd.DataFrame]:
    """Every block by itself on one set: what it is, its test, what it predicts, what it moves; and its estimates.

    A block for which the set has no data is a row that says so.
    """
    rows, estimates = [], []
    question, names = pd.factorize(records.frame["question_id"])
    fold = (generator(seed, "panel folds", name).permutation(len(names)) % folds)[question]
    for block in blocks:
        row = {"dataset": name, "block": block, "member": "", "status": ""}
        try:
            result, member = _first(records, block, members)
        except JudgerankError as error:
            rows.append(row | {"remark": str(error)})
            continue
        last = result.blocks[-1]
        test, by_question = result.test(last.name), result.clustered(cluster=question)
        table = by_question.to_frame(level).drop(columns="status")
        table = table.rename(columns={"parameter": "block", "name": "parameter"})
        table = table[table["block"].isin([fitted_block.name for fitted_block in result.blocks])]
        estimates.append(table.assign(dataset=name, fitted=block, log=False))
        before, after = result.without.scores, result.scores
        row |= {"member": member, "status": str(result.status), "parameters": test.parameters}
        row |= {"twice_gain": test.statistic, "p": test.p_value, "remark": ""}
        row["p_by_question"] = np.nan if last.shrunk else by_question.wald(last.name)
        row["spread"] = result.spread[last.name] / _unit(result, last.name) if last.shrunk else np.nan
        row["correlation"] = np.corrcoef(before, after)[0, 1]
        row["ranks_changed"] = int((before.rank() != after.rank()).sum())
        rows.append(row | held_out_gain(records, block, fold, member, question))
    empty = pd.DataFrame(columns=["dataset", "fitted"])
    return rows, pd.concat(estimates, ignore_index=True).drop(columns="log") if estimates else empty


def _unit(result: Fit, block: str) -> float:
    """What a spread is told in: the scores' standard deviation where it is one of scores, else log-odds."""
    return float(result.scores.std(ddof=0)) if block == "category" else 1.0


def _first(records: Records, block: str, members: Sequence[str]) -> tuple[Fit, str]:
    """The first member that has a maximum with a block, and its name.

    Raises
    ------
    NoMaximumError
        If none has.
    DataError
        If the records lack what the block needs.
    """
    why: list[str] = []
    for member in members:
        try:
            return fit(records, member, blocks=[block]), member
        except NoMaximumError as error:
            why.append(f"{member}: {error}")
    raise NoMaximumError("; ".join(why), ())


def held_out_gain(
    records: Records, block: str, fold: IntArray, member: str, question: IntArray
) -> dict[str, float]:
    """Log-loss per comparison of whole questions held out, and by how much less it is with a block."""
    try:
        table = held_out(records, fold, member, blocks=[block], question=question)
    except JudgerankError:
        return dict.fromkeys(("loss_without", "gain", "gain_se"), np.nan)
    gained, n_comparisons = (table["described"] - table["without"]).to_numpy(), table["comparisons"].to_numpy()
    share = gained - gained.sum() / n_comparisons.sum() * n_comparisons
    error = float(np.sqrt((share**2).sum())) / n_comparisons.sum()
    loss = -table["without"].sum() / n_comparisons.sum()
    return {"loss_without": loss, "gain": gained.sum() / n_comparisons.sum(), "gain_se": error}


def by_category(records: Records, members: Sequence[str], level: float) -> pd.DataFrame:
    """Scores and ranks within every category, errors by question; empty where there are none.

    Returns
    -------
    DataFrame
        ``category, model, score, deviation, rank, low, high, pairs, separated``: ranks hold at once within a
        category; of its pairs, those separated there.
    """
    try:
        result = _first(records, "category", members)[0].clustered()
    except (DataError, NoMaximumError):
        return pd.DataFrame()
    deviations, parts = result.parameters("category"), []
    for category in sorted({*records.frame["category"]}):
        order = result.order(category)
        table, pairs = rank_intervals([order], level), pairwise([order], level)
        deviation = deviations[[in_category(model, category) for model in table["model"]]].to_numpy()
        table["score"] = result.scores[table["model"]].to_numpy() + deviation
        parts.append(
            table.assign(
                category=category, deviation=deviation, pairs=len(pairs), separated=int(pairs["separated"].sum())
            )
        )
    columns = ["category", "model", "score", "deviation", "rank", "low", "high", "pairs", "separated"]
    return pd.concat(parts, ignore_index=True)[columns]


def block_tested(settings: Mapping, rng: np.random.Generator) -> Record:
    """One simulated data set with a block of a known size: the test, and what intervals hold.

    Judges are the models themselves, who also judge their own answers.
    """
    block, size, level = settings["block"], settings["size"], settings["level"]
    records, scores = drawn(rng, block, size, settings["question_sd"])
    result = fit(records, "position_aware", blocks=[block])
    by_question, name = result.clustered(), result.blocks[-1].name
    shrunk = result.blocks[-1].shrunk
    record: Record = {"status": str(result.status), "p": result.test(name).p_value}
    record |= {} if shrunk else {"p_by_question": by_question.wald(name)}
    target, quantile = scores / scores.std(), normal_quantile(level)
    for kind, fitted in (("plain", result), ("clustered", by_question)):
        shape, among = standardised(fitted.scores.to_numpy(), _score_covariance(fitted))
        inside = np.abs(shape - target) <= quantile * np.sqrt(np.diag(among))
        record[f"scores/{kind}"] = float(inside.mean())
        table = fitted.confidence_intervals(level)
        row = table[table["parameter"] == name].iloc[0]
        if not shrunk:
            record[f"size/{kind}"] = float(row["low"] <= size <= row["high"])
    without = result.without
    shape, among = standardised(without.scores.to_numpy(), without.covariance[:N_MODELS, :N_MODELS])
    low, high = wald(shape, np.sqrt(np.diag(among)), level)
    record["scores/without"] = float(((low <= target) & (target <= high)).mean())
    estimate = result.spread[name] if shrunk else float(row["estimate"])
    return record | {"estimate": estimate}


def _score_covariance(fitted: Fit) -> np.ndarray:
    return fitted.covariance[:N_MODELS, :N_MODELS]


def drawn(rng: np.random.Generator, block: str, size: float, question_sd: float) -> tuple[Records, np.ndarray]:
    """Comparisons with one thing that judges do besides, of a given size; and the true scores.

    Better models write longer answers, so that a preference for length looks like quality.
    """
    names = tuple(f"model{number}" for number in range(N_MODELS))
    scores = np.linspace(1.0, -1.0, N_MODELS)
    question = np.arange(QUESTIONS).repeat(EACH)
    n_rows = len(question)
    ends = np.array([rng.permutation(N_MODELS)[:2] for _ in range(n_rows)])
    judge = rng.integers(N_MODELS, size=n_rows)
    gamma, position = np.exp(np.linspace(-0.4, 0.4, N_MODELS)), np.linspace(-0.3, 0.3, N_MODELS)
    length = 0.7 * scores + rng.normal(size=(QUESTIONS, N_MODELS))
    quality = scores + question_sd * rng.normal(size=(QUESTIONS, N_MODELS))
    category = np.arange(QUESTIONS) % CATEGORIES
    if block == "category":
        quality = quality + (size * rng.normal(size=(CATEGORIES, N_MODELS)))[category]
    i, j = ends.T
    lengths = length[question, i], length[question, j]
    eta = gamma[judge] * (quality[question, i] - quality[question, j]) + position[judge]
    if block.startswith("style"):
        difference = lengths[0] - lengths[1]
        eta += size * difference / np.sqrt(np.mean(difference**2))
    if block == "family":
        eta += size * ((judge == i).astype(float) - (judge == j))
    outcome = (rng.random(n_rows) < 1 / (1 + np.exp(-eta))).astype(float)
    columns = {
        "question_id": question.astype(str),
        "category": np.char.add("kind", category[question].astype(str)),
    }
    frame = pd.DataFrame(columns | {"length_a": lengths[0], "length_b": lengths[1]})
    return Records(Comparisons(names, names, i, j, judge, outcome), frame), scores


def table_of(records: pd.DataFrame, cell: Mapping) -> list[dict]:
    """Rows of one simulated size: how often the test rejects, and means over data sets with their errors."""
    n_sets = len(records)
    if "failure" in records:
        records = records[records["failure"].isna()]
    rejected = records["p"] < 0.05
    row = {"block": cell["block"], "size": cell["size"], "question_sd": cell["question_sd"]}
    row |= {"rejected": rejected.mean(), "rejected_se": rejected.std() / np.sqrt(len(rejected))}
    by_question = records["p_by_question"] < 0.05 if "p_by_question" in records else pd.Series(dtype=float)
    row |= {"rejected_by_question": by_question.mean(), "rejected_by_question_se": by_question.std() / n_sets**0.5}
    row |= {"estimate": records["estimate"].mean(), "estimate_sd": records["estimate"].std()}
    for name in ("size/plain", "size/clustered", "scores/without", "scores/plain", "scores/clustered"):
        values = records[name] if name in records else pd.Series(dtype=float)
        row[name.replace("/", "_")] = values.mean()
        row[f"{name.replace('/', '_')}_se"] = values.std() / np.sqrt(len(values)) if len(values) else np.nan
    return [row | {"failed": n_sets - len(records), "n_replications": n_sets}]
