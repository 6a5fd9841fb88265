"""What `judgerank collect` does, apart from its options, so that its help loads nothing of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from judgerank.cli.documents import number, records
from judgerank.cli.terminal import say_json
from judgerank.collecting.checking import checked, read_settings
from judgerank.collecting.collection import Study
from judgerank.collecting.costs import estimated, spent_into
from judgerank.collecting.ledger import Ledger
from judgerank.collecting.run import collect, record_of
from judgerank.collecting.settings import Collection, Prompt, read_panel
from judgerank.writing.sidecars import content_of


def asked(
    settings: Mapping[str, object],
    panel: tuple[Path | None, list[str]],
    prompt: Path | None,
    dry_run: bool,
    pilot_only: bool,
) -> list[Study]:
    """Ask a panel, given by a file and further judges; what was wanted, for each file of judgments."""
    extra = {"panel": read_panel(*panel), "prompt": read_settings(Prompt, prompt) if prompt else Prompt()}
    return collect(checked(Collection, {**settings, **extra}), dry_run, pilot_only)


def print_json(studies: list[Study], dry_run: bool) -> None:
    """Say what the files hold now, and what is left to ask."""
    first = studies[0]
    document = {
        "dry_run": dry_run,
        "questions": len(first.questions.text),
        "models": first.questions.models,
        "currency": first.settings.panel.currency,
        "files": [_on_file(study) for study in studies],
    }
    say_json("collect", document)


def _on_file(study: Study) -> dict[str, object]:
    settings = study.settings
    ledger = Ledger(settings.output)
    previous = ledger.records
    left = study.missing(previous)
    table = estimated(left, study.judges, study.questions, settings.prompt, previous, settings.pilot)
    return {
        "judgments": settings.output,
        "wanted": len(study.tasks),
        "there": len(previous),
        "left": len(left),
        "until": (content_of(record_of(settings.output)) or {}).get("until"),
        "spent": number(spent_into(ledger, study.judges)),
        "to_ask": records(table),
    }
