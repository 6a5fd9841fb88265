"""Exceptions for unusable input, configuration or likelihood.

Every message is one sentence that names the record, model, judge, file or key at fault.
"""


class JudgerankError(Exception):
    """Base of every error that is the input's fault rather than the code's."""


class DataError(JudgerankError, ValueError):
    """A record, table or file that cannot be read as comparisons."""


class DataUnavailableError(JudgerankError):
    """Data that are neither on disk nor reachable for download."""


class ConfigError(JudgerankError, ValueError):
    """A setting that is unknown or out of range."""


class NoMaximumError(JudgerankError):
    """The likelihood has no maximum because some score differences are unbounded or undefined.

    Attributes
    ----------
    models : tuple of tuple of str
        The groups of models behind it.
    """

    def __init__(self, message: str, models: tuple[tuple[str, ...], ...]):
        super().__init__(message)
        self.models = models


class DisconnectedError(NoMaximumError):
    """The comparison graph falls into components whose scores cannot be compared."""


class NotIdentifiedError(JudgerankError):
    """The design cannot tell two kinds of parameters apart."""


class NoIntervalError(JudgerankError, AttributeError):
    """A fit at which no covariance exists.

    An AttributeError, too, as scikit-learn's NotFittedError is: a covariance that does not exist is an attribute
    that is not there, for ``hasattr``, ``getattr`` with a default, and `inspect.getmembers`.
    """


class EndpointError(JudgerankError):
    """The endpoint will not answer: a key or a model's name that it does not accept."""
