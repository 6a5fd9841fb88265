"""The network as judges are reached by it: directly, or through a proxy that sees no more than a host's name."""

from __future__ import annotations

from importlib.util import find_spec
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from judgerank.data.errors import ConfigError

PROXIES = ("http", "https", "socks5", "socks5h")


class Network:
    """Clients by the proxy they go through. None follows a redirect, or reads a key from a file of its own."""

    def __init__(self, timeout: float):
        self._timeout = timeout
        self._clients: dict[str | None, httpx.AsyncClient] = {}

    def to(self, address: str) -> httpx.AsyncClient:
        """What sends requests to an address."""
        proxy = proxy_for(address)
        if proxy not in self._clients:
            way = httpx.AsyncHTTPTransport(proxy=proxy)  # reads from the environment which certificates to trust
            self._clients[proxy] = httpx.AsyncClient(transport=way, trust_env=False, timeout=self._timeout)
        return self._clients[proxy]

    async def close(self) -> None:
        for client in self._clients.values():
            await client.aclose()


def proxy_for(address: str) -> str | None:
    """The proxy that the environment names for an address of https; None if it names none, and for http.

    A proxy is asked to connect (CONNECT) to a host of https, and all else is encrypted. Of a request to http it
    would see everything, the key too.

    Raises
    ------
    ConfigError
        If it is no proxy's address, or one that needs a library that is not there.
    """
    parts = urlsplit(address)
    found = getproxies()
    proxy = found.get("https") or found.get("all")
    if parts.scheme != "https" or not proxy or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    scheme = urlsplit(proxy).scheme
    if scheme not in PROXIES:
        raise ConfigError(
            f"HTTPS_PROXY or ALL_PROXY names a proxy of the kind {scheme!r}, which cannot be used; "
            f"known are {', '.join(PROXIES)}"
        )
    if scheme.startswith("socks") and find_spec("socksio") is None:
        raise ConfigError(
            "HTTPS_PROXY or ALL_PROXY names a SOCKS proxy, which takes the package socksio (pip install socksio); "
            "NO_PROXY names hosts that need no proxy"
        )
    return proxy


def shown(proxy: str) -> str:
    """A proxy without the user and the password that its address may hold."""
    parts = urlsplit(proxy)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
