"""An OpenAI-compatible endpoint: one question at a time, at a pace, tried again where that can help."""

from __future__ import annotations

import json
import os
import threading
import time
from dataclasses import dataclass

from judgerank.errors import ConfigError, EndpointError
from judgerank.schemas.collect import CollectJudgments, Judge

TRIED_AGAIN = (408, 409, 425, 429)  # and every 5xx


@dataclass(frozen=True)
class Reply:
    """What the endpoint answered; tokens are None where it does not say."""

    text: str
    model: str | None
    finish_reason: str | None
    prompt_tokens: int | None
    completion_tokens: int | None


class AttemptFailed(Exception):
    """An attempt failed in a way that another may not; `paid` if the endpoint may have charged for it."""

    def __init__(self, kind: str, wait: float | None = None, paid: bool = False):
        super().__init__(kind)
        self.kind, self.wait, self.paid = kind, wait, paid


class Refused(Exception):
    """The endpoint will not answer this request, however often it is sent."""


class Pace:
    """Lets a request go every so often, whatever thread it is from."""

    def __init__(self, per_minute: float | None):
        self._gap = 60.0 / per_minute if per_minute else 0.0
        self._next, self._lock = 0.0, threading.Lock()

    def wait(self) -> None:
        with self._lock:
            now = time.monotonic()
            slot = max(now, self._next)
            self._next = slot + self._gap
        time.sleep(slot - now)


class Endpoint:
    """A client of an endpoint; the key comes from the environment and stays in the client.

    Raises
    ------
    ConfigError
        If there is no key, or the library is not installed.
    """

    def __init__(self, cfg: CollectJudgments):
        self._openai = _library()
        key = os.environ.get(cfg.api_key_env)
        if not key:
            raise ConfigError(
                f"the environment variable {cfg.api_key_env} holds no key (api_key_env=NAME names another)"
            )
        # the library's own retries are off: ours are counted, and each is paid for from the budget
        self._client = self._openai.OpenAI(api_key=key, base_url=cfg.base_url, max_retries=0, timeout=cfg.timeout)
        self._prompt, self._pace = cfg.prompt, Pace(cfg.requests_per_minute)

    def attempt(self, judge: Judge, text: str) -> Reply:
        """Send one request, when its turn comes.

        Raises
        ------
        AttemptFailed
            If it failed in a way that another may not.
        Refused
            If the endpoint will not answer this request.
        EndpointError
            If it will not answer any: the key, or the model's name, is not accepted.
        """
        self._pace.wait()
        openai = self._openai
        client = self._client if judge.base_url is None else self._client.with_options(base_url=judge.base_url)
        request = {"model": judge.model or judge.judge, "messages": [{"role": "user", "content": text}]}
        settings = {"temperature": self._prompt.temperature, "max_tokens": self._prompt.max_tokens}
        try:
            answer = client.chat.completions.create(**request, **settings)
            choice = answer.choices[0]
            used = answer.usage
            tokens = (None, None) if used is None else (used.prompt_tokens, used.completion_tokens)
            return Reply(choice.message.content or "", answer.model, choice.finish_reason, *tokens)
        except openai.APITimeoutError:
            raise AttemptFailed("timeout", paid=True) from None
        except openai.APIConnectionError:
            raise AttemptFailed("connection", paid=True) from None
        except openai.APIStatusError as error:
            status = error.status_code
            if status in TRIED_AGAIN or status >= 500:
                raise AttemptFailed(str(status), _retry_after(error.response.headers)) from None
            if status in (401, 403, 404):
                raise EndpointError(
                    f"the endpoint refuses judge {judge.judge!r}, sent as {request['model']!r} ({status})"
                ) from None
            raise Refused(str(status)) from None
        except (openai.APIError, json.JSONDecodeError, AttributeError, IndexError, TypeError):
            raise AttemptFailed("unreadable body", paid=True) from None


def _library():
    try:
        import openai
    except ImportError:
        raise ConfigError(
            "collecting judgments needs the optional extra 'collect' (pip install 'judgerank[collect]')"
        ) from None
    return openai


def _retry_after(headers) -> float | None:
    """Seconds that the endpoint asks to wait, if it says so in seconds."""
    try:
        return float(headers.get("retry-after", ""))
    except ValueError:
        return None
