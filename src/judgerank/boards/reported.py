"""What is kept with a board, what a placement and a difference say, and what changed since a saved board."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from judgerank.boards.comparing import Difference, compare
from judgerank.boards.moving import Placement
from judgerank.data.judgments import Judgments
from judgerank.data.listing import counted, listed, p_of
from judgerank.fits.errors_by_question import Questions
from judgerank.fits.result import Fit
from judgerank.order.claims import significant
from judgerank.ranking.choices import Settings
from judgerank.ranking.page_options import Changelog
from judgerank.ranking.recusal import COUNT, RECUSE

# What is kept with a board, and what a placement and a difference say, in words.
RELATIONS = {
    "same": "Both boards have the same comparisons.",
    "more": "The new board has all comparisons of the old one and more: only those can move a model.",
    "fewer": "The old board has all comparisons of the new one and more: only those can move a model.",
    "other": "Neither board has all comparisons of the other.",
}
OTHER_UNIT = (
    "The scores are in different units: ties or strength are outcomes on one board, and on the other ties count "
    "half a win, which makes differences smaller. Fit both boards with the same --model."
)


def about_of(
    judgments: Judgments, notes: Mapping[str, str] | None = None, settings: Settings | None = None
) -> dict[str, Any]:
    """What a saved fit keeps of its judgments: digests of files and of questions, a filter, and notes.

    With the settings of its ranking: whether judges had a vote on models of their own maker, and who the makers
    are where names do not say it.
    """
    sources = judgments.source.get("files", [judgments.source])
    about: dict[str, Any] = {"files": sorted(str(source["sha256"]) for source in sources if "sha256" in source)}
    if "question_id" in judgments.frame:
        names = sorted({str(name) for name in judgments.frame["question_id"]})
        digest = hashlib.sha256("\n".join(names).encode()).hexdigest()
        about["questions"] = f"{counted(len(names), 'question')}, {digest[:12]}"
    if judgments.requests:
        about["filter"] = judgments.requests
    if settings is not None:
        about["own_maker"] = RECUSE if settings.is_recused else COUNT
        about["makers"] = dict(settings.makers)
    return {**about, "notes": dict(notes or {})}


def few_questions(questions: Questions, what: str = "whether a model moved") -> str:
    """That something is not tested, such as changes, and why."""
    return f"{questions.too_few_to_tell(what)} Standard errors take comparisons as independent."


def placement_headline(placement: Placement) -> str:
    """Who is placed on how large a board, and whether only judges of one maker say so."""
    held = placement.anchored
    placed = f"{listed(held.newcomers)}, placed on a board of {len(held.board.scores)} models"
    return f"{placed}, but {placement.condition}" if placement.condition else placed


def placement_text(placement: Placement) -> Iterator[str]:
    """Newcomers, who they are near, and what to beware of."""
    held, level = placement.anchored, placement.level
    yield placement_headline(placement)
    yield placement.newcomers.to_string(index=False, float_format="{:.3f}".format)
    yield (
        "score: on the board's scale, its models' mean at zero; own_error: if the board were known exactly; "
        "refit: the score in a fit of all comparisons together, on the same scale"
    )
    yield from (
        f"- Left out, {why}: {counted(n_comparisons, 'comparison')}."
        for why, n_comparisons in held.left_out.items()
    )
    yield from (f"- {remark}" for remark in placement.remarks)
    yield from _on_missing(placement)
    yield from _separated(placement)
    if placement.refit is None:
        yield f"- There is no fit of all comparisons together: {placement.why}."
    for _, row in significant(placement.moves, level).iterrows():
        before, after = row["rank_before"], row["rank_after"]
        rank = f"it stays at rank {before}" if before == after else f"from rank {before} to rank {after}"
        yield (
            f"- WARNING: the newcomers move {row['model']} by {row['change']:+.3f}, more than noise "
            f"(p {p_of(row['p_holm'])}): {rank}, and the change is {row['share_of_interval']:.0%} of the width of "
            "its interval. Judges see the newcomers otherwise than the board's models."
        )
    for _, row in significant(placement.judges, level).iterrows():
        lead_text = f"sees {row['newcomer']} {row['lead']:+.2f} from where the panel does"
        if np.isinf(row["lead"]):
            lead_text = f"{'always' if row['lead'] > 0 else 'never'} prefers {row['newcomer']}, unlike the panel"
        yield f"- WARNING: {row['judge']} {lead_text} (p {row['p_holm']:.2g})."
    tested = np.isfinite([held.errors.of_moves, *held.errors.degrees_of_freedom]).all()
    if placement.refit is not None and tested and not placement.moved and not placement.partial:
        yield "- The newcomers move no model of the board by more than noise, and no judge sees them otherwise."


def _on_missing(placement: Placement) -> Iterator[str]:
    """Which judges of the board did not compare a newcomer, and what its interval allows for."""
    held = placement.anchored
    n_judges, by_judges = len(held.comparisons.judges), dict[tuple[str, ...], list[str]]()
    for newcomer, judges in held.missing_judges.items():
        by_judges.setdefault(judges, []).append(newcomer)
    for judges, newcomers in by_judges.items():
        yield (
            f"- Only {n_judges - len(judges)} of the board's {counted(n_judges, 'judge')} compared "
            f"{listed(newcomers)}. Missing: {listed(judges)}."
        )
    if not by_judges:
        return
    spread = float(np.sqrt(held.tastes.variance))
    if spread > 0:
        yield (
            f"- Judges of the board have tastes of their own (standard deviation {spread:.2f} log-odds). The "
            "intervals allow for those of the missing judges."
        )
    else:
        yield "- The judges of the board show no tastes, so the intervals allow for none of the missing ones."


def _separated(placement: Placement) -> Iterator[str]:
    """Which models every newcomer is not separated from, or that its questions, or the board's, are too few."""
    errors = placement.anchored.errors
    if errors.board is not None:
        yield f"- {few_questions(errors.board, 'the uncertainty of the board')}"
        return
    few = {
        name: questions
        for name, questions in zip(placement.anchored.newcomers, errors.newcomers, strict=False)
        if not questions.enough
    }
    for questions in dict.fromkeys(few.values()):
        alike = [name for name, candidate in few.items() if candidate == questions]
        yield f"- {few_questions(questions, f'the uncertainty of {listed(alike)}')}"
    for name in (name for name in placement.anchored.newcomers if name not in few):
        mine = placement.differences[placement.differences["newcomer"] == name]
        still = mine[~mine["separated"]]["model"]
        separation_text = f"not separated from {listed(still)}" if len(still) else "separated from every model"
        yield f"- {name} is {separation_text} ({placement.level:.0%}, Holm's adjustment)."


def difference_text(difference: Difference, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """What differs between two boards, and between what was kept with them."""
    before, after = difference.comparisons
    yield f"{before:,.0f} and {after:,.0f} comparisons. {RELATIONS[difference.relation]}"
    if difference.members[0] != difference.members[1]:
        yield f"- WARNING: another member of the family: {difference.members[0]}, then {difference.members[1]}."
    if difference.other_unit:
        yield f"- WARNING: {OTHER_UNIT}"
    for kind, (gone, came) in (("models", difference.models), ("judges", difference.judges)):
        sides = [f"{word}: {listed(names)}" for word, names in (("gone", gone), ("new", came)) if names]
        yield f"- {kind.capitalize()} {'; '.join(sides) if sides else 'are the same'}."
    yield from _kept(old, new)
    moves = difference.moves.assign(**{"p_holm": difference.moves["p_holm"].round(4)})
    yield "\n" + moves.to_string(index=False, float_format="{:.3f}".format)
    yield (
        "old: scores as on the old board; new: those of the new board on the old board's scale, with the same "
        "mean over these models"
    )
    if difference.same_weights:
        yield (
            "p_value: from a test that weights the judges alike on both boards. So it differs from the one that "
            "change / standard_error would give."
        )
    if difference.judges_changed and difference.n_same_judges and not difference.untested:
        yield "by_same_judges, p_value: by the judges that both boards have alone"
    yield ""
    yield from _on_moves(difference)


def _kept(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    if not old and not new:
        yield "- Whether files, questions and prompt are the same was not kept (judgerank rank --save keeps it)."
        return
    for name, what in (("files", "Files"), ("questions", "Questions")):
        old_value, new_value = old.get(name), new.get(name)
        if old_value is None or new_value is None:
            yield f"- {what}: not kept with {'both' if old_value is new_value else 'one'}."
        else:
            yield f"- {what} are {'the same' if old_value == new_value else 'not the same'}."
    if old.get("filter") != new.get("filter"):
        yield "- WARNING: other judgments were left out by request (--without-judge and the like)."
    if len({metadata["own_maker"] for metadata in (old, new) if "own_maker" in metadata}) > 1:
        yield "- WARNING: votes of judges on models of their own maker count on one of the boards alone."
    notes = [metadata.get("notes", {}) for metadata in (old, new)]
    for name in sorted({*notes[0], *notes[1]}):
        old_value, new_value = (metadata.get(name) for metadata in notes)
        if old_value is None or new_value is None:
            has, lacks = ("new", "old") if old_value is None else ("old", "new")
            note = f"{name}={new_value if old_value is None else old_value}"
            yield f"- The {has} board notes {note}; the {lacks} one has no such note."
        else:
            yield (
                f"- {name}: {new_value}."
                if old_value == new_value
                else f"- WARNING: {name} was {old_value} and is {new_value}."
            )
    if not any("prompt" in metadata for metadata in notes):
        yield "- The prompt was not kept (judgerank rank --save FILE --note prompt=NAME)."


# What changed between a saved board and a ranking, for the page.


def changelog_of(old: Fit, new: Fit, since: str, level: float = 0.95) -> Changelog:
    """What changed between two fits, in words, by model and as a table.

    Parameters
    ----------
    old, new : Fit
        The saved board, and the fit of the ranking.
    since : str
        What the old one is called, such as its file's name.
    level : float

    Raises
    ------
    DataError, NoIntervalError, ConfigError
        As `judgerank.boards.comparing.compare`.
    """
    difference = compare(old, new, level)
    moves, significant = difference.moves, frozenset(difference.moved)
    ranks = (moves["rank_old"] - moves["rank_new"]).tolist()
    rank_changes = {model: int(by) for model, by in zip(moves["model"], ranks, strict=True) if by}
    table = moves[["model", "rank_old", "rank_new", "change", "standard_error", "p_holm"]]
    table = table.rename(columns={"rank_old": "rank_then", "rank_new": "rank_now"})
    return Changelog(
        since, tuple(_sentences(difference)), rank_changes, significant, frozenset(difference.models[1]), table
    )


def _sentences(difference: Difference) -> Iterator[str]:
    yield "{1:,.0f} judgments now, {0:,.0f} then.".format(*difference.comparisons)
    for word, names in (("New", difference.models[1]), ("No longer here", difference.models[0])):
        if names:
            yield f"{word}: {listed(names)}."
    gone, came = difference.judges
    if gone or came:
        parts = [f"{word} {listed(names)}" for word, names in (("new", came), ("gone", gone)) if names]
        yield f"The judges changed: {'; '.join(parts)}."
    if difference.members[0] != difference.members[1]:
        before, now = difference.members
        yield f"Fitted with {now} now and {before} then: scores may differ for that reason alone."
    if difference.other_unit:
        yield OTHER_UNIT
    if difference.relation == "same":
        yield "Both rankings use the same judgments."
        return
    yield from _on_moves(difference)


def _on_moves(difference: Difference) -> Iterator[str]:
    """Which models moved, by whose answers."""
    sure = f"{difference.level:.0%}, Holm's adjustment"
    if difference.untested:
        yield (
            "The judges changed, and no test is possible by those that both boards have. So it cannot be said "
            f"whether a model moved or the judges differ: {difference.untested}."
        )
        return
    if difference.few is not None:
        yield few_questions(difference.few)
        return
    whose = f"By the {counted(difference.n_same_judges, 'judge')} on both boards, "
    whose = whose if difference.judges_changed and difference.n_same_judges else ""
    if difference.judges_changed and not difference.n_same_judges:
        yield "The boards share no judge. The test allows for the tastes of all judges."
    if not difference.moved:
        none = f"o model's score changed significantly ({sure})."
        yield f"{whose}n{none} What changed comes with the other judges." if whose else f"N{none}"
    for _, row in significant(difference.moves, difference.level).iterrows():
        direction = "rose" if row["by_same_judges"] > 0 else "fell"
        size = abs(row["by_same_judges"])
        yield f"{whose}{row['model']} {direction} by {size:.2f} (p {p_of(row['p_holm'])}, Holm's adjustment)."
