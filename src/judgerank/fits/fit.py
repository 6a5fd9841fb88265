"""Judgments and a description of the model -> a fit: a member, further blocks, question effects, shrinkage."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from judgerank.data.arrays import AnyArray, IntArray, UIntArray
from judgerank.data.cache import remembered
from judgerank.data.comparisons import Comparisons
from judgerank.data.connectivity import judges_of_one_length, positions_are_imitated, require_maximum
from judgerank.data.errors import ConfigError, DataError, NotIdentifiedError
from judgerank.data.frames import numbered_questions, question_keys
from judgerank.engine.localized import Localized
from judgerank.engine.newton import Newton
from judgerank.engine.penalised import Penalised, shrunk_alone
from judgerank.engine.solution import Solution
from judgerank.engine.solvers import Settings, maximise, settings_of
from judgerank.fits.certified import require_maximum_in_play
from judgerank.fits.extra_blocks import with_blocks, with_question_effects
from judgerank.fits.fitted import Fitted, bar, beginning
from judgerank.fits.result import Fit
from judgerank.model.block import Block, Placed, Records, Role, placed
from judgerank.model.members import Model, Parameters
from judgerank.model.naming import all_of, get_model

if TYPE_CHECKING:
    from judgerank.reading.read import Source

EFFECTS, QUESTION = "effects", "question"


def fit(
    judgments: Comparisons | Records | Source,
    model: str | Model = "judge_aware",
    solver: str | Settings = "newton",
    start: Parameters | Fit | None = None,
    *,
    blocks: str | Iterable[str | Block] = (),
    questions: str | None = None,
    shrink: bool = False,
    cluster: str | AnyArray | tuple[AnyArray, AnyArray] | None = None,
    question: AnyArray | None = None,
    merge_copies: bool = False,
) -> Fit:
    """Fit a model to judgments: a member of the family, with further blocks, question effects and shrinkage.

    The result answers everything else: intervals, tests, pairs, predictions, a summary, a figure, a file.

    Parameters
    ----------
    judgments : Comparisons, Records, or anything that `judgerank.read` reads
        Such as a file name or a table.
    model : str or Model
        A name in `judgerank.model.members.MODELS`: ``btl``, ``judge_aware``, ``length``, ``position_aware``, ...
        A file of your own that defines ``MEMBER`` (``"my_member.py"``), or a member itself.
    solver : {"newton", "adam", "localized", "penalised"}, or Newton, Adam, Localized or Penalised
        The exact solver over gamma_k >= 0, the paper's Algorithm A.1 over gamma_k > 0, the exact solver over a
        box (for the judge-aware model), or shrinkage toward the panel; the last two always have an estimate.
        A name takes its default settings, for Adam the published ones; ``Newton(tolerance=1e-9)`` sets others.
        A solver of your own is any object with a method `maximise` (`judgerank.engine.solvers.Solver`).
    start : Parameters or Fit, optional
        Where the climb begins. Parameters are those of data that these are a resample of: the maximum is then the
        one reached from there. A fit is that of a part of these comparisons, of some of their models and judges
        (`Comparisons.extended`): the maximum is then the highest, and found quickly where few are new. The
        penalised fit takes none.
    blocks : str, or iterable of str or Block
        Effects besides quality, by name and columns, as in ``["style:length", "category"]``
        (`judgerank.model.naming`), or blocks of your own. The judgments must have the columns that they need.
        Comparisons have none, raw or aggregated: give `Records` of them and of a table with the columns, unless
        names of models and judges are enough, as for ``family``.
    questions : {"effects"}, optional
        Model a quality of every single answer, shared by all judges of its question and integrated out:
        eta = gamma_k (s_i - s_j + u_qi - u_qj) + b_k, u_qi normal with mean zero and standard deviation sigma.
    shrink : bool
        Shrink scores and judges' parameters toward the panel. Short for ``solver="penalised"``.
    cluster : "question", "judgment", or an array of shape (T,) or two, optional
        Cluster the standard errors, by question or by the given cluster of each comparison (`Fit.clustered`). They
        then allow for misfit, too.
    question : array, shape (T,), optional
        Question of each comparison, where `judgments` are comparisons, which do not say.
    merge_copies : bool
        With question effects: merge judge ids that give almost identical answers into one judge, with one vote per
        item. Otherwise `Fit.remarks` names them.

    Returns
    -------
    Fit
        Estimates with their covariance, intervals and tests.

    Raises
    ------
    DataError
        If a judge has no comparison, or the model, a block or the questions need what is not there.
    NotIdentifiedError
        If the data cannot tell apart what is described; it says what.
    DisconnectedError, NoMaximumError
        If scores cannot be compared, or something runs off to infinity; it is named.
    ConfigError
        If a name is not known, or two things do not go together.

    Examples
    --------
    >>> import judgerank
    >>> result = judgerank.fit(judgerank.example(), "position_aware")
    >>> result.ranks.sort_values().index.tolist()[:3]
    ['oak', 'maple', 'willow']
    >>> str(result.status), len(result.params)
    ('boundary', 16)
    """
    description = described(judgments, blocks, question, model)
    settings = _settings(solver, shrink, description, questions)
    result = description.without_effects(description.comparisons, description.question, settings, start)
    if questions is not None:
        result = with_question_effects(
            result, partial(description.without_effects, settings=settings), fit, merge_copies
        )
    return result if cluster is None else result.clustered(cluster=cluster)


@dataclass(frozen=True)
class Described:
    """What is fitted to what.

    Attributes
    ----------
    comparisons : Comparisons
        Raw or aggregated, with what the member takes and the columns of further blocks.
    bare : Comparisons
        The same without the columns.
    member : Model
    question : int array, shape (T,), optional
    question_keys : uint64 array, shape (Q,), optional
        Those of `Fitted`.
    further : tuple of Placed
    half_wins : float
        Share of the comparisons that are ties and that the member takes for half a win.
    """

    comparisons: Comparisons
    bare: Comparisons
    member: Model
    question: IntArray | None
    question_keys: UIntArray | None
    further: tuple[Placed, ...]
    half_wins: float = 0.0

    def without_effects(
        self,
        comparisons: Comparisons,
        question: IntArray | None,
        settings: Settings,
        start: Parameters | Fit | None = None,
        certified: bool = True,
    ) -> Fit:
        """The member and further blocks fitted to comparisons such as these."""
        # the same object, where it can be: what is known of it is remembered with it
        bare = self.bare if comparisons is self.comparisons else _without_columns(comparisons)
        result = replace(_member(bare, self.member, settings, start), raw=bare, question=question)
        if question is self.question:  # and not of some of the rows
            result = replace(result, question_keys=self.question_keys)
        return with_blocks(result, comparisons, self.further, None, certified) if self.further else result

    def fitted(self, rows: IntArray, questions: str | None) -> Fit:
        """The same fitted to some of the comparisons by the exact solver, to predict the others by.

        Judges who run off there are shrunk alone, and copies are not looked for.
        """
        question_index, settings = None if self.question is None else self.question[rows], Newton()
        result = self.without_effects(self.comparisons.take(rows), question_index, settings, certified=False)
        if questions is None:
            return result
        return with_question_effects(result, partial(self.without_effects, settings=settings))


def described(
    judgments: Comparisons | Records | Source,
    blocks: str | Iterable[str | Block],
    question: AnyArray | None,
    model: str | Model,
) -> Described:
    """Judgments of any kind as what a fit takes.

    Raises
    ------
    ConfigError, DataError
    """
    records: Records | None = None
    chosen, question_index = all_of(blocks), None if question is None else np.asarray(question)
    keys: UIntArray | None = None
    number: IntArray | None = None
    if isinstance(judgments, Comparisons):
        comparisons = judgments
    elif isinstance(judgments, Records):
        records, comparisons = judgments, judgments.comparisons
        if question_index is None and "question_id" in records.frame:
            number, names = numbered_questions(records.frame["question_id"])
            question_index, keys = number, question_keys(names)
    else:
        from judgerank.reading.read import read_judgments

        read = read_judgments(judgments)
        records, comparisons = Records.of(read) if chosen else None, read.comparisons
        if question_index is None and "question_id" in read.frame:
            question_index, keys = read.question, read.question_keys
    member = get_model(model, comparisons)
    extra: tuple[Placed, ...] = ()
    columns = None
    if chosen:
        extra, columns = placed(chosen, records or Records.without_columns(comparisons))
    half_wins = 0.0 if member.has_ties else comparisons.share_of_ties
    comparisons = member.observed(comparisons)
    if question_index is not None:
        comparisons.require_one_each(question_index)
        if number is None:
            number, ids = pd.factorize(question_index, sort=True)
            keys = question_keys(ids) if keys is None else keys
    bare = _without_columns(comparisons)
    data = bare if columns is None else replace(bare, columns=columns)
    return Described(data, bare, member, number, keys, extra, half_wins)


def _without_columns(comparisons: Comparisons) -> Comparisons:
    return comparisons if comparisons.columns is None else replace(comparisons, columns=None)


def _settings(solver: str | Settings, shrink: bool, description: Described, questions: str | None) -> Settings:
    """The solver's settings, refused where they do not go with the rest.

    Raises
    ------
    ConfigError
    """
    if shrink and solver != "newton" and not isinstance(settings_of(solver, description.member), Penalised):
        raise ConfigError(f"shrinkage is by the penalised solver: leave solver={solver!r} out")
    settings = settings_of("penalised" if shrink and isinstance(solver, str) else solver, description.member)
    if isinstance(settings, Penalised):
        settings = settings.with_dispersion(description.half_wins, description.comparisons.n_comparisons)
    more = [
        *(["further blocks"] if description.further else []),
        *(["question effects"] if questions is not None else []),
        *(["rankings of several answers"] if description.comparisons.stages is not None else []),
    ]
    if more and not isinstance(settings, Newton | Penalised):
        raise ConfigError(f"{more[0]} are fitted by the solvers 'newton' and 'penalised', not by {solver!r}")
    if questions is not None and questions != EFFECTS:
        raise ConfigError(f"questions={questions!r} is not known (known: {EFFECTS!r})")
    if questions is not None:
        description.comparisons.require_pairs("a model with question effects")
    return settings


def _member(
    comparisons: Comparisons, member: Model, settings: Settings, start: Parameters | Fit | None = None
) -> Fit:
    """A member of the family, nothing else.

    Raises
    ------
    DataError, NotIdentifiedError, DisconnectedError, NoMaximumError
    """
    cells = comparisons.aggregate()
    silent = np.flatnonzero(np.bincount(cells.judge, minlength=len(cells.judges)) == 0)
    if silent.size:
        raise DataError(f"judge {cells.judges[silent[0]]!r} has no comparison")
    if isinstance(settings, Localized | Penalised):  # there is a maximum whatever the data
        return Fit(cells, member, settings, _maximum(cells, member, settings, start))
    pooled = cells.pool_judges()
    require_maximum(pooled)
    if member.has(Role.OFFSET) and positions_are_imitated(cells):
        raise NotIdentifiedError(
            "scores and positions cannot be distinguished: some scores differ by the same amount between the "
            "model shown first and the other in every comparison (show some pairs in the other order)"
        )
    alike = judges_of_one_length(cells) if member.weights_vary else ()
    if alike:
        raise NotIdentifiedError(
            f"slopes and discriminations cannot be distinguished where a judge's comparisons have one length: "
            f"{', '.join(alike)} (leave them out, or fit the model without lengths)"
        )
    if member.judge_blocks:
        best = shrunk_alone(cells, member, _maximum(cells, member, settings, start))
        result = Fit(cells, member, settings, best)
        require_maximum_in_play(result)
        return result
    # judges do not matter: the pooled cells have the same likelihood, and there are fewer of them
    solution = _maximum(pooled, member, settings, start)
    parameters = Parameters(solution.parameters.scores, np.zeros((0, len(cells.judges))))
    return Fit(cells, member, settings, replace(solution, parameters=parameters))


def _maximum(cells: Comparisons, member: Model, settings: Settings, start: Parameters | Fit | None) -> Solution:
    """Where the solver ends, from a start or from what was fitted before."""
    if not isinstance(start, Fit):
        again = start is None and isinstance(settings, Newton | Penalised)  # one's own may have no hash
        return _fit_member(cells, member, settings) if again else maximise(cells, member, settings, start)
    parameters = beginning(start, cells, member)
    return maximise(cells, member, settings, parameters, bar(start, cells, member))


@remembered
def _fit_member(cells: Comparisons, member: Model, settings: Settings) -> Solution:
    """As `maximise`; the same comparisons are often fitted with further blocks and without."""
    return maximise(cells, member, settings)


# Arguments of functions of a fit: the fit itself, and the judgments to use with it, given or held by it.


def fitted_to(judgments: Fit | Comparisons | Source) -> Fit:
    """A fit as it is, or judgments of any kind fitted as `judgerank.fit` fits them by default."""
    return judgments if isinstance(judgments, Fit) else fit(judgments)


def raw_and_question(
    fitted: Fitted, judgments: Comparisons | Source | None, question: AnyArray | None
) -> tuple[Comparisons, IntArray | None]:
    """Raw comparisons and the number of each one's question, if that is known.

    Parameters
    ----------
    fitted : Fitted
    judgments : Comparisons, or anything that `judgerank.read` reads, optional
        By default what was fitted, with its questions.
    question : array, shape (T,), optional
        Of each comparison, in place of what the judgments say.

    Raises
    ------
    DataError
        If the fit holds no comparisons and none are given, or questions are not as many.
    """
    if judgments is None:
        comparisons, fitted_question = fitted._require_raw(), fitted.question
    else:
        comparisons, fitted_question = raw_of(judgments)
    if question is not None:
        comparisons.require_one_each(question)
        fitted_question = np.unique(np.asarray(question), return_inverse=True)[1]
    return comparisons, fitted_question


def raw_of(judgments: Comparisons | Source) -> tuple[Comparisons, IntArray | None]:
    """The comparisons in judgments, and the number of each one's question where they say."""
    if isinstance(judgments, Comparisons):
        return judgments, None
    from judgerank.reading.read import read_judgments

    read = read_judgments(judgments)
    return read.comparisons, read.question if "question_id" in read.frame else None


def require_fit(board: object) -> None:
    """Refuse as a board what is no fit, such as the name of its file.

    Raises
    ------
    ConfigError
    """
    if not isinstance(board, Fit):
        raise ConfigError(f"a board is a fit, and {type(board).__name__} is none: judgerank.load(FILE) reads one")


def require_member_alone(fitted: Fitted, what: str) -> None:
    """Refuse a fit with further blocks or question effects, for what is worked out for members alone.

    Raises
    ------
    ConfigError
    """
    if fitted.blocks:
        raise ConfigError(f"{what} is worked out for fits without further blocks: `fit.member` is one")
    if fitted.effects is not None:
        raise ConfigError(f"{what} is worked out for fits without question effects: `fit.member` is one")
