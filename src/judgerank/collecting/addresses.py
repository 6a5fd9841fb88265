"""Where each judge is asked: at its own address, or at the provider's as the client library has it.

Environment variables can send a provider's requests, and the key with them, to another server. An address is the
provider's own if a request that is prepared without these variables goes to the same one.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager

import httpx

from judgerank.collecting.client import ALWAYS_SET, Client
from judgerank.collecting.response import AttemptFailed, Refused
from judgerank.collecting.secrets import Secrets, available_keys
from judgerank.collecting.settings import Judge, Prompt
from judgerank.collecting.transport import proxy_for, proxy_without_password
from judgerank.data.errors import ConfigError

ANY = [{"role": "user", "content": "?"}]  # what a request says that is prepared and never sent
LOOPBACK = ("localhost", "127.0.0.1", "::1")
WELL_KNOWN = (  # hosts of providers' APIs that take OpenAI's form
    *("api.openai.com", "api.anthropic.com", "generativelanguage.googleapis.com", "api.mistral.ai", "api.x.ai"),
    *("api.deepseek.com", "api.groq.com", "api.together.xyz", "api.fireworks.ai", "api.deepinfra.com"),
    *("api.perplexity.ai", "api.cohere.com", "api.moonshot.ai", "openrouter.ai", "dashscope.aliyuncs.com"),
)
KEPT = (*ALWAYS_SET, "PATH", "HOME", "TMPDIR", "LANG")  # variables that name no server


def addressed(judges: Mapping[str, Judge], prompt: Prompt, allow_env_url: bool) -> dict[str, Judge]:
    """The judges, each with the address it is asked at; without one where no request to it can be prepared.

    Nothing is sent for it, and no key is needed.

    Raises
    ------
    ConfigError
        If the environment names an address, and that is not allowed; or no such proxy can be used.
    """
    of_providers = {name: judge for name, judge in judges.items() if judge.base_url is None and not judge.is_local}
    addressed_judges = dict(judges)
    if of_providers:
        secrets = Secrets(available_keys(judges.values()))
        addressed_judges |= asyncio.run(_addressed(of_providers, prompt, secrets))
    for name, judge in addressed_judges.items():
        proxy_for(judge.address)
        if judge.named_by and not allow_env_url:
            raise ConfigError(
                f"{judge.named_by} has judge {name!r} asked, and its key sent, at {judge.address}; "
                "unset it, name the address in the panel (base_url), or allow it by --allow-env-url"
            )
    return addressed_judges


def require_hosts(judges: Mapping[str, Judge], allowed: Collection[str]) -> None:
    """Refuse judges at hosts that nobody has named, lest a panel send a key of the environment anywhere.

    Named are the addresses of providers as the client library has them, well-known APIs, this computer, and the
    `allowed` hosts.

    Parameters
    ----------
    judges : mapping of str to Judge
        With their addresses (`addressed`).
    allowed : collection of str
        Names of hosts.

    Raises
    ------
    ConfigError
    """
    for name, judge in judges.items():
        if judge.is_local or (judge.base_url is None and not judge.named_by):
            continue
        host = httpx.URL(judge.address).host
        if host not in (*WELL_KNOWN, *LOOPBACK, *allowed):
            raise ConfigError(
                f"judge {name!r} would be asked, and its key sent, at {host}, which nobody has named: "
                f"--allow-host {host} allows it"
            )


async def _addressed(judges: Mapping[str, Judge], prompt: Prompt, secrets: Secrets) -> dict[str, Judge]:
    client = Client(judges, prompt, timeout=60.0, known_keys={})
    addressed_judges = {}
    try:
        for name, judge in judges.items():
            address = await _address(client, judge)
            with _only(KEPT):
                default = await _address(client, judge)
            named_by = await _naming(client, judge, address) if address not in ("", default) else ""
            addressed_judges[name] = judge.with_address(secrets.blanked(address), named_by)
    finally:
        await client.close()
    return addressed_judges


async def _address(client: Client, judge: Judge) -> str:
    """Where a request to the judge would go, in the environment as it is; empty if none can be prepared."""
    try:
        url = (await client.prepared(judge, ANY)).url
    except (AttemptFailed, Refused):
        return ""
    return str(httpx.URL(scheme=url.scheme, host=url.host, port=url.port, path=url.path))


async def _naming(client: Client, judge: Judge, address: str) -> str:
    """Which variable names the address: the first that does so alone, those that hold its host before others."""
    host = httpx.URL(address).host
    names = sorted(set(os.environ) - set(KEPT), key=lambda name: (host not in os.environ[name], name))
    for name in names:
        with _only((*KEPT, name)):
            if await _address(client, judge) == address:
                return f"the environment variable {name}"
    holding = [name for name in names if host in os.environ[name]]
    return f"the environment ({', '.join(holding)})" if holding else "the environment"


@contextmanager
def _only(names: Iterable[str]) -> Iterator[None]:
    """These variables and no others."""
    before = dict(os.environ)
    try:
        os.environ.clear()
        os.environ.update({name: before[name] for name in names if name in before})
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def where(judges: Mapping[str, Judge]) -> dict[str, dict[str, str]]:
    """By judge, its address, and where there is one, what names that and the proxy before it."""
    addresses = {}
    for name, judge in judges.items():
        proxy = proxy_for(judge.address)
        route = {"named_by": judge.named_by, "proxy": proxy_without_password(proxy) if proxy else ""}
        addresses[name] = {"address": judge.address} | {key: value for key, value in route.items() if value}
    return addresses
