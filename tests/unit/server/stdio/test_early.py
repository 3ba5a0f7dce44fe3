"""The answer that is given before the server is there, and the server's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from duvet.server.live_project import LiveProject
from duvet.server.messages import CAPABILITIES, ServerIdentity, encode_message
from duvet.server.protocol.server import DuvetServer
from duvet.server.stdio.handshake import HANDSHAKES, make_early_answer
from duvet.tools.dispatcher import ToolDispatcher
from duvet.tools.packs import Registry
from tests.unit.server.clients import MODERN
from tests.unit.server.conftest import INSTRUCTIONS, server_of
from tests.unit.server.stdio.talking import said
from tests.unit.server.wire import CLIENT, Message, enveloped, hello

ICON = {"src": "https://example.org/a.png", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark"}
ABSENT: Any = object()
VALUES: dict[str, Any] = {"absent": ABSENT, "null": None, "a number": 1, "a list": [], "true": True}
IDS: tuple[Any, ...] = (None, 1.0, 1.5, True, False, [], {})


def greeting(**params: Any) -> Message:
    """A handshake with other parameters, or without some."""
    usual = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}
    kept = {name: value for name, value in {**usual, **params}.items() if value is not ABSENT}
    return {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": kept}


def info(**more: Any) -> Message:
    return greeting(clientInfo={**CLIENT, **more})


def capable(**more: Any) -> Message:
    return greeting(capabilities=more)


def with_id(id: Any) -> Message:
    return {**greeting(), "id": id}


AT_ONCE: dict[str, Message | bytes] = {
    **{f"version {version}": hello(version) for version in (*HANDSHAKES, MODERN, "2030-01-01", "", "2025-03-26 ", "ü")},
    **{
        f"id {id!r}": with_id(id)
        for id in ("a", "", "0", "ü\n\x00\u2028", "x" * 1000, 0, -1, 2**31, 2**53 + 1, -(2**63), 2**64, 10**30)
    },
    "other members": {**greeting(), "more": [1], "result": None},
    "other parameters": greeting(more={"a": None}),
    "capabilities of another kind": capable(more=1, other=None, another=[]),
    "roots": capable(roots={"listChanged": True}),
    "empty capabilities": capable(roots={}, sampling={}, elicitation={}, experimental={}, extensions={}),
    "full capabilities": capable(
        roots={"listChanged": False, "more": 1},
        sampling={"context": {}, "tools": {"a": 1}},
        elicitation={"form": {}, "url": {"b": [None]}},
        experimental={"a": {"b": 1}},
        extensions={"org.example/x": {}},
    ),
    "what a client says of itself": info(title="T", description="D", websiteUrl="https://example.org"),
    "a name that is not ASCII": info(name="Žluťoučký 🐎", title="\U0001f40e\u0000"),
    "an address that is none": info(websiteUrl="nowhere"),
    "more of a client": info(more={"a": 1}),
    "metadata": greeting(_meta={"a": 1, "progressToken": "p"}),
    "an envelope": {**greeting(), "params": enveloped(greeting()["params"])},
    "a member twice": b'{"jsonrpc":"1.0","jsonrpc":"2.0","id":7,"id":8,"method":"ping","method":"initialize","params":{},'
    b'"params":{"protocolVersion":"1","protocolVersion":"2025-03-26","capabilities":{},'
    b'"clientInfo":{"name":"a","version":"1"}}}',
    "spaces": b' \t{ "jsonrpc" : "2.0" , ' + json.dumps(greeting()).encode()[1:] + b" \r",
    "escapes": json.dumps(info(name="\U0001f40e\u00fc/")).replace("/", "\\/").encode(),
}
LEFT: dict[str, Message | bytes] = {
    **{
        f"{name} is {what}": greeting(**{name: value})
        for name in ("protocolVersion", "capabilities", "clientInfo")
        for what, value in VALUES.items()
    },
    **{
        f"params are {what}": {**greeting(), "params": value}
        for what, value in {**VALUES, "empty": {}, "a string": "a"}.items()
        if value is not ABSENT
    },
    "params are absent": {"jsonrpc": "2.0", "id": 1, "method": "initialize"},
    **{f"id is {id!r}": with_id(id) for id in IDS},
    "a notification": {name: value for name, value in greeting().items() if name != "id"},
    "another method": {**greeting(), "method": "ping"},
    "another spelling": {**greeting(), "method": "Initialize"},
    "a method that is a number": {**greeting(), "method": 1},
    "another JSON-RPC": {**greeting(), "jsonrpc": "1.0"},
    "no JSON-RPC": {name: value for name, value in greeting().items() if name != "jsonrpc"},
    "a batch": b"[" + json.dumps(greeting()).encode() + b"]",
    "nothing": b"",
    "no JSON": b"{",
    "a snake": {
        **greeting(),
        "params": {"protocol_version": "2025-11-25", "capabilities": {}, "client_info": CLIENT},
    },
    "a name that is a number": info(name=1),
    "a version that is null": info(version=None),
    "a title that is null": info(title=None),
    "an icon": info(icons=[ICON]),
    "an icon of another theme": info(icons=[{**ICON, "theme": "blue"}]),
    "roots that are a list": capable(roots=[]),
    "roots that are null": capable(roots=None),
    "roots that nearly tell": capable(roots={"listChanged": "true"}),
    "tasks": capable(tasks={"list": {}, "requests": {}}),
    "experiments that are no objects": capable(experimental={"a": 1}),
    "metadata that is a list": greeting(_meta=[]),
    "a number of progress": greeting(_meta={"progressToken": 1}),
    "half a number of progress": greeting(_meta={"progressToken": 1.5}),
    "the first request of the later era": {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "server/discover",
        "params": enveloped(),
    },
}


def line_of(message: Message | bytes) -> bytes:
    return message if isinstance(message, bytes) else json.dumps(message).encode()


@pytest.mark.parametrize("case", AT_ONCE)
def test_the_early_answer_is_the_one_of_the_server(case: str, server: DuvetServer) -> None:
    ##= man/spec/mcp.md#handshake
    ##= type=test
    ##% The server MUST answer `initialize` without waiting for the SDK or the project, as it would later, and even with
    ##% an invalid configuration.
    line = line_of(AT_ONCE[case])
    early = make_early_answer(line, ServerIdentity(), INSTRUCTIONS)
    assert [encode_message(early)] == said(server, line + b"\n")


@pytest.mark.parametrize("case", LEFT)
def test_what_is_in_doubt_is_left_to_the_server(case: str) -> None:
    assert make_early_answer(line_of(LEFT[case]), ServerIdentity(), INSTRUCTIONS) is None


@pytest.mark.parametrize("asked", [*HANDSHAKES, MODERN])
@pytest.mark.parametrize("pinned", HANDSHAKES)
def test_a_configured_version_is_the_answer_to_all(asked: str, pinned: str, project: Path) -> None:
    identity = ServerIdentity(name="spexus mcp", title="Ü", version="1.0.0", description="", protocol_version=pinned)
    live = LiveProject(lambda: pytest.fail("a handshake needs no project"), 50)
    line = line_of(hello(asked))
    early = make_early_answer(line, identity, "")
    assert early is not None and early["result"]["protocolVersion"] == pinned
    assert [encode_message(early)] == said(
        DuvetServer(identity, "", live, ToolDispatcher(Registry(), live)), line + b"\n"
    )


def test_the_server_can_do_what_is_told_before() -> None:
    told = server_of(Path()).get_capabilities().model_dump(by_alias=True, exclude_none=True, mode="json")
    assert told == CAPABILITIES


words = some.text(max_size=5)
anything = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: some.lists(inner, max_size=2) | some.dictionaries(words, inner, max_size=2),
    max_leaves=4,
)
objects = some.dictionaries(words, anything, max_size=2)


def nearly(right: some.SearchStrategy[Any]) -> some.SearchStrategy[Any]:
    """What is meant to stand somewhere, as a rule."""
    return some.one_of(right, right, right, anything)


def members(**known: some.SearchStrategy[Any]) -> some.SearchStrategy[Any]:
    """An object with some of these members."""
    return nearly(some.fixed_dictionaries({}, optional={name: nearly(value) for name, value in known.items()}))


capabilities = members(
    roots=members(listChanged=some.booleans()),
    sampling=members(context=objects, tools=objects),
    elicitation=members(form=objects, url=objects),
    experimental=some.dictionaries(words, nearly(objects), max_size=1),
    extensions=some.dictionaries(words, nearly(objects), max_size=1),
    tasks=members(list=objects, cancel=objects, requests=objects),
)
clients = some.fixed_dictionaries(
    {"name": nearly(words), "version": nearly(words)},
    optional={name: nearly(words) for name in ("title", "description", "websiteUrl", "icons", "more")},
)
handshakes = some.fixed_dictionaries(
    {
        "jsonrpc": some.just("2.0"),
        "id": nearly(some.integers() | words),
        "method": some.just("initialize"),
        "params": nearly(
            some.fixed_dictionaries(
                {
                    "protocolVersion": nearly(some.sampled_from(HANDSHAKES)),
                    "capabilities": capabilities,
                    "clientInfo": nearly(clients),
                },
                optional={"_meta": members(progressToken=words), "more": anything},
            )
        ),
    }
)


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(handshakes)
def test_no_handshake_has_two_answers(message: Message) -> None:
    line = line_of(message)
    early = make_early_answer(line, ServerIdentity(), INSTRUCTIONS)
    assert early is None or [encode_message(early)] == said(server_of(Path()), line + b"\n")
