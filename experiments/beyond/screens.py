"""The first screens of pages, for the documentation: on a desktop, on a phone, in the dark, with changes.

python experiments/beyond/screens.py        (takes Chromium: apt-get install chromium)
"""

import shutil
import sys
import tempfile
from contextlib import chdir
from pathlib import Path

import pandas as pd
from playwright.sync_api import Browser, sync_playwright

import judgerank
from judgerank import read
from judgerank.boards.reported import changelog_of
from judgerank.cli.example import content
from judgerank.ranking.page_options import Additions
from replication.config import ROOT

TARGET = ROOT / "docs" / "images"
SCREENS = {"desktop": (1280, 800, "light"), "phone": (390, 844, "light"), "dark": (1280, 800, "dark")}
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def run(target: Path) -> None:
    browser_path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser_path is None:
        sys.exit("no browser was found: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        example = Path(folder) / "judgments.csv"
        example.write_bytes(content(example.suffix))
        with chdir(folder):  # the page names the file as from where it was ranked
            page = judgerank.rank(example).write(Path(folder) / "ranking")
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        for name, (width, height, scheme) in SCREENS.items():
            browser_page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            browser_page.goto(page.as_uri())
            browser_page.wait_for_selector("html[data-complete]", state="attached")
            browser_page.screenshot(path=target / f"page_{name}.png")
        story = [read(ROOT / "examples" / "story" / f"{month}.csv") for month in ("november", "december")]
        november = judgerank.rank(story[0])
        both = judgerank.rank(pd.concat([part.frame for part in story], ignore_index=True))
        log = changelog_of(november.fit, both.fit, "november.npz")
        page = both.write(Path(folder) / "december", additions=Additions(changelog=log))
        screenshot(browser, page, target / "page_since.png")
        screenshot(browser, page_of_gate(Path(folder)), target / "page_gate.png")
        browser.close()


def screenshot(browser: Browser, page: Path, target: Path) -> None:
    """The first screen of a page, as a figure of a text."""
    browser_page = browser.new_page(viewport={"width": 1280, "height": 560})
    browser_page.goto(page.as_uri())
    browser_page.wait_for_selector("html[data-complete]", state="attached")
    browser_page.screenshot(path=target)


def page_of_gate(folder: Path) -> Path:
    """The page of the gate's story: a prompt that is worse on safety."""
    rule = judgerank.Rule(protect=(("category", "safety"),))
    verdict = judgerank.gate(ROOT / "examples" / "story" / "january.csv", "prompt-1", "prompt-2", rule)
    page = folder / "gate.html"
    page.write_text(verdict.to_html(), encoding="utf-8")
    return page


if __name__ == "__main__":
    run(TARGET)
