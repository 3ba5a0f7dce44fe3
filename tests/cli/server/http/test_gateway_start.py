"""What is said of a gateway before anything is forwarded, and who is asked to"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.made import make
from tests.unit.llm.wire import Reply, Wire
from tests.unit.server.http.command import Command
from tests.unit.server.http.desk import Here, at, desk, project
from tests.unit.server.http.serving import READER
from tests.unit.server.http.team import TOKENS
from tests.unit.specs.serving import at_work

__all__ = ["desk", "project"]  # fixtures, which tests ask for by name

pytestmark = pytest.mark.anyio


def test_it_is_told_that_calls_are_forwarded(duvet_command: str, desk: Path) -> None:
    ##= man/spec/service.md#calls
    ##= type=test
    ##% `duvet mcp --check` MUST fail for an invalid configuration, and otherwise show what would be served and where
    ##% calls are forwarded.
    here = Here(duvet_command, desk, at("http://127.0.0.1:8931/team", KM_READER_TOKEN=READER))
    lines = here.run("mcp", "--check").out.splitlines()
    assert lines[2] == (
        "gateway        127.0.0.1:8931: calls of km- tools but km-help are forwarded there, showing KM_READER_TOKEN"
    )
    assert "km-search" in lines[-1] and "km-ingest-status" not in lines[-1]
    described = here.run("mcp", "--describe").out
    assert json.loads(described)["gateway"] == {"at": "127.0.0.1:8931", "tokens": ["KM_READER_TOKEN"]}
    assert READER not in described
    bare = Here(duvet_command, desk, at("http://127.0.0.1:8931"))
    assert "are forwarded there, without a token\n" in bare.run("mcp", "--check").out
    alone = Here(duvet_command, desk, {"KM_GATEWAY_URL": ""})
    assert json.loads(alone.run("mcp", "--describe").out)["gateway"] is None
    assert "gateway" not in alone.run("mcp", "--check").out


def test_what_is_no_address(duvet_command: str, desk: Path) -> None:
    ##= man/spec/gateway.md#forwarding
    ##= type=test
    ##% duvet MUST reach a gateway over HTTPS with a valid certificate unless it is on the same machine, follow no
    ##% redirects, and refuse a `KM_GATEWAY_URL` with credentials.
    here = Here(duvet_command, desk, at("https://user:geheim@example.org"))
    for words in (("mcp", "--check"), ("mcp",), ("call", "km-search", "--query", "x"), ("tools",)):
        done = here.run(*words)
        assert done.code == 1 and done.out == ""
        assert "KM_GATEWAY_URL is not the address of a server" in done.err and "geheim" not in done.err


async def test_who_switches_the_pack_on(duvet_command: str, project: Path, desk: Path) -> None:
    ##= man/spec/gateway.md#forwarding
    ##= type=test
    ##% With `KM_GATEWAY_URL`, the shell and `duvet mcp` over standard input and output MUST enable the pack `knowledge`
    ##% unless it is disabled, forward the calls of its tools except `km-help` to that server, and refuse
    ##% `duvet recipe run`.
    make(desk, {"duvet.config.json": '{"toolPacks": {"knowledge": {"enabled": false}}}'})
    here = Here(duvet_command, desk, at("http://127.0.0.1:9"))
    assert "km-search" not in here.run("tools").out
    make(desk, {"duvet.config.json": '{"toolPacks": {"knowledge": {"tools": {"km-search": false}}}}'})
    listed = here.run("tools").out
    assert "km-search" not in listed and "km-graph-search" in listed
    # To itself it would forward without end.
    with Command(duvet_command, project, KM_GATEWAY_URL="http://127.0.0.1:9") as command:
        pass
    assert "WARN KM_GATEWAY_URL counts over standard input and output alone" in command.first


async def test_dead_slow_and_strange_ones(duvet_command: str, desk: Path) -> None:
    ##= man/spec/gateway.md#forwarding
    ##= type=test
    ##% duvet MUST pass on errors of the gateway, and answer `upstream_error` for anything that is not an answer of the
    ##% tool or is larger than 32 MiB.
    make(desk, {"duvet.config.json": '{"server": {"toolTimeout": 0.3}}'})
    with at_work(Wire()) as wire:
        here = Here(duvet_command, desk, at(wire.url, **TOKENS))
        wire.plan(Reply(body=b"<html>geheim"))
        assert "answers something else than km-search does" in here.call("km-search", {"query": "x"}).err
        wire.replies.clear()
        wire.plan(Reply(stops_before="headers"))
        done = here.call("km-search", {"query": "x"})
        wire.over.set()
    assert "error: the gateway has not answered within 0.3 seconds\n" in done.err
    _, answers = await here.pipes({"km-search": {"query": "x"}, "km-help": {"tool": "km-search"}})
    assert answers["km-search"]["error"]["code"] == "upstream_error"
    assert answers["km-help"]["status"] == "ok"
