"""What is kept with a board, and what a placement and a difference say, in words."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from judgerank.boards.comparing import Difference
from judgerank.boards.moving import Placement
from judgerank.data.judgments import Judgments
from judgerank.data.listing import listed
from judgerank.fits.errors_by_question import Questions
from judgerank.order.pairs import significant

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


def about_of(judgments: Judgments, notes: Mapping[str, str] | None = None) -> dict[str, Any]:
    """What a saved fit keeps of its judgments: digests of files and of the set of questions, and notes."""
    told = judgments.source.get("files", [judgments.source])
    found: dict[str, Any] = {"files": sorted(str(one["sha256"]) for one in told if "sha256" in one)}
    if "question_id" in judgments.frame:
        names = sorted({str(name) for name in judgments.frame["question_id"]})
        digest = hashlib.sha256("\n".join(names).encode()).hexdigest()
        found["questions"] = f"{len(names)} questions, {digest[:12]}"
    return {**found, "notes": dict(notes or {})}


def few_questions(found: Questions, what: str = "whether a model moved") -> str:
    """That something is not tested, such as changes, and why."""
    return f"{found.too_few_to_tell(what)} Standard errors take comparisons as independent."


def placement_text(placed: Placement) -> Iterator[str]:
    """Newcomers, who they are near, and what to beware of."""
    held, level = placed.anchored, placed.level
    yield f"{listed(held.newcomers)}, placed on a board of {len(held.board.scores)} models"
    yield placed.newcomers.to_string(index=False, float_format="{:.3f}".format)
    yield (
        "score: on the board's scale, its models' mean at zero; own_error: if the board were known exactly; "
        "refit: the score in a fit of all comparisons together, on the same scale"
    )
    yield from (f"- Left out, {why}: {many:,} comparisons." for why, many in held.left_out.items())
    yield from _separated(placed)
    if placed.refit is None:
        yield f"- There is no fit of all comparisons together: {placed.why}."
    for _, row in significant(placed.moves, level).iterrows():
        yield (
            f"- WARNING: the newcomers move {row['model']} by {row['change']:+.3f}, more than noise "
            f"(p {row['p_holm']:.2g}): judges see them otherwise than the board's models."
        )
    for _, row in significant(placed.judges, level).iterrows():
        said = f"sees {row['newcomer']} {row['lead']:+.2f} from where the panel does"
        if np.isinf(row["lead"]):
            said = f"{'always' if row['lead'] > 0 else 'never'} prefers {row['newcomer']}, unlike the panel"
        yield f"- WARNING: {row['judge']} {said} (p {row['p_holm']:.2g})."
    tested = np.isfinite([held.errors.of_moves, *held.errors.degrees_of_freedom]).all()
    if placed.refit is not None and tested and not placed.moved and not placed.partial:
        yield "- The newcomers move no model of the board by more than noise, and no judge sees them otherwise."


def _separated(placed: Placement) -> Iterator[str]:
    """Which models every newcomer is not separated from, or that its questions, or the board's, are too few."""
    errors = placed.anchored.errors
    if errors.board is not None:
        yield f"- {few_questions(errors.board, 'the uncertainty of the board')}"
        return
    few = {
        name: found
        for name, found in zip(placed.anchored.newcomers, errors.newcomers, strict=False)
        if not found.enough
    }
    for found in dict.fromkeys(few.values()):
        alike = [name for name, other in few.items() if other == found]
        yield f"- {few_questions(found, f'the uncertainty of {listed(alike)}')}"
    for name in (name for name in placed.anchored.newcomers if name not in few):
        mine = placed.differences[placed.differences["newcomer"] == name]
        still = mine[~mine["separated"]]["model"]
        near = f"not separated from {listed(still)}" if len(still) else "separated from every model"
        yield f"- {name} is {near} ({placed.level:.0%}, Holm's adjustment)."


def difference_text(found: Difference, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """What differs between two boards, and between what was kept with them."""
    yield f"{found.comparisons[0]:,.0f} and {found.comparisons[1]:,.0f} comparisons. {RELATIONS[found.relation]}"
    if found.members[0] != found.members[1]:
        yield f"- WARNING: another member of the family: {found.members[0]}, then {found.members[1]}."
    if found.other_unit:
        yield f"- WARNING: {OTHER_UNIT}"
    for kind, (gone, came) in (("models", found.models), ("judges", found.judges)):
        sides = [f"{word}: {listed(names)}" for word, names in (("gone", gone), ("new", came)) if names]
        yield f"- {kind.capitalize()} {'; '.join(sides) if sides else 'are the same'}."
    yield from _kept(old, new)
    known = found.moves.assign(**{"p_holm": found.moves["p_holm"].round(4)})
    yield "\n" + known.to_string(index=False, float_format="{:.3f}".format)
    yield (
        "old: scores as on the old board; new: those of the new board on the old board's scale, with the same "
        "mean over these models"
    )
    if found.same_weights:
        yield (
            "p_value: from a test that weights the judges alike on both boards. So it differs from the one that "
            "change / standard_error would give."
        )
    yield ""
    if found.few is not None:
        yield few_questions(found.few)
    elif found.moved:
        yield f"Moved by more than noise ({found.level:.0%}, Holm's adjustment): {listed(found.moved)}."
    else:
        yield f"No model moved by more than noise ({found.level:.0%}, Holm's adjustment)."


def _kept(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    if not old and not new:
        yield "- Whether files, questions and prompt are the same was not kept (judgerank rank --save keeps it)."
        return
    for name, what in (("files", "Files"), ("questions", "Questions")):
        one, other = old.get(name), new.get(name)
        if one is None or other is None:
            yield f"- {what}: not kept with {'both' if one is other else 'one'}."
        else:
            yield f"- {what} are {'the same' if one == other else 'not the same'}."
    notes = [kept.get("notes", {}) for kept in (old, new)]
    for name in sorted({*notes[0], *notes[1]}):
        one, other = (kept.get(name) for kept in notes)
        if one is None or other is None:
            has, lacks = ("new", "old") if one is None else ("old", "new")
            note = f"{name}={other if one is None else one}"
            yield f"- The {has} board notes {note}; the {lacks} one has no such note."
        else:
            yield f"- {name}: {other}." if one == other else f"- WARNING: {name} was {one} and is {other}."
    if not any("prompt" in kept for kept in notes):
        yield "- The prompt was not kept (judgerank rank --save FILE --note prompt=NAME)."
