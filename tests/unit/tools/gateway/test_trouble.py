"""Gateways that are dead, slow, strange, or not to be trusted"""

from __future__ import annotations

import shutil
import ssl
import subprocess
from pathlib import Path
from typing import Any

import pytest
from msgspec import json

from duvet.tools.gateway import MAX_REPLY_BYTES
from tests.unit.llm.wire import Reply, Wire
from tests.unit.tools.gateway.made import FOUND, Forwarding, refuses, says

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


##= man/spec/gateway.md#forwarding
##= type=test
##% duvet MUST reach a gateway over HTTPS with a valid certificate unless it is on the same machine, follow no
##% redirects, and refuse a `KM_GATEWAY_URL` with credentials.
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects(wire: Wire, status: int) -> None:
    wire.plan(Reply(status, b"", {"location": f"{wire.url}/geheim"}))
    assert Forwarding(wire.url).refusal("km-graph-search", term="k") == (
        "upstream_error",
        f"the gateway redirects elsewhere ({status})",
        "it is not followed: set KM_GATEWAY_URL to where the server is",
    )
    assert [one.path for one in wire.asked] == ["/api/mcp"]


RETRIED: dict[str, Reply] = {
    "502": Reply(502, b"<html>"),
    "503": Reply(503, b"<html>"),
    "504": Reply(504, b"<html>"),
    "too many at once": refuses(503, "upstream_error", "Too many requests at once", retry_after="1"),
    "cut": Reply(body=b'{"status"', is_cut=True),
}


##= man/spec/gateway.md#forwarding
##= type=test
##% duvet MUST retry a reading call twice when the gateway is unavailable, send any other call once, and give up after
##% `server.toolTimeout` or, for changes, 30 minutes.
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
    ##= man/spec/gateway.md#forwarding
    ##= type=test
    ##% duvet MUST retry a reading call twice when the gateway is unavailable, send any other call once, and give up
    ##% after `server.toolTimeout` or, for changes, 30 minutes.
    wire.plan(Reply(body=b"{}", stops_before=stops))
    told = Forwarding(wire.url, seconds=0.2).refusal("km-search", query="boil")
    assert told == ("upstream_error", "the gateway has not answered within 0.2 seconds", "try again later")


def test_a_certificate_that_nobody_knows(wire: Wire, tmp_path: Path) -> None:
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
    ##= man/spec/gateway.md#forwarding
    ##= type=test
    ##% duvet MUST pass on errors of the gateway, and answer `upstream_error` for anything that is not an answer of the
    ##% tool or is larger than 32 MiB.
    wire.plan(Reply(body=b" " * (MAX_REPLY_BYTES + 1)))
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
