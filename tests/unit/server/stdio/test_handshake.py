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
VALUES: tuple[Any, ...] = (ABSENT, None, 1, [], True)


def greeting(**params: Any) -> Message:
    usual = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}
    kept = {name: value for name, value in {**usual, **params}.items() if value is not ABSENT}
    return request("initialize", kept)


def info(**more: Any) -> Message:
    return greeting(clientInfo={**CLIENT, **more})


def capable(**more: Any) -> Message:
    return greeting(capabilities=more)


TWICE = b"""{"jsonrpc":"1.0","jsonrpc":"2.0","id":7,"id":8,"method":"ping","method":"initialize","params":{},"params":\
{"protocolVersion":"1","protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}"""
USUAL, ENVELOPED = greeting(), enveloped(greeting()["params"])
VERSIONS = (*HANDSHAKES, MODERN, "2030-01-01", "", "2025-03-26 ", "ü")
IDS = ("a", "", "0", "ü\n\x00\u2028", "x" * 1000, 0, -1, 2**31, 2**53 + 1, -(2**63), 2**64, 10**30)
FULL = {
    "roots": {"listChanged": False},
    "sampling": {"context": {}, "tools": {"a": 1}},
    "experimental": {"a": {"b": 1}},
}
EARLY: list[Message | bytes] = [
    *map(hello, VERSIONS),
    *({**USUAL, "id": id} for id in IDS),
    *({**USUAL, "more": [1], "result": None}, greeting(more={"a": None}), greeting(_meta={"progressToken": "p"})),
    *(capable(more=1, other=None, another=[]), capable(roots={"listChanged": True})),
    capable(roots={}, sampling={}, elicitation={}, experimental={}, extensions={}),
    capable(**FULL, elicitation={"form": {}, "url": {"b": [None]}}, extensions={"org.example/x": {}}),
    *(info(title="T", description="D", websiteUrl="https://example.org"), info(websiteUrl="nowhere")),
    *(info(name="Žluťoučký 🐎", title="\U0001f40e\u0000"), info(more={"a": 1}), TWICE),
    b' \t{ "jsonrpc" : "2.0" , ' + json.dumps(USUAL).encode()[1:] + b" \r",
    json.dumps(info(name="\U0001f40e\u00fc/")).replace("/", "\\/").encode(),
]
NO_IDS: tuple[Any, ...] = (None, 1.0, 1.5, True, False, [], {})
ROOTS: tuple[Any, ...] = ([], None, {"listChanged": "true"}, {"more": 1})
META: tuple[Any, ...] = ([], {"progressToken": 1}, {"progressToken": 1.5})
LATE: list[Message | bytes] = [
    *(greeting(**{name: value}) for name in ("protocolVersion", "capabilities", "clientInfo") for value in VALUES),
    *({**USUAL, "params": value} for value in (*VALUES[1:], {}, "a", ENVELOPED)),
    *({**USUAL, "id": id} for id in NO_IDS),
    *({**USUAL, "method": method} for method in ("ping", "Initialize", 1)),
    *({**USUAL, "jsonrpc": "1.0"}, request("initialize"), request("server/discover", enveloped())),
    *({name: value for name, value in USUAL.items() if name != missing} for missing in ("id", "jsonrpc")),
    *(b"[" + json.dumps(USUAL).encode() + b"]", b"", b"{"),
    request("initialize", {"protocol_version": "2025-11-25", "capabilities": {}, "client_info": CLIENT}),
    *(info(name=1), info(version=None), info(title=None), info(icons=[ICON]), info(icons=[{**ICON, "theme": "blue"}])),
    *(capable(roots=roots) for roots in ROOTS),
    *(capable(tasks={"list": {}, "requests": {}}), capable(experimental={"a": 1})),
    *(greeting(_meta=meta) for meta in META),
]


def line_of(message: Message | bytes) -> bytes:
    return message if isinstance(message, bytes) else json.dumps(message).encode()


def test_the_early_answer_is_that_of_the_server() -> None:
    server = server_of(Path("/no/such/folder"))
    for line in map(line_of, EARLY):
        early = make_early_answer(line, ServerSection(), INSTRUCTIONS)
        assert [encode_message(early)] == said(server, line + b"\n"), line
    answers = [make_early_answer(line_of(hello(asked)), ServerSection(), INSTRUCTIONS) for asked in VERSIONS]
    versions = [early and early["result"]["protocolVersion"] for early in answers]
    assert versions == [*HANDSHAKES, *["2025-11-25"] * 5]
    # Unusual handshakes are left to the server.
    for line in map(line_of, LATE):
        assert make_early_answer(line, ServerSection(), INSTRUCTIONS) is None, line


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
versions = nearly(some.sampled_from(HANDSHAKES))
params = some.fixed_dictionaries(
    {"protocolVersion": versions, "capabilities": capabilities, "clientInfo": nearly(clients)},
    optional={"_meta": members(progressToken=WORDS), "more": JSON},
)
usual = {"jsonrpc": some.just("2.0"), "method": some.just("initialize")}
handshakes = some.fixed_dictionaries({**usual, "id": nearly(some.integers() | WORDS), "params": nearly(params)})


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
