"""Options that several commands take, and what they may be."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from judgerank.data.modules import is_file
from judgerank.reading.contents import COLUMNS, COPIES, FORMS, MEANINGS, NAMES

# What an option means wherever it is taken, for those whose help differs by command; each command adds to it.
#
# A test walks all commands: one name has one meaning, and one meaning has one name.
SHARED = {
    "--allow-env-url": "Ask at addresses that environment variables name (OPENAI_BASE_URL).",
    "--answers": "File of the answers that were judged, to read on the page.",
    "--baseline": "The model that the others are compared with.",
    "--budget": "Highest cost of the judgments over all runs, in the currency of the judges' prices.",
    "--cluster": "What was sampled, by which standard errors are clustered.",
    "--column": "Name of a column, if it is not a usual one.",
    "--comparisons": "How many comparisons to ask for; by default all there are.",
    "--judgments": "File of judgments; what is there is not asked again.",
    "--next": "File of the items to show to people next, as CSV.",
    "--order": "Order of the answers: one at random, or both.",
    "--output": "Where the results are written.",
    "--own-maker": "Votes of judges on models of their own maker.",
    "--page": "HTML file to write.",
    "--panel": "YAML file of judges, their servers and keys, such as examples/panel.yaml.",
    "--repeats": "How often a judge is asked the same.",
    "--seed": "Seed of what is drawn at random.",
    "--until": "When to stop asking.",
    "--whose": "Whose opinion intervals and tests are of.",
    "--verbose": "Print all numbers, notes and warnings.",
}


def shared_help(option: str, *more: str) -> str:
    """Help of an option that several commands take: its meaning, and what holds in this command."""
    return " ".join((SHARED[option], *more))


# Checks of the numbers and names that options are given; nothing is loaded for them.


def between(low: float, high: float) -> Callable[[float | None], float | None]:
    """Check of a number that must lie between two others, neither of which it may be."""

    def check(value: float | None) -> float | None:
        if value is not None and not low < value < high:
            top = f"between {low:g} and {high:g}" if math.isfinite(high) else f"finite and above {low:g}"
            raise typer.BadParameter(f"{value:g} is out of range: it must be {top}.")
        return value

    return check


def finite(value: float | None) -> float | None:
    """Check of a number that has a range already: this one is not passed by what is no number, or infinite."""
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"{value:g} is out of range: it must be finite.")
    return value


def named(pairs: Iterable[str] | None, allowed: Iterable[str]) -> dict[str, str | None]:
    """``KEY=NAME`` as a mapping; ``null`` names nothing."""
    allowed, values = list(allowed), {}
    for pair in pairs or ():
        key, equals, name = pair.partition("=")
        if not equals or not name:
            raise typer.BadParameter(f"{pair!r} is not KEY=NAME.", param_hint="'--column'")
        if key not in allowed:
            nearest = get_close_matches(key, allowed, 1, 0.0)[0]
            raise typer.BadParameter(
                f"there is no key {key!r}; the nearest known one is {nearest!r}.", param_hint="'--column'"
            )
        values[key] = None if name == "null" else name
    return values


# what can be chosen is listed once, where it is made
Form = StrEnum("Form", {name: name for name in FORMS})  # type: ignore[misc]  # members are known when it runs
Names = StrEnum("Names", {name: name for name in NAMES})  # type: ignore[misc]  # likewise
Copies = StrEnum("Copies", {name: name for name in COPIES})  # type: ignore[misc]  # likewise
# groups of options in the help of a command, in the order in which it takes them
FILE, MODEL, UNCERTAINTY, PAGE, OUTPUT = "File", "Model", "Uncertainty", "Page", "Output"


def columns_of(pairs: Iterable[str] | None) -> dict[str, str | None]:
    """Names of a file's columns of judgments."""
    return named(pairs, COLUMNS)


def answer_columns_of(
    pairs: Iterable[str] | None, keys: Iterable[str]
) -> tuple[dict[str, str | None], str | None]:
    """Names of columns of questions and answers, and the column with a list of answers, if there is one."""
    columns = named(pairs, (*keys, ANSWERS))
    return columns, columns.pop(ANSWERS, None)


def notes_of(pairs: Iterable[str] | None, save: Path | None) -> dict[str, str]:
    """``NAME=TEXT`` to keep with a fit, which must be saved somewhere."""
    notes = {}
    for pair in pairs or ():
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise typer.BadParameter(f"{pair!r} is not NAME=TEXT.", param_hint="'--note'")
        if save is None:
            raise typer.BadParameter(
                "a note is kept with the fit: name a file for it (--save).", param_hint="'--note'"
            )
        notes[name] = text
    return notes


def words_of(pairs: Iterable[str] | None, files: Iterable[Path]) -> tuple[list[Path], dict[str, str]]:
    """The files, and meanings of words for the winner; after the first, meanings may stand among the files."""
    words = list(pairs or ())
    files = list(files)
    if words:
        more = [file for file in files if _is_meaning(str(file)) and not file.exists()]
        words += map(str, more)
        files = [file for file in files if file not in more]
    for pair in words:
        if not _is_meaning(pair):
            message = f"{pair!r} is not KEY=VALUE with one of {', '.join(MEANINGS)} as VALUE."
            raise typer.BadParameter(message, param_hint="'--winner-values'")
    return files, dict(pair.rsplit("=", 1) for pair in words)  # arena-hard's words have the sign in them


def _is_meaning(pair: str) -> bool:
    key, equals, value = pair.rpartition("=")
    return bool(key and equals) and value in MEANINGS


FormatOption = Annotated[
    Form | None,
    typer.Option("--format", rich_help_panel=FILE, help="File format, if the extension does not say."),
]
ColumnOption = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        rich_help_panel=FILE,
        metavar="KEY=NAME",
        help=shared_help(
            "--column",
            f"KEY is one of {', '.join(COLUMNS)}.",
            "model_a is shown first; winner is a, b, c for a tie, or empty; model and score are of tables of "
            "scores; count says how many like judgments a row stands for (count=null: one each); swapped is true "
            "where model_b was shown first, the winner still named by column; valid says which rows count; "
            "judges=a,b names the columns of a wide table that are judges; tasks=a,b or models=a,b those of a "
            "wide table of scores, and tasks=!a those that are none; run numbers repeated runs of a task. "
            "NAME may be a path, such as data.model_id or answers[*].rank. null names no column. "
            "Can be given several times.",
        ),
    ),
]
FilesArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE",
        help="Files of judgments, folders, or patterns such as 'logs/*.jsonl'. They are JSON, JSON Lines, CSV, "
        "TSV, Parquet, Arrow, Excel, SQLite (votes.db::TABLE) or DuckDB, compressed, too; hf:OWNER/NAME on the "
        "Hugging Face hub (::SPLIT where it has several); - is standard input.",
    ),
]
QuestionsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="QUESTIONS",
        help="Questions and answers: files, folders or patterns. They may be logs of Inspect, files of Every "
        "Eval Ever, promptfoo, lm-eval, AlpacaEval, MT-Bench and Arena-Hard; a folder of texts by model; a set on "
        "the hub such as org/name; langfuse:DATASET or phoenix:DATASET.",
    ),
]
AnswerListOption = Annotated[
    str | None,
    typer.Option(
        "--answers",
        rich_help_panel=FILE,
        metavar="COLUMN",
        help="Column with a list of answers; by default a row is one answer.",
    ),
]
WinnerValuesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--winner-values",
        rich_help_panel=FILE,
        metavar="KEY=VALUE",
        help="What a word for the winner means: VALUE is a, b, tie or unknown. Can be given several "
        "times; other=unknown treats all other words as no answer; a word that begins with a minus needs the "
        "option again.",
    ),
]
BaselineOption = Annotated[
    str | None,
    typer.Option(
        "--baseline",
        rich_help_panel=FILE,
        metavar="MODEL",
        help=shared_help(
            "--baseline",
            "Name it where the records do not, as in those of arena-hard-auto's version 0.1 (there, gpt-4-0314).",
        ),
    ),
]
EncodingOption = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        rich_help_panel=FILE,
        help="Encoding of texts that are not UTF-8, such as cp1252 of older Windows programs.",
    ),
]
NamesOption = Annotated[
    Names,
    typer.Option(
        "--names",
        rich_help_panel=FILE,
        help="Names that differ only in case: rejected (ask), read as one (fold), or kept as written (exact).",
    ),
]
CopiesOption = Annotated[
    Copies,
    typer.Option(
        "--copies",
        rich_help_panel=FILE,
        help="Exact copies of records: refused where most are (ask), counted, or left out.",
    ),
]
# which judgments count: each option is the argument of `read_judgments` with underscores for hyphens
WithoutJudgeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--without-judge",
        rich_help_panel=FILE,
        metavar="NAME",
        help="Leave out the judgments of this judge. Can be given several times.",
    ),
]
OnlyJudgeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--only-judge",
        rich_help_panel=FILE,
        metavar="NAME",
        help="Count the judgments of this judge, and of others named so, alone. Can be given several times.",
    ),
]
WithoutModelOption = Annotated[
    list[str] | None,
    typer.Option(
        "--without-model",
        rich_help_panel=FILE,
        metavar="NAME",
        help="Leave out the comparisons of this model. Can be given several times.",
    ),
]
CategoryOption = Annotated[
    list[str] | None,
    typer.Option(
        "--category",
        rich_help_panel=FILE,
        metavar="NAME",
        help="Count the judgments of this category, and of others named so, alone. Can be given several times.",
    ),
]
Reading = Mapping[str, Any]  # keyword arguments of `judgerank.reading.read.read_judgments`
SELECTION = {  # which judgments count
    "without_judge": WithoutJudgeOption,
    "only_judge": OnlyJudgeOption,
    "without_model": WithoutModelOption,
    "category": CategoryOption,
}
READING = {  # all options on how files of judgments are read, in the order of a command's help
    "column": (ColumnOption, None),
    "winner_values": (WinnerValuesOption, None),
    "format": (FormatOption, None),
    "baseline": (BaselineOption, None),
    "encoding": (EncodingOption, None),
    "names": (NamesOption, Names("ask")),
    "copies": (CopiesOption, Copies("ask")),
    **{name: (option, None) for name, option in SELECTION.items()},
}


def reads_files(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options on how its files are read, in the place of its parameter `read`.

    It gets its ``files``, and as `read` the keyword arguments of `judgerank.reading.read.read_judgments`. An
    option that it declares itself stays its own.
    """
    signature = inspect.signature(command, eval_str=True)
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=option)
        for name, (option, default) in READING.items()
        if name not in signature.parameters
    ]
    parameters = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for declared in signature.parameters.values()
        for parameter in (options if declared.name == "read" else [declared])
    ]

    @wraps(command)
    def reading(**given: Any) -> None:
        taken = {option.name: given.pop(option.name) for option in options}
        given["files"], words = words_of(taken["winner_values"], given["files"] or [])
        read: dict[str, Any] = {name: tuple(taken[name] or ()) for name in SELECTION}
        read |= {"form": taken["format"] and taken["format"].value, "columns": columns_of(taken["column"])}
        read |= {"winner_values": words, "baseline": taken.get("baseline"), "encoding": taken["encoding"]}
        command(**given, read={**read, "names": taken["names"].value, "copies": taken["copies"].value})

    reading.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    reading.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return reading


ForceOption = Annotated[
    bool,
    typer.Option(
        "--force",
        rich_help_panel=OUTPUT,
        help="Overwrite existing files. Inputs are never overwritten; in a folder a copy is kept.",
    ),
]
RawOption = Annotated[
    bool,
    typer.Option(
        "--raw",
        rich_help_panel=OUTPUT,
        help="Write names into CSV and TSV as they are. By default those that a spreadsheet would run as "
        "formulas, such as =1+1 or @SUM(1), have a ' before them.",
    ),
]
LevelOption = Annotated[
    float,
    typer.Option(
        "--level", rich_help_panel=UNCERTAINTY, callback=between(0, 1), help="Confidence level of the intervals."
    ),
]
JsonOption = Annotated[
    bool,
    typer.Option(
        "--json",
        rich_help_panel=OUTPUT,
        help="Print one JSON document, also on failure. Everything else goes to standard error.",
    ),
]


# Names that options choose from, apart from what they name, so that help loads none of it.
#
# A test compares each list with the part of the library that it is of.
NAMED = (  # `judgerank.model.members.NAMED`
    *("btl", "judge_aware", "length", "position_only", "position_aware", "position_length"),
    *("btl_ties", "judge_aware_ties", "position_aware_ties"),
    *("btl_graded", "judge_aware_graded", "position_aware_graded"),
)
SOLVERS = ("newton", "adam", "localized", "penalised")  # `judgerank.engine.solvers.SOLVERS`
WHOSE = ("judges_like_these", "this_panel")  # `judgerank.ranking.choices.WHOSE`
Whose = StrEnum("Whose", {name: name for name in WHOSE})  # type: ignore[misc]  # known when it runs
LIKE_THESE = Whose(WHOSE[0])
CLUSTERS = ("question", "effects", "none")  # `judgerank.ranking.choices.CLUSTERS`
EXPORT_FORMS = ("csv", "tsv", "parquet", "json", "jsonl", "tex", "md")  # `judgerank.ranking.exports.FORMS`
EXPORT_TABLES = (  # `judgerank.ranking.exports.TABLES`
    *("leaderboard", "judges", "pairs", "next", "members", "exact", "effects", "categories", "blocks"),
    *("adjusted", "fitness", "repeats", "own_maker", "favourites", "lmarena", "eee"),
)
OWN_MAKER = ("recuse", "count")  # `judgerank.ranking.choices.OWN_MAKER`
FACTS = ("organisation", "licence", "price", "context", "link", "date")  # `judgerank.ranking.page_options.FACTS`
DIALECTS = ("duckdb", "spark", "bigquery", "postgres", "sqlite")  # `judgerank.reading.cells_in_sql.QUOTES`
CELL_TABLE = "judgments"  # `judgerank.reading.cells_in_sql.TABLE`
CELL_FORMS = ("csv", "tsv", "parquet", "json", "jsonl")  # of `judgerank.ranking.exports.RAW` and of files read
GOALS = (  # `judgerank.planning.precision.GOALS`
    *("score_width", "score_width_worst", "standardised_width", "standardised_width_worst"),
    *("pair_power", "pairs_interval_excludes_zero", "separated"),
)
ANSWER_COLUMNS = (  # `judgerank.collecting.answer_sources.COLUMNS`
    *("question_id", "question", "model", "answer"),
)
ANSWERS = "answers"  # key of the column that has a list of answers


def answer_columns_help(keys: Iterable[str]) -> str:
    """Help of ``--column`` where questions and answers are read."""
    return shared_help(
        "--column",
        f"KEY is one of {', '.join((*keys, ANSWERS))}. answers has a list of answers in every row; without it, a "
        "row is one answer. Can be given several times.",
    )


# Options on the model that is fitted.
Solver = StrEnum("Solver", {name: name for name in SOLVERS})  # type: ignore[misc]  # members are known when it runs
NEWTON, SHRUNK = Solver("newton"), Solver("penalised")


def of_family(value: str | None) -> str | None:
    """Check of a member of the family: one of the library's, or a file."""
    if value is not None and value not in NAMED and not is_file(value):
        raise typer.BadParameter(f"{value!r} is not one of {', '.join(map(repr, NAMED))}, and no file NAME.py.")
    return value


ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        rich_help_panel=MODEL,
        callback=of_family,
        metavar=f"[{'|'.join(NAMED)}|FILE.py]",
        help="Member of the family of models, or a file that defines one. By default position_aware where the "
        "order of presentation identifies it, else judge_aware (the paper's).",
    ),
]
SolverOption = Annotated[
    Solver,
    typer.Option(
        "--solver",
        rich_help_panel=MODEL,
        help="newton is exact. penalised shrinks toward the panel and always has an estimate. localized is exact "
        "over a box. adam is the paper's Algorithm A.1.",
    ),
]

OwnMaker = StrEnum("OwnMaker", {name: name for name in OWN_MAKER})  # type: ignore[misc]  # likewise
RECUSE = OwnMaker("recuse")
RECUSE_OR_COUNT = "recuse: they do not count, unless no other votes connect the same models. count: they count."
FactsOption = Annotated[
    Path | None,
    typer.Option(
        "--models",
        rich_help_panel=MODEL,
        metavar="FILE",
        help="Facts on the models: a table with a column model and any of "
        f"{', '.join(FACTS)}. --own-maker goes by organisation, also of judges in the table; the page of a "
        "ranking shows all of them, to filter by.",
    ),
]
BoardOwnMakerOption = Annotated[
    OwnMaker | None,
    typer.Option(
        "--own-maker",
        rich_help_panel=MODEL,
        show_default="as on the board",
        help=shared_help("--own-maker", "Makers are known from names and the board.", RECUSE_OR_COUNT),
    ),
]
OwnMakerOption = Annotated[
    OwnMaker,
    typer.Option(
        "--own-maker",
        rich_help_panel=MODEL,
        help=shared_help("--own-maker", "Makers are known from names.", RECUSE_OR_COUNT),
    ),
]
