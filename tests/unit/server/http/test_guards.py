import json
from collections.abc import Sequence
from contextlib import AsyncExitStack
from http import HTTPStatus
from itertools import permutations, product
from typing import Any

import anyio
import httpx2
import pytest
from pytest_snapshot.plugin import Snapshot

from duvet.errors import QueryError
from duvet.server.application import ADMIN, READER, AccessTokens, find_holder, read_tokens
from duvet.server.http.guards import AllowedHosts, HttpLimits, RequestRates, TokenBuckets, find_client_address
from duvet.server.http.rest import REPORT_PATHS
from duvet.server.messages import encode_message
from duvet.server.protocol.server import DuvetServer
from duvet.tools.tool import Scope
from tests.conftest import ROOT
from tests.unit.server.http import http_server as web
from tests.unit.server.http.waiting_server import Waiting
from tests.unit.server.stdio_server import hello, request

pytestmark = pytest.mark.anyio
HEALTH = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
JSON, TEXT = ("content-type", "application/json"), ("content-type", "text/plain")
MEDIA = web.MEDIA
LOCAL, EVIL = "http://localhost", "http://evil.example"
REFUSED: list[tuple[str, str, Any]] = [
    *(("GET", path, {}) for path in ("/nothing", "/", "/api/mcp%0A", "/health%0A")),
    *(("POST", path, MEDIA) for path in ("/mcp/", "/mcp%0A", "/api/mcp/", "/health")),
    *(("PUT", path, MEDIA) for path in ("/mcp", "/api/mcp")),
    ("OPTIONS", "/mcp", {"origin": LOCAL}),
    ("POST", "/mcp", {"accept": "*/*"}),
    ("POST", "/mcp", {**MEDIA, "content-type": "text/plain; application/json"}),
    # Without a body, but of an accepted type.
    ("POST", "/mcp", {**MEDIA, "content-type": "application/json ; charset=utf-8"}),
    ("POST", "/mcp", {**MEDIA, "accept": "application/json"}),
    ("GET", "/mcp", {"accept": "text/html"}),
    *(("GET", path, {"host": "evil.example:80"}) for path in ("/health", "/nothing")),
    ("POST", "/mcp", {**MEDIA, "host": "evil.example"}),
    *(("POST", path, {**MEDIA, "origin": EVIL}) for path in ("/mcp", "/api/mcp")),
    ("GET", "/health", {"origin": "null"}),
    # All values of a repeated header count.
    *(("POST", "/mcp", [*MEDIA.items(), *(("origin", one) for one in two)]) for two in permutations([LOCAL, EVIL])),
    *(("POST", "/mcp", [("accept", MEDIA["accept"]), *two]) for two in permutations([JSON, TEXT])),
]


##= man/spec/mcp.md#http
##% On every path, the server MUST refuse an unexpected `Host` header with 421 and an unexpected `Origin` header with
##% 403.
async def test_paths_methods_media_hosts_and_origins(http: httpx2.AsyncClient, snapshot: Snapshot) -> None:
    lines = []
    for method, path, headers in REFUSED:
        answer = await http.request(method, path, headers=headers)
        assert answer.headers["content-type"] == "application/json"
        told = f"{method} {path} {headers}:\n  {answer.status_code} {answer.text} {answer.headers.get('allow', '')}"
        lines.append(told.replace(str(MEDIA)[1:-1], "MEDIA").rstrip())
    snapshot.snapshot_dir = ROOT / "tests/gold/server"
    snapshot.assert_match("\n".join(lines), "refused.txt")


SEND_TOKEN = "send Authorization: Bearer TOKEN, with a token of this server"
NEEDED = web.error_of("unauthorized", "A token is required", SEND_TOKEN)
UNKNOWN = web.error_of("unauthorized", "The token is unknown", SEND_TOKEN)


##= man/spec/mcp.md#http
##% If tokens are configured, the server MUST answer 401 to a request without a valid token, except on `/health`,
##% `/ready` and unknown paths.
async def test_a_known_token_is_needed(server: DuvetServer, monkeypatch: pytest.MonkeyPatch) -> None:
    known = f"Bearer {web.READER}"
    schemes = (f"Basic {web.READER}", web.READER, "Bearer \xe9")
    wrong = ("Bearer wrong", known[:-1], f"{known}x", "Bearer", *schemes)
    async with web.connected(server, tokens=web.BOTH) as client:
        for shown in ([], *([one] for one in wrong), [known, known]):
            headers = [*web.MEDIA.items(), *(("authorization", one) for one in shown)]
            raw = [(name.encode(), value.encode("latin-1")) for name, value in headers]
            answer = await client.post("/mcp", json=hello(), headers=raw)
            assert (answer.status_code, answer.json()) == (401, UNKNOWN if shown else NEEDED), shown
            challenge = 'Bearer realm="duvet", error="invalid_token"' if shown else 'Bearer realm="duvet"'
            assert answer.headers["www-authenticate"] == challenge
        # The path is checked before the token, and the method after it.
        private = [("PUT", "/mcp", 401), *(("GET", path, 401) for path in ("/metrics", "/api/mcp", *REPORT_PATHS))]
        for method, path, status in (("GET", "/nothing", 404), *private, ("POST", "/health", 405)):
            assert (await client.request(method, path)).status_code == status, path
        assert (await client.get("/ready")).json() == {"status": "ready"}
        answer = await client.get("/health")
        assert (answer.status_code, answer.text) == (200, '{"status":"ok"}')
        assert set(answer.headers) == {"date", "content-type", "content-length", "cache-control"}
        # An unexpected exception is hidden.
        monkeypatch.setattr(server.live, "context", None)
        answer = await client.get("/ready")
        assert (answer.status_code, answer.json()) == (500, web.error_of("upstream_error", "Internal error"))


async def test_a_large_body_is_refused(server: DuvetServer) -> None:
    ##= man/spec/mcp.md#limits
    ##% The server MUST refuse a line of more than 4 MiB on standard input, and an HTTP body above the configured limit,
    ##% before reading the rest.
    async def parts() -> Any:
        for _ in range(4):
            yield b"[" * 1000

    body = web.error_of("invalid_request", "The request has 4,000 bytes; the limit is 2,000", "split the request")
    async with web.connected(server, limits=HttpLimits(body=2000)) as client:
        for sent in (b"[" * 4000, parts()):
            answer = await client.post("/mcp", content=sent, headers=MEDIA)
            assert (answer.status_code, answer.json(), answer.headers["connection"]) == (413, body, "close")
            assert (await client.post("/mcp", json=hello(), headers=MEDIA)).status_code == 200
    # The rest of a much too large body is not read.
    limits = HttpLimits(body=100, arrival=2 * web.LONGEST)
    async with web.serving(server, limits=limits) as where:
        found = await web.exchange(where, web.HEAD + b"Content-Length: 9999\r\n\r\n" + b"[" * 2000)
    assert found.startswith(b"HTTP/1.1 413 ") and b"The request has 9,999 bytes; the limit is 100" in found


async def test_an_escaped_character_counts_as_itself(server: DuvetServer) -> None:
    texts = {"\u00e9" * 900: 200, "\u00e9" * 1000: 413, "\u6f22" * 600: 200, "\U0001f375" * 460: 200, "a" * 2000: 413}
    async with web.connected(server, limits=HttpLimits(body=2000)) as client:
        session = await web.greet(client)
        for (text, status), is_ascii in product(texts.items(), (True, False)):
            body = json.dumps(request("ping", {"text": text}), ensure_ascii=is_ascii).encode()
            assert (await client.post("/mcp", content=body, headers=session)).status_code == status


##= man/spec/mcp.md#limits
##% The server MUST answer a client that exceeds the rate limit with 429 and `Retry-After`.
async def test_frequent_requests_are_refused(server: DuvetServer) -> None:
    async with web.connected(server, limits=HttpLimits(rate=0.5, burst=2)) as client:
        # Requests for another host don't count, and are refused as such in any case.
        hosts = ("evil.example", "localhost", "evil.example", "localhost", "localhost", "evil.example")
        answers = [await client.get("/health", headers={"host": host}) for host in hosts]
    assert [answer.status_code for answer in answers] == [421, 200, 421, 200, 429, 421]
    assert answers[4].json() == web.error_of("upstream_error", "Too many requests", "try again later")
    assert answers[4].headers["retry-after"] == "2"


async def test_too_many_requests_and_streams_are_refused(server: DuvetServer, waiting: Waiting) -> None:
    async def wait(client: httpx2.AsyncClient, session: dict[str, str]) -> None:
        answer = await client.post("/mcp", json=request("tests/wait"), headers=session)
        assert '"waited":true' in answer.text

    async with web.connected(server, limits=HttpLimits(requests=1, streams=1)) as client:
        session = await web.greet(client)
        async with client.stream("GET", "/mcp", headers=session) as stream, anyio.create_task_group() as tasks:
            assert stream.status_code == 200
            tasks.start_soon(wait, client, session)
            await waiting.asked.wait()
            answers = [await client.get("/mcp", headers=session), await client.post("/mcp", headers=session)]
            waiting.may_answer.set()
        again = await client.post("/mcp", json=request("ping"), headers=session)
    busy = web.error_of("upstream_error", "Too many requests at once", "try again later")
    assert [(one.status_code, one.json(), one.headers["retry-after"]) for one in answers] == [(503, busy, "1")] * 2
    assert again.status_code == 200


async def test_bodies_that_are_no_messages_are_refused(http: httpx2.AsyncClient) -> None:
    wrong = b'{"jsonrpc":"2.0","id":7,"method":1}'
    for body, id, code in (
        (b"{", None, -32700),
        (b"[" * 200_000, None, -32700),
        (b"1", None, -32600),
        (wrong, 7, -32600),
    ):
        answer = await http.post("/mcp", content=body, headers=MEDIA)
        assert (answer.status_code, answer.headers["content-type"]) == (400, "application/json")
        assert (answer.json()["id"], answer.json()["error"]["code"]) == (id, code)


##= man/spec/mcp.md#limits
##% The server MUST disconnect clients that send or read too slowly, and MUST NOT let them delay other clients.
async def test_a_head_that_never_ends_is_disconnected(server: DuvetServer) -> None:
    async with web.serving(server, limits=HttpLimits(arrival=0.1)) as where:
        for parts in ((), (b"GET /health HT",), (HEALTH, b"GET /")):
            found = await web.exchange(where, *parts)
            assert found.count(b"HTTP/1.1 200 OK") == len(parts) // 2


NO_HTTP = (
    *(b"\x16\x03\x01 hello\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", HEALTH[:-2] + b"Host: localhost\r\n\r\n"),
    web.HEAD + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n",
)


@pytest.mark.parametrize(
    ("sent", "status", "message"),
    [
        (web.HEAD + b"Content-Length: 10\r\n\r\n{", 408, "The request arrived too slowly"),
        (HEALTH[:-2] + b"X: " + b"x" * 5000, 431, "The headers are too large"),
        *((sent, 400, "The request is not valid HTTP") for sent in NO_HTTP),
        (b"GET /health HTTP/1.0\r\n\r\n", 421, None),
        # The server does not read the rest of a large body.
        (web.HEAD + b"Expect: 100-continue\r\nContent-Length: 9999999\r\n\r\n", 413, None),
    ],
)
async def test_odd_requests_are_answered(server: DuvetServer, sent: bytes, status: int, message: str | None) -> None:
    arrival = 0.1 if status == HTTPStatus.REQUEST_TIMEOUT else web.LONGEST
    async with web.serving(server, limits=HttpLimits(head=2000, arrival=arrival)) as where:
        head, _, body = (await web.exchange(where, sent)).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status)
    assert message is None or json.loads(body) == web.error_of("invalid_request", message)


async def test_too_many_connections_are_closed(server: DuvetServer) -> None:
    asked = HEALTH[:-2] + b"Connection: close\r\n\r\n"
    async with web.serving(server, limits=HttpLimits(connections=1)) as where, await anyio.connect_tcp(*where) as first:
        await first.send(asked[:10])
        with anyio.fail_after(web.LONGEST):
            assert await web.exchange(where) == b""
        await first.send(asked[10:])
        assert (await first.receive()).startswith(b"HTTP/1.1 200 OK")


async def test_a_client_that_never_reads_is_disconnected(server: DuvetServer) -> None:
    ##= man/spec/mcp.md#limits
    ##% The server MUST disconnect clients that send or read too slowly, and MUST NOT let them delay other clients.
    large = b'{"jsonrpc":"2.0","id":1,"method":"tests/large"}'
    async with web.serving(server, limits=HttpLimits(unread=0.1, rate=0)) as where, web.asking(where) as client:
        session = await web.greet(client)
        async with await anyio.connect_tcp(*where) as deaf:
            named = b"Mcp-Session-Id: " + session["mcp-session-id"].encode()
            await deaf.send(web.HEAD + named + b"\r\nContent-Length: %d\r\n\r\n" % len(large) + large)
            with anyio.fail_after(web.LONGEST), pytest.raises(anyio.BrokenResourceError):
                while True:
                    assert (await client.get("/health")).status_code == 200
                    await deaf.send(b"x")


async def test_requests_that_have_not_arrived_do_not_count(server: DuvetServer) -> None:
    async with web.serving(server, limits=HttpLimits(requests=1)) as where, AsyncExitStack() as stack:
        for _ in range(3):
            stream = await stack.enter_async_context(await anyio.connect_tcp(*where))
            await stream.send(web.HEAD + b"Content-Length: 10\r\n\r\n{")
        async with web.asking(where) as client:
            await web.greet(client)


async def test_the_slowest_of_too_many_arriving_bytes_are_refused(server: DuvetServer) -> None:
    async with (
        web.serving(server, limits=HttpLimits(arriving=1500, arrival=2 * web.LONGEST)) as where,
        await anyio.connect_tcp(*where) as slow,
        web.asking(where) as client,
    ):
        await slow.send(web.HEAD + b"Content-Length: 2000\r\n\r\n" + b" " * 1000)
        assert (await client.get("/health")).status_code == 200
        answer = await client.post("/mcp", content=b" " * 1000 + encode_message(hello()), headers=MEDIA)
        assert answer.status_code == 200
        with anyio.fail_after(web.LONGEST):
            assert (await slow.receive()).startswith(b"HTTP/1.1 408 ")


OURS = ["localhost", "LocalHost:8931", "127.0.0.1", "127.0.0.1:1", "[::1]", "[::1]:8931", "[0:0:0:0:0:0:0:1]:80"]
OURS += ["localhost."]
FOREIGN = [
    "",
    "evil.example",
    "localhost.evil.example",
    "evil.example:127.0.0.1",
    "127.0.0.1.evil.example",
    "localhost\t",
]
FOREIGN += ["user@localhost", "localhost:80:80", "localhost/", "localhost:", "::1", "[::1", "192.0.2.1", "0.0.0.0"]
FOREIGN += ["2130706433"]


def test_hosts_and_origins_of_this_machine_are_allowed() -> None:
    hosts = AllowedHosts("127.0.0.1")
    for host in (*OURS, *FOREIGN):
        found = [hosts.allow(host), hosts.allow_origin(f"http://{host}"), hosts.allow_origin(f"https://{host}")]
        assert found == [host in OURS] * 3, host
    others = ("null", "file://localhost", "localhost", "http://localhost/page", "HTTP:localhost", "")
    assert not any(map(hosts.allow_origin, others))
    # Given names are allowed, and where the server listens everywhere, every address.
    hosts = AllowedHosts("10.1.2.3", ["duvet.example", "[2001:db8::1]"])
    given = ("10.1.2.3:8931", "duvet.example", "DUVET.example:443", "[2001:DB8:0::1]:80", "localhost")
    assert [hosts.allow(one) for one in given] == [True] * 5
    assert not hosts.allow("10.1.2.4")
    for everywhere in ("0.0.0.0", "::"):
        hosts = AllowedHosts(everywhere)
        assert [hosts.allow(one) for one in ("10.1.2.3:80", "[2001:db8::1]", "duvet.example")] == [True, True, False]


def test_a_bucket_empties_and_fills() -> None:
    now = 100.0
    buckets = TokenBuckets(2, 3, 2, lambda: now)
    assert [buckets.take("a") for _ in range(4)] == [0, 0, 0, 0.5]
    assert buckets.take("b") == 0
    now += 0.5
    assert [buckets.take("a"), buckets.take("a")] == [0, 0.5]
    now += 60
    assert [buckets.take("a") for _ in range(4)] == [0, 0, 0, 0.5]
    now += 60
    # A batch costs no more than a full bucket.
    assert [buckets.take("a", 50), buckets.take("a", 50)] == [0, 1.5]
    # The least recent clients are forgotten.
    assert [buckets.take(one, 3) for one in ("b", "c", "b", "a")] == [0, 0, 1.5, 0]
    assert len(buckets) == 2
    # A rate of 0 is no limit.
    buckets = TokenBuckets(0, 0, 10, lambda: now)
    assert ([buckets.take("a") for _ in range(100)], len(buckets)) == ([0] * 100, 0)


RARELY = HttpLimits(rate=0.0001, burst=3)  # Three requests, and no more for hours.


def test_a_rate_is_that_of_a_token_or_an_address() -> None:
    # A client is its address or network.
    clients = {"192.0.2.1": "192.0.2.1", "::ffff:192.0.2.1": "192.0.2.1", "2001:db8::1:2:3:4": "2001:db8::"}
    clients |= {"fe80::1%eth0": "fe80::", "testclient": "testclient"}
    assert {host: find_client_address({"client": (host, 1234)}) for host in clients} == clients
    reader, address = f"Bearer {web.READER}", "192.0.2.1"
    keys: Sequence[tuple[list[str], AccessTokens, str]] = (
        ([reader], web.BOTH, "token reader"),
        ([f"bearer  {web.ADMIN} "], web.BOTH, "token admin"),
        (["Bearer nobody"], web.BOTH, address),
        ([f"Basic {web.READER}"], web.BOTH, address),
        ([reader, reader], web.BOTH, address),
        ([], web.BOTH, address),
        ([reader], web.NOBODY, address),
    )
    for shown, tokens, key in keys:
        headers = [(b"authorization", value.encode()) for value in shown]
        buckets = TokenBuckets(1, 1, 10, lambda: 100.0)
        assert RequestRates(buckets, tokens).refuse({"client": (address, 5), "headers": headers}) is None
        assert buckets.take(key) == 1, shown


async def statuses(*clients: httpx2.AsyncClient) -> list[int]:
    return [(await client.get(web.API)).status_code for client in clients]


async def test_a_token_has_one_rate_at_all_addresses(server: DuvetServer) -> None:
    async with web.serving(server, tokens=web.BOTH, limits=RARELY) as where:
        async with web.asking(where, web.READER) as one, web.asking(where, web.READER, at=web.ELSEWHERE) as other:
            assert await statuses(one, other, one, other, one) == [200, 200, 200, 429, 429]
            answer = await one.get(web.API)
            assert int(answer.headers["retry-after"]) > 0
            assert answer.json() == web.refused("upstream_error", "Too many requests", "try again later")
        # An unknown token counts for the address that sends it, not for holders of tokens.
        async with web.asking(where, "wrong") as client:
            assert await statuses(client, client, client, client) == [401, 401, 401, 429]
        async with web.asking(where, at="127.0.0.3") as client:
            assert (await client.get("/health")).status_code == 200
        # A batch counts for each of its requests.
        async with web.asking(where, web.ADMIN) as client:
            batch = [request("ping", id=number) for number in range(3)]
            assert (await client.post("/mcp", json=batch, headers=MEDIA)).status_code != 429
        async with web.asking(where, web.ADMIN, at=web.ELSEWHERE) as client:
            assert (await client.get("/health")).status_code == 429


def test_holders_of_tokens_have_their_scopes() -> None:
    for names in (("DUVET_READER_TOKEN",), ("KM_READER_TOKEN",), ("DUVET_READER_TOKEN", "KM_READER_TOKEN")):
        found = read_tokens(dict.fromkeys(names, "secret"))
        assert [find_holder(found, token) for token in ("secret", "other", "")] == [READER, None, None]
        assert "secret" not in repr(found)
    assert find_holder(read_tokens({"DUVET_ADMIN_TOKEN": "a", "DUVET_READER_TOKEN": "b"}), "a") == ADMIN
    assert [*map(set, (ADMIN.scopes, READER.scopes))] == [{Scope.READER, Scope.MAINTAINER}, {Scope.READER}]
    assert not read_tokens({"PATH": "/bin"})


##= man/spec/mcp.md#http
##% duvet MUST refuse to start if a token is empty, or if its two environment variables, such as `DUVET_READER_TOKEN`
##% and `KM_READER_TOKEN`, have different values.
def test_wrong_tokens_are_refused() -> None:
    not_allowed = "contains characters other than visible ASCII"
    two = "DUVET_ADMIN_TOKEN and KM_ADMIN_TOKEN have different values"
    wrong: Sequence[tuple[dict[str, str], str]] = (
        ({"DUVET_READER_TOKEN": ""}, "DUVET_READER_TOKEN is empty"),
        ({"DUVET_READER_TOKEN": "a", "KM_READER_TOKEN": ""}, "KM_READER_TOKEN is empty"),
        *(({"KM_ADMIN_TOKEN": token}, f"KM_ADMIN_TOKEN {not_allowed}") for token in ("a b", "a\n")),
        ({"DUVET_ADMIN_TOKEN": "é"}, f"DUVET_ADMIN_TOKEN {not_allowed}"),
        ({"DUVET_ADMIN_TOKEN": "a", "KM_ADMIN_TOKEN": "b"}, two),
        ({"DUVET_ADMIN_TOKEN": "a", "KM_READER_TOKEN": "a"}, "the tokens of readers and of maintainers are the same"),
    )
    for environ, message in wrong:
        with pytest.raises(QueryError) as caught:
            read_tokens(environ)
        assert str(caught.value) == message
