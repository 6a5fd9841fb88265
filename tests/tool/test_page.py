"""The pages in a real browser: what a reader does with them, what leaves them, and whom they shut out."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgerank import rank
from judgerank.fits import presentation
from judgerank.fits.presentation import win_probability
from judgerank.pages import shown
from judgerank.ranking import study
from judgerank.ranking.card import sentence
from judgerank.ranking.ranking import Ranking
from judgerank.ranking.verdict import verdict
from replication.auditing.page import html_page
from replication.config import ROOT
from tests.tool.test_panel import panel_of

sync_api = pytest.importorskip("playwright.sync_api")
axe = pytest.importorskip("axe_playwright_python.sync_playwright")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="could not find a browser (apt-get install chromium)")
NOISE = ("error", "warning")  # kinds of console messages that no page may cause
HOSTILE = "<script>document.title='caught'</script>"
OBJECTS_OWN = ["constructor", "__proto__", "toString", "hasOwnProperty", "valueOf", "__defineGetter__"]
TEMPLATES = sorted((*(ROOT / "src").rglob("*.html"), *(ROOT / "src").rglob("*.js")))
NAMES = {"m0": HOSTILE, "m1": "a&b \"c\" 'd'", "m2": "</script><b>bold", "m3": "llama_3 *x*|y"}


@dataclass
class Seen:
    """A page that is open, with what it said and asked for."""

    page: sync_api.Page
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def chromium() -> Iterator[sync_api.Browser]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium):
    """Open a file; afterwards nothing must have gone wrong, and nothing have left."""
    seen: list[Seen] = []

    def open_(path: Path, width: int = 1280, scheme: str = "light") -> sync_api.Page:
        page = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        one = Seen(page)
        page.on("console", lambda said: one.errors.append(said.text) if said.type in NOISE else None)
        page.on("pageerror", lambda error: one.errors.append(str(error)))
        page.on("request", lambda asked: one.requests.append(asked.url))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-complete]", state="attached")
        unfold(page)
        seen.append(one)
        return page

    yield open_
    for one in seen:
        assert one.errors == []
        assert {url.partition(":")[0] for url in one.requests} <= {"file", "blob", "data"}
        one.page.close()


@pytest.fixture(scope="module")
def ranking() -> Ranking:
    frame = panel_of([2.0, 1.5, 1.0, 0.1, 1.0], position=[0, 0, 1.5, 0, 0], n_questions=200, copy=False)
    frame["category"] = np.where(frame["question"] % 2 == 0, "code", "prose")
    frame["reply"] = "I say <b>" + frame["winner"] + "</b>"
    renamed = {side: frame[side].replace(NAMES) for side in ("model_a", "model_b")}
    return rank(frame.assign(**renamed, judge=frame["judge"].replace({"j0": HOSTILE})))


@pytest.fixture(scope="module")
def written(ranking, tmp_path_factory) -> Path:
    return ranking.write(tmp_path_factory.mktemp("page") / "ranking")


def column(page: sync_api.Page, table: str, name: str) -> list[str]:
    """Cells of a column, as shown."""
    heads = page.locator(f"#{table} thead th").all()
    (place,) = (n for n, head in enumerate(heads, 1) if head.get_attribute("data-name") == name)
    return page.locator(f"#{table} tbody tr td:nth-child({place})").all_inner_texts()


def test_tables_sort_search_filter_and_show_columns(opened, written, ranking):
    page, board = opened(written), ranking.tables["leaderboard"]
    assert column(page, "leaderboard", "model") == list(board["model"])
    head = page.locator("#leaderboard thead th[data-name=score]")
    head.click()
    assert column(page, "leaderboard", "model") == list(board["model"])[::-1]
    head.click()
    assert column(page, "leaderboard", "model") == list(board["model"])
    search = page.locator("#leaderboard_wrapper").get_by_label("Search")
    search.fill("llama_3")
    assert column(page, "leaderboard", "model") == ["llama_3 *x*|y"]
    search.fill("")
    page.get_by_label("verdict", exact=True).select_option("noisy")
    judges = ranking.tables["judges"].set_index("judge")["verdict"]
    assert column(page, "judges", "judge") == list(judges.index[judges == "noisy"]) != []
    assert "unreadable" not in page.locator("#judges thead").inner_text()
    page.get_by_role("button", name="Columns of: Judges").click()
    page.locator(".dt-button-collection").get_by_text("unreadable").click()
    assert "unreadable" in page.locator("#judges thead").inner_text()


def test_a_rival_is_chosen_and_the_probabilities_are_those_of_the_fit(opened, written, ranking):
    page, board = opened(written), ranking.tables["leaderboard"]
    rival = board["model"].iloc[3]
    page.locator("#rival").select_option(rival)
    found = dict(zip(column(page, "leaderboard", "model"), column(page, "leaderboard", "versus"), strict=True))
    scores = board.set_index("model")["score"]
    for name in board["model"].drop(3):
        chance = float(win_probability(ranking.fit, np.array(scores[name] - scores[rival])))
        assert float(found[name]) == pytest.approx(chance, abs=0.0051)
    assert found[rival] == "--"


def test_a_pair_opens_the_judgments_behind_it(opened, written, ranking):
    page = opened(written)
    first, second = ranking.tables["leaderboard"]["model"].iloc[[0, 2]]
    cell = page.locator("#matrix tbody tr").nth(0).locator("td").nth(2).get_by_role("button")
    assert cell.get_attribute("aria-label").startswith(f"{first} against {second}: 0.")
    cell.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    assert dialog.get_by_role("heading").inner_text() == f"{first} against {second}"
    frame = ranking.judgments.frame
    mine = frame[frame["model_a"].isin([first, second]) & frame["model_b"].isin([first, second])]
    said = dialog.inner_text()
    won = ((mine["model_a"] == first) == (mine["judge_preferred_model"] == "a")).mean()
    assert f"{first} won {100 * won:.1f}% of their {len(mine)} comparisons" in said
    assert f"{len(mine)} records are listed." in said
    pair = ranking.tables["pairs"].query("first == @first and second == @second").iloc[0]
    assert f" {pair['difference']:.3f}" in said
    assert dialog.locator("tbody tr").count() == min(len(mine), 100)
    dialog.locator("details summary").first.click()
    assert re.fullmatch(r"I say <b>[ab]</b>", dialog.locator("pre").first.inner_text())
    page.keyboard.press("Escape")
    assert not dialog.is_visible()


def test_a_judge_opens_its_judgments_in_portions(opened, written, ranking):
    page = opened(written)
    page.locator("#verdicts").get_by_role("button", name=f"{HOSTILE}: its judgments").click()
    dialog = page.get_by_role("dialog")
    assert dialog.get_by_role("heading").inner_text().endswith(f" {HOSTILE}")
    assert dialog.locator("tbody tr").count() == 100
    dialog.get_by_role("button", name="Show more").click()
    n_judgments = (ranking.judgments.frame["judge_model"] == HOSTILE).sum()  # without those on its namesake
    assert dialog.locator("tbody tr").count() == n_judgments > 100
    assert not dialog.get_by_role("button", name="Show more").is_visible()


def test_the_matrix_shows_counts_and_shares_too(opened, written, ranking):
    page = opened(written)
    page.get_by_label("Shown", exact=True).select_option("count")
    cells = [int(text) for text in page.locator("#matrix td button").all_inner_texts()]
    assert sum(cells) == 2 * ranking.judgments.comparisons.n_comparisons
    page.get_by_label("Shown", exact=True).select_option("won")
    shares = np.array([float(text) for text in page.locator("#matrix td button").all_inner_texts()])
    assert shares.sum() == pytest.approx(15, abs=0.2)


def test_a_pair_shows_the_judge_who_is_farthest_from_the_others(opened, written, ranking):
    page = opened(written)
    page.get_by_label("Shown", exact=True).select_option("judge")
    first, second = ranking.tables["leaderboard"]["model"].iloc[[0, 2]]
    counted = ranking.judgments.frame[ranking.judgments.parsed]
    mine = counted[counted["model_a"].isin([first, second]) & counted["model_b"].isin([first, second])]
    won = ((mine["model_a"] == first) == (mine["judge_preferred_model"] == "a")).astype(float)
    by_judge = won.groupby(mine["judge_model"]).agg(["sum", "count"])
    rest = by_judge.sum() - by_judge
    share, others = by_judge["sum"] / by_judge["count"], rest["sum"] / rest["count"]
    far = (share - others)[(by_judge["count"] >= 5) & (rest["count"] >= 5)].abs().idxmax()
    cell = page.locator("#matrix tbody tr").nth(0).locator("td").nth(2).get_by_role("button")
    assert cell.inner_text() == f"{far} {100 * share[far]:.0f}%, others {100 * others[far]:.0f}%"
    cell.click()
    said = page.get_by_role("dialog").inner_text()
    for name, row in by_judge.iterrows():
        assert f"{name} {100 * share[name]:.0f}% of {row['count']:.0f}" in said


def test_categories_are_tabs_that_arrows_move_between(opened, written):
    page = opened(written)
    assert page.locator("#panel-1").is_visible()
    assert not page.locator("#panel-2").is_visible()
    page.get_by_role("tab", name="code").focus()
    page.keyboard.press("ArrowRight")
    assert page.get_by_role("tab", name="prose").get_attribute("aria-selected") == "true"
    assert page.locator("#panel-2").is_visible()
    assert not page.locator("#panel-1").is_visible()


def test_names_and_replies_stay_text(opened, written):
    page = opened(written)
    assert page.title().startswith("Ranking of 6 models")
    assert page.locator("main b:not(.facts b)").count() == 0
    assert HOSTILE in page.locator("#verdict").inner_text() + page.locator("#picture").inner_text()


def test_the_first_screen_says_who_leads_and_how_surely(opened, written, ranking):
    page, board = opened(written), ranking.tables["leaderboard"]
    told = verdict(ranking)
    assert page.locator("h1").inner_text() == told.headline
    assert told.lead in page.locator("#verdict").inner_text()
    names = page.locator("#picture td.name")
    assert [cell.get_attribute("title") for cell in names.all()] == list(board["model"])
    for row, (_, line) in zip(page.locator("#picture tbody tr:not(.head)").all(), board.iterrows(), strict=True):
        low, high = line["rank_low"], line["rank_high"]
        assert row.locator(".ranks").inner_text() == (str(low) if low == high else f"{low}\N{EN DASH}{high}")
        said = row.locator("svg").get_attribute("aria-label")
        assert said.startswith(f"win rate {row.locator('.number').inner_text()}, 95% interval ")
    bottom = page.locator("#picture").bounding_box()
    assert bottom["y"] + bottom["height"] < 800  # of six models, without scrolling


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_the_ranking_begins_on_the_first_screen(opened, written, width, height):
    page = opened(written, width)
    first = page.locator("#picture tbody tr:not(.head)").nth(2).bounding_box()
    assert first["y"] + first["height"] <= height
    assert first["x"] + first["width"] <= width


def test_a_row_has_an_address(opened, written):
    page = opened(written)
    link = page.locator("#picture td.name a").nth(1)
    link.click()
    target = page.evaluate("document.querySelector('tr:target td.name').title")
    assert target == page.locator("#picture td.name").nth(1).get_attribute("title")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light"), (320, "dark")])
def test_the_page_meets_wcag_aa_and_fits_the_screen(opened, written, width, scheme):
    page = opened(written, width, scheme)
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("parseFloat(getComputedStyle(document.querySelector('td')).fontSize)") >= 13
    page.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true; })")
    assert violations(page) == []
    page.locator("#matrix button").first.click()
    assert violations(page) == []


def opening_time(page: sync_api.Page) -> float:
    """Seconds of the processor until the page is complete, whatever else the machine does."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.reload()
    page.wait_for_selector("html[data-complete]", state="attached")
    told = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    unfold(page)
    return told["TaskDuration"]


def unfold(page: sync_api.Page) -> None:
    """Open what is technical and folded."""
    page.locator("details.fold").evaluate_all("all => all.forEach((one) => { one.open = true; })")


def violations(page: sync_api.Page) -> list[str]:
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]
    options = {"runOnly": {"type": "tag", "values": tags}, "resultTypes": ["violations"]}
    found = axe.Axe().run(page, options=options).response["violations"]
    return [f"{one['id']}: {[node['html'] for node in one['nodes'][:3]]}" for one in found]


def test_a_theme_is_chosen_and_kept(opened, written):
    page = opened(written)
    button = page.locator("#theme")
    for name, theme in (("light", "light"), ("dark", "dark")):
        button.click()
        assert button.inner_text() == f"Theme: {name}"
        assert page.evaluate("document.documentElement.dataset.theme") == theme
    page.reload()
    page.wait_for_selector("html[data-complete]", state="attached")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_on_paper_it_is_black_on_white_without_controls(opened, written):
    page = opened(written, scheme="dark")
    page.emulate_media(media="print")
    for name, place, colour in (("backgroundColor", "body", 255), ("color", "body", 0), ("color", "td", 0)):
        shown = page.evaluate(f"getComputedStyle(document.querySelector('{place}')).{name}")
        assert shown == f"rgb({colour}, {colour}, {colour})"
    assert not page.locator("#theme").is_visible()
    assert page.locator("#picture").is_visible()
    assert not page.locator("#matrix").is_visible()


def test_the_first_sheet_is_the_first_screen_and_what_is_open_follows_it(chromium, tmp_path):
    """Of 20 models, all of the first screen is on one sheet of A4; folded parts are printed if they are open."""
    sheet = {"width": 703, "height": 1032}  # CSS pixels between margins of 12 mm
    rng, score = np.random.default_rng(0), np.linspace(1.2, -1.2, 20)
    i, j = np.array([rng.permutation(20)[:2] for _ in range(2500)]).T
    judge, question = rng.integers(10, size=2500), rng.integers(500, size=2500)
    won = rng.random(2500) < 1 / (1 + np.exp(score[j] - score[i]))
    columns = {"model_a": i, "model_b": j, "judge": judge, "question": question}
    frame = pd.DataFrame(
        {name: pd.Series(values).map("a-name-of-{:02d}".format) for name, values in columns.items()}
    )
    frame = frame.assign(winner=np.where(won, "a", "b"), category=np.where(question % 2 == 0, "code", "prose"))
    frame["judge"] = "judge-" + frame["judge"].str[2:]  # long, but no judge is one of the models
    path = rank(frame).write(tmp_path / "twenty")
    page = chromium.new_page(viewport=sheet)
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-complete]", state="attached")
    page.emulate_media(media="print")
    assert page.locator("#picture tbody tr[id]").count() == 20
    last = page.locator(".source").bounding_box()
    assert last["y"] + last["height"] <= sheet["height"]
    assert page.evaluate("getComputedStyle(document.querySelector('.rest')).breakBefore") == "page"
    for name in ("#verdicts", "#collect", "#notes", "#by-category"):
        assert page.locator(name).is_visible(), name
    panels = page.locator("#by-category [role=tabpanel]")
    assert [one.is_visible() for one in panels.all()] == [True, True]
    assert not page.locator("#board").is_visible(), "a heading without anything below it"
    assert page.locator("details > summary:visible").count() == 0
    widths = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert widths[0] <= widths[1]
    page.evaluate("document.querySelector('#board details').open = true")
    assert page.locator("#leaderboard").is_visible()
    page.close()


def test_without_scripts_the_tables_are_there_and_nothing_that_would_do_nothing(chromium, written, ranking):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(written.as_uri())
    for name in ranking.tables["leaderboard"]["model"]:
        assert page.locator("#picture").get_by_title(name, exact=True).is_visible()
    assert not page.locator("#rival").is_visible()
    assert not page.locator("#theme").is_visible()
    context.close()


def test_components_and_fits_without_intervals_have_a_page(opened, tmp_path):
    one = panel_of([1.0, 1.0], n_questions=80)
    other = one.assign(model_a="n" + one["model_a"], model_b="n" + one["model_b"])
    page = opened(rank(pd.concat([one, other])).write(tmp_path / "two"))
    assert page.locator("#leaderboard tbody tr").count() == 12
    assert page.locator("#matrix td button").first.inner_text() != ""
    assert "-" in page.locator("#matrix td button").all_inner_texts()  # of different components
    rows = [("x", "y", "a"), ("y", "z", "a"), ("x", "z", "a"), ("x", "y", "a"), ("y", "z", "b"), ("x", "y", "b")]
    few = pd.DataFrame(rows, columns=["model_a", "model_b", "winner"])
    opened(rank(few, solver="penalised").write(tmp_path / "few"))


@pytest.mark.parametrize("n_judges", [1, 2])
def test_a_board_of_scores_has_judges_only_where_there_are_several(opened, tmp_path, n_judges):
    rng, tasks = np.random.default_rng(0), [f"t{number}" for number in range(12)]
    quality = np.array([0.6, 0.4, 0.2, 0.0])
    scores = pd.DataFrame(quality + rng.random((12, 4)), tasks, list("abcd")).rename_axis("task").reset_index()
    frame = scores.melt("task", var_name="model", value_name="score")
    if n_judges > 1:
        frame["judge"] = np.where(frame["task"] < "t5", "j0", "j1")
    ranking = rank(frame)
    assert ranking.fit.errors.sizes is not None
    page = opened(ranking.write(tmp_path / "scores"))
    for part in ("#look-head", "#panel", "#judges", "nav a[href='#panel']", "#duel-kind option[value=judge]"):
        assert page.locator(part).count() == (n_judges > 1), part
    page.locator("#matrix td button").first.click()
    headings = page.get_by_role("dialog").locator("thead th").all_inner_texts()
    assert headings == ["task", "models", *(["judge"] if n_judges > 1 else []), "higher score"]
    page.keyboard.press("Escape")
    about = page.locator("#leaderboard th[data-name=win_rate]").get_attribute("title")
    assert "panel" not in about + page.locator("#picture caption").inner_text()
    assert "12 tasks" in page.locator(".source").inner_text() and "12 tasks" in sentence(ranking)
    assert ("2 judges" in sentence(ranking)) == (n_judges > 1)


@pytest.mark.slow
def test_a_thousand_models_are_searched_in_less_than_ten_megabytes(opened, tmp_path, monkeypatch):
    """The ranking's tables are made up: the page is what is tried."""
    n, rng = 1000, np.random.default_rng(0)
    s = np.sort(rng.normal(size=n))[::-1]
    i, j = rng.integers(n, size=(2, 60_000))
    i, j = i[i != j], j[i != j]
    first = rng.random(len(i)) < 1 / (1 + np.exp(s[j] - s[i]))
    names = np.array([f"maker-{k % 37}/model-{k}-instruct" for k in range(n)], object)
    frame = pd.DataFrame(
        {"model_a": names[i], "model_b": names[j], "judge": rng.integers(20, size=len(i)).astype(str)}
    )
    frame = frame.assign(winner=np.where(first, "a", "b"), question=rng.integers(5000, size=len(i)))
    for module in (presentation, study):
        monkeypatch.setattr(module, "orders_of", lambda fitted: None)
    bare = rank(frame, model="btl")
    board = bare.tables["leaderboard"]
    full = board.assign(low=board["score"] - 0.2, high=board["score"] + 0.2, rank_low=1, rank_high=n)
    full["group"] = "a"
    pairs = bare.tables["pairs"].assign(low=-0.1, high=0.1, p_value=0.5, p_holm=1.0, separated=False)
    path = tmp_path / "index.html"
    path.write_text(replace(bare, tables=bare.tables | {"leaderboard": full, "pairs": pairs}).to_html())
    assert path.stat().st_size < 10e6
    page = opened(path)
    assert opening_time(page) < 2
    page.locator("#leaderboard_wrapper").get_by_label("Search").fill("model-777-")
    assert column(page, "leaderboard", "model") == ["maker-0/model-777-instruct"]
    page.get_by_label("Models", exact=True).select_option("26 to 50")
    assert page.locator("#matrix tbody tr").count() == 25
    height = page.evaluate("document.documentElement.scrollHeight")
    assert height < 12_000


def test_the_audit_is_one_table_to_filter_with_links_that_lead_somewhere(opened):
    page = opened(ROOT / "results/paper/audit.html")
    numbers = pd.read_csv(ROOT / "results/paper/audit.csv")
    info = page.locator("#every-number_wrapper .dt-info")
    assert info.inner_text() == f"{len(numbers)} of {len(numbers)} rows"
    verdict = numbers.loc[numbers["place"] == "Table A.7", "verdict"].value_counts().index[-1]
    page.get_by_label("verdict", exact=True).select_option(verdict)
    page.get_by_label("place", exact=True).select_option("Table A.7")
    left = numbers[(numbers["verdict"] == verdict) & (numbers["place"] == "Table A.7")]
    assert info.inner_text() == f"{len(left)} of {len(numbers)} rows"
    assert len(left) > 0
    links = page.locator("#every-number tbody a").evaluate_all("all => all.map((a) => a.getAttribute('href'))")
    assert {Path(link).suffix for link in links} >= {".csv", ".py", ".yaml"}
    assert all((ROOT / "results/paper" / link).resolve().is_file() for link in links)
    assert violations(page) == []


def test_names_that_every_object_of_javascript_has_are_names(opened, tmp_path):
    frame = panel_of([2.0, 1.5, 1.0, 0.1, 1.0], n_questions=60, copy=False)
    frame["category"] = np.where(frame["question"] % 2 == 0, "constructor", "__proto__")
    renamed = {}
    for names in (["model_a", "model_b"], ["judge"]):
        there = sorted(set(frame[names].to_numpy().ravel()))
        renamed |= {one: frame[one].replace(dict(zip(there, OBJECTS_OWN, strict=False))) for one in names}
    page = opened(rank(frame.assign(**renamed)).write(tmp_path / "ranking"))
    assert set(OBJECTS_OWN) <= set(page.locator("#picture td.name a").all_inner_texts())
    page.locator("#rival").select_option("constructor")
    assert set(column(page, "leaderboard", "versus")) > {"--"}
    page.locator("#verdicts").get_by_role("button", name="hasOwnProperty: its judgments").click()
    assert page.locator("#behind-head").inner_text() == "Judgments by hasOwnProperty"


def test_what_moves_on_a_page_is_within_its_policy(opened, written):
    page = opened(written)
    page.get_by_role("button", name=re.compile("Columns of: Leaderboard")).click()
    page.locator("button.buttons-columnVisibility").first.click()
    page.keyboard.press("Escape")


def test_a_page_is_small(ranking, written):
    """Of what is in it, the records alone grow with the judgments."""
    text = written.read_text()
    (block,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert len(text) - len(block) < 500_000
    assert written.stat().st_size < 600_000


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.5)
        yield server


def test_a_page_runs_nothing_but_its_own_scripts_and_asks_nobody(chromium, written, listening):
    page = chromium.new_page()
    page.goto(written.as_uri())
    page.wait_for_selector("html[data-complete]", state="attached")
    said = page.evaluate(
        """(address) => {
            const add = (tag, attributes, text) => document.body.append(
                Object.assign(document.createElement(tag), { textContent: text, ...attributes }));
            add("script", {}, "document.title = 'caught'");
            add("script", { src: `${address}/caught.js` });
            add("img", { src: `${address}/caught.png` });
            add("style", {}, `body { background: url(${address}/caught.png) }`);
            const image = "<img src='data:,' onerror='document.title = \\"caught\\"'>";
            document.body.insertAdjacentHTML("beforeend", image);
            return fetch(address).then(() => "sent", () => "refused");
        }""",
        f"http://127.0.0.1:{listening.getsockname()[1]}",
    )
    assert said == "refused"
    with pytest.raises(TimeoutError):
        listening.accept()
    assert "caught" not in page.title()
    policy = page.locator("meta[http-equiv=Content-Security-Policy]").get_attribute("content")
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    page.close()


def test_a_page_of_the_study_is_within_its_policy(opened, tmp_path):
    text = "# Title\n\n## Part\n\n| a | b |\n|:--|--:|\n| x | 1 |\n"
    table = shown("numbers", "Numbers", pd.DataFrame({"name": ["constructor"], "value": [1.5]}))
    path = tmp_path / "page.html"
    path.write_text(html_page(text, "Title", tmp_path, [table], ["name"]))
    page = opened(path)
    assert page.locator("td.number").first.inner_text() == "1"
    assert "Content-Security-Policy" in path.read_text()


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_no_template_has_a_handler_or_a_style_in_an_attribute(path):
    assert not re.findall(r"""<[^>]*\s(on[a-z]+|style)\s*=|\beval\(|new Function|javascript:""", path.read_text())


def test_data_in_a_page_cannot_end_its_script(written):
    text = written.read_text()
    (block,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert HOSTILE in json.loads(block)["models"]


@pytest.mark.slow
def test_the_pictures_of_the_documentation_can_be_taken(tmp_path):
    code = f"from pathlib import Path; from experiments.beyond.screens import run; run(Path({str(tmp_path)!r}))"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)  # playwright runs once in a process
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in (ROOT / "docs/images").iterdir()}
