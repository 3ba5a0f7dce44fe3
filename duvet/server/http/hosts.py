"""Which names the server goes by: a page of another site that has its own name lead here is refused."""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import ip_address

from starlette.types import ASGIApp, Receive, Scope, Send

from duvet.server.http.answers import Refusal, refuse
from duvet.tools.errors import Code

_AUTHORITY = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?", re.ASCII)
_ORIGIN = re.compile(r"https?://(?P<authority>.+)")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_EVERYWHERE = ("0.0.0.0", "::")

_BAD_HOST = Refusal(
    status=421, code=Code.FORBIDDEN, message="This server doesn't go by that name", hint="duvet mcp --allow-host NAME"
)
_BAD_ORIGIN = Refusal(
    status=403,
    code=Code.FORBIDDEN,
    message="Pages of that origin may not ask",
    hint="duvet mcp --allow-host NAME",
)


class Hosts:
    """The names that requests may be sent to, and whose pages may send them."""

    def __init__(self, host: str, more: Iterable[str] = ()) -> None:
        self._names = {_plain(name) for name in (*_LOOPBACK, host, *more)}
        # What is listened at everywhere has names that nobody has told us. An address can't be led astray.
        self._any_address = host in _EVERYWHERE

    def allow(self, authority: str) -> bool:
        """Whether a request for that host, with any port, is meant for this server."""
        found = _AUTHORITY.fullmatch(authority)
        return bool(found) and self._is_ours(_plain(found["host"]))  # type: ignore[index]

    def allow_origin(self, origin: str) -> bool:
        """Whether a page of that origin may ask."""
        found = _ORIGIN.fullmatch(origin)
        return bool(found) and self.allow(found["authority"])  # type: ignore[index]

    def _is_ours(self, name: str) -> bool:
        return name in self._names or (self._any_address and _is_address(name))


class HostGuard:
    """Lets requests through that are meant for this server."""

    def __init__(self, app: ASGIApp, hosts: Hosts) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (refusal := self._refusal(scope)):
            await refuse(scope, send, refusal)
        else:
            await self._app(scope, receive, send)

    def _refusal(self, scope: Scope) -> Refusal | None:
        ##= man/spec/mcp.md#http
        ##% On every path, a request whose `Host` isn't a name of the server MUST be refused with 421, and one whose
        ##% `Origin` isn't with 403.
        hosts = headers_named(scope, b"host")
        if len(hosts) != 1 or not self._hosts.allow(hosts[0]):
            return _BAD_HOST
        return None if all(map(self._hosts.allow_origin, headers_named(scope, b"origin"))) else _BAD_ORIGIN


def headers_named(scope: Scope, name: bytes) -> list[str]:
    """The values of that header."""
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def _plain(host: str) -> str:
    """One spelling of a name or an address."""
    bare = host.strip("[]").lower()
    return str(ip_address(bare)) if _is_address(bare) else bare.rstrip(".")


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
