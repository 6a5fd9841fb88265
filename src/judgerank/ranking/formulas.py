"""The formula of a member of the family in plain text, put together from its judge blocks."""

from __future__ import annotations

from judgerank.model.members import Model

TIES = "odds of first, second, tie e^(eta/2) : e^(-eta/2) : nu_k (Davidson, 1970), eta = "
MEANINGS = {
    "log_discrimination": "gamma_k the judge's discrimination",
    "position": "b_k its leaning",
}


def formula(model: Model) -> str:
    """How a member predicts an answer, with a word on each parameter of a judge."""
    eta = predictor(model)
    said = _meanings(model)
    if model.has_ties:
        return TIES + ", ".join([eta, *said])
    given = ["first preferred" if model.has_position else "i beats j"]
    given += ["judge k"] if model.free_blocks else []
    given += ["length z"] if model.has_slope else []
    alike = "" if model.free_blocks else ": all judges alike (Bradley and Terry, 1952)"
    return f"P({', '.join(given)}) = sigmoid({eta}){alike}" + "".join(f", {text}" for text in said)


def predictor(model: Model) -> str:
    """The log-odds of the answer shown first."""
    first, second = ("first", "second") if model.has_position or model.has_ties else ("i", "j")
    difference = f"s_{first} - s_{second}"
    if model.has_slope:
        scaled = f"exp(alpha_k + beta_k z) ({difference})"
    elif model.weighs_judges:
        scaled = f"gamma_k ({difference})"
    else:
        scaled = difference
    return f"{scaled} + b_k" if model.has_position else scaled


def _meanings(model: Model) -> list[str]:
    """What the symbols stand for, joined where there are two."""
    said = []
    if model.weighs_judges and not model.has_slope:
        said.append(MEANINGS["log_discrimination"])
    if model.has_position and not model.has_slope:
        said.append(MEANINGS["position"] if said else "b_k the judge's leaning")
    return [" and ".join(said)] if said else []
