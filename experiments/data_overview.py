"""Appendices D and E: sizes, comparisons per pair, and what every judge answered (Table A.4 and four heatmaps).

python experiments/data_overview.py [dataset=in_house|chatbot_arena|mt_bench|ultrafeedback] ...
"""

import logging

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig

from judgerank.data.judgments import Judgments
from replication import plots, published
from replication.outputs import section_command
from replication.tables import Table

log = logging.getLogger("replication")
QUESTION_FILE = r"^(?P<file>\D+(?P<rows_named>\d+)\.jsonl)/(?P<index>\d+)$"


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    (judgments,) = data.values()
    title, frame, c = judgments.title, judgments.frame, judgments.comparisons
    pairs = pair_counts(judgments)
    n = len(c.models)
    size = {
        "dataset": judgments.name,
        "paper": published.table("data_sizes")["comparisons"].get(judgments.name, "--"),
        "records": len(frame),
        "comparisons": len(c),
        **{f"dropped_{reason}": count for reason, count in c.dropped.items()},
        "models": n,
        "judges": len(c.judges),
        "questions": frame["question_id"].nunique(),
        "questions_of_known_length": questions_of_known_length(judgments),
        "most_per_question": frame["question_id"].value_counts().max(),
        "pairs_compared": len(pairs),
        "pairs_possible": n * (n - 1) // 2,
        "fewest_per_pair": pairs["comparisons"].min(),
        "most_per_pair": pairs["comparisons"].max(),
        "share_first_is_alphabetically_smaller": float((frame["model_a"] < frame["model_b"]).mean()),
        "share_tie": float(np.mean(c.outcome == 0.5)),
        **confidences(frame),
    }
    log.info("%s", ", ".join(f"{name} {value}" for name, value in size.items()))
    judges = judgments.judges.assign(table_a5=lambda rows: rows["judge"].map(listed()).fillna("--"))
    tables = {
        "size": Table(pd.DataFrame([size]), f"{title}: how much there is (Table A.4)"),
        "pairs": Table(pairs, f"{title}: comparisons per pair of models"),
        "judges": Table(
            judges, f"{title}: judges, their number in the paper's list (Table A.5), and their answers"
        ),
        "models_per_question": Table(models_per_question(frame), f"{title}: models compared on one question"),
    }
    files = question_files(frame)
    if len(files):
        tables["question_files"] = Table(files, f"{title}: files that the ids of the questions name")
    return tables


def confidences(frame: pd.DataFrame) -> dict[str, float]:
    """How many confidences the judges gave, and the lowest and highest (appendix E.2); NaN if none."""
    stated = frame["judge_confidence"].dropna() if "judge_confidence" in frame else pd.Series(dtype=float)
    return {"confidences": len(stated), "lowest_confidence": stated.min(), "highest_confidence": stated.max()}


def models_per_question(frame: pd.DataFrame) -> pd.DataFrame:
    """How many questions have so many models in their comparisons (appendix D): ``models, questions``."""
    long_frame = frame.melt("question_id", ["model_a", "model_b"], value_name="model")
    counts = long_frame.groupby("question_id")["model"].nunique().value_counts().sort_index()
    return counts.rename_axis("models").reset_index(name="questions")


def question_files(frame: pd.DataFrame) -> pd.DataFrame:
    """Files that ids of questions such as ``head100.jsonl/7`` name, with what the ids say of their rows.

    Returns
    -------
    DataFrame
        ``file``; ``rows_named``, the number in its name; ``questions`` in the data; ``rows``, at least as many as
        the highest index needs (counted from zero). No rows if the ids name no file.
    """
    ids = frame["question_id"].drop_duplicates()
    parts = ids.str.extract(QUESTION_FILE).dropna().astype({"index": int, "rows_named": int})
    by_file = parts.groupby(["file", "rows_named"], as_index=False)["index"].agg(["size", "max"])
    return by_file.assign(max=by_file["max"] + 1).rename(columns={"size": "questions", "max": "rows"})


def questions_of_known_length(judgments: Judgments) -> int:
    """Questions whose text is at hand, without which there is no length covariate (appendix F.6)."""
    question_ids = judgments.frame["question_id"].drop_duplicates()
    return 0 if judgments.lengths is None else int(question_ids.isin(judgments.lengths.index).sum())


def listed() -> pd.Series:
    """Numbers of the paper's list of judges, by the name used in the data."""
    return published.table("judge_llms")["number"]


def pair_counts(judgments: Judgments) -> pd.DataFrame:
    """Comparisons by pair, whichever model was shown first: ``model_1, model_2, comparisons``."""
    c, n = judgments.comparisons, len(judgments.comparisons.models)
    low, high = np.minimum(c.first, c.second), np.maximum(c.first, c.second)
    pair, count = np.unique(low.astype(np.int64) * n + high, return_counts=True)
    names = np.array(c.models, object)
    return pd.DataFrame({"model_1": names[pair // n], "model_2": names[pair % n], "comparisons": count})


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    return {
        "pairs": plots.pair_heatmap(tables["pairs"], f"Comparisons per pair{suffix}"),
        "answers": plots.answers(tables["judges"], f"What the judges answered{suffix}"),
    }


run = section_command("data_overview", compute, draw)

if __name__ == "__main__":
    run()
