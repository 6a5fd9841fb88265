"""The numbers printed in the paper, and whether ours agree with them at the printed precision.

``published.sha256`` has the digest of the TeX that they were held against, and of every table as it was then. The
TeX itself may not be kept here. Where it is not at hand, a table that was altered is told by its digest.

python -m replication.published    (writes the digests anew, when the TeX is at hand)
"""

from __future__ import annotations

import hashlib
import os
from functools import cache
from importlib.resources import files
from pathlib import Path

import pandas as pd

from judgerank.data.errors import DataError, DataUnavailableError
from judgerank.data.judgments import Judgments
from judgerank.data.listing import listed
from replication.errors import ChecksumError

TABLES = files("replication") / "published_tables"
HERE = Path(__file__).parent
DIGESTS = HERE / "published.sha256"
ADDRESS = "https://proceedings.mlr.press/v306/xu26ay.html"  # as CITATION.cff has it
TEX = "paper.tex"
# by set, the table with numbers of its models
MODELS_OF = {
    "in_house": "complete_ranking",
    "chatbot_arena": "chatbot_arena",
    "mt_bench": "mt_bench",
    "ultrafeedback": "ultrafeedback",
}
AGAIN = "hold it against the TeX (tests/replication/test_published.py), then run python -m replication.published"


def paper() -> str:
    """The paper's TeX, from the file that ``JUDGERANK_PAPER`` names.

    Raises
    ------
    DataUnavailableError
        If there is none.
    ChecksumError
        If it is not the one that the tables were held against.
    """
    path = Path(os.environ.get("JUDGERANK_PAPER") or "nowhere")
    if not path.is_file():
        raise DataUnavailableError(f"JUDGERANK_PAPER names no file: the paper's TeX ({ADDRESS}) is not at hand")
    content = path.read_bytes()
    digest, wanted = hashlib.sha256(content).hexdigest(), digests()[TEX]
    if digest != wanted:
        raise ChecksumError(f"{path.name}: its SHA-256 is {digest}, that of the TeX read so far {wanted}")
    return content.decode()


def digests() -> dict[str, str]:
    """SHA-256 of the TeX and of every table that was held against it, by name."""
    lines = (line.split("  ") for line in DIGESTS.read_text().splitlines())
    return {name: digest for digest, name in lines}


def tables_now() -> dict[str, str]:
    """SHA-256 of every printed table, and of the words that claims are in, as they are now."""
    paths = [*sorted((HERE / "published_tables").glob("*.csv")), HERE / "auditing" / "claims_quoted.csv"]
    return {path.relative_to(HERE).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def require_unaltered() -> None:
    """Refuse printed numbers or claims that are not those that were held against the TeX.

    Raises
    ------
    ChecksumError
        If a table was altered, added or removed since.
    """
    stored_digests, now = digests(), tables_now()
    for name in sorted((stored_digests.keys() - {TEX}) | now.keys()):
        if stored_digests.get(name) != now.get(name):
            raise ChecksumError(f"{name} is not as it was when it was held against the paper's TeX: {AGAIN}")


def table(name: str) -> pd.DataFrame:
    """A printed table, as text so that the printed precision stays; indexed by the name used in the data.

    Known tables: ``mt_bench`` (Table 1), ``mixed_judges`` (Table 2), ``chatbot_arena`` (Table 3),
    ``mse_settings``, ``ci_settings``, ``slopes``, ``data_sizes``, ``judge_llms``, ``ultrafeedback``,
    ``complete_ranking``, ``judge_discrimination``, ``sparsity`` (Tables A.1 to A.9), ``in_text`` (numbers in text
    and captions), ``claims`` (claims in words, in our words), ``cited`` (copied numbers in their sources), and
    ``chatbot_arena_human`` (Elo of the Chatbot Arena leaderboard of 22 June 2023, lmsys.org/blog).
    """
    return _read(name).copy()


@cache
def _read(name: str) -> pd.DataFrame:
    with (TABLES / f"{name}.csv").open() as file:
        return pd.read_csv(file, dtype=str, index_col=0, keep_default_na=False)


def numbers(name: str, column: str) -> pd.Series:
    """A printed column as numbers; what the paper prints as a dash is NaN."""
    return pd.to_numeric(table(name)[column], errors="coerce")


def require_its_names(name: str, judgments: Judgments) -> None:
    """Refuse data under the name of one of the paper's sets that lack models or judges it prints numbers of.

    Parameters
    ----------
    name : str
        Of the set; under a name that the paper has not, the data may be any.
    judgments : Judgments

    Raises
    ------
    DataError
        Naming some of what is missing, or of the judges that the paper prints nothing of.
    """
    if name not in MODELS_OF:
        return
    models, judges = judgments.comparisons.models, judgments.comparisons.judges
    unlike = {"lacks the model": set(table(MODELS_OF[name]).index) - {*models}}
    if name in table("judge_discrimination"):
        printed = {*numbers("judge_discrimination", name).dropna().index}
        unlike |= {"lacks the judge": printed - {*judges}, "has another judge": {*judges} - printed}
    for what, names in unlike.items():
        if names:
            first, *rest = sorted(names)
            more = f" and {len(rest)} more" if rest else ""
            raise DataError(
                f"{judgments.title} is not the paper's {name}: it {what} {first}{more} (for other data, take a "
                "section on one set and a name of your own, as in complete_ranking: dataset=mt_bench "
                "dataset.name=NAME dataset.file=FILE)"
            )


def cited() -> pd.DataFrame:
    """Numbers that the paper copied, as their sources have them; all text.

    Returns
    -------
    DataFrame
        ``table, row, column, value, source, place, address, read``; ``read`` is how the source was read:
        ``in full``, an ``excerpt`` of it, a ``transcript`` by others, a ``third party`` that says it, or
        ``not found`` (then without a value). The column ``all_parameters`` is no printed number: it has the total
        where Table A.8 counts otherwise.
    """
    return table("cited").reset_index()


def as_printed(value: float, printed: str) -> str:
    """A value with as many decimals as a printed number has, without a negative zero."""
    decimals = len(printed.partition(".")[2])
    text = f"{value:.{decimals}f}"
    return text.lstrip("-") if float(text) == 0 else text


def compare(name: str, ours: pd.DataFrame, columns: list[str], **labels: str) -> pd.DataFrame:
    """Printed numbers beside ours, one row each.

    Parameters
    ----------
    name : str
        The printed table.
    ours : DataFrame
        Indexed by the name used in the data, with the same columns.
    columns : list of str
    **place
        Constant columns to put first, such as the table's number.

    Returns
    -------
    DataFrame
        ``row, column, paper, ours, difference, reproduced``; reproduced means equal at printed precision.
    """
    printed = table(name)[columns]
    papers, values = (frame.to_dict("records") for frame in (printed, ours.loc[printed.index, columns]))
    rows = [
        {
            **labels,
            "row": row,
            "column": column,
            "paper": paper[column],
            "ours": value[column],
            "difference": value[column] - float(paper[column]),
            "reproduced": as_printed(value[column], paper[column]) == paper[column],
        }
        for row, paper, value in zip(printed.index, papers, values, strict=True)
        for column in columns
    ]
    return pd.DataFrame(rows)


if __name__ == "__main__":
    paper()
    listed = {TEX: digests()[TEX]} | tables_now()
    DIGESTS.write_text("".join(f"{digest}  {name}\n" for name, digest in listed.items()))
