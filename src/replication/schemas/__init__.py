"""Schemas of the configuration: an unknown key or a wrong type fails before anything is computed."""

from __future__ import annotations

from hydra.core.config_store import ConfigStore

from replication.schemas.collect import CollectJudgments, Prompt
from replication.schemas.dataset import Dataset
from replication.schemas.methods import MethodComparison
from replication.schemas.plan import Plan
from replication.schemas.rank import Rank
from replication.schemas.section import (
    Audit,
    Bench,
    BenchmarkAlignment,
    JudgeReliability,
    Kernels,
    LengthCovariate,
    MixedJudges,
    ModelComparison,
    OneSet,
    RealData,
    Smoke,
    Sparsity,
    SubsamplingEfficiency,
    Uncertainty,
    UnstatedSettings,
    Verify,
)
from replication.schemas.simulation import CiCoverage, ConvergenceMse, SlotBias, SmallSamples
from replication.schemas.solver import Adam, Localized, Newton, Penalised
from replication.schemas.torture import Torture
from replication.schemas.validity import Validity


def register() -> None:
    """Make every schema known to hydra, by the names that the files in conf/ refer to."""
    store = ConfigStore.instance()
    store.store(group="dataset", name="schema", node=Dataset)
    store.store(group="prompt", name="schema", node=Prompt)
    store.store(group="solver", name="newton_schema", node=Newton)
    store.store(group="solver", name="adam_schema", node=Adam)
    store.store(group="solver", name="penalised_schema", node=Penalised)
    for name, node in (("localized", Localized), ("interior", Newton), ("adam", Adam)):
        store.store(group="estimator", name=f"{name}_schema", node=node)
    sections = (
        *(RealData, OneSet, BenchmarkAlignment, JudgeReliability, Audit, Bench, Verify, Kernels, Smoke),
        *(LengthCovariate, ModelComparison, Uncertainty, SubsamplingEfficiency, MixedJudges, Sparsity),
        *(ConvergenceMse, CiCoverage, SmallSamples, SlotBias, Plan, MethodComparison, CollectJudgments, Rank),
        *(UnstatedSettings, Validity, Torture),
    )
    for node in sections:
        store.store(name=f"{node.__name__}Schema", node=node)
