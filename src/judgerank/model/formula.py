"""The formula of a member of the family in plain text, put together from its judge blocks."""

from __future__ import annotations

from judgerank.model.block import Role
from judgerank.model.judge_blocks import JudgeBlock
from judgerank.model.members import Model
from judgerank.model.needs import Need

TIES = "odds of first, second, tie e^(eta/2) : e^(-eta/2) : nu_k (Davidson, 1970), eta = "

SETS = (
    "odds of choosing the set C of answers nu_k|C| e^(mean of u over C), nu_k1 = 1 (Davidson-Luce model), a lead "
)
SETS += "in u is eta = "
BEST = "odds of choosing answer i as the best of those left e^(u_i) (Plackett-Luce model), u_i - u_j = "
EARLIER = "d by how many places i was shown before j"
FIVE = "odds of much better, better, tie, worse, much worse kappa_k e^eta : e^(eta/2) : nu_k : e^(-eta/2) : "
FIVE += "kappa_k e^(-eta) (Agresti, 1992), eta = "
MORE = (
    "odds of strength 1, 2, 3, ... for the first e^(eta/2) : kappa_k e^eta : kappa_k3 e^(3 eta/2) : ..., of a tie "
)
MORE += "nu_k, and for the second as for the first with -eta (Agresti, 1992), eta = "


def formula(model: Model, ranked: bool = False) -> str:
    """How a member predicts an answer, or a ranking of several, with a word on each parameter of a judge."""
    eta, free = predictor(model, ranked), _free(model)
    has_columns = any(block.column for block in free)
    block_meanings = [block.meaning for block in free if block.meaning and not has_columns]
    whose = ["the judge's", *["its"] * len(block_meanings)]
    meanings = " and ".join(text.format(whose=word) for text, word in zip(block_meanings, whose, strict=False))
    if ranked or model.tie_sizes[1:]:
        conditions = [EARLIER] if ranked and model.uses(Need.ORDER) else []
        return (SETS if model.has_ties else BEST) + ", ".join(
            [eta, *([meanings] if meanings else []), *conditions]
        )
    if model.uses(Need.TIES) or model.uses(Need.STRENGTH):
        levels = MORE if model.n_strengths > 1 else FIVE if model.uses(Need.STRENGTH) else TIES
        if not model.uses(Need.TIES):
            levels = levels.replace(" tie,", "").replace(" nu_k :", "").replace(" of a tie nu_k,", "")
        return levels + ", ".join([eta, *([meanings] if meanings else [])])
    event = ["first preferred" if model.uses(Need.ORDER) else "i beats j"]
    event += ["judge k"] if free else []
    event += ["length z"] if has_columns else []
    alike = "" if free else ": all judges alike (Bradley and Terry, 1952)"
    return f"P({', '.join(event)}) = sigmoid({eta}){alike}" + (f", {meanings}" if meanings else "")


def predictor(model: Model, ranked: bool = False) -> str:
    """The log-odds of the answer shown first; in rankings, of an answer i against j."""
    of_two = not ranked and (model.uses(Need.ORDER) or model.uses(Need.TIES))
    first, second = ("first", "second") if of_two else ("i", "j")
    free = _free(model)
    weights = [block for block in free if block.role is Role.WEIGHT]
    scaled = f"s_{first} - s_{second}"
    if len(weights) == 1:
        scaled = f"gamma_k ({scaled})"
    elif weights:
        scaled = f"exp({' + '.join(block.term for block in weights)}) ({scaled})"
    return " + ".join([scaled, *(block.term + " d" * ranked for block in free if block.role is Role.OFFSET)])


def treatment_of_ties(model: Model, ranked: bool = False) -> str:
    """Say whether ties are an outcome, and what they are if not."""
    if ranked and not model.uses(Need.TIES):
        return "ties averaged over the orders of the tied answers"
    return "ties an outcome of their own" if model.uses(Need.TIES) else "ties as half a win for either"


def _free(model: Model) -> list[JudgeBlock]:
    return [block for block in model.blocks if block.name in model.free_blocks]
