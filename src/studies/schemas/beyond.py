"""Schemas of the sections that the paper does not have, and of adverse cases, kernels and the bench."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from omegaconf import MISSING

from judgerank.planning import USUAL
from replication.schemas.ranges import LARGEST_SPREAD, above, at_least, within
from replication.schemas.section import Dataset, OneSet, RealData, Replicated, Section, Surrogate


@dataclass
class Cases:
    """Random cases of every element of the list that a schema derived from this one has."""

    cases: int = at_least(1)


@dataclass
class Problems(Cases):
    """Random problems: the members they are for, and the least and the most of what they have."""

    members: list[str] = MISSING
    models: list[int] = at_least(2)
    judges: list[int] = at_least(1)
    comparisons: list[int] = at_least(1)


@dataclass
class ManyStarts(Problems):
    starts: int = at_least(1)


@dataclass
class Scales(Problems):
    factors: list[float] = at_least(1)  # of the counts


@dataclass
class Inputs(Cases):
    forms: list[str] = MISSING


@dataclass
class Slips(Cases):
    layouts: list[str] = MISSING


@dataclass
class Kills(Cases):
    kinds: list[str] = MISSING  # of victims
    kills: int = at_least(1)  # of every victim


@dataclass
class Attacks(Cases):
    ways: list[str] = MISSING


@dataclass
class Runs(Cases):
    commands: list[str] = MISSING


@dataclass
class Torture(Replicated):
    maxima: ManyStarts = field(default_factory=ManyStarts)
    thin: ManyStarts = field(default_factory=ManyStarts)
    existence: Problems = field(default_factory=Problems)
    scales: Scales = field(default_factory=Scales)
    inputs: Inputs = field(default_factory=Inputs)
    slips: Slips = field(default_factory=Slips)
    replies: Attacks = field(default_factory=Attacks)
    panels: Attacks = field(default_factory=Attacks)
    collects: Attacks = field(default_factory=Attacks)
    commands: Runs = field(default_factory=Runs)
    sizes: Inputs = field(default_factory=Inputs)
    kills: Kills = field(default_factory=Kills)
    touched: Attacks = field(default_factory=Attacks)
    files: Attacks = field(default_factory=Attacks)
    secrets: Attacks = field(default_factory=Attacks)
    seed: int = at_least(0)
    results: str | None = MISSING


@dataclass
class Pages(Section):
    pages: list[str] = MISSING


@dataclass
class Kernels:
    """Small sections and tests under several kernels of the same libraries."""

    short: bool = MISSING
    tests: list[str] = MISSING
    settings: dict[str, dict[str, str]] = MISSING
    sections: dict[str, list[str]] = MISSING
    replicated: list[str] = MISSING  # sections that keep replications
    short_settings: list[str] = MISSING
    short_sections: list[str] = MISSING
    shown: int = at_least(0)


@dataclass
class Bench(RealData):
    study_share: float = within(0, 1)
    engine_rows: int = at_least(0)
    engine_memory: str = MISSING
    blocks: list[str] = MISSING
    answers: str | None = None
    rows: list[str] = field(default_factory=list)
    store: bool = False
    tolerance: float = at_least(0)
    again: int = at_least(0)


@dataclass
class ModelComparison(OneSet):
    members: list[str] = MISSING
    shrunk: list[str] = MISSING  # members that are fitted with shrinkage too
    folds: int = at_least(2)
    resamples: int = at_least(2)


@dataclass
class Uncertainty(OneSet, Replicated):
    members: list[str] = MISSING
    bootstraps: int = at_least(2)
    replications: int = at_least(0)
    inner_bootstraps: int = at_least(2)
    question_sd: list[float] = at_least(0)


@dataclass
class Panel(RealData, Replicated):
    """Question effects and further blocks on every set, and on simulated data."""

    members: list[str] = MISSING
    folds: int = at_least(2)
    draws: int = at_least(2)
    blocks: list[str] = MISSING
    answers: str | None = None
    replications: int = at_least(0)
    question_sd: list[float] = at_least(0)
    sizes: dict[str, float] = MISSING
    block_replications: int = at_least(0)


@dataclass
class Trust(RealData, Replicated):
    """What would change rankings, and what panels are worth, on every set and on simulated panels."""

    members: list[str] = MISSING
    most: int = at_least(1)
    replications: int = at_least(0)
    draws: int = at_least(1)
    designs: int = at_least(0)


@dataclass
class Newcomers(RealData, Replicated):
    """New models on existing boards, and boards compared."""

    member: str = MISSING
    replications: int = at_least(0)


@dataclass
class Simulated(Section, Replicated):
    """A section on simulated judgments alone."""

    level: float = within(0, 1, ends=False)
    replications: int = at_least(2)


@dataclass
class People(Simulated):
    """A few human votes beside a panel, simulated."""

    crowds: int = at_least(2)
    sampled: int = at_least(2)


@dataclass
class HumanScale(RealData, Replicated):
    """New models on the human scale, simulated and on human boards with models left out."""

    replications: int = at_least(2)
    null_replications: int = at_least(2)
    arenas: str | None = None


@dataclass
class Soft(Simulated):
    """Probabilities in place of letters, simulated."""


@dataclass
class Graded(RealData, Replicated):
    """Answers that say how strong they are."""

    replications: int = at_least(2)
    few: int = at_least(2)
    draws: int = at_least(2)


@dataclass
class Rankings(Simulated):
    """Rankings of several answers, simulated."""


@dataclass
class Claims(Section, Replicated):
    """Statements about order, on random files and simulated sets."""

    files: int = at_least(5)
    whole: float = within(0, 1)
    replications: int = at_least(2)


@dataclass
class Adaptive(RealData, Replicated):
    """Judgments collected by rounds, simulated and played back."""

    rules: list[str] = MISSING
    false_stops: int = at_least(1)
    most: int = at_least(1)
    saved: int = at_least(2)
    share: float = within(0, 1, ends=False)
    growth: float = above(1)
    playbacks: int = at_least(1)
    tastes: int = at_least(2)


@dataclass
class Fitness(RealData, Replicated):
    """Tests of fit, tests of pairs with few questions, and repeated requests."""

    member: str = MISSING
    replications: int = at_least(2)
    few: int = at_least(2)
    repeated: int = at_least(2)


@dataclass
class Scale(RealData, Replicated):
    """The reported scale of scores, and boards compared on it."""

    member: str = MISSING
    least: float = within(0, 1)
    n_comparisons: list[int] = at_least(1)
    replications: int = at_least(2)
    crowds: int = at_least(2)
    boards: int = at_least(2)


@dataclass
class Tastes(RealData, Replicated):
    """Judges' own tastes on every set, and simulated ones."""

    folds: int = at_least(2)
    judges: list[int] = at_least(2)
    sd: list[float] = at_least(0)
    n_comparisons: list[int] = at_least(1)
    replications: int = at_least(2)
    nulls: int = at_least(2)
    panels: list[int] = at_least(2)
    tastes: list[float] = at_least(0)
    favours: list[float] = at_least(0)
    few_judges: int = at_least(2)
    partial: int = at_least(2)
    ties: float = at_least(0)
    per_judge: int = at_least(1)
    questions: int = at_least(2)
    sets: int = at_least(2)
    stops: int = at_least(2)
    most: int = at_least(1)


@dataclass
class SelfPreference(RealData, Replicated):
    """Votes of judges on models of their own maker, on every set and simulated."""

    bias: list[float] = MISSING
    panels: list[str] = MISSING
    n_questions: int = at_least(1)
    replications: int = at_least(2)


@dataclass
class FewAnswers(Section, Replicated):
    """Judges with few answers each, simulated."""

    answers: list[int] = at_least(1)
    crowd: int = at_least(1)
    panel: int = at_least(1)
    panel_answers: int = at_least(1)
    crowds: list[str] = MISSING
    panels: list[str] = MISSING
    tested: list[str] = MISSING
    level: float = within(0, 1, ends=False)
    replications: int = at_least(2)
    tests: int = at_least(2)


@dataclass
class Contrary(Section, Replicated):
    """Contrary judges and little data, simulated."""

    answers: list[int] = at_least(1)
    judges: int = at_least(3)
    models: int = at_least(2)
    questions: list[int] = at_least(2)
    effects: list[float] = at_least(0)
    lead: float = above(0)
    comparisons: list[int] = at_least(2)
    leads: list[float] = at_least(0)
    sweeps: list[list[int]] = MISSING
    level: float = within(0, 1, ends=False)
    replications: int = at_least(2)
    duels: int = at_least(2)


@dataclass
class Gating(RealData, Replicated):
    """May a candidate ship? Simulated and played back."""

    n_questions: list[int] = MISSING
    n_judges: list[int] = MISSING
    replications: int = at_least(2)
    looks: list[int] = MISSING
    looked: int = at_least(2)
    question_price: float = above(0)
    hostile: int = at_least(2)
    tasks: list[int] = MISSING
    runs: int = at_least(2)
    rare: int = at_least(2)
    parts: list[int] = MISSING
    draws: int = at_least(1)


# Schema of the methods compared and of the panels they are tried on (conf/method_comparison.yaml).


@dataclass
class Method:
    """A method: from comparisons and its settings to a `studies.methods.ranking.Ranking`."""

    name: str = MISSING
    title: str = MISSING
    function: str = MISSING  # dotted path; one of your own will do
    source: str = MISSING  # of the formula, of the code where a library has it, and of the settings
    settings: dict[str, Any] = field(default_factory=dict)
    limits: str = MISSING  # what it cannot do
    orders: int = at_least(1, 1)  # random orders of the rows to average over, for a method that depends on them


@dataclass
class SimulatedPanel:
    """A panel whose truth is drawn anew for every data set."""

    title: str = MISSING
    n_models: int = at_least(2)
    n_judges: int = at_least(1)
    n_comparisons: int = at_least(1)
    sigma_scores: float = within(0, LARGEST_SPREAD, 1.0)
    sigma_discrimination: float = within(0, LARGEST_SPREAD, 1.0)
    n_contrary: int = at_least(0, 0)  # judges who prefer the worse model, as often as they would the better one
    mean_position: float = 0.0  # of leanings towards the model shown first, who is the first by name
    sigma_position: float = within(0, LARGEST_SPREAD, 0.0)
    judged_by_models: bool = False  # the models judge each other, the better ones better


@dataclass
class SimulatedAndReal(Simulated):
    """A section on simulated judgments and on sets, whose methods name their own solvers."""

    surrogate: Surrogate = MISSING
    datasets: dict[str, Dataset] = field(default_factory=dict)


@dataclass
class MethodComparison(SimulatedAndReal):
    methods: dict[str, Method] = field(default_factory=dict)
    panels: dict[str, SimulatedPanel] = field(default_factory=dict)
    folds: int = at_least(2)


# Schema of a plan: what is planned for and what is wanted (conf/plan.yaml).


@dataclass
class Columns:
    """Names of a file's columns; null is one of the usual names."""

    model_a: str | None = None
    model_b: str | None = None
    winner: str | None = None
    judge: str | None = None
    question: str | None = None
    length: str | None = None
    count: str | None = "ask"  # null counts every record once; ask refuses a column that looks like counts


@dataclass
class OwnData:
    """A file of one's own judgments."""

    path: str | None = MISSING
    format: str | None = MISSING
    columns: Columns = field(default_factory=Columns)


@dataclass
class Assumed:
    """A panel that is not fitted to judgments."""

    name: str = MISSING
    n_models: int = at_least(2, USUAL.n_models)
    n_judges: int = at_least(1, USUAL.n_judges)
    sigma_scores: float = within(0, LARGEST_SPREAD, USUAL.sigma_scores)
    sigma_discrimination: float = within(0, LARGEST_SPREAD, USUAL.sigma_discrimination)
    scores: Any = None  # a list, or a mapping by model
    discrimination: Any = None  # a list, or a mapping by judge


@dataclass
class Weights:
    """How often judges and pairs are asked relative to others; those not named have weight one."""

    judges: dict[str, float] = at_least(0, {})
    pairs: list[Any] = field(default_factory=list)  # of [model, model, weight]


@dataclass
class Wanted:
    """Goals by name, as in `planning.GOALS`; null where none is set."""

    score_width: float | None = above(0, None)
    score_width_worst: float | None = above(0, None)
    standardised_width: float | None = above(0, None)
    standardised_width_worst: float | None = above(0, None)
    pair_power: float | None = within(0, 1, None, ends=False)
    pairs_interval_excludes_zero: float | None = within(0, 1, None, ends=False)
    separated: float | None = within(0, 1, None, ends=False)


@dataclass
class QuestionPlan:
    """How questions are asked; null is as in the file, or nothing in common and one comparison each."""

    sd: float | None = within(0, 20, None)
    pairs: int | None = within(1, 1e6, None)
    judges: int | None = within(1, 1e6, None)
    pairs_compared: list[int] = at_least(1)
    judges_compared: list[int] = at_least(1)


@dataclass
class Promises:
    """Plans made from files of a panel, and new data of the planned sizes."""

    n_models: int = at_least(2)
    n_judges: int = at_least(1)
    sigma_scores: float = within(0, LARGEST_SPREAD, USUAL.sigma_scores)
    sigma_discrimination: float = within(0, LARGEST_SPREAD, USUAL.sigma_discrimination)
    wanted: float = within(0, 1, ends=False)
    n_comparisons: list[int] = at_least(1)
    times: int = at_least(1)


@dataclass
class KeptPlans:
    """Plans made from files by the command's fit: judges who answer at random, tastes, questions, and ties."""

    file: int = at_least(2)
    n_models: int = at_least(3)
    n_judges: int = at_least(2)
    useless: list[int] = at_least(0)
    sigma_scores: float = within(0, LARGEST_SPREAD)
    sigma_discrimination: float = within(0, LARGEST_SPREAD)
    per_question: list[int] = at_least(1)
    question_sd: float = within(0, LARGEST_SPREAD)
    taste: float = within(0, LARGEST_SPREAD)
    ties: list[float] = within(0, 1, ends=False)
    wanted: float = within(0, 1, ends=False)
    times: int = at_least(1)


@dataclass
class Plan(RealData, Replicated):
    """A plan for an assumed panel, or for one fitted to a set or to a file of one's own."""

    assumed: Assumed = field(default_factory=Assumed)
    dataset: Dataset | None = None
    data: OwnData = field(default_factory=OwnData)
    wanted: Wanted = field(default_factory=Wanted)
    model: str | None = MISSING
    questions: QuestionPlan = field(default_factory=QuestionPlan)
    promises: Promises = field(default_factory=Promises)
    kept: KeptPlans = field(default_factory=KeptPlans)
    pair: list[str] | None = MISSING
    weights: Weights = field(default_factory=Weights)
    repeats: int = at_least(1)
    correlation: float = within(0, 1)
    repeats_compared: list[int] = at_least(1)
    correlations_compared: list[float] = within(0, 1)
    n_judges: list[int] = at_least(1)
    n_comparisons: list[int] = at_least(1)
    replications: int = at_least(1)
    draws: int = at_least(1)
    draw_replications: int = at_least(1)
    points: int | None = at_least(1)


# Schema of the checks of what tests and intervals promise (conf/validity.yaml).


@dataclass
class Fitted:
    """A member of the family and how it is fitted."""

    member: str = MISSING
    solver: str = "newton"


@dataclass
class Design:
    """A truth, drawn anew for every data set, and a design."""

    title: str = field(default=MISSING, compare=False)
    methods: list[str] = field(default=MISSING, compare=False)
    n_models: int = at_least(2, 12)
    n_judges: int = at_least(1, 16)
    n_comparisons: int = at_least(1, 2000)
    sigma_scores: float = within(0, LARGEST_SPREAD, 0.0)
    equal: int = at_least(0, 0)  # models whose scores are one
    sigma_discrimination: float = within(0, LARGEST_SPREAD, 0.5)
    far: float = above(0, 1.0)  # the first judge's discrimination, as a multiple
    islands: bool = False  # two halves of the models, never compared with each other
    questions: int = at_least(0, 0)  # none: every comparison has one of its own
    question_sd: float = at_least(0, 0.0)  # of a model's performance over questions, in the scores' units
    position: float = 0.0  # leanings towards the first model, evenly from minus to plus this
    ties: float = within(0, 1, 0.0)  # share of ties
    clustered: bool = False  # errors clustered by question
    tie_kind: str | None = None  # that of `studies.tied_answers`, whose models and judges then are
    tie_sizes: list[float] = field(default_factory=list)  # by judge


@dataclass
class Validity(SimulatedAndReal):
    members: list[str] = MISSING
    methods: dict[str, Fitted] = field(default_factory=dict)
    designs: dict[str, Design] = field(default_factory=dict)
    halves: int = at_least(1)


@dataclass
class SmallPanels:
    """Panels of two or three judges, simulated and of Chatbot Arena."""

    n_judges: list[int] = at_least(1)
    n_models: list[int] = at_least(3)
    n_comparisons: list[int] = at_least(1)
    spreads: list[float] = at_least(0)
    position: float = at_least(0)
    taste: float = at_least(0)
    sampled: list[int] = at_least(1)
    replications: int = at_least(2)


@dataclass
class Defaults(SimulatedAndReal):
    """What should be fitted unless a user says otherwise."""

    methods: dict[str, Fitted] = field(default_factory=dict)
    n_comparisons: list[int] = at_least(1)  # of samples
    draws: int = at_least(2)  # samples of every size
    designs: dict[str, Design] = field(default_factory=dict)
    fewer: dict[str, int] = field(default_factory=dict)  # replications of designs whose fits take long
    few_judges: SmallPanels = field(default_factory=SmallPanels)


# Schema of the comparison with other packages.


@dataclass
class FixedIdea:
    """A judge who always prefers the alphabetically first model, among honest ones."""

    n_models: int = at_least(3)
    n_honest: int = at_least(1)
    discriminations: list[float] = above(0)  # of the honest judges
    n_questions: int = at_least(1)  # each with one pair of models, which every judge sees
    methods: list[str] = MISSING


@dataclass
class ScoreBoard:
    """Boards of scores from 0 to 1, one for each model and task."""

    n_models: int = at_least(3)
    n_tasks: int = at_least(2)
    sigma_models: float = above(0)
    sigma_tasks: float = at_least(0)
    sigma_noise: float = above(0)


@dataclass
class GateCases:
    """Changes of a system, judged by a panel on questions."""

    n_questions: int = at_least(2)
    n_judges: int = at_least(1)
    conditions: list[str] = MISSING
    replications: int = at_least(2)


@dataclass
class Packages(SimulatedAndReal):
    """Other packages beside this one."""

    sizes: list[int] = at_least(1)  # of samples of the set
    draws: int = at_least(2)  # samples of every size
    panels: dict[str, SimulatedPanel] = field(default_factory=dict)
    fixed_idea: FixedIdea = field(default_factory=FixedIdea)
    board: ScoreBoard = field(default_factory=ScoreBoard)
    gates: GateCases = field(default_factory=GateCases)
    timed: int = at_least(1)  # times that every method is timed
    bootstraps: int = at_least(2)  # resamples of evalica
    of_others: int = at_least(100)  # resamples of honestboard and statgate
