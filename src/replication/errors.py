"""Errors that the study alone raises."""

from __future__ import annotations

from judgerank.data.errors import DataError, JudgerankError


class ChecksumError(DataError):
    """A file whose SHA-256 is not the published one."""


class MethodUnavailableError(JudgerankError):
    """A method that has no answer on these data."""


class NotAsStoredError(JudgerankError):
    """Stored results that are not what the code gives."""


class ClusterError(JudgerankError):
    """Workers, or a scheduler, that did not do what was asked of them."""
