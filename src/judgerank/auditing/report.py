"""The audit as a page: in Markdown, and as one HTML file that needs nothing beside it."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import markdown
import pandas as pd

from judgerank.auditing.audit import Results, Verdict, totals
from judgerank.auditing.finding import Finding

STYLE = """body { font: 15px/1.5 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #222 }
table { border-collapse: collapse; font-size: 13px; margin: 1em 0 }
th, td { border: 1px solid #ccc; padding: 2px 7px }
th { background: #f2f2f2; text-align: left } img { max-width: 100% } code { background: #f5f5f5 }
summary { cursor: pointer; font-weight: bold }"""
SET_TITLES = {"in_house": "In-house data", "chatbot_arena": "Chatbot Arena"}
SET_TITLES |= {"mt_bench": "MT-Bench", "ultrafeedback": "UltraFeedback"}
SHOWN_MEMBERS = ("btl", "judge_aware", "position_only", "position_aware", "position_aware_ties")
ERROR_HEADS = {"score": "s", "standardised_score": "s, standardised", "log_discrimination": "log gamma"}
DRAW_KINDS = ("further", "main")
SHOWN = ["row", "column", "printed", "ours", "difference", "low", "high", "verdict"]


def totals_table(audited: pd.DataFrame) -> str:
    """Numbers by place and verdict."""
    return totals(audited).to_markdown(index=False)


def page(audited: pd.DataFrame, findings: list[tuple[Finding, bool, str]], results: Results) -> str:
    """The audit in Markdown, to be read in the results folder."""
    held = [(finding, text) for finding, holds, text in findings if holds]
    parts = [
        "# Audit of the paper's numbers",
        "Every number that the paper prints in its results, with what the stored results give for it. A verdict "
        "is computed from the two, at the printed precision; *surrogate* marks what was computed on simulated "
        "stand-ins and is no check. `make audit` writes this page, `audit.csv` has the same rows, and "
        "`src/judgerank/auditing/computed_by.csv` says what computes each.",
        "## Totals",
        totals_table(audited),
        f"## Findings ({len(held)})",
        *(_finding(number, finding, text, results) for number, (finding, text) in enumerate(held, 1)),
        _open(audited, findings),
        "## Every number",
        *(_numbers(place, rows) for place, rows in audited.groupby("place", sort=False)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _finding(number: int, finding: Finding, text: str, results: Results) -> str:
    stored = [results.path(name)[0].relative_to(results.folder) for name in finding.evidence]
    evidence = ", ".join(f"[{path}]({path})" for path in stored) or "the printed tables themselves"
    figure = f"\n\n![{finding.title}](../figures/{finding.figure})" if finding.figure else ""
    settings = re.findall(r"\b(?!make\b)\w+", finding.command)
    config = ", ".join(f"[conf/{name}.yaml](../conf/{name}.yaml)" for name in settings)
    source = f"Evidence: {evidence}. Run: `{finding.command}` ({config})."
    return f"### {number}. {finding.title}\n\n{text}\n\n{source}{figure}"


def _open(audited: pd.DataFrame, findings: list[tuple[Finding, bool, str]]) -> str:
    rows = audited[audited["verdict"] == Verdict.UNEXPLAINED]
    if rows.empty:
        return ""
    notes = [f"{finding.title}: {text}" for finding, holds, text in findings if not holds]
    listed = _markdown(rows[["place", *SHOWN[:-1]]])
    return "\n\n".join(["## Open", "Numbers that differ for a reason we have not established.", listed, *notes])


def _numbers(place: str, rows: pd.DataFrame) -> str:
    columns = [name for name in SHOWN if rows[name].notna().any()]
    shown = rows[columns].copy()
    if "ours" in shown:
        marked = rows["surrogate"].to_numpy(bool)
        shown["ours"] = [
            f"{_text(value)} (surrogate)" if mark else _text(value)
            for value, mark in zip(rows["ours"], marked, strict=True)
        ]
    needs = sorted(set(rows.loc[rows["verdict"] == Verdict.UNCHECKED, "needs"]) - {""})
    note = f"What would check the rest: {'; '.join(needs)}.\n\n" if needs else ""
    head = f'<details markdown="1"><summary>{place} ({len(rows)})</summary>'
    return f"{head}\n\n{note}{_markdown(shown)}\n\n</details>"


def _markdown(frame: pd.DataFrame) -> str:
    return frame.map(_text).to_markdown(index=False, disable_numparse=True)


def _text(value: object) -> str:
    if value is None or pd.isna(value):
        return ""
    return f"{value:.4f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def html(text: str, title: str, folder: Path) -> str:
    """A Markdown page as one HTML file, with the figures it shows (relative to a folder) inside."""
    body = markdown.markdown(text, extensions=["tables", "md_in_html"])

    def embedded(match: re.Match) -> str:
        content = base64.b64encode((folder / match[1]).read_bytes()).decode()
        return f'src="data:image/png;base64,{content}"'

    body = re.sub(r'src="([^"]+\.png)"', embedded, body)
    head = f'<meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'


def with_block(text: str, name: str, content: str) -> str:
    """A text with what stands between the marks of a block replaced."""
    pattern = re.compile(rf"(<!-- {name}:[^>]*-->\n).*?(<!-- /{name} -->)", re.DOTALL)
    return pattern.sub(lambda marks: f"{marks[1]}{content}\n{marks[2]}", text)


def members_table(results: Results) -> str:
    """Members of the family on the sets, and what people's ratings tell apart, from `make model_comparison`."""
    rows = []
    for name, title in SET_TITLES.items():
        table = results.table(f"model_comparison/{name}/members.csv").set_index("member")
        human = table.get("spearman_human")
        for member in SHOWN_MEMBERS:
            row = table.loc[member]
            height = f"{row['log_likelihood']:.2f}" if row["outcomes"] == 2 else "of three outcomes"
            losses = [f"{row[loss]:.3f} ({row[f'{loss}_se']:.3f})" for loss in ("log_loss", "log_loss_three")]
            people = "" if human is None else f"{row['spearman_human']:.4f}"
            rows.append((title, member, height, *losses, f"{row['accuracy']:.1%}", people))
    columns = ["set", "member", "log-likelihood", "held-out log-loss", "with ties an outcome", "accuracy"]
    return f"{_grid(rows, [*columns, 'Spearman with people'])}\n\n{_people(results)}"


def _people(results: Results) -> str:
    """Whether position changes the agreement with people on Chatbot Arena, in a sentence."""
    row = results.table("model_comparison/chatbot_arena/people.csv").set_index("member").loc["position_aware"]
    low, high = row["difference_low"], row["difference_high"]
    said = "no difference is supported"
    if low > 0 or high < 0:
        said = f"agreement is {'higher' if low > 0 else 'lower'} with position"
    interval = f"{row['level']:.0%} interval from {low:.3f} to {high:.3f} over {row['resamples']} resamples"
    return (
        f"Spearman with people, position_aware less judge_aware: {row['difference']:.4f} ({interval} of the "
        f"questions): {said}."
    )


def slots_table(results: Results) -> str:
    """Root mean squared bias at the largest T, as `make slot_bias` stored it."""
    table = results.table("slot_bias/summary.csv")
    table = table[table["n_comparisons"] == table["n_comparisons"].max()].set_index(["member", "order"])
    rows = []
    for member in table.index.unique("member"):
        cells = (table.loc[(member, order)] for order in ("names", "random"))
        rows.append((member, *(f"{cell['rms_bias']:.3f} ({cell['rms_noise']:.3f})" for cell in cells)))
    return _grid(rows, ["member", "slots follow names", "slots at random"])


def shrinkage_table(results: Results) -> str:
    """Mean squared errors over those with shrinkage, at both ends of the grid, from `make small_samples`."""
    table = results.table("small_samples/mse.csv")
    further = table[table["draws"] == "further"]
    rows = []
    for place, setting in further.groupby(["n_models", "n_judges"], sort=False):
        for size in (setting["n_comparisons"].min(), setting["n_comparisons"].max()):
            ends = setting[setting["n_comparisons"] == size].set_index("parameter")
            ratios = (f"{ends.at[p, 'ratio']:.2f} ({ends.at[p, 'ratio_se']:.2f})" for p in ERROR_HEADS)
            rows.append((str(place), f"{size:,}", *ratios))
    counted = []
    for parameter, head in ERROR_HEADS.items():
        parts = (table[(table["parameter"] == parameter) & (table["draws"] == kind)] for kind in DRAW_KINDS)
        better = [f"{(part['ratio'] > 1).sum()} of {len(part)}" for part in parts]
        counted.append(f"{head}, at {better[0]} points of the grid and at {better[1]}")
    told = f"Over one for {'; '.join(counted)} (the latter for the truth of the other sections)."
    return f"{_grid(rows, ['(N, K)', 'T', *ERROR_HEADS.values()])}\n\n{told}"


def uncertainty_table(results: Results) -> str:
    """What errors clustered by question are to plug-in ones, as `make uncertainty` stored it."""
    rows = []
    for name, title in SET_TITLES.items():
        for _, row in results.table(f"uncertainty/{name}/summary.csv").iterrows():
            ratios = (f"{row[ratio]:.2f}" for ratio in ("clustered_ratio", "bootstrap_ratio"))
            apart = f"{row['separated_plug_in']}, {row['separated_clustered']} of {row['pairs']}"
            rows.append((title, row["member"], f"{row['questions']:,}", *ratios, apart))
    columns = ["set", "member", "questions", "clustered / plug-in", "bootstrap / plug-in"]
    return _grid(rows, [*columns, "pairs separated (Holm): plug-in, clustered"])


def methods_table(results: Results) -> str:
    """Agreement and held-out loss by method, as `make method_comparison` stored them."""
    table = results.table("method_comparison/comparison.csv")
    titles = results.table("method_comparison/methods.csv").set_index("method")["title"]
    data = table.groupby("data", sort=False)[["kind", "title"]].first()
    sets, panels = (data.index[data["kind"] == kind] for kind in ("set", "panel"))
    rows = []
    for method, title in titles.items():
        of = table[table["method"] == method].set_index("data")
        # the mean over those data sets alone that a method could rank would flatter it
        truths = of["spearman"].where(of["n_ranked"] == of["n"])[panels]
        numbers = [_over_orders(of.loc["chatbot_arena"]), *(f"{x:.3f}" for x in of["log_loss"][sets])]
        numbers += [f"{x:.3f}" for x in truths]
        rows.append((title, *(number.replace("nan", "-") for number in numbers)))
    heads = [f"log-loss, {title}" for title in data["title"][sets]]
    heads += [f"truth, {title.removeprefix('simulated: ')}" for title in data["title"][panels]]
    grid = _grid(rows, ["method", "people, Chatbot Arena", *heads])
    contrary = table[table["data"] == "adversarial"].set_index("method")[["n_reversed", "n_ranked"]]
    counts = (
        f"{titles[name]}, {row['n_reversed']:.0f} of {row['n_ranked']:.0f}"
        for name, row in contrary.iterrows()
        if row["n_reversed"] > 0
    )
    orders = table["orders"].max()
    noted = f"In brackets: standard deviation over {orders:.0f} random orders of the rows."
    return f"{grid}\n\n{noted} Rankings that run against the truth where judges are contrary: {'; '.join(counts)}."


def _over_orders(row: pd.Series) -> str:
    """A rank correlation, with its spread over orders of the rows where it depends on them."""
    spread = row["spearman_sd"]
    return f"{row['spearman']:.4f}" if pd.isna(spread) else f"{row['spearman']:.3f} ({spread:.3f})"


def _grid(rows: list[tuple], columns: list[str]) -> str:
    return pd.DataFrame(rows, columns=columns).to_markdown(index=False, disable_numparse=True)


def readme_blocks(
    audited: pd.DataFrame, findings: list[tuple[Finding, bool, str]], results: Results
) -> dict[str, str]:
    """What the README shows of the stored results, by the name of the block."""
    titles = [finding.title for finding, holds, _ in findings if holds]
    listed = "\n".join(f"{number}. {title}" for number, title in enumerate(titles, 1))
    blocks = {"totals": totals_table(audited), "findings": listed, "members": members_table(results)}
    blocks |= {"slots": slots_table(results), "shrinkage": shrinkage_table(results)}
    return blocks | {"uncertainty": uncertainty_table(results), "methods": methods_table(results)}
