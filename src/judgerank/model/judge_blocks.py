"""The parameters that every judge has: one record each, with the words in which they are reported."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from judgerank.model.block import Need, Role


@dataclass(frozen=True)
class JudgeBlock:
    """A parameter that every judge has.

    Attributes
    ----------
    name : str
    role : Role
    column : str, optional
        The number of every comparison that multiplies it, by its name there; one by default.
    shown : str
        What the parameter is called where it is reported: in its own units, not as a logarithm.
    unit : str
        Of that.
    about : str
        What it says of a judge, for a reader.
    term : str
        What it adds to the part of the model that its role names.
    meaning : str
        What stands beside the formula, with ``{whose}`` for the judge; empty if the formula speaks for itself.
    needs : Need, optional
        What data must have for it to be estimated.
    """

    name: str
    role: Role
    column: str | None
    shown: str
    unit: str
    about: str
    term: str
    meaning: str = ""
    needs: Need | None = None

    @property
    def logarithmic(self) -> bool:
        """Whether it is the logarithm of what is reported."""
        return self.name != self.shown


JUDGE_BLOCKS = {
    block.name: block
    for block in (
        JudgeBlock(
            "log_discrimination",
            Role.WEIGHT,
            None,
            "discrimination",
            "their geometric mean one over the judges in play",
            "how sharply it separates better from worse models; one is the geometric mean weighted by information",
            "alpha_k",
            "gamma_k {whose} discrimination",
        ),
        JudgeBlock(
            "slope",
            Role.WEIGHT,
            "covariate",
            "slope",
            "of log discrimination, by standardised covariate",
            "by how much its log discrimination rises with length",
            "beta_k z",
            needs=Need.LENGTH,
        ),
        JudgeBlock(
            "position",
            Role.OFFSET,
            None,
            "position",
            "preference for the model shown first, in log-odds",
            "its preference for the model shown first, in log-odds",
            "b_k",
            "b_k {whose} leaning",
            Need.ORDER,
        ),
        JudgeBlock(
            "log_tie",
            Role.TIE,
            None,
            "tie",
            "tie propensities, as odds of a tie between equals against either win",
            "tie propensity: odds of a tie between equals against either win",
            "log nu_k",
            needs=Need.TIES,
        ),
        JudgeBlock(
            "log_strong",
            Role.STRONG,
            None,
            "strong",
            "propensities to say much better, as odds between equals against better",
            "propensity to say much better: odds between equals against better",
            "log kappa_k",
            needs=Need.STRENGTH,
        ),
    )
}
STRONG = "log_strong"  # followed by log_strong_3, log_strong_4, ..., by what `strength` is called in a file
TIE = "log_tie"  # followed by log_tie_3, log_tie_4, ..., by how many answers of a ranking are tied


def judge_block(name: str) -> JudgeBlock:
    """The block of a name, also of a further strength or of a larger tie: ``log_strong_3``, ``log_tie_3``."""
    if name in JUDGE_BLOCKS:
        return JUDGE_BLOCKS[name]
    if name.startswith(f"{TIE}_"):
        size = int(name.removeprefix(f"{TIE}_"))
        return replace(
            JUDGE_BLOCKS[TIE],
            name=name,
            role=Role.of_tie(size),
            shown=f"tie_{size}",
            unit=f"propensities to tie {size} answers, as odds of a tie between equals against a single best one",
            about=f"propensity to tie {size} answers: odds of that between equals against a single best one",
            term=f"log nu_k{size}",
        )
    degree = int(name.removeprefix(f"{STRONG}_"))
    return replace(
        JUDGE_BLOCKS[STRONG],
        name=name,
        role=Role(Role.STRONG + degree - 2),
        shown=f"strong_{degree}",
        unit=f"propensities to give a win strength {degree}, as odds between equals against better",
        about=f"propensity to give a win strength {degree}: odds between equals against better",
        term=f"log kappa_k{degree}",
    )


def strengths(n_strengths: int) -> tuple[str, ...]:
    """Names of the blocks of so many strengths beyond better, the weakest first."""
    return (STRONG, *(f"{STRONG}_{degree}" for degree in range(3, n_strengths + 2)))[:n_strengths]


def larger_ties(sizes: Iterable[int]) -> tuple[str, ...]:
    """Names of the blocks of ties of so many answers, but for ties of two: their block every member has."""
    return tuple(f"{TIE}_{size}" for size in sorted(sizes) if size > 2)


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Those names that are blocks, in their order; a strength without all weaker ones is none."""
    requested = {*names}
    ordered = [name for name in JUDGE_BLOCKS if name in requested]
    if TIE in requested:
        more = (name.removeprefix(f"{TIE}_") for name in requested if name.startswith(f"{TIE}_"))
        position = ordered.index(TIE) + 1
        ordered[position:position] = larger_ties(int(size) for size in more if size.isdecimal())
    degree = 3
    while STRONG in requested and f"{STRONG}_{degree}" in requested:
        ordered.append(f"{STRONG}_{degree}")
        degree += 1
    return tuple(ordered)


def plain(names: Iterable[str]) -> tuple[str, ...]:
    """The same with one strength beyond better at most, and ties of two alone, as members are named."""
    return tuple(name for name in names if name in JUDGE_BLOCKS)
