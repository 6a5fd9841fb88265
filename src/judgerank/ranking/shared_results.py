"""A leaderboard as files of Every Eval Ever, one for each model, in an archive that unpacks into its folders.

Schema 0.3.0 of https://github.com/evaleval/every_eval_ever (``eval.schema.json``). It has no record of comparisons
in pairs: a model's score stands with its interval, and each judge with its share of the information as weight.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import time
import uuid
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import numpy as np
import pandas as pd

from judgerank.data.errors import DataError
from judgerank.ranking.record import Record

SCHEMA = "0.3.0"
METRIC = "judgerank.score"
UNKNOWN = {"deployment_type": "unknown", "model_availability": "unknown"}
UNSAID = "not stored with the judgments"
UNSAFE = re.compile(r"[^\w.+-]+")  # of a folder's name
EPOCH = (1980, 1, 1, 0, 0, 0)  # the same archive for the same content


def archive(ranking: Record) -> bytes:
    """The archive: ``data/SET/DEVELOPER/MODEL/UUID.json`` for each model.

    Raises
    ------
    DataError
        If the ranking has several components, whose scores cannot be compared.
    """
    board = ranking.tables["leaderboard"]
    if "component" in board:
        raise DataError(
            f"Every Eval Ever has one scale, and this ranking {board['component'].nunique()} components, which "
            "cannot be compared (export the leaderboard)"
        )
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as files:
        for path, record in _records(ranking, time.time()):
            content = json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
            files.writestr(ZipInfo(path, EPOCH), content)
    return buffer.getvalue()


def _records(ranking: Record, seconds: float) -> Iterator[tuple[str, dict[str, Any]]]:
    name = ranking.judgments.name
    judges = [_judge(row) for _, row in ranking.tables["judges"].iterrows()]
    for _, row in ranking.tables["leaderboard"].iterrows():
        developer, _, short = str(row["model"]).rpartition("/")
        folder = "/".join(_safe(part) for part in (name, developer or "unknown", short))
        yield (
            f"data/{folder}/{_identity(folder)}.json",
            {
                "schema_version": SCHEMA,
                "evaluation_id": f"{name}/{row['model']}/{seconds:.0f}",
                "retrieved_timestamp": f"{seconds:.0f}",
                "source_metadata": {
                    "source_name": name,
                    "source_type": "evaluation_run",
                    "source_organization_name": "unknown",
                    "evaluator_relationship": "other",
                },
                "eval_library": {"name": "judgerank", "version": version("judgerank")},
                "model_info": _model(str(row["model"])),
                "evaluation_results": [_result(ranking, row, judges)],
            },
        )


def _result(ranking: Record, row: pd.Series, judges: list[dict[str, Any]]) -> dict[str, Any]:
    """The score of one model. Scores have no bounds, which a continuous one must name: its type is left out."""
    details = {
        key: str(row[key]) for key in ("rank", "rank_low", "rank_high") if key in row and row[key] is not pd.NA
    }
    uncertainty: dict[str, Any] = {"num_samples": int(row["comparisons"])}
    if np.isfinite([row["low"], row["high"]]).all():
        uncertainty["confidence_interval"] = {
            "lower": float(row["low"]),
            "upper": float(row["high"]),
            "confidence_level": ranking.settings.level,
            "method": "Wald, clustered by question" if ranking.clustered else "Wald",
        }
    return {
        "evaluation_name": f"{ranking.judgments.name}: comparisons in pairs",
        "source_data": {"dataset_name": ranking.judgments.name, "source_type": "other"},
        "metric_config": {
            "evaluation_description": "Score of a model from comparisons in pairs by a panel of judges, in "
            f"log-odds of being preferred; fitted by {ranking.fitted.model}, sum of all scores zero.",
            "metric_id": METRIC,
            "metric_name": "Judge-aware score",
            "metric_kind": "bradley_terry",
            "metric_unit": "log-odds",
            "lower_is_better": False,
            "llm_scoring": {"judges": judges, "input_prompt": UNSAID},
        },
        "score_details": {"score": float(row["score"]), "uncertainty": uncertainty, "details": details},
    }


def _judge(row: pd.Series) -> dict[str, Any]:
    """A judge with its share of the information, where that is known."""
    weight = row.get("information")
    share = {"weight": float(weight)} if weight is not None and np.isfinite(weight) else {}
    details = {key: str(row[key]) for key in ("discrimination", "comparisons") if key in row}
    return {"model_info": _model(str(row["judge"])), **share, "additional_details": details}


def _model(name: str) -> dict[str, Any]:
    return {"name": name, "id": name, "additional_details": dict(UNKNOWN)}


def _safe(name: str) -> str:
    return UNSAFE.sub("_", name).strip(".") or "_"


def _identity(text: str) -> uuid.UUID:
    """A UUID of version 4 that is always the same for a text, so that a later export replaces an earlier one."""
    return uuid.UUID(bytes=hashlib.sha256(text.encode()).digest()[:16], version=4)
