"""A fit: whatever was described, fitted to comparisons, and everything that can be asked of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
import pandas as pd
from scipy.special import chdtrc, fdtrc

from judgerank.data import QUESTION
from judgerank.data.arrays import AnyArray, FloatArray, IntArray, numbered
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, DataError
from judgerank.fits import presentation, storing
from judgerank.fits.fitted import Fitted
from judgerank.fits.presentation import leaderboard
from judgerank.fits.testing import BlockTest, tested
from judgerank.inference.clusters import JUDGMENT
from judgerank.inference.taste_errors import TASTE
from judgerank.model.kinds.category import in_category
from judgerank.order.flips import leads_by_question
from judgerank.order.pairs import Order
from judgerank.order.scale import Scale, reported, scale_of

if TYPE_CHECKING:  # an optional extra
    from matplotlib.figure import Figure
import json
import logging
import zipfile
from dataclasses import fields, replace

from scipy.sparse import csr_array

from judgerank.engine.solution import Status
from judgerank.fits.storing import PARTS, SCALE, VERSION
from judgerank.inference.uncertainty import Errors
from judgerank.model.block import Role

# What users of a fit need, for tab completion and object inspectors. What other modules take of it besides, such
# as the comparisons before they were merged, may change without notice.
PUBLIC = (
    *("scores", "ranks", "discrimination", "slope", "position", "tie", "strength", "sigma", "spread"),
    *("params", "bse", "pvalues", "conf_int", "cov_params", "llf", "nobs", "aic", "bic", "summary", "predict"),
    *("confidence_intervals", "to_frame", "leaderboard", "plot", "save", "contrast", "discrimination_curve"),
    *("clustered", "for_this_panel", "test", "wald", "order", "categories", "probability", "errors", "member"),
    *("status", "converged", "remarks", "judge_status", "judges_at_zero", "unbounded_judges"),
    *("comparisons", "model", "settings"),
)


@dataclass(frozen=True, eq=False, repr=False)
class Fit(Fitted):
    """A fitted model: its estimates, their covariance, intervals and tests, and ways to show and keep it.

    Attributes
    ----------
    comparisons, model, settings, solution, effects, errors, raw, question, without
        Those of `Fitted`, and so are `remarks` and `merged`.

    Examples
    --------
    >>> import judgerank
    >>> result = judgerank.fit(judgerank.example())
    >>> result.scores.round(2).idxmax(), int(result.nobs), str(result.status)
    ('oak', 1500, 'boundary')
    """

    def clustered(
        self,
        comparisons: Comparisons | None = None,
        cluster: AnyArray | tuple[AnyArray, AnyArray] | str = QUESTION,
        most: int | None = None,
    ) -> Self:
        """The same fit with errors that allow for dependence within clusters and for misfit.

        Parameters
        ----------
        comparisons : Comparisons, optional
            The raw comparisons behind the fit, where it does not hold them.
        cluster : "question", "judgment", or array, shape (T,), or two of them
            Cluster of each of them: by default the question asked; ``judgment`` makes each judgment one. Two
            arrays are crossed clusters, such as question and rater (`inference.clusters.two_way`).
        most : int, optional
            How many clusters errors are computed from: of more, that many at random stand for all. All by default.

        Raises
        ------
        ConfigError
            If the fit has question effects: its errors allow for what the judges of a question share already.
        DataError
            If these are other comparisons than those fitted, or there are fewer than two clusters.
        NoIntervalError
            If the fit has no intervals.

        Examples
        --------
        >>> import judgerank
        >>> result = judgerank.fit(judgerank.example())
        >>> bool(result.clustered().bse["score", "oak"] > 0)
        True
        """
        if self.effects is not None and self.effects.sigma > 0:
            if isinstance(cluster, str) and cluster == QUESTION:
                return self
            raise ConfigError(
                "errors of a fit with question effects allow for dependence within questions; other clusters go "
                "with fits without question effects"
            )
        if self.blocks and comparisons is not None and comparisons.columns is None:
            raise DataError(
                "a fit with further blocks is clustered by its own comparisons: fit.clustered(cluster=...)"
            )
        return super().clustered(
            self._require_raw() if comparisons is None else comparisons,
            self._labels(cluster),
            most,
        )

    def _labels(
        self, cluster: AnyArray | tuple[AnyArray, AnyArray] | str
    ) -> IntArray | tuple[IntArray, IntArray] | str:
        """Numbers of clusters as of `Uncertainty.clustered`."""
        if isinstance(cluster, str):
            if cluster not in (QUESTION, JUDGMENT):
                raise ConfigError(f"clusters are by 'question', by 'judgment' or given, and not {cluster!r}")
            return self._require_question() if cluster == QUESTION else cluster
        if isinstance(cluster, tuple):
            first, second = (numbered(np.asarray(labels))[1] for labels in cluster)
            return first, second
        return numbered(np.asarray(cluster))[1]

    def for_this_panel(self) -> Fit:
        """The same fit with errors of what these judges think, whatever others like them would.

        A fit with the block ``taste``, or one that `rank` found tastes in, speaks of judges like these: its
        intervals, pairs and ranks allow for the tastes that the judges of this panel happen to have. Here their
        tastes are part of the scores (`judgerank.inference.taste_errors`). Estimates are the same.

        Raises
        ------
        ConfigError
            If the fit allows for no tastes: its errors are those of this panel already.
        """
        if self.errors.panel is not None:
            return cast(Self, self.errors.panel)
        self._extra_columns(TASTE)
        return self._with_errors(of_panel=True)

    def _flipped(
        self,
        comparisons: Comparisons | None = None,
        question: IntArray | None = None,
        across: IntArray | None = None,
    ) -> Self:
        """The same fit whose pairs of models are tested by sign flips of whole questions.

        For few questions: the test's level is known however many there are, and however judgments of a question
        depend on each other (`judgerank.order.flips`). Intervals of scores stay as they are.

        Parameters
        ----------
        comparisons : Comparisons, optional
            The raw comparisons behind the fit, where it does not hold them.
        question : int array, shape (T,), optional
            Question of each of them, by default the question asked.
        across : int array, shape (T,), optional
            The second of two crossed clusters: errors that flips of either imply are added up.

        Raises
        ------
        DataError
            If these are other comparisons than those fitted.
        """
        rows = self.model.observed(self._require_raw() if comparisons is None else comparisons)
        self._require_fitted(rows.models, rows.judges, rows.n_comparisons)
        question_index = self._require_question() if question is None else question
        leads, more = (
            None if labels is None else leads_by_question(rows, self.model, self.solution.parameters, labels)
            for labels in (question_index, across)
        )
        return self._with_errors(flips=leads, flips_across=more)

    def test(self, block: str) -> BlockTest:
        """Likelihood-ratio test of a further block against the same fit without it.

        Raises
        ------
        ConfigError
            If there is no such block, or it is shrunk and the fit has question effects.

        Examples
        --------
        >>> import judgerank
        >>> result = judgerank.fit(judgerank.example(), blocks="category")
        >>> bool(result.test("category").p_value < 0.05)
        False
        """
        self._extra_columns(block)
        return tested(self, block)

    def wald(self, block: str) -> float:
        """p-value of a further block that is not shrunk being zero, by its covariance.

        The statistic over the number of parameters is compared with F, whose second degrees of freedom are those
        of the errors.

        Raises
        ------
        ConfigError
            If there is no such block, or it is shrunk.
        NoIntervalError
            If there is no covariance.
        """
        columns, values = self._extra_columns(block), self.parameters(block).to_numpy()
        if next(block_part for block_part in self.blocks if block_part.name == block).shrunk:
            raise ConfigError(f"block {block!r} is shrunk: `test` says whether it is there")
        mine = self._of_common(columns)
        statistic = values @ np.linalg.solve(self.covariance[np.ix_(mine, mine)], values)
        n_tested, left = len(mine), self.degrees_of_freedom
        return float(
            chdtrc(n_tested, statistic) if np.isinf(left) else fdtrc(n_tested, left, statistic / n_tested)
        )

    def _of_common(self, columns: slice) -> IntArray:
        """Places of further parameters in the covariance."""
        mask = np.zeros(len(self._chosen), bool)
        start = len(self._chosen) - len(self._free_common)
        mask[start + columns.start : start + columns.stop] = True
        return np.flatnonzero(mask[self._chosen])

    def _scores_in(self, category: str | None = None) -> pd.Series:
        """Scores by model within a category, or over all.

        Raises
        ------
        ConfigError
            If there is no such category.
        """
        return pd.Series(self._in(category)[0], list(self.comparisons.models), name="score")

    @property
    def categories(self) -> list[str]:
        """Those of the block ``category``; none without it."""
        if not any(block.name == "category" for block in self.blocks):
            return []
        first = in_category(self.comparisons.models[0], "")
        return [
            label.removeprefix(first) for label in self.parameters("category").index if label.startswith(first)
        ]

    def order(self, category: str | None = None) -> Order:
        """The models by falling score within a category: ``pairwise([fit.order(name)])`` compares them.

        Both tests of a pair are Wald's here, on the reported scale (`judgerank.order.scale`). With few questions
        (`_flipped`) no pair is separated within a category.

        Raises
        ------
        ConfigError
            If there is no such category.
        NoIntervalError
            If there is no covariance.
        """

        def values(fitted: Fit, scale: Scale) -> FloatArray:
            return scale.factor * fitted._in(category)[0]

        def derivatives(fitted: Fit, scale: Scale) -> FloatArray:
            scores, jacobian = fitted._in(category)
            return scale.derivatives(jacobian, scores)

        scores = values(self, scale_of(self))
        ranking = np.argsort(-scores, kind="stable")
        among = reported(self, values, derivatives)[np.ix_(ranking, ranking)]
        variances = np.diag(among)
        error = np.sqrt(np.maximum(variances[:, None] + variances[None, :] - 2 * among, 0.0))
        np.fill_diagonal(error, np.inf)
        difference = np.subtract.outer(scores[ranking], scores[ranking])
        few = self.errors.flips is not None
        twice = np.stack([difference] * 2), np.stack([error, np.full_like(error, np.inf) if few else error])
        names = np.asarray(self.comparisons.models, object)[ranking]
        variances = self.degrees_of_pairs[np.ix_(ranking, ranking)]
        return Order(names, *twice, among, self.degrees_of_freedom, few, degrees_of_pairs=variances)

    def _in(self, category: str | None) -> tuple[FloatArray, FloatArray]:
        """Scores on the scale of the fit, and their derivatives in the free parameters, shape (N, D)."""
        scores = self.scores.to_numpy()
        n = len(scores)
        jacobian = np.eye(n, int(self._chosen.sum()))
        if category is None:
            return scores, jacobian
        if category not in self.categories:
            raise ConfigError(f"there is no category {category!r} in this fit")
        first = self._extra_columns("category").start + self.categories.index(category) * n
        columns = self._of_common(slice(first, first + n))
        if len(columns):  # none where categories make no difference
            jacobian[:, columns] = np.eye(n)
        return scores + self.solution.parameters.common[first : first + n], jacobian

    def __dir__(self) -> list[str]:
        return sorted(PUBLIC)

    def __repr__(self) -> str:
        c, more = self.comparisons, [block.name for block in self.blocks]
        described = self.model.name + (f" with {', '.join(more)}" if more else "")
        questions_text = "" if self.question is None else f" of {len(np.unique(self.question)):,} questions"
        effects = f", sigma {self.effects.sigma:.3g}" if self.effects else ""
        return (
            f"<Fit {described}, {self.status}: {len(c.models):,} models, {len(c.judges):,} judges, "
            f"{c.n_comparisons:,.0f} comparisons{questions_text}, "
            f"log-likelihood {self.marginal_log_likelihood:.2f}{effects}>"
        )

    def summary(self, level: float = 0.95) -> str:
        """What was fitted, how it ended, and a table of every kind of parameter; the best model is on top.

        Raises
        ------
        ConfigError
            If the level is not between 0 and 1.

        Examples
        --------
        >>> import judgerank
        >>> result = judgerank.fit(judgerank.example())
        >>> print(result.summary().splitlines()[1].split(",")[0])
        status boundary after 4 iterations of Newton
        """
        return presentation.text(self, level)

    __str__ = summary

    def _repr_html_(self) -> str:
        return presentation.html(self)

    def leaderboard(self, level: float = 0.95) -> pd.DataFrame:
        """The standing of every model as reported, best first (`judgerank.fits.presentation.leaderboard`).

        Raises
        ------
        ConfigError
            If the level is not between 0 and 1.

        Examples
        --------
        >>> import judgerank
        >>> result = judgerank.fit(judgerank.example())
        >>> result.leaderboard()["model"].tolist()[:2]
        ['oak', 'maple']
        """
        return leaderboard(self, level)

    def plot(self, level: float = 0.95) -> Figure:
        """The leaderboard: scores and ranks with their intervals, best on top. It requires the extra ``plot``.

        Raises
        ------
        ConfigError
            If the extra is not installed, or the level is not between 0 and 1.
        """
        return presentation.figure(self, level)

    def save(
        self, path: str | PathLike[str], about: Mapping[str, Any] | None = None, *, force: bool = False
    ) -> None:
        """Keep the fit in one file, which `judgerank.load` reads back as it was.

        A fit that was saved there is replaced, whole or not at all; another file only by force.

        Parameters
        ----------
        path : path
        about : mapping, optional
            What else to keep, such as the prompt's version: JSON values by name, which `judgerank diff` compares.
        """
        storing.save(self, Path(path), about, force)


# Load a fit from the file that `judgerank.fits.storing` wrote.

log = logging.getLogger("judgerank")
OTHER_SCALE = (
    "This fit was saved when reported scores were those of the most informative judges. They are on the scale "
    "of the panel's win rates now: compare them with scores printed since, not with those printed then."
)


def load(path: str | PathLike[str]) -> Fit:
    """Read a fit that `Fit.save` wrote; it is equal to the last bit.

    Raises
    ------
    DataError
        If there is no such file, or it is another one, or it is of another version.

    Examples
    --------
    >>> import judgerank, tempfile, pathlib
    >>> result = judgerank.fit(judgerank.example(), "btl")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, 'fit.npz')
    ...     result.save(path)
    ...     again = judgerank.load(path)
    >>> again.scores.equals(result.scores)
    True
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            header = json.loads(str(file["header"]))
            version, tree = header["judgerank_fit"], header["fit"]
            if version != VERSION:
                raise DataError(f"{path} is a fit saved in version {version}, and this reads version {VERSION}")
            kind = header.get("kind", Fit.__name__)
            fitted: Fit = _unpacked({"kind": kind, "fields": tree}, file, _kinds())
            return fitted if header.get("scale") == SCALE else _on_todays_scale(fitted)
    except FileNotFoundError:
        raise DataError(f"there is no file {path}") from None
    except (AttributeError, EOFError, KeyError, OSError, TypeError, ValueError, zipfile.BadZipFile) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path} is not a fit that judgerank saved, or it is damaged") from None


def _on_todays_scale(fitted: Fit) -> Fit:
    """A fit saved with weights of judges that are no weights of today's scale, without them."""
    if not isinstance(fitted, Fit) or fitted.scale_weights is None:
        return fitted
    log.warning("warning: %s", OTHER_SCALE)
    return replace(fitted, scale_weights=None, remarks=(*fitted.remarks, OTHER_SCALE))


def _kinds() -> dict[str, Any]:
    """What is made when a file is read, by name."""
    kinds: list[Any] = [*PARTS, Fit]
    return {kind.__name__: kind for kind in kinds}


def about(path: str | PathLike[str]) -> dict[str, Any]:
    """What was said of a saved fit when it was saved; nothing, of one saved without.

    Raises
    ------
    DataError
        As of `load`.
    """
    load(path)  # which says what is wrong with a file
    with np.load(path, allow_pickle=False) as file:
        metadata = json.loads(str(file["header"])).get("about", {})
    return dict(metadata)


def _unpacked(value: Any, arrays: Mapping[str, AnyArray], kinds: Mapping[str, Any]) -> Any:
    """The inverse of `_packed`."""

    def inner(part: Any) -> Any:
        return _unpacked(part, arrays, kinds)

    match value:
        case {"array": number}:
            return arrays[f"array_{number}"]
        case {"sparse": parts, "shape": shape}:
            return csr_array(tuple(inner(part) for part in parts), shape=tuple(shape))
        case {"kind": kind, "fields": named}:
            values = {name: inner(part) for name, part in named.items()}
            if kinds[kind] is Fit:
                of_errors = values.keys() & {field.name for field in fields(Errors)}
                values["errors"] = Errors(**{name: values.pop(name) for name in of_errors})
            return kinds[kind](**values)
        case {"status": status}:
            return Status(status)
        case {"role": role}:
            return Role(role)
        case {"tuple": parts}:
            return tuple(inner(part) for part in parts)
        case {"mapping": named}:
            return {name: inner(part) for name, part in named.items()}
    return value
