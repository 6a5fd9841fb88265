"""Commands beyond the paper: their schemas made known to Hydra, beside the paper's."""

from __future__ import annotations

from replication.config import main
from replication.outputs import section_command
from replication.schemas.registering import register
from studies.schemas import beyond  # noqa: F401 (sections, which `register` looks up)
from studies.schemas.beyond import Kernels, Torture

__all__ = ["main", "section_command"]
register(Kernels, Torture)
