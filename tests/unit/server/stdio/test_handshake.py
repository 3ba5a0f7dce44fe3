from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as some

from duvet.config.service_tables import ServerSection
from duvet.config.settings import ProtocolVersion
from duvet.server.messages import encode_message
from duvet.server.stdio.handshake import HANDSHAKES, LineSplitter, make_early_answer
from tests.unit.server.clients import MODERN
from tests.unit.server.servers import INSTRUCTIONS, server_of
from tests.unit.server.stdio.conversation import JSON, WORDS, said
from tests.unit.server.stdio_server import CLIENT, Message, enveloped, hello, request

ICON = {"src": "https://example.org/a.png", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark"}
ABSENT: Any = object()
VALUES: dict[str, Any] = {"absent": ABSENT, "null": None, "a number": 1, "a list": [], "true": True}
IDS: tuple[Any, ...] = (None, 1.0, 1.5, True, False, [], {})


def greeting(**params: Any) -> Message:
    usual = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}
    kept = {name: value for name, value in {**usual, **params}.items() if value is not ABSENT}
    return request("initialize", kept)


def info(**more: Any) -> Message:
    return greeting(clientInfo={**CLIENT, **more})


def capable(**more: Any) -> Message:
    return greeting(capabilities=more)


def with_id(id: Any) -> Message:
    return {**greeting(), "id": id}


EARLY: dict[str, Message | bytes] = {
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
        roots={"listChanged": False},
        sampling={"context": {}, "tools": {"a": 1}},
        elicitation={"form": {}, "url": {"b": [None]}},
        experimental={"a": {"b": 1}},
        extensions={"org.example/x": {}},
    ),
    "what a client says of itself": info(title="T", description="D", websiteUrl="https://example.org"),
    "a name that is not ASCII": info(name="Žluťoučký 🐎", title="\U0001f40e\u0000"),
    "an invalid address": info(websiteUrl="nowhere"),
    "more of a client": info(more={"a": 1}),
    "metadata": greeting(_meta={"progressToken": "p"}),
    "a member twice": b'{"jsonrpc":"1.0","jsonrpc":"2.0","id":7,"id":8,"method":"ping","method":"initialize","params":{},'
    b'"params":{"protocolVersion":"1","protocolVersion":"2025-03-26","capabilities":{},'
    b'"clientInfo":{"name":"a","version":"1"}}}',
    "spaces": b' \t{ "jsonrpc" : "2.0" , ' + json.dumps(greeting()).encode()[1:] + b" \r",
    "escapes": json.dumps(info(name="\U0001f40e\u00fc/")).replace("/", "\\/").encode(),
}
LATE: dict[str, Message | bytes] = {
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
    "params are absent": request("initialize"),
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
    "a snake": request("initialize", {"protocol_version": "2025-11-25", "capabilities": {}, "client_info": CLIENT}),
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
    "more of roots": capable(roots={"more": 1}),
    "an envelope": {**greeting(), "params": enveloped(greeting()["params"])},
    "metadata that is a list": greeting(_meta=[]),
    "a number of progress": greeting(_meta={"progressToken": 1}),
    "half a number of progress": greeting(_meta={"progressToken": 1.5}),
    "the first request of the later era": request("server/discover", enveloped()),
}


def line_of(message: Message | bytes) -> bytes:
    return message if isinstance(message, bytes) else json.dumps(message).encode()


@pytest.mark.parametrize("case", EARLY)
def test_the_early_answer_is_that_of_the_server(case: str) -> None:
    line = line_of(EARLY[case])
    early = make_early_answer(line, ServerSection(), INSTRUCTIONS)
    assert [encode_message(early)] == said(server_of(Path("/no/such/folder")), line + b"\n")
    if case.startswith("version ") and early:
        asked = case.removeprefix("version ")
        assert early["result"]["protocolVersion"] == (asked if asked in HANDSHAKES else "2025-11-25")


def test_unusual_handshakes_are_left_to_the_server() -> None:
    early = {case: make_early_answer(line_of(message), ServerSection(), INSTRUCTIONS) for case, message in LATE.items()}
    assert early == dict.fromkeys(LATE)


@pytest.mark.parametrize("pinned", HANDSHAKES)
def test_a_configured_version_is_the_answer_to_all(pinned: str) -> None:
    rule = ServerSection(
        name="spexus mcp", title="Ü", version="1.0.0", description="", protocol_version=ProtocolVersion(pinned)
    )
    for asked in (*HANDSHAKES, MODERN, "1999-12-31"):
        line = line_of(hello(asked))
        early = make_early_answer(line, rule, "")
        assert early is not None and early["result"]["protocolVersion"] == pinned
        assert [encode_message(early)] == said(server_of(Path(), rule=rule, instructions=""), line + b"\n")


OBJECTS = some.dictionaries(WORDS, JSON, max_size=2)


def nearly(right: some.SearchStrategy[Any]) -> some.SearchStrategy[Any]:
    return some.one_of(right, right, right, JSON)


def members(**known: some.SearchStrategy[Any]) -> some.SearchStrategy[Any]:
    return nearly(some.fixed_dictionaries({}, optional={name: nearly(value) for name, value in known.items()}))


capabilities = members(
    roots=members(listChanged=some.booleans()),
    sampling=members(context=OBJECTS, tools=OBJECTS),
    elicitation=members(form=OBJECTS, url=OBJECTS),
    experimental=some.dictionaries(WORDS, nearly(OBJECTS), max_size=1),
    extensions=some.dictionaries(WORDS, nearly(OBJECTS), max_size=1),
    tasks=members(list=OBJECTS, cancel=OBJECTS, requests=OBJECTS),
)
clients = some.fixed_dictionaries(
    {"name": nearly(WORDS), "version": nearly(WORDS)},
    optional={name: nearly(WORDS) for name in ("title", "description", "websiteUrl", "icons", "more")},
)
handshakes = some.fixed_dictionaries(
    {
        "jsonrpc": some.just("2.0"),
        "id": nearly(some.integers() | WORDS),
        "method": some.just("initialize"),
        "params": nearly(
            some.fixed_dictionaries(
                {
                    "protocolVersion": nearly(some.sampled_from(HANDSHAKES)),
                    "capabilities": capabilities,
                    "clientInfo": nearly(clients),
                },
                optional={"_meta": members(progressToken=WORDS), "more": JSON},
            )
        ),
    }
)


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(handshakes)
def test_no_handshake_has_two_different_answers(message: Message) -> None:
    line = line_of(message)
    early = make_early_answer(line, ServerSection(), INSTRUCTIONS)
    assert early is None or [encode_message(early)] == said(server_of(Path()), line + b"\n")


def split(data: bytes, size: int, longest: int = 100) -> list[bytes | None]:
    lines = LineSplitter(longest)
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    return [line for piece in pieces for line in lines.feed(piece)] + list(lines.end())


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"a\nbc\n", [b"a", b"bc"]),
        (b"a\nbc", [b"a", b"bc"]),
        (b"a\r\n\r\n \t\n\nb\r\n", [b"a\r", b"b\r"]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", [b"a", b"\xef\xbb\xbfb"]),
        (b"a\x00\xff\nb\n", [b"a\x00\xff", b"b"]),
        (b"x" * 100 + b"\n" + b"y" * 101 + b"\nz\n", [b"x" * 100, None, b"z"]),
        (b"x" * 1000 + b"\n\n" + b"y" * 1000, [None, None]),
        (b"", []),
    ],
)
def test_bytes_are_split_into_lines(data: bytes, expected: list[bytes | None], size: int) -> None:
    assert split(data, size) == expected
