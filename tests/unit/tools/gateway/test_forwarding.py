"""What is forwarded, and what a gateway says of it"""

from __future__ import annotations

import pytest
from msgspec import json

from tests.unit.llm.wire import Reply, Wire
from tests.unit.tools.gateway.made import ADMIN, FOUND, READER, Forwarding, refuses, says


def test_as_it_was_asked(wire: Wire) -> None:
    ##= man/spec/gateway.md#forwarding
    ##= type=test
    ##% duvet MUST forward a call with the reader's or else the admin's token, and neither list nor forward maintainers'
    ##% tools without the admin's token.
    wire.plan(says(FOUND))
    known = Forwarding(f"{wire.url}/team/")
    assert known.value("km-graph-search", term="kettle") == FOUND
    wire.plan(says({"status": "not_found", "profile": "x"}))
    wire.replies.popleft()
    assert known.value("km-ingest-status", face="shell", profile="x") == {"status": "not_found", "profile": "x"}
    first, second = wire.asked
    assert (first.method, first.path) == ("POST", "/team/api/mcp")
    assert first.body == {"tool": "km-graph-search", "input": {"term": "kettle"}}
    assert first.headers["authorization"] == f"Bearer {READER}"
    assert (first.headers["x-duvet-audience"], second.headers["x-duvet-audience"]) == ("mcp", "shell")
    assert second.headers["authorization"] == f"Bearer {ADMIN}"


def test_what_is_said_of_an_answer(wire: Wire) -> None:
    wire.plan(says(FOUND, warning="a\nwarning", next_step=f"show {READER}"))
    known = Forwarding(wire.url)
    import anyio

    found = anyio.run(known._call, "km-graph-search", {"term": "kettle"}, "mcp")
    assert (found.warning, found.next_step) == ("a warning", "show ***")


def test_arguments_are_checked_here(wire: Wire) -> None:
    assert Forwarding(wire.url).refusal("km-graph-search", termm="x")[0] == "invalid_request"
    assert not wire.asked


def test_without_an_admins_token(wire: Wire) -> None:
    for reader, code in ((READER, "forbidden"), (None, "unauthorized")):
        known = Forwarding(wire.url, reader, None)
        for tool in ("km-lifecycle-report", "km-ingest-status"):
            refused = code, f"{tool} needs the scope maintainer", "set KM_ADMIN_TOKEN beside KM_GATEWAY_URL"
            assert known.refusal(tool) == known.refusal(tool, nonsense=1) == refused
            assert tool not in {one.name for one in known.registry} and tool in known.registry
        assert {"km-help", "km-search"} <= {one.name for one in known.registry}
    assert not wire.asked


def test_help_is_given_here(wire: Wire) -> None:
    assert "km-ingest-status" in Forwarding(wire.url).value("km-help")["tools"]
    assert "km-ingest-status" not in Forwarding(wire.url, READER, None).value("km-help")["tools"]
    assert not wire.asked


ERRORS: list[tuple[Reply, tuple[str, str, str]]] = [
    (refuses(404, "not_found", "Node 'x' not found", "look"), ("not_found", "Node 'x' not found", "look")),
    (
        refuses(400, "invalid_identifier", "Invalid node identifier"),
        ("invalid_identifier", "Invalid node identifier", ""),
    ),
    (refuses(403, "forbidden", "it needs the scope maintainer"), ("forbidden", "it needs the scope maintainer", "")),
    (refuses(503, "upstream_error", "nothing was taken in"), ("upstream_error", "nothing was taken in", "")),
    (refuses(504, "timeout", "too late"), ("timeout", "too late", "")),
    (refuses(429, "upstream_error", "Too many requests", retry_after="1"), ("upstream_error", "Too many requests", "")),
    (refuses(418, "teapot", "short and stout"), ("upstream_error", "short and stout", "")),
    (refuses(400, "not_found", f"no {READER}", f"{ADMIN}!"), ("not_found", "no ***", "***!")),
    # However much of it is shown.
    (refuses(400, "not_found", "x" * 990 + ADMIN), ("not_found", "x" * 990 + "***", "")),
    (refuses(400, "not_found", "x" * 998 + READER), ("not_found", "x" * 998 + "*…", "")),
    (refuses(400, "not_found", "two\nlines\x1b[2J"), ("not_found", "two lines[2J", "")),
    (
        refuses(401, "unauthorized", "This token is not known", "x"),
        (
            "unauthorized",
            "This token is not known",
            "is KM_READER_TOKEN what that server wants to be shown?",
        ),
    ),
    (
        Reply(421, json.encode({"status": "error", "error": {"code": "forbidden", "message": "no", "hint": "allow"}})),
        ("forbidden", "no", "allow"),
    ),
]


@pytest.mark.parametrize(("reply", "told"), ERRORS, ids=[told[0] + str(n) for n, (_, told) in enumerate(ERRORS)])
def test_its_own_errors(wire: Wire, reply: Reply, told: tuple[str, str, str]) -> None:
    ##= man/spec/gateway.md#access
    ##= type=test
    ##% Answers and log lines MUST NOT contain tokens nor, apart from `stored_path` and the reason why an index cannot
    ##% be read, the folder of the project or the text of exceptions.
    wire.plan(reply)
    assert Forwarding(wire.url).refusal("km-graph-search", term="k") == told
    assert len(wire.asked) == 1


def test_without_any_token(wire: Wire) -> None:
    wire.plan(refuses(401, "unauthorized", "A token is needed"))
    told = Forwarding(wire.url, None, None).refusal("km-graph-search", term="k")
    assert told == ("unauthorized", "A token is needed", "set KM_READER_TOKEN or KM_ADMIN_TOKEN")
    assert "authorization" not in wire.asked[0].headers
