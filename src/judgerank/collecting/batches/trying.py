"""Calls of a batch interface that are made again where that may help."""

from __future__ import annotations

import tenacity

from judgerank.collecting.backoff import OF_THE_SERVER, backoff
from judgerank.collecting.request_errors import AttemptFailed


def retrying(attempts: int, first_wait: float, patience: float) -> tenacity.AsyncRetrying:
    """What calls again: as long as patience lasts if the server is in trouble, else a number of times."""

    def is_enough(state: tenacity.RetryCallState) -> bool:
        failed = _fault(state)
        if failed is not None and failed.kind in OF_THE_SERVER:
            return (state.seconds_since_start or 0.0) >= patience
        return state.attempt_number >= attempts

    def wait(state: tenacity.RetryCallState) -> float:
        failed = _fault(state)
        asked = failed.wait if failed is not None else None
        return min(patience, max(backoff(first_wait, state.attempt_number - 1), asked or 0.0))

    return tenacity.AsyncRetrying(
        retry=tenacity.retry_if_exception_type(AttemptFailed), stop=is_enough, wait=wait, reraise=True
    )


def _fault(state: tenacity.RetryCallState) -> AttemptFailed | None:
    failed = state.outcome.exception() if state.outcome else None
    return failed if isinstance(failed, AttemptFailed) else None
