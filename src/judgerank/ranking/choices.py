"""How judgments are ranked: what can be chosen, and what is chosen by default."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import pandas as pd

from judgerank.data import QUESTION
from judgerank.data.comparisons import Comparisons
from judgerank.data.connectivity import position_share, positions_are_imitated
from judgerank.data.errors import ConfigError
from judgerank.data.judgments import Judgments
from judgerank.data.listing import counted
from judgerank.engine.solvers import SOLVERS
from judgerank.fits.result import Fit
from judgerank.model.members import Model
from judgerank.model.naming import all_of, member
from judgerank.ranking.recusal import OWN_MAKER, RECUSE, Recusal

# How judgments are ranked: what can be chosen, and between what.
EFFECTS = "effects"
CLUSTERS = (QUESTION, EFFECTS, "none")  # words; anything else names a column
MOST_CROSSED = 2  # columns whose values are crossed
FEWEST, MOST_NEXT, MOST_SIZE = 10**9, 1000, 10**6  # largest values of few, next and next_size
SHRUNK, EXACT = "penalised", "newton"  # what is fitted unless a user says otherwise, and what stands beside it
LIKE_THESE, THIS_PANEL = WHOSE = ("judges_like_these", "this_panel")  # whose opinion intervals are of
FAMILY = "family"  # block that allows for self-preference
DESCRIBED = (EXACT, SHRUNK)  # solvers that further blocks and question effects go with


def cluster_of(cluster: str | Sequence[str]) -> str | tuple[str, ...]:
    """One of the words `CLUSTERS`, or the columns that are named, one by one or with commas between them.

    Raises
    ------
    ConfigError
        If a word stands beside columns, or there are more than `MOST_CROSSED`, or one twice.
    """
    parts = [cluster] if isinstance(cluster, str) else cluster
    names = tuple(name.strip() for part in parts for name in part.split(",") if name.strip())
    if len(names) == 1 and names[0] in CLUSTERS:
        return names[0]
    word = next((name for name in names if name in CLUSTERS[1:]), None)
    if word is not None:
        raise ConfigError(f"cluster={word} stands alone: errors are clustered by columns, or are not")
    if not names or len(names) > MOST_CROSSED or len({*names}) < len(names):
        raise ConfigError(f"cluster is one column, or {MOST_CROSSED} different ones, and not {', '.join(names)}")
    return names


def kept_for(cluster: str | Sequence[str]) -> tuple[str, ...]:
    """The columns that reading must keep, so that errors can be clustered by them."""
    chosen = cluster_of(cluster)
    return () if isinstance(chosen, str) else tuple(name for name in chosen if name != QUESTION)


@dataclass(frozen=True)
class Settings:
    """How judgments are ranked; see `judgerank.rank`.

    Raises
    ------
    ConfigError
        Naming the setting that is unknown or out of range.
    """

    model: str | None = None
    solver: str = SHRUNK
    level: float = 0.95
    cluster: str | tuple[str, ...] = QUESTION
    few: int = 30
    next: int = 10
    next_size: int = 10
    blocks: tuple[str, ...] = ()
    own_maker: str = RECUSE
    makers: tuple[tuple[str, str], ...] = ()
    whose: str = LIKE_THESE

    def __post_init__(self) -> None:
        object.__setattr__(self, "cluster", cluster_of(self.cluster))
        choices = {"solver": tuple(SOLVERS), "own_maker": OWN_MAKER, "whose": WHOSE}
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise ConfigError(f"there is no {name} {getattr(self, name)!r} (known: {', '.join(allowed)})")
        if self.model is not None:
            member(self.model)
        requested = [*([f"cluster={EFFECTS}"] if self.cluster == EFFECTS else []), *self.blocks[:1]]
        if requested and self.solver not in DESCRIBED:
            raise ConfigError(f"{requested[0]} goes with solver={' or '.join(DESCRIBED)}, not with {self.solver}")
        all_of(self.blocks)
        if not 0 < self.level < 1:
            raise ConfigError(f"level={self.level:g} is out of range: it must lie between 0 and 1")
        for name, low, high in (("few", 0, FEWEST), ("next", 1, MOST_NEXT), ("next_size", 1, MOST_SIZE)):
            if not low <= getattr(self, name) <= high:
                raise ConfigError(
                    f"{name}={getattr(self, name)} is out of range: it must lie from {low} to {high}"
                )

    @property
    def units(self) -> tuple[str, ...]:
        """The columns that errors are clustered by; none where that is one of the words `CLUSTERS`."""
        return () if isinstance(self.cluster, str) else self.cluster

    @property
    def is_recused(self) -> bool:
        """Whether votes on models of a judge's maker do not count: the block ``family`` needs them."""
        return self.own_maker == RECUSE and not any(name.partition(":")[0] == FAMILY for name in self.blocks)


# The default model for ranking the user's judgments.
#
# The judge-aware likelihood can be higher where discriminations follow something other than quality that most
# judges share, such as a position: the ranking is then that of the habit. Members with a position are not led
# astray by it, so they come first wherever the order of presentation identifies them.
DEFAULT, FALLBACK = "position_aware", "judge_aware"
LEAST_BALANCED = 30  # judgments in a balanced order that tell as much of a position as these must


def identified(model: Model, part: Comparisons) -> Model:
    """The member that ranks a component unless one is chosen: with equal weights where it has two models.

    Between two models a judge has one log-odds, which its discrimination fits whatever the scores are. A judge who
    always says the same would then have nearly all of the information.
    """
    return model.with_equal_weights() if len(part.models) == 2 and len(part.judges) > 1 else model


EQUAL_WEIGHTS = (
    "All judges have equal weight: with two models, the answers do not show which judge distinguishes models best."
)


def default_member(parts: Iterable[Comparisons]) -> tuple[str, str]:
    """Name of the member that ranks unless one is chosen, and a sentence that says why.

    Little data cannot tell a position from scores, least of all where the two models of each record are in the
    order of their names: other names would give another ranking. So a position takes an order that tells of it as
    much as `LEAST_BALANCED` judgments in a balanced order would.

    Parameters
    ----------
    parts : iterable of Comparisons
        The components of the comparison graph: the member must be identified in each. That of a component with two
        models is then `identified`.
    """
    parts = [part.aggregate() for part in parts]
    models = [member(DEFAULT), member(FALLBACK)]
    equal = [[identified(model, part) for model in models] for part in parts]
    if all(len(part.models) == 2 for part in parts) and all(model == equal[0] for model in equal):
        models = equal[0]
    default, fallback = (model.name for model in models)
    weights = "" if default == DEFAULT else f" {EQUAL_WEIGHTS}"
    if not all(part.ordered for part in parts):
        return fallback, (
            f"Fitted without position bias ({fallback}): the records have no order of presentation.{weights}"
        )
    if any(positions_are_imitated(part) for part in parts):
        return fallback, (
            f"Fitted without position bias ({fallback}): each pair was shown in one order, so position bias and "
            f"quality cannot be distinguished. Show some pairs in the other order.{weights}"
        )
    shares = [position_share(part) for part in parts]
    balanced = sum(share * part.n_comparisons for share, part in zip(shares, parts, strict=True))
    if balanced < LEAST_BALANCED:
        return fallback, (
            f"Fitted without position bias ({fallback}): the order of answers carries as little information on it "
            f"as {counted(int(balanced), 'judgment')} in a balanced order, and {LEAST_BALANCED} are needed. Show "
            f"pairs in both orders. To fit it nevertheless: --model {default}.{weights}"
        )
    return default, (
        f"Fitted with position bias ({default}, the default). The order of answers gives {min(shares):.0%} of "
        f"the information that a balanced order would. Without it: --model {fallback}.{weights}"
    )


# Results on the models and judges of a set of judgments, as data.


@dataclass(frozen=True, eq=False)
class Record:
    """All that is known of the models and judges of a set of judgments.

    Attributes
    ----------
    judgments : Judgments
        Those that count.
    settings : Settings
    fits : list of Fit
        One for each component of the comparison graph.
    remarks : list of str
        What to know first.
    tables : dict of str to DataFrame
        ``leaderboard``, ``judges``, ``pairs`` and ``next``; no rows in the last if there are no intervals.
        ``members``, how well each member of the family predicts (`studies.prediction`), if no model was named.
        ``mean_scores``, where judgments are made of scores (`score_boards`); several others are left out then.
        ``exact``, the leaderboard beside the fit without shrinkage, where there is one.
        ``effects``, what single judges go by besides quality (`studies.by_judge`), where that can be tested.
        ``own_maker``, votes of judges on models of their own maker (`studies.own_maker`), where there are any.
        ``favourites``, judges whose taste for one model stands out (`studies.whose_opinion`), where there are any.
        ``categories``, leaderboards one after the other, if the judgments name any.
    recusal : Recusal
        Which judgments count, and which are of judges on models of their own maker.
    categories : dict of str to Fit
        Fits of the judgments of each of these.
    """

    judgments: Judgments
    settings: Settings
    fits: list[Fit]
    remarks: list[str]
    tables: dict[str, pd.DataFrame]
    recusal: Recusal
    categories: dict[str, Fit] = field(default_factory=dict)

    @property
    def fit(self) -> Fit:
        """What was ranked: the fit of all comparisons, or of the largest component."""
        return self.fits[0]

    @property
    def panel_fit(self) -> Fit:
        """`fit` with errors of these judges alone: what is saved and compared with other rankings."""
        return self.fit if self.fit.errors.panel is None else self.fit.for_this_panel()

    @property
    def whose(self) -> str:
        """Whose opinion intervals and significance are of: `LIKE_THESE` where they allow for judges' tastes."""
        return LIKE_THESE if self.fit._speaks_of_judges_like_these else THIS_PANEL

    @property
    def clustered(self) -> bool:
        """Whether the covariance of the largest component is by the units that were sampled."""
        return self.fit._is_robust

    @property
    def sampled_by(self) -> str:
        """The units that the errors of the largest component are by."""
        return QUESTION if self.fit.clusters is None else " and ".join(self.fit.clusters.names)

    @property
    def title(self) -> str:
        """How many models are ranked, and from which judgments."""
        return f"Ranking of {sum(len(fitted.scores) for fitted in self.fits)} models: {self.judgments.title}"

    @cached_property
    def anchors(self) -> dict[str, str]:
        """A different name for every model to link to its row by, made of the model's."""
        uses: dict[str, int] = {}
        anchors = {}
        for name in self.tables["leaderboard"]["model"]:
            anchor = "model-" + (re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-").lower() or "unnamed")[:80]
            uses[anchor] = uses.get(anchor, 0) + 1
            anchors[name] = anchor if uses[anchor] == 1 else f"{anchor}--{uses[anchor]}"
        return anchors
