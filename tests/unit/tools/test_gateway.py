import shutil
import ssl
import subprocess
from pathlib import Path
from typing import Any

import anyio
import pytest
from msgspec import json
from pytest_snapshot.plugin import Snapshot

from duvet.errors import QueryError
from duvet.tools.call_context import Caller
from duvet.tools.dispatcher import ToolDispatcher
from duvet.tools.gateway import MAX_REPLY_BYTES, GatewayConnection, parse_gateway
from duvet.tools.packs import Registry
from duvet.tools.tool import EnabledPack, Scope, ToolAnswer, ToolError
from tests.unit.knowledge.stored_project import plain
from tests.unit.llm.provider_server import Reply, Wire
from tests.unit.llm.routers import FakeClock
from tests.unit.tools.tool_calls import FILES, Fixed, context_of

READER, ADMIN = "reader-0123456789", "admin-0123456789"
FOUND = {"status": "ok", "results": [{"id": "Subsystem:Kettle", "label": "Kettle", "score": 0.95, "snippet": "Heats"}]}


class Forwarding:
    def __init__(self, url: str, reader: str | None = READER, admin: str | None = ADMIN, seconds: float = 30.0) -> None:
        self.clock = FakeClock()
        self._gateway, self._seconds = parse_gateway(url, reader, admin), seconds
        self._secret = reader
        self.registry = Registry([EnabledPack(self._connection().make_pack())])

    def answer(self, tool: str, /, face: str = "mcp", **given: Any) -> ToolAnswer:
        async def call() -> ToolAnswer:
            line = self._connection()
            desk = ToolDispatcher(Registry([EnabledPack(line.make_pack())]), Fixed(context_of(FILES)))
            try:
                return await desk.call(tool, given, Caller(face=face))
            finally:
                await line.aclose()

        return anyio.run(call)

    def value(self, tool: str, /, **given: Any) -> Any:
        return plain(self.answer(tool, **given).value)

    def refusal(self, tool: str, /, **given: Any) -> tuple[str, str, str]:
        try:
            found = self.answer(tool, **given)
        except ToolError as error:
            assert not self._secret or self._secret not in f"{error.message}{error.hint}{error.details}"
            return error.code.value, error.message, error.hint
        raise AssertionError(f"it answered {found}")

    def _connection(self) -> GatewayConnection:
        return GatewayConnection(self._gateway, self._seconds, self.clock)


def says(result: Any, **more: Any) -> Reply:
    return Reply(body=json.encode({"status": "ok", "result": result, **more}))


def refuses(status: int, code: str, message: str, hint: str = "", **headers: str) -> Reply:
    told = {"status": "error", "error": message, "code": code, "hint": hint}
    return Reply(status, json.encode(told), {name.replace("_", "-"): text for name, text in headers.items()})


def test_maintainers_tools_need_the_admins_token(wire: Wire) -> None:
    for reader, code in ((READER, "forbidden"), (None, "unauthorized")):
        known = Forwarding(wire.url, reader, None)
        for tool in ("km-lifecycle-report", "km-ingest-status"):
            refused = (
                code,
                f"{tool} requires the scope maintainer",
                "set KM_ADMIN_TOKEN to the maintainers' token of the gateway",
            )
            assert known.refusal(tool) == known.refusal(tool, nonsense=1) == refused
            assert tool not in {one.name for one in known.registry} and tool in known.registry
        assert {"km-help", "km-search"} <= {one.name for one in known.registry}
    assert not wire.asked


NESTED = {"code": "forbidden", "message": "no", "hint": "allow"}
REPLIES: dict[str, Reply] = {
    "not found": refuses(404, "not_found", "Node 'x' not found", "look"),
    "an identifier": refuses(400, "invalid_identifier", "Bad identifier"),
    "a timeout": refuses(504, "timeout", "too late"),
    "too many": refuses(429, "upstream_error", "Too many requests", retry_after="1"),
    "an unknown code": refuses(418, "teapot", "short and stout"),
    "a token": refuses(400, "not_found", f"no {READER}", f"{ADMIN}!"),
    # However much of it the error quotes.
    "a token at the end": refuses(400, "not_found", "x" * 990 + ADMIN),
    "a token beyond the end": refuses(400, "not_found", "x" * 998 + READER),
    "control characters": refuses(400, "not_found", "two\nlines\x1b[2J"),
    "unauthorized": refuses(401, "unauthorized", "Not known", "x"),
    "nested": Reply(421, json.encode({"status": "error", "error": NESTED})),
    "details": Reply(409, json.encode({"status": "error", "error": NESTED, "details": [READER]})),
    # Anything but an answer of the tool.
    "html": Reply(body=b"<!DOCTYPE html><title>geheim</title>"),
    "nothing": Reply(),
    "a list": Reply(body=b"[]"),
    "no result": Reply(body=b'{"status": "ok"}'),
    "another status": Reply(body=json.encode({"status": "fine", "result": FOUND})),
    "another shape": says({"status": "ok", "results": [{"id": 5}]}),
    "deep": Reply(body=b'{"status": "ok", "result": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
    "not UTF-8": Reply(body=b'{"status": "ok", "result": "\xff"}'),
    "401": Reply(401, b"geheim"),
    "400": Reply(400, b'{"status": "error", "error": {"message": "geheim"}}'),
    **{f"redirect {code}": Reply(code, b"", {"location": "/geheim"}) for code in (301, 308)},
    "large": Reply(body=b" " * (MAX_REPLY_BYTES + 1)),
    "compressed": Reply(body=b"x", headers={"content-encoding": "gzip"}),
}


def test_errors_are_passed_on_without_tokens_and_other_replies_are_errors(wire: Wire, problem_files: Snapshot) -> None:
    ##= man/spec/gateway.md#access
    ##% Answers and log lines MUST NOT contain tokens.
    wire.plan(*REPLIES.values())
    known = Forwarding(wire.url)
    lines = [f"{name}: {'; '.join(filter(None, known.refusal('km-graph-search', term='k')))}" for name in REPLIES]
    problem_files.assert_match("\n".join(lines).replace("x" * 990, "[990 times x]"), "gateway.txt")
    assert [one.path for one in wire.asked] == ["/api/mcp"] * len(REPLIES)


ABOUT_IT = "check that KM_GATEWAY_URL is the URL of a running duvet server"
BUSY = refuses(503, "upstream_error", "Too many requests at once", retry_after="1")
RETRIED = [*(Reply(status, b"<html>") for status in (502, 503, 504)), BUSY, Reply(body=b'{"status"', is_cut=True)]


def test_a_reading_call_is_tried_three_times(wire: Wire) -> None:
    ##= man/spec/gateway.md#forwarding
    ##% If the gateway is unavailable, duvet MUST repeat a call that changes nothing, and MUST NOT repeat any other
    ##% call.
    for reply in RETRIED:
        known = Forwarding(wire.url)
        wire.asked.clear()
        wire.replies.clear()
        wire.plan(reply, reply, says(FOUND))
        assert known.value("km-graph-search", term="kettle") == FOUND
        assert (len(wire.asked), known.clock.waits) == (3, [0.2, 0.6])
        wire.replies.clear()
        wire.plan(reply)
        assert known.refusal("km-graph-search", term="kettle")[0] == "upstream_error"
        assert len(wire.asked) == 6
    wire.server_close()
    known = Forwarding(wire.url)
    refused: tuple[Any, ...] = ("upstream_error", "can't reach the gateway: connect error", ABOUT_IT)
    assert known.refusal("km-search", query="boil") == refused
    assert known.clock.waits == [0.2, 0.6]


@pytest.mark.parametrize("stops", ["headers", "body"])
def test_a_slow_gateway_is_given_up(wire: Wire, stops: str) -> None:
    wire.plan(Reply(body=b"{}", stops_before=stops))
    told = Forwarding(wire.url, seconds=0.2).refusal("km-search", query="boil")
    assert told == ("upstream_error", "the gateway did not answer within 0.2 s", "try again later")


def test_an_unknown_certificate_is_not_trusted(wire: Wire, tmp_path: Path) -> None:
    key, certificate = str(tmp_path / "key.pem"), str(tmp_path / "certificate.pem")
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make a certificate with")
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    made += ["-keyout", key, "-out", certificate, "-addext", "subjectAltName=DNS:localhost"]
    subprocess.run(made, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    wire.socket = context.wrap_socket(wire.socket, server_side=True)
    wire.plan(says(FOUND))
    told = Forwarding(f"https://localhost:{wire.server_port}").refusal("km-graph-search", term="k")
    assert told == ("upstream_error", "can't reach the gateway: connect error", ABOUT_IT)
    assert not wire.asked


UNENCRYPTED = ["http://geheim.example.org", "http://0.0.0.0:80/geheim", "http://example.org"]
NO_URLS = ["nowhere", "https://", "https://user:geheim@example.org", "https://geheim@example.org", "https://[geheim/"]
NO_URLS += ["https://example.org/?token=geheim", "https://example.org/?", "https://example.org/#geheim"]
NO_URLS += ["https://example.org/geheim x", "https://example.org/\ngeheim", "https://example.org\\@geheim"]
NO_URLS += ["https://example.org:99999/geheim", "https://exämple.org/geheim", "ftp://example.org"]


def test_a_wrong_url_is_refused_without_its_secrets() -> None:
    told = dict.fromkeys(NO_URLS, "KM_GATEWAY_URL is not the URL of a server")
    ##= man/spec/gateway.md#forwarding
    ##% duvet MUST use HTTPS for a gateway on another machine.
    for url, message in (told | dict.fromkeys(UNENCRYPTED, "KM_GATEWAY_URL does not use https://")).items():
        with pytest.raises(QueryError) as caught:
            parse_gateway(url, None, None)
        assert (caught.value.message, "geheim" in f"{caught.value}{caught.value.hint}") == (message, False), url
    for url in ("http://127.0.0.1:8931/", "http://localhost:8931", "http://[::1]:8931", "https://example.org/@team/"):
        assert not parse_gateway(url, None, None).base.endswith("/")


@pytest.mark.parametrize(
    ("reader", "admin", "tokens"),
    [("r", "a", ["r", "a"]), ("r", None, ["r", None]), (None, "a", ["a", "a"]), (None, None, [None, None])],
)
def test_each_scope_has_its_token(reader: str | None, admin: str | None, tokens: list[str | None]) -> None:
    gateway = parse_gateway("https://example.org", reader, admin)
    found = [gateway.find_token(scope) for scope in (Scope.READER, Scope.MAINTAINER)]
    assert [one and one.reveal() for one in found] == tokens
    # No token is in its representation.
    both = parse_gateway("https://example.org:444/team", "secret-1", "secret-2")
    assert (both.authority, "secret" in repr(both)) == ("example.org:444", False)
    assert both.tokens == ("KM_READER_TOKEN", "KM_ADMIN_TOKEN")


def test_a_call_is_forwarded_with_a_token_and_its_face(wire: Wire) -> None:
    ##= man/spec/gateway.md#forwarding
    ##% duvet MUST send the gateway `KM_ADMIN_TOKEN` if the tool is for maintainers or `KM_READER_TOKEN` is
    ##% not set, and otherwise `KM_READER_TOKEN`.
    wire.plan(says(FOUND, warning="a\nwarning", next_step=f"show {READER}"))
    known = Forwarding(f"{wire.url}/team/")
    found = known.answer("km-graph-search", term="kettle")
    assert (plain(found.value), found.warning, found.next_step) == (FOUND, "a warning", "show ***")
    wire.plan(says({"status": "not_found", "profile": "x"}))
    wire.replies.popleft()
    assert known.value("km-ingest-status", face="shell", profile="x") == {"status": "not_found", "profile": "x"}
    first, second = wire.asked
    assert (first.method, first.path) == ("POST", "/team/api/mcp")
    assert first.body == {"tool": "km-graph-search", "input": {"term": "kettle"}}
    shown = [(one.headers["authorization"], one.headers["x-duvet-audience"]) for one in (first, second)]
    assert shown == [(f"Bearer {READER}", "mcp"), (f"Bearer {ADMIN}", "shell")]
    # Without a token, none is sent.
    wire.replies.clear()
    wire.plan(refuses(401, "unauthorized", "A token is required"))
    told = Forwarding(wire.url, None, None).refusal("km-graph-search", term="k")
    assert told == ("unauthorized", "A token is required", "set KM_READER_TOKEN or KM_ADMIN_TOKEN")
    assert "authorization" not in wire.asked[2].headers


def test_arguments_are_checked_and_help_is_given_without_the_gateway(wire: Wire) -> None:
    known = Forwarding(wire.url)
    assert known.refusal("km-graph-search", termm="x")[0] == "invalid_request"
    assert "km-ingest-status" in known.value("km-help")["tools"]
    assert "km-ingest-status" not in Forwarding(wire.url, READER, None).value("km-help")["tools"]
    assert not wire.asked
