"""What is forwarded, and what comes back."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from pathlib import Path
from typing import Any

import pytest
from msgspec import json

from duvet.tools.gateway.line import MOST_BYTES
from tests.llm.wire import Reply, Wire
from tests.tools.gateway.made import ADMIN, READER, Forwarding, refuses, says

NODE = {"id": "Subsystem:Kettle", "labels": ["Subsystem"], "properties": {"name": "Kettle"}}
FOUND = {"status": "ok", "results": [{"id": "Subsystem:Kettle", "label": "Kettle", "score": 0.95, "snippet": "Heats"}]}
ABOUT_IT = "is KM_GATEWAY_URL right, and the server up?"
STRANGE = {
    "html": Reply(body=b"<!DOCTYPE html><title>geheim</title>"),
    "nothing": Reply(),
    "a list": Reply(body=b"[]"),
    "no status": Reply(body=json.encode({"result": FOUND})),
    "no result": Reply(body=b'{"status": "ok"}'),
    "another status": Reply(body=json.encode({"status": "fine", "result": FOUND})),
    "another shape": says({"status": "ok", "results": [{"id": 5}]}),
    "a bare array": says([1, 2]),
    "null": says(None),
    "deep": Reply(body=b'{"status": "ok", "result": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
    "not UTF-8": Reply(body=b'{"status": "ok", "result": "\xff"}'),
}
STATUSES = {
    "404": Reply(404, b"geheim"),
    "500": Reply(500, b"geheim"),
    "401 of a proxy": Reply(401, b"geheim"),
    "no error of ours": Reply(400, b'{"status": "error", "error": {"message": "geheim"}}'),
}


def test_as_it_was_asked(wire: Wire) -> None:
    ##= man/spec/gateway.md#access
    ##= type=test
    ##% With `KM_GATEWAY_URL`, a tool for readers MUST be called with the reader's token, or else with the admin's, and one
    ##% for maintainers with the admin's token alone.
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
    ##= man/spec/gateway.md#access
    ##= type=test
    ##% With `KM_GATEWAY_URL` and without an admin's token, tools for maintainers MUST NOT be shown, and a call of one MUST be
    ##% refused as `forbidden`, or as `unauthorized` where there is no token at all, and sent nowhere.
    for reader, code in ((READER, "forbidden"), (None, "unauthorized")):
        known = Forwarding(wire.url, reader, None)
        for tool in ("km-lifecycle-report", "km-ingest-status"):
            refused = code, f"{tool} needs the scope maintainer", "set KM_ADMIN_TOKEN beside KM_GATEWAY_URL"
            assert known.refusal(tool) == known.refusal(tool, nonsense=1) == refused
            assert tool not in {one.name for one in known.registry} and tool in known.registry
        assert {"km-help", "km-search"} <= {one.name for one in known.registry}
    assert not wire.asked


def test_help_is_given_here(wire: Wire) -> None:
    ##= man/spec/gateway.md#access
    ##= type=test
    ##% With `KM_GATEWAY_URL`, `duvet mcp` over standard input and output and the shell MUST forward each call of a `km-` tool
    ##% to `POST /api/mcp` of that server, but for `km-help`, which tells of what can be called here.
    assert "km-ingest-status" in Forwarding(wire.url).value("km-help")["tools"]
    assert "km-ingest-status" not in Forwarding(wire.url, READER, None).value("km-help")["tools"]
    assert not wire.asked


##= man/spec/gateway.md#access
##= type=test
##% What a gateway answers that is no answer of the tool MUST be told as `upstream_error`, with what to do and nothing of
##% what it has answered.
@pytest.mark.parametrize("reply", STRANGE.values(), ids=STRANGE)
def test_nonsense(wire: Wire, reply: Reply) -> None:
    wire.plan(reply)
    assert Forwarding(wire.url).refusal("km-graph-search", term="kettle") == (
        "upstream_error",
        "the gateway answers something else than km-graph-search does",
        "is it a duvet server, and of this version?",
    )
    assert len(wire.asked) == 1


@pytest.mark.parametrize("reply", STATUSES.values(), ids=STATUSES)
def test_strange_statuses(wire: Wire, reply: Reply) -> None:
    wire.plan(reply)
    message = f"the gateway answers with the status {reply.status}"
    assert Forwarding(wire.url).refusal("km-graph-search", term="k") == ("upstream_error", message, ABOUT_IT)
    assert len(wire.asked) == 1


##= man/spec/gateway.md#access
##= type=test
##% duvet MUST NOT follow where a gateway redirects to.
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects(wire: Wire, status: int) -> None:
    wire.plan(Reply(status, b"", {"location": f"{wire.url}/geheim"}))
    assert Forwarding(wire.url).refusal("km-graph-search", term="k") == (
        "upstream_error",
        f"the gateway redirects elsewhere ({status})",
        "it is not followed: set KM_GATEWAY_URL to where the server is",
    )
    assert [one.path for one in wire.asked] == ["/api/mcp"]


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


##= man/spec/gateway.md#access
##= type=test
##% An error of the gateway's own MUST keep its code, its message and its hint.
@pytest.mark.parametrize(("reply", "told"), ERRORS, ids=[told[0] + str(n) for n, (_, told) in enumerate(ERRORS)])
def test_its_own_errors(wire: Wire, reply: Reply, told: tuple[str, str, str]) -> None:
    ##= man/spec/gateway.md#access
    ##= type=test
    ##% A token MUST NOT stand in any message, whatever a gateway answers.
    wire.plan(reply)
    assert Forwarding(wire.url).refusal("km-graph-search", term="k") == told
    assert len(wire.asked) == 1


def test_without_any_token(wire: Wire) -> None:
    wire.plan(refuses(401, "unauthorized", "A token is needed"))
    told = Forwarding(wire.url, None, None).refusal("km-graph-search", term="k")
    assert told == ("unauthorized", "A token is needed", "set KM_READER_TOKEN or KM_ADMIN_TOKEN")
    assert "authorization" not in wire.asked[0].headers


RETRIED: dict[str, Reply] = {
    "502": Reply(502, b"<html>"),
    "503": Reply(503, b"<html>"),
    "504": Reply(504, b"<html>"),
    "too many at once": refuses(503, "upstream_error", "Too many requests at once", retry_after="1"),
    "cut": Reply(body=b'{"status"', is_cut=True),
}


##= man/spec/gateway.md#access
##= type=test
##% A call of a tool that only reads MUST be tried again, twice, where the gateway can't be reached or answers with 502, 503
##% or 504 for now; a call of any other tool MUST be sent once.
@pytest.mark.parametrize("reply", RETRIED.values(), ids=RETRIED)
def test_what_is_tried_again(wire: Wire, reply: Reply) -> None:
    wire.plan(reply, reply, says(FOUND))
    known = Forwarding(wire.url)
    assert known.value("km-graph-search", term="kettle") == FOUND
    assert (len(wire.asked), known.clock.waited) == (3, [0.2, 0.6])
    wire.replies.clear()
    wire.plan(reply)
    assert known.refusal("km-graph-search", term="kettle")[0] == "upstream_error"
    assert len(wire.asked) == 6


def test_a_dead_one(wire: Wire) -> None:
    wire.server_close()
    known = Forwarding(wire.url)
    refused: tuple[Any, ...] = ("upstream_error", "the gateway can't be reached: ConnectError", ABOUT_IT)
    assert known.refusal("km-search", query="boil") == refused
    assert known.clock.waited == [0.2, 0.6]


@pytest.mark.parametrize("stops", ["headers", "body"])
def test_a_slow_one(wire: Wire, stops: str) -> None:
    ##= man/spec/gateway.md#access
    ##= type=test
    ##% A call that is forwarded MUST be over within `server.toolTimeout`, with all that is tried again, and one that changes
    ##% something within 30 minutes.
    wire.plan(Reply(body=b"{}", stops_before=stops))
    told = Forwarding(wire.url, seconds=0.2).refusal("km-search", query="boil")
    assert told == ("upstream_error", "the gateway has not answered within 0.2 seconds", "try again later")


def test_a_certificate_that_nobody_knows(wire: Wire, tmp_path: Path) -> None:
    ##= man/spec/gateway.md#access
    ##= type=test
    ##% A gateway MUST be reached over HTTPS, with its certificate checked, unless it is on this machine.
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make a certificate with")
    subprocess.run(
        [*made, "-keyout", str(key), "-out", str(certificate), "-addext", "subjectAltName=DNS:localhost"],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    wire.socket = context.wrap_socket(wire.socket, server_side=True)
    wire.plan(says(FOUND))
    told = Forwarding(f"https://localhost:{wire.server_port}").refusal("km-graph-search", term="k")
    assert told == ("upstream_error", "the gateway can't be reached: ConnectError", ABOUT_IT)
    assert not wire.asked


def test_a_large_one(wire: Wire) -> None:
    ##= man/spec/gateway.md#access
    ##= type=test
    ##% An answer of a gateway that has more than 32 MiB MUST be an error.
    wire.plan(Reply(body=b" " * (MOST_BYTES + 1)))
    told = Forwarding(wire.url).refusal("km-search", query="boil")
    assert told == (
        "upstream_error",
        "the gateway answers more than 33,554,432 bytes",
        "ask for less, such as by `limit`",
    )


def test_a_compressed_one(wire: Wire) -> None:
    wire.plan(Reply(body=b"x", headers={"content-encoding": "gzip"}))
    told = Forwarding(wire.url).refusal("km-search", query="boil")
    assert told[:2] == ("upstream_error", "the gateway answers compressed, which it was not asked for")
