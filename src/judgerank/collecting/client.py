"""Asking one judge one question: litellm speaks each provider's form, and what comes back is a reply or a fault.

litellm is a translator here, no more. It may fetch and print nothing, sends through a `Line`, and tries nothing
again. Which fault there was is told from what the line saw, never from the library's own names for it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import warnings
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from functools import cached_property
from types import ModuleType
from typing import Any

import httpx

from judgerank.collecting.prompts import sendable
from judgerank.collecting.requests import NOT_THESE, refusal, request, structured_by, unknown, wire_params
from judgerank.collecting.response import AttemptFailed, JudgeRefused, Refused, Reply, reply_of, retry_after
from judgerank.collecting.secrets import STANDS_FOR, Secrets, keys
from judgerank.collecting.settings import Judge, Prompt
from judgerank.collecting.transport import LARGEST_BODY, Line, Network, guarded, install, shortened
from judgerank.data.errors import ConfigError
from judgerank.data.modules import needed

# nothing is fetched, loaded from a folder's .env, or sent by litellm but what it is asked to send
QUIET = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}
# its one HTTP handler for all providers, which takes our line, also for OpenAI's form
ONE_HANDLER = {"EXPERIMENTAL_OPENAI_BASE_LLM_HTTP_HANDLER": "True"}
ALWAYS_SET = QUIET | ONE_HANDLER
PRICED = {
    "prompt_price": "input_cost_per_token",
    "completion_price": "output_cost_per_token",
    "cached_price": "cache_read_input_token_cost",
    "cache_write_price": "cache_creation_input_token_cost",
}


def library() -> ModuleType:
    """litellm; its import takes seconds, so that only what needs it pays for it.

    Raises
    ------
    ConfigError
        If it is not installed.
    """
    os.environ.update(ALWAYS_SET)
    try:
        import litellm
    except ImportError:
        raise ConfigError(f"collecting judgments requires {needed('collect')}") from None
    install(litellm)
    # what it leaves behind where a request is cancelled while it still prepares it
    warnings.filterwarnings("ignore", r"coroutine '\w+\.\w*completion\w*' was never awaited", RuntimeWarning)
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return litellm


def listed(judge: Judge) -> Mapping[str, Any]:
    """What litellm's list says of the judge's model: prices, limits, its last day; empty if it is not on it."""
    models = library().model_cost
    return models.get(judge.sent) or models.get(judge.sent.partition("/")[2]) or {}


def list_prices(judge: Judge) -> dict[str, float | None]:
    """The judge's prices for a million tokens by that list, in US dollars; none if it is not on it."""
    listed_prices = listed(judge)
    prices = {name: listed_prices.get(key) for name, key in PRICED.items()}
    return {name: None if price is None else price * 1e6 for name, price in prices.items()}


TRIED_AGAIN = (408, 409, 425, 429)  # and every 5xx
OF_THE_JUDGE = (401, 402, 403, 404)  # refused whatever is asked
NOT_SENT = 418  # what a request that is only prepared is answered, by no server
NO_KEY = "none"  # what is sent where there is none, so that the library does not look for one itself
NOWHERE = "nowhere"  # the address of a judge for whom no request can be prepared


class Client:
    """Asks judges; their keys come from the environment and stay here.

    Parameters
    ----------
    judges, prompt, timeout
        Whom to ask, what, and how many seconds a reply may take.
    known : dict of str to str, optional
        Keys by judge; out of the environment by default.

    Attributes
    ----------
    refused : dict of str to set of str
        By judge, what its server has refused and is asked without (`refusals`).

    Raises
    ------
    ConfigError
        If a key is missing, or cannot be sent, or the library is not installed.
    """

    def __init__(
        self,
        judges: Mapping[str, Judge],
        prompt: Prompt,
        timeout: float,
        known_keys: Mapping[str, str] | None = None,
    ):
        self._keys = keys(judges.values()) if known_keys is None else known_keys
        self._secrets = Secrets(self._keys.values())
        if judges:
            assert self._litellm  # that it is there is known before anything is asked
        self._prompt, self.timeout = prompt, timeout
        self.refused: dict[str, set[str]] = defaultdict(set)
        self._network = Network(timeout)

    @cached_property
    def _litellm(self) -> ModuleType:
        return library()

    async def attempt(
        self, judge: Judge, messages: Sequence[Mapping[str, Any]], http: httpx.AsyncClient | None = None
    ) -> Reply:
        """Send one request, by another client than the network's if one is given.

        Raises
        ------
        AttemptFailed
            If it failed in a way that another may not.
        Refused, JudgeRefused
            If the server will not answer this request, or none to this judge.
        """
        while True:
            before = frozenset(self.refused[judge.judge])
            line, fault = await self._once(judge, messages, before, http)
            if isinstance(fault, Reply):
                return replace(fault, asked_without=before)
            if frozenset(self.refused[judge.judge]) != before:  # learnt meanwhile, from another request
                continue
            given_up = None if line.status in NOT_THESE else self._refusal(judge, before, line, fault)
            if given_up is None:
                raise fault
            self.refused[judge.judge].add(given_up)

    def unheeded(self, judge: Judge, reply: Reply) -> None:
        """A reply is not of the form that was asked for: ask by the next way, if there is one."""
        structured_form = structured_by(judge, reply.asked_without)
        if structured_form:
            self.refused[judge.judge].add(structured_form)

    def _refusal(self, judge: Judge, before: Set[str], line: Line, fault: AttemptFailed | Refused) -> str | None:
        """What of a request was refused, by the server or before it by the library, if that can be given up."""
        if line.status is None or line.status >= 400:
            message = line.message if line.status else fault.message
            return refusal(judge, request(judge, self._prompt, before), before, message)
        return None

    async def _once(
        self,
        judge: Judge,
        messages: Sequence[Mapping[str, Any]],
        refused: Set[str],
        http: httpx.AsyncClient | None,
    ) -> tuple[Line, Reply | AttemptFailed | Refused]:
        """Send one request, without what was refused before: the line, and the reply or what went wrong."""
        address, params = judge.address or NOWHERE, wire_params(judge, refused)
        line = (
            Line(self._network.to(address), address, params, self._secrets, postpones=True)
            if http is None
            else Line(http, judge.address or None, params, self._secrets, postpones=True)
        )
        asked = judge, [sendable(message) for message in messages], refused, line
        try:
            async with asyncio.timeout(self.timeout):
                try:
                    return line, await self._answered(*asked, line)
                except Exception:
                    if not line.postponed:
                        raise
                return line, await asyncio.to_thread(self._read_postponed, *asked)
        except Exception as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():  # the library makes an error of its own of being cancelled
                raise asyncio.CancelledError from None
            return line, self._fault(judge, line, error)

    async def _answered(
        self,
        judge: Judge,
        messages: Sequence[Mapping[str, Any]],
        refused: Set[str],
        line: Line,
        transport: httpx.AsyncBaseTransport,
    ) -> Reply:
        """The reply to one request, by the library, which sends it through a transport alone."""
        handler = self._handler(transport)
        with guarded(line, handler):
            answer = await self._litellm.acompletion(
                **self._parameters(judge, refused),
                messages=messages,
                api_key=self._keys.get(judge.judge) or NO_KEY,
                client=handler,
                timeout=self.timeout,
                num_retries=0,
                max_retries=0,
            )
        return self._without_keys(replace(reply_of(answer), reply_id=line.reply_id))

    def _read_postponed(
        self, judge: Judge, messages: Sequence[Mapping[str, Any]], refused: Set[str], line: Line
    ) -> Reply:
        """The reply that a line has, read in a thread of its own, so that no other judge waits for it."""
        transport = httpx.MockTransport(line.answer_again)
        return asyncio.run(self._answered(judge, messages, refused, line, transport))

    async def prepared(self, judge: Judge, messages: Sequence[Mapping[str, Any]]) -> httpx.Request:
        """The request as it would be sent, in the provider's form and with the key.

        Raises
        ------
        JudgeRefused
            If it cannot be made.
        """
        made: list[httpx.Request] = []

        def keep(request: httpx.Request) -> httpx.Response:
            made.append(request)
            return httpx.Response(NOT_SENT)

        async with httpx.AsyncClient(transport=httpx.MockTransport(keep), trust_env=False) as nowhere:
            try:
                await self.attempt(judge, messages, nowhere)
            except Refused:
                if not made:
                    raise
        return made[0]

    async def read(self, judge: Judge, messages: Sequence[Mapping[str, Any]], answer: httpx.Response) -> Reply:
        """The reply in an answer that came another way, as `attempt` reads it."""
        came = httpx.MockTransport(lambda request: answer)
        async with httpx.AsyncClient(transport=came, trust_env=False) as nowhere:
            return await self.attempt(judge, messages, nowhere)

    async def call(
        self, judge: Judge, request: httpx.Request, seconds: float | None = None, largest: int = LARGEST_BODY
    ) -> bytes:
        """Send a request that is no question, to the host it names alone; what it is answered.

        Raises
        ------
        AttemptFailed, Refused, JudgeRefused
        """
        address = judge.address or NOWHERE
        line = Line(self._network.to(address), address, {}, self._secrets, largest)
        try:
            async with asyncio.timeout(seconds or self.timeout):
                response = await line.handle_async_request(request)
            response.raise_for_status()
        except Exception as error:
            raise self._fault(judge, line, error) from None
        return line.body

    def _without_keys(self, reply: Reply) -> Reply:
        """The reply once more without keys: its text may be joined from parts that held too little of one each."""
        named = (reply.model, reply.finish_reason, reply.reply_id)
        model, reason, name = (None if name is None else self._secrets.blanked(name) for name in named)
        reply_id = None if name is None or STANDS_FOR in name else name  # a key tells no reply from another
        text = self._secrets.blanked(reply.text)
        return replace(reply, text=text, model=model, finish_reason=reason, reply_id=reply_id)

    def _parameters(self, judge: Judge, refused: Set[str]) -> dict[str, Any]:
        parameters = request(judge, self._prompt, refused)
        model, provider, *_ = self._litellm.get_llm_provider(parameters["model"], api_base=parameters["api_base"])
        translated = self._litellm.get_supported_openai_params(model, provider) or ()
        return parameters | {"allowed_openai_params": unknown(parameters, translated)}

    def _handler(self, transport: httpx.AsyncBaseTransport) -> Any:
        from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler

        return AsyncHTTPHandler(transport=transport, follow_redirects=False)

    def _fault(self, judge: Judge, line: Line, error: Exception) -> AttemptFailed | Refused:
        """What went wrong, by what the line saw."""
        message = line.short_message
        if line.astray and not line.sent:
            return JudgeRefused("not sent", f"the request is for {line.astray}, which the key is not for")
        if line.large:
            return AttemptFailed("body too large", paid=True)
        if line.deep or line.compressed:
            kind = "nested too deeply" if line.deep else "compressed, which was not asked for"
            return AttemptFailed(f"body {kind}", paid=True)
        if line.redirected:
            return JudgeRefused("redirect", f"it sends requests on to {line.redirected}, which the key is not for")
        if line.status is None or line.cut:
            if isinstance(error, TimeoutError | httpx.TimeoutException | self._litellm.Timeout):
                return AttemptFailed("timeout", paid=line.sent)
            if not line.sent and not _is_network(error):
                return JudgeRefused("not sent", self._secrets.blanked(shortened(str(error))))
            return AttemptFailed("connection", paid=line.sent)
        if line.status in OF_THE_JUDGE:
            return JudgeRefused(str(line.status), message)
        if line.status in TRIED_AGAIN or line.status >= 500:
            return AttemptFailed(str(line.status), message, retry_after(line.headers))
        if line.status >= 400:
            return Refused(str(line.status), message)
        if isinstance(error, TimeoutError):
            return AttemptFailed("timeout", paid=True)
        return AttemptFailed("unreadable body", message, paid=True)

    async def close(self) -> None:
        await self._network.close()


def _is_network(error: BaseException | None) -> bool:
    """Whether the error, or what it came from, is of a connection."""
    while error is not None:
        if isinstance(error, httpx.TransportError):
            return True
        error = error.__cause__ or error.__context__
    return False
