"""Where the server listens."""

from __future__ import annotations

import os
import re
import socket
from ipaddress import ip_address

from msgspec import Struct

from duvet.errors import DuvetError, QueryError

_ADDRESS = re.compile(r"(?:(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9._-]+)):)?(?P<port>[0-9]{1,5})", re.ASCII)
_LOOPBACK = "127.0.0.1"
_BACKLOG = 1024


class Address(Struct, frozen=True):
    """A host, as it was given, and a port; 0 is any that is free."""

    host: str
    port: int

    @property
    def authority(self) -> str:
        """What stands in a URL."""
        return f"{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.authority}"

    def at(self, port: int) -> Address:
        """The same host with another port."""
        return Address(self.host, port)


def parse_address(text: str) -> Address:
    """`PORT` or `HOST:PORT`; QueryError where it is neither."""
    found = _ADDRESS.fullmatch(text)
    if not found or int(found["port"]) > 0xFFFF:
        raise QueryError(f"{text!r} is not an address", hint="give PORT, HOST:PORT or [IPV6]:PORT, like 127.0.0.1:8931")
    return Address(found["six"] or found["name"] or _LOOPBACK, int(found["port"]))


def listen(address: Address, anywhere: bool) -> socket.socket:
    """A socket that listens there; DuvetError where that can't be, or where others could come in and may not."""
    family, _, _, _, where = _resolve(address, anywhere)
    try:
        return socket.create_server(where[:2], family=family, backlog=_BACKLOG)
    except OSError as error:
        ##= man/spec/mcp.md#http
        ##% Where the address can't be listened at, `duvet mcp --http` MUST say so and fail.
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise DuvetError(f"can't listen at {address.authority}: {reason}", hint="choose another port") from error


def require_reach(address: Address, anywhere: bool) -> None:
    """DuvetError where nobody can listen there, or where others could come in and may not."""
    _resolve(address, anywhere)


_Resolved = tuple[int, int, int, str, tuple[str, int]]


def _resolve(address: Address, anywhere: bool) -> _Resolved:
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise DuvetError(f"can't listen at {address.authority}: no such host") from error
    ##= man/spec/mcp.md#http
    ##% Without tokens, `duvet mcp --http` MUST refuse an address that other machines can reach.
    if not anywhere and not all(_is_loopback(one[4][0]) for one in found):
        raise DuvetError(
            f"{address.host} can be reached by others, and no token is set",
            hint="set DUVET_READER_TOKEN or DUVET_ADMIN_TOKEN, or listen at 127.0.0.1",
        )
    return found[0]  # type: ignore[return-value]


def _is_loopback(host: str | int) -> bool:
    return ip_address(str(host).partition("%")[0]).is_loopback
