"""A run of `duvet mcp --http`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from duvet.errors import QueryError
from duvet.terminal.service import Assembly
from duvet.terminal.service_options import Listening
from duvet.terminal.settings import settings
from duvet.terminal.streams import tell_line

if TYPE_CHECKING:
    from duvet.server.http.address import Address
    from duvet.server.http.limits import Limits


def serve_http(assembly: Assembly, listening: Listening) -> None:
    """Serve everybody who may ask at an address until a signal ends it."""
    from duvet.server.http.serve import Offer, Terms, serve
    from duvet.server.http.tokens import tokens
    from duvet.server.log import Level
    from duvet.tools.gateway.gateway import URL

    shown, server = settings(), assembly.service.config.server
    terms = Terms(
        address=address_of(assembly, listening),
        tokens=tokens(shown.environ),
        hosts=(*server.allowed_hosts, *listening.hosts),
        limits=_limits(server.rate if listening.rate is None else listening.rate, server.shutdown_timeout),
    )
    offer = Offer(
        identity=assembly.identity, instructions=assembly.renewing.instructions, live=assembly.live, desk=assembly.desk
    )
    if shown.environ.get(URL):
        assembly.log.tell(Level.WARN, f"{URL} counts over standard input and output alone")
    serve(offer, terms, assembly.log, tell_line)


def address_of(assembly: Assembly, listening: Listening) -> Address:
    """Where it is to listen, by the command line or else by the configuration."""
    from duvet.server.http.address import parse_address

    try:
        server = assembly.service.config.server
        return parse_address(listening.http or f"{_bracketed(server.host)}:{server.port}")
    except QueryError as error:
        raise click.BadParameter(f"{error.message}: {error.hint}", param_hint="--http") from error


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _limits(rate: float, stopping: float) -> Limits:
    from msgspec.structs import replace

    from duvet.server.http.limits import Limits

    return replace(Limits(), rate=rate, burst=2 * rate, stopping=stopping)
