"""Exceptions for unusable input, configuration or likelihood.

Every message is one sentence that names the record, model, judge, file or key at fault.
"""


class JudgerankError(Exception):
    """Base of every error that is the input's fault rather than the code's.

    Examples
    --------
    >>> import judgerank
    >>> try:
    ...     judgerank.fit([('oak', 'elm'), ('oak', 'elm')])
    ... except judgerank.JudgerankError as error:
    ...     type(error).__name__
    'NoMaximumError'
    """


class DataError(JudgerankError, ValueError):
    """A record, table or file that cannot be read as comparisons.

    Examples
    --------
    >>> import judgerank
    >>> try:
    ...     judgerank.fit([('oak', 'oak')])
    ... except judgerank.DataError as error:
    ...     print(error)
    record 1 compares 'oak' with itself, and no record compares two models
    """


class DataUnavailableError(JudgerankError):
    """Data that are neither on disk nor reachable for download.

    Examples
    --------
    >>> import judgerank
    >>> try:
    ...     judgerank.read('missing.csv')
    ... except judgerank.DataUnavailableError as error:
    ...     type(error).__name__
    'DataUnavailableError'
    """


class ConfigError(JudgerankError, ValueError):
    """A setting that is unknown or out of range.

    Examples
    --------
    >>> import judgerank
    >>> try:
    ...     judgerank.fit(judgerank.example(), 'no such model')
    ... except judgerank.ConfigError as error:
    ...     type(error).__name__
    'ConfigError'
    """


class NoMaximumError(JudgerankError):
    """The likelihood has no maximum because some score differences are unbounded or undefined.

    Attributes
    ----------
    models : tuple of tuple of str
        The groups of models behind it.

    Examples
    --------
    >>> import judgerank
    >>> try:
    ...     judgerank.fit([('oak', 'elm'), ('oak', 'elm')])
    ... except judgerank.NoMaximumError as error:
    ...     error.models
    (('elm',), ('oak',))
    """

    def __init__(self, message: str, models: tuple[tuple[str, ...], ...]):
        super().__init__(message)
        self.models = models


class DisconnectedError(NoMaximumError):
    """The comparison graph falls into components whose scores cannot be compared.

    Examples
    --------
    >>> import judgerank
    >>> islands = [('oak', 'elm'), ('elm', 'oak'), ('fir', 'ash'), ('ash', 'fir')]
    >>> try:
    ...     judgerank.fit(islands)
    ... except judgerank.DisconnectedError as error:
    ...     sorted(map(sorted, error.models))
    [['ash', 'fir'], ['elm', 'oak']]
    """


class NotIdentifiedError(JudgerankError):
    """The design cannot tell two kinds of parameters apart.

    Examples
    --------
    >>> import judgerank
    >>> judgments = judgerank.example()
    >>> one_order = judgments[judgments['model_a'] < judgments['model_b']]
    >>> pair = one_order[(one_order['model_a'] == 'maple') & (one_order['model_b'] == 'oak')]
    >>> try:
    ...     judgerank.fit(pair, 'position_aware')
    ... except judgerank.NotIdentifiedError as error:
    ...     type(error).__name__
    'NotIdentifiedError'
    """


class NoIntervalError(JudgerankError, AttributeError):
    """A fit at which no covariance exists.

    An AttributeError, too, as scikit-learn's NotFittedError is: a covariance that does not exist is an attribute
    that is not there, for ``hasattr``, ``getattr`` with a default, and `inspect.getmembers`.

    Examples
    --------
    >>> import judgerank
    >>> issubclass(judgerank.NoIntervalError, AttributeError)
    True
    """


class EndpointError(JudgerankError):
    """The endpoint will not answer: a key or a model's name that it does not accept.

    Examples
    --------
    >>> import judgerank
    >>> issubclass(judgerank.EndpointError, judgerank.JudgerankError)
    True
    """
