"""The parameters that every judge has: one record each, with the words in which they are reported."""

from __future__ import annotations

from dataclasses import dataclass

from judgerank.model.block import Role
from judgerank.model.needs import Need


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
