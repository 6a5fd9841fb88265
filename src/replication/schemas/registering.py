"""Makes the schemas known to hydra. Loads them all, and hydra, which workers do without."""

from __future__ import annotations

from collections.abc import Iterator

from hydra.core.config_store import ConfigStore

from replication.schemas.paper import Adam, Localized, Newton, Penalised
from replication.schemas.section import Dataset, Section
from replication.schemas.tools import Verify


def register(*commands: type) -> None:
    """Make the schemas of all loaded sections known to Hydra, by the names that the files in conf/ use.

    Parameters
    ----------
    *commands : type
        Schemas of commands that are no sections.
    """
    store = ConfigStore.instance()
    store.store(group="dataset", name="schema", node=Dataset)
    store.store(group="solver", name="newton_schema", node=Newton)
    store.store(group="solver", name="adam_schema", node=Adam)
    store.store(group="solver", name="penalised_schema", node=Penalised)
    for name, node in (("localized", Localized), ("interior", Newton), ("adam", Adam)):
        store.store(group="estimator", name=f"{name}_schema", node=node)
    for node in (*_below(Section), Verify, *commands):
        store.store(name=f"{node.__name__}Schema", node=node)


def _below(kind: type) -> Iterator[type]:
    """The classes derived from one, directly or through others."""
    for derived in kind.__subclasses__():
        yield derived
        yield from _below(derived)
