"""Numbers within sentences and tables of the documentation: each comes from a stored value that the page names.

``37%<!-- adaptive/saved.csv[dataset=mt_bench; rule=information; measure=error].saved -->`` is column ``saved`` of
the one row that meets the conditions; ``least of`` or another reading before the table takes more rows. The number
keeps its form when it is written anew: decimals, percent sign, leading zero.

A table is rows of a stored table, and a template for the cells of each column: a format string over a row's
columns. ``{coverage:.3f±}`` is a number with its Monte Carlo error, from the column ``coverage_se``. A cell that
lacks a number is empty, or what the template has after ``|``.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

import pandas as pd

from judgerank.plots.looks import NAMES
from replication import published
from replication.auditing.registry import READINGS, items
from replication.auditing.results import Missing, Results
from replication.config import SCRIPTS
from replication.tables import markdown_table

log = logging.getLogger("replication")
CONSTANTS = Path(__file__).with_name("constants.csv")
NUMBER = r"(?<![\w.,-])-?(?:\d(?:[\d,]*\d)?(?:\.\d+)?|\.\d+)%?"
ADDRESS = r"(?:(?P<reading>\w+) of )?(?P<table>[\w/]+\.csv)\[(?P<where>[^\]]*)\]\.(?P<column>\w+)"
MARKED = re.compile(rf"(?P<number>{NUMBER})<!--\s*{ADDRESS}\s*-->")
NOT_PROSE = re.compile(
    r"""^\ *```.*?^\ *```
    | <!--\ (?P<block>[\w\ ]+):\ written\ by\ make\ audit\ -->.*?<!--\ /(?P=block)\ -->
    | <!--.*?-->
    | `[^`]*`
    | (?<=\])\([^)]*\)  # where a link leads
    | arXiv[:\ ]\d+\.\d+
    """,
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
FREE = re.compile(rf"{NUMBER}(?!\w|[.,]\d)")
OF = re.compile(r"\b\d[\d,]* of (?=\d)")  # a count before the number it is of
YEAR = re.compile(r"(?:19|20)\d\d")
RELEASED = re.compile(r"^## \[\d.*", re.DOTALL | re.MULTILINE)


def value_at(mark: re.Match[str], results: Results) -> float:
    """The stored value that a mark names.

    Raises
    ------
    Missing
        If there is none, or it is no number.
    """
    where, column = " ".join(mark["where"].split()), mark["column"]
    rows, reading = results.rows(mark["table"], where), mark["reading"] or "cell"
    if column not in rows:
        raise Missing(f"{mark['table']} has no column {column}")
    if reading not in READINGS:
        raise Missing(f"there is no reading {reading!r} (known: {', '.join(READINGS)})")
    stored = pd.to_numeric(READINGS[reading](rows, column, results), errors="coerce")
    if pd.isna(stored):
        raise Missing(f"{mark['table']}[{where}].{column} is no number")
    return float(stored)


def in_the_form_of(value: float, printed: str) -> str:
    """A value with the decimals, the percent sign and the missing leading zero of a number shown."""
    percent = printed.endswith("%")
    text = published.as_printed(100 * value if percent else value, printed.rstrip("%").replace(",", ""))
    integer_part, dot, decimals = text.partition(".")
    integer_part = f"{int(integer_part):,}" if abs(value) >= 1000 else integer_part
    if re.match(r"-?\.", printed):
        integer_part = integer_part.removesuffix("0") if integer_part in ("0", "-0") else integer_part
    return f"{integer_part}{dot}{decimals}{'%' if percent else ''}"


def with_numbers(text: str, results: Results, name: str = "") -> str:
    """A text with its marked numbers as they are stored; what is not stored is left as it is, with a warning."""

    def written(mark: re.Match[str]) -> str:
        try:
            number = in_the_form_of(value_at(mark, results), mark["number"])
        except Missing as error:
            log.warning("%s: %s is left as it is: %s", name, mark["number"], error)
            return mark[0]
        if number != mark["number"]:
            log.info("%s: %s is now %s", name, mark["number"], number)
        return number + mark[0].removeprefix(mark["number"])

    return MARKED.sub(written, text)


def unmarked(text: str, name: str, results_page: bool = True) -> list[str]:
    """Numbers of a page that neither a mark, nor a block, nor the list of constants answers for.

    Looked for are numbers with decimals or a percent sign; on a page about results also counts of three digits and
    more, and counts of others (3 of 20). Code is no prose, and releases in a changelog are history.

    Parameters
    ----------
    text : str
    name : str
        The page, as the list of constants has it.
    results_page : bool
    """
    prose = NOT_PROSE.sub(lambda match: " " * bool(match[0]), MARKED.sub("", RELEASED.sub("", text)))
    constant_numbers = constants().get(name, set())
    return (
        []
        if "*" in constant_numbers
        else [number for number in _numbers(prose, results_page) if number not in constant_numbers]
    )


def _numbers(prose: str, counts: bool) -> Iterator[str]:
    before_others = {match.start() for match in OF.finditer(prose)} | {match.end() for match in OF.finditer(prose)}
    for match in FREE.finditer(prose):
        number = match[0]
        count = len(number.replace(",", "")) > 2 or match.start() in before_others
        if re.search(r"[.%]", number) or (counts and count and not YEAR.fullmatch(number)):
            yield number


@cache
def constants() -> dict[str, set[str]]:
    """Numbers by page that no stored result moves: levels, thresholds, sizes of simulations, others' counts.

    ``*`` stands for all numbers of a page.
    """
    table = pd.read_csv(CONSTANTS, dtype=str, keep_default_na=False)
    return {page: set(rows["number"]) for page, rows in table.groupby("page")}


def unused(pages: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Entries of the list of constants, page and number, that no page has any more."""
    texts = dict(pages)
    return [
        (page, number)
        for page, numbers in constants().items()
        for number in sorted(numbers)
        if number not in ("*", *FREE.findall(texts.get(page, ""))) or page not in texts
    ]


# Every figure of the paper beside ours: what each shows, and which stored tables ours is drawn from.


COMPARED = Path(__file__).with_name("figures.csv")
HEADS = {"paper_shows": "the paper's shows", "ours_adds": "ours adds", "differs": "differs"}


def figures() -> pd.DataFrame:
    """The paper's figures in its order: ``item, title, paper_shows, ours_adds, differs, drawn_from, files``.

    The last two are lists of paths, below results/ and figures/.
    """
    compared = pd.read_csv(COMPARED, dtype=str, keep_default_na=False)
    frame = items().merge(compared, on="item", validate="one_to_one")
    listed = {
        "drawn_from": [_split(f"{a};{b}") for a, b in zip(frame["tables"], frame["also_drawn_from"], strict=True)],
        "files": frame["figures"].map(_split),
    }
    return frame.assign(**listed)[["item", "title", *HEADS, *listed]]


def figures_page(results: Results) -> str:
    """Every figure with its image and a short table, for a page two folders below the project."""
    parts = []
    for row in figures().itertuples():
        # a figure may wait for data that only the hub has
        stored = [path for name in row.files if (path := results.figure(name))]
        tables = [name for name in row.drawn_from if results.real(name)]
        entries = [(f"**{head}**", getattr(row, key)) for key, head in HEADS.items() if getattr(row, key)]
        root = results.folder.parent
        links = {name: results.path(name)[0].relative_to(root).as_posix() for name in tables}
        drawn = ", ".join(f"[{name}](../../{address})" for name, address in links.items())
        rows = [*entries, ("**drawn from**", drawn)]
        images = [f"![{row.item}: {row.title}](../../{path.relative_to(root).as_posix()})" for path in stored]
        parts.append("\n\n".join([f"## {row.item}: {row.title}", markdown_table(rows, ["", ""]), *images]))
    return "\n\n".join(parts)


def _split(names: str) -> list[str]:
    return [name for name in names.split(";") if name]


# How long the stored runs took, from their records, as blocks that `make audit` keeps current.


COMMANDS = ("torture", "verify")  # with records of their own, though they are no sections
UNKNOWN = "--"


def times_table(results: Results) -> str:
    """How long every section took in the stored run, sets together."""
    times = times_of(results)
    rows = [
        (f"`make {row.section}`", f"{row.seconds:.0f} s", _formatted(row.processor, "{:.0f} s"))
        for row in times.itertuples()
    ]
    cpus = " and ".join(sorted(set(times["cpu"])))
    total = f"Together {times['seconds'].sum() / 60:.0f} minutes on {cpus}, one after the other."
    return f"{markdown_table(rows, ['section', 'time taken', 'of the processor'])}\n\n{total}"


def full_run_times(results: Results) -> str:
    """How long the commands take that run many sections, as the stored runs did."""
    times = times_of(results)
    is_paper = times["section"].isin([path.stem for path in SCRIPTS.glob("*.py")])
    rows = [
        (command, f"{len(of)} sections", *_total_minutes(of))
        for command, of in (("reproduce", times[is_paper]), ("beyond", times[~is_paper]))
    ]
    verified = results.audit / "verify/run.json"
    if verified.is_file():
        machine = json.loads(verified.read_text())["machine"]
        of = pd.DataFrame({"seconds": [machine["seconds"]], "processor": [machine["processor_seconds"]]})
        rows.append(("verify", rows[0][1], *_total_minutes(of)))
    rows = [(f"`make {command}`", *rest) for command, *rest in rows]
    return markdown_table(rows, ["command", "what it runs", "one after the other", "of the processor"])


def times_of(results: Results) -> pd.DataFrame:
    """Seconds by section, sets together, the slowest first: ``section, seconds, processor, cpu, memory``.

    Those of the processor, and megabytes of the largest process, are NaN where a record does not tell.
    """
    rows = []
    for path in sorted(results.folder.rglob("run.json")):
        run = json.loads(path.read_text())
        if not (run["surrogate"] or run["section"] in COMMANDS):
            machine = run["machine"]
            processor = machine.get("processor_seconds", float("nan"))
            memory = machine.get("peak_memory_mb", float("nan"))
            rows.append((run["section"], machine["seconds"], processor, machine["cpu"], memory))
    frame = pd.DataFrame(rows, columns=["section", "seconds", "processor", "cpu", "memory"])
    sets = frame.groupby("section", sort=False)
    times = sets.agg({"seconds": "sum", "processor": "sum", "cpu": "first", "memory": "max"})
    for name in ("processor", "memory"):
        times[name] = times[name].where(sets[name].count() == sets.size())
    return times.sort_values("seconds", ascending=False, kind="stable").reset_index()


def _total_minutes(times: pd.DataFrame) -> tuple[str, str]:
    """Minutes by the clock and of the processor."""
    return f"{times['seconds'].sum() / 60:.1f} min", _formatted(
        times["processor"].sum(skipna=False) / 60, "{:.1f} min"
    )


def _formatted(time: float, form: str) -> str:
    return UNKNOWN if pd.isna(time) else form.format(time)


WITH_ERROR, TITLE, P_VALUE = "±", "title", "p"
SMALL_P = 1e-4
EVERY_SET = "{set}"  # in a table's name: it is stored for each of the sets
SETS = ("in_house", "chatbot_arena", "mt_bench", "ultrafeedback")


def stored_rows(results: Results, name: str) -> pd.DataFrame:
    """A stored table; or those of all sets below each other, with the set's title in a column ``set``."""
    if EVERY_SET not in name:
        return results.table(name)
    return pd.concat([results.table(name.format(set=s)).assign(set=NAMES[s]) for s in SETS], ignore_index=True)


def widened(frame: pd.DataFrame, index: str | list[str], columns: str) -> pd.DataFrame:
    """A pivoted table in the order of its rows; the value of ``column`` for ``way`` is in ``column/way``."""
    wide = frame.pivot(index=index, columns=columns)
    wide.columns = [_of_way(name, way) for name, way in wide.columns]
    return wide.loc[frame.set_index(index).index.unique()].reset_index()


def _of_way(name: str, way: object) -> str:
    return f"{name[:-3]}/{way}_se" if name.endswith("_se") else f"{name}/{way}"


def shaped(
    frame: pd.DataFrame,
    derived: Mapping[str, str] | None = None,
    where: str = "",
    wide: Mapping[str, Any] | None = None,
    has: str = "",
    names: Mapping[str, Mapping[Any, str]] | None = None,
) -> pd.DataFrame:
    """The rows that a table shows.

    Parameters
    ----------
    frame : DataFrame
    derived : mapping of str to str, optional
        Further columns by their expressions, as `DataFrame.eval` takes them.
    where : str, optional
        Condition on the rows, as `DataFrame.query` takes it.
    wide : mapping, optional
        Arguments of `widened`.
    has : str, optional
        A column in which the rows must have a value.
    names : mapping of str to mapping, optional
        Values of columns that have another name in the documentation.
    """
    for column, expression in (derived or {}).items():
        frame = frame.assign(**{column: frame.eval(expression, engine="python")})
    frame = frame.query(where, engine="python") if where else frame
    frame = widened(frame, **wide) if wide else frame
    frame = frame.dropna(subset=has) if has else frame
    return frame.replace(names) if names else frame


def table(frame: pd.DataFrame, columns: Mapping[str, str]) -> str:
    """Rows in Markdown, with a template for each column."""
    rows = [tuple(cell(template, row) for template in columns.values()) for row in frame.to_dict("records")]
    return markdown_table(rows, list(columns))


def note(frame: pd.DataFrame, text: str, each: str) -> str:
    """A sentence about all rows: ``{rows}`` is `each` filled in by row, other fields are of the first row."""
    rows = frame.to_dict("records")
    return cell(text, rows[0] | {"rows": "; ".join(cell(each, row) for row in rows)})


def cell(template: str, row: Mapping[str, Any]) -> str:
    """The first of a template's alternatives whose numbers the row has; empty if there is none."""
    for alternative in template.split("|"):
        fields = list(Formatter().parse(alternative))
        if not any(pd.isna(row[name]) for _, name, _, _ in fields if name):
            return "".join(
                text + (_filled(row, name, spec or "") if name else "") for text, name, spec, _ in fields
            )
    return ""


def _filled(row: Mapping[str, Any], name: str, spec: str) -> str:
    """The text of a field: the title of a data set, a p-value, a number with its error if it has one, or plain."""
    value = row[name]
    if spec == TITLE:
        return NAMES.get(value, str(value))
    if spec == P_VALUE:
        return "< .0001" if value < SMALL_P else f"{value:.2f}"
    if not spec.endswith(WITH_ERROR):
        return format(value, spec)
    digits, error = spec.removesuffix(WITH_ERROR), row[f"{name}_se"]
    return format(value, digits) + ("" if pd.isna(error) else f" ({error:{digits.lstrip('+')}})")
