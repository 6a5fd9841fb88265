"""A ranking as one picture and one sentence to paste into a slide or a message.

The picture is a list of rectangles and texts (`judgerank.plots`), written as SVG here and as PNG by
matplotlib.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from importlib.util import find_spec
from pathlib import Path
from textwrap import wrap

from judgerank.data.errors import ConfigError
from judgerank.data.listing import counted, shortened
from judgerank.data.modules import needed
from judgerank.plots import Box, Label, Shape
from judgerank.ranking.choices import Record
from judgerank.ranking.first_screen import Row, pictures
from judgerank.ranking.page_options import Additions
from judgerank.ranking.verdict import verdict

SVG, PNG = ".svg", ".png"
WIDTH, HEIGHT = 1200, 630
LEFT, NAME, BAR, RATE = 60, 150, 600, 1140  # where ranks, names and bars begin, and win rates end
MOST = 8  # models drawn
INK, FAINT, ACCENT, PALE, PAPER = "#1b1f24", "#57606a", "#0550ae", "#b4cbe6", "#ffffff"
LONGEST_TITLE, LONGEST_LINE, LONGEST_NAME = 44, 100, 30  # characters that fit
MOST_TITLE, MOST_LINES = 66, 4  # characters of a title in smaller type, and lines below it
BAR_WIDTH = RATE - 110 - BAR


def require_card(path: Path) -> None:
    """Refuse a file that no card can be written to.

    Raises
    ------
    ConfigError
        If its name ends neither in .svg nor in .png, or a PNG lacks the package that draws it.
    """
    form = path.suffix.lower()
    if form not in (SVG, PNG):
        raise ConfigError(f"a card is an SVG or a PNG, and {path.name} is neither: end its name in {SVG} or {PNG}")
    if form == PNG and find_spec("matplotlib") is None:
        raise ConfigError(f"a PNG requires {needed('plot')}; a card that ends in {SVG} does not")


def card(ranking: Record, path: Path) -> bytes:
    """The picture, in the form that a file's name ends in; `require_card` says what is raised."""
    require_card(path)
    shapes = list(_shapes(ranking))
    if path.suffix.lower() == SVG:
        return svg(shapes, sentence(ranking)).encode()
    from judgerank.plots.own import png

    return png(shapes, WIDTH, HEIGHT)


def sentence(ranking: Record) -> str:
    """The verdict as text to paste."""
    summary, c = verdict(ranking), ranking.judgments.comparisons
    basis = f"{c.n_comparisons:,.0f} judgments by {counted(len(c.judges), 'judge')}"
    if ranking.fit.errors.sizes is not None:
        basis = ", ".join(f"{number} {what}" for number, what in summary.facts)
    facts = f"{basis}, ranked with judgerank."
    return " ".join(filter(None, [f"{summary.headline}.", summary.lead, summary.caution, facts]))


def _shapes(ranking: Record) -> Iterator[Shape]:
    summary = verdict(ranking)
    yield Box(0, 0, WIDTH, HEIGHT, PAPER)
    title, text = summary.headline, f"{summary.caution} {summary.lead}"
    if len(title) > MOST_TITLE:  # its condition stands below, in full
        title, condition = summary.claim, summary.condition
        text = f"{condition[0].upper()}{condition[1:]}. {text}" if condition else text
    title = shortened(title, MOST_TITLE)
    yield Label(LEFT, 84, title, 44 * min(1.0, LONGEST_TITLE / len(title)), INK, bold=True)
    lines = wrap(text.strip(), LONGEST_LINE, max_lines=MOST_LINES, placeholder=" ...")
    for number, line in enumerate(lines):
        yield Label(LEFT, 126 + 30 * number, line, 22, INK)
    top = 150 + 30 * len(lines)
    drawn = pictures(ranking, Additions())[0]
    rows = [row for group in (*drawn.groups, *drawn.more) for row in group.rows]
    step = min(44.0, (HEIGHT - 70 - top) / min(len(rows), MOST))
    yield Box(BAR + BAR_WIDTH * drawn.even / 100, top, 1.5, step * min(len(rows), MOST), "#d0d7de")
    for number, row in enumerate(rows[:MOST]):
        yield from _row(row, top + step * number, step)
    facts = " · ".join(f"{number} {what}" for number, what in summary.facts)
    rest = f" · {len(rows) - MOST} more models" if len(rows) > MOST else ""
    yield Label(LEFT, HEIGHT - 26, shortened(f"{facts}{rest}", LONGEST_LINE), 18, FAINT)
    yield Label(RATE, HEIGHT - 26, "judgerank", 18, FAINT, end=True)


def _row(row: Row, top: float, step: float) -> Iterator[Shape]:
    base = top + 0.68 * step
    size = min(24.0, 0.6 * step)
    yield Label(LEFT, base, row.ranks, size, FAINT)
    yield Label(NAME, base, shortened(row.name, LONGEST_NAME), size, INK, bold=True)
    if row.low == row.low:
        yield Box(
            BAR + BAR_WIDTH * row.low / 100,
            top + 0.36 * step,
            BAR_WIDTH * (row.high - row.low) / 100,
            0.28 * step,
            PALE,
        )
    yield Box(BAR + BAR_WIDTH * row.at / 100 - 2, top + 0.22 * step, 4, 0.56 * step, ACCENT)
    yield Label(RATE, base, row.rate, size, INK, bold=True, end=True)


def svg(shapes: list[Shape], about: str) -> str:
    """Shapes as an SVG that needs nothing beside it."""
    drawn = "\n".join(map(_as_svg, shapes))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" role="img" font-family="system-ui, sans-serif">\n'
        f"<title>{escape(about, quote=False)}</title>\n{drawn}\n</svg>\n"
    )


def _as_svg(shape: Shape) -> str:
    if isinstance(shape, Box):
        geometry = f'x="{shape.x:.1f}" y="{shape.y:.1f}" width="{shape.width:.1f}" height="{shape.height:.1f}"'
        return f'<rect {geometry} fill="{shape.colour}"/>'
    style = (' font-weight="bold"' if shape.bold else "") + (' text-anchor="end"' if shape.end else "")
    geometry = f'x="{shape.x:.1f}" y="{shape.y:.1f}" font-size="{shape.size:.1f}" fill="{shape.colour}"'
    return f"<text {geometry}{style}>{escape(shape.text, quote=False)}</text>"
