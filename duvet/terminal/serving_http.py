"""A run of `duvet mcp --http`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from duvet.errors import QueryError
from duvet.terminal.serving import blobs_of
from duvet.terminal.settings import settings
from duvet.terminal.streams import say

if TYPE_CHECKING:
    from duvet.server.http.serve import Offer


def serve_http(address: str, hosts: Sequence[str], rate: float | None, where: Mapping[str, Any]) -> None:
    """Serve everybody who may ask at an address until a signal ends it."""
    from msgspec.structs import replace

    from duvet.server.http.address import parse_address
    from duvet.server.http.limits import Limits
    from duvet.server.http.serve import Terms, serve
    from duvet.server.http.tokens import tokens

    shown = settings()
    limits = Limits() if rate is None else replace(Limits(), rate=rate, burst=2 * rate)
    try:
        where_to = parse_address(address)
    except QueryError as error:
        raise click.BadParameter(f"{error.message}: {error.hint}", param_hint="--http") from error
    terms = Terms(address=where_to, tokens=tokens(shown.environ), hosts=tuple(hosts), limits=limits, logs=shown.verbose)
    serve(_offer(where), terms, _say)


def _offer(where: Mapping[str, Any]) -> Offer:
    from duvet.config.server import server_rule
    from duvet.server.http.serve import Offer
    from duvet.server.identity import identity_of
    from duvet.server.instructions import instructions
    from duvet.terminal.lasting import live_project
    from duvet.tree.disk import DiskTree

    shown = settings()
    rule = server_rule(DiskTree(), where["config_path"] or shown.config_path)
    return Offer(
        identity=identity_of(rule),
        instructions=instructions(rule, blobs_of(shown)),
        live=live_project(where, rule.page_size),
        packs=rule.packs,
    )


def _say(line: str) -> None:
    say(f"{line}\n")
    if sys.stderr is not None:
        sys.stderr.flush()
