import gzip
import socket
from collections.abc import Callable

import pytest
from msgspec import json

from duvet.llm.endpoint import MAX_RESPONSE_BYTES
from duvet.llm.records import ModelError, ModelFault, strip_invisible
from tests.unit.llm.provider_server import Reply, Wire, anthropic_says, openai_says, refuses
from tests.unit.llm.routers import FINE, KEY, fails, one, routing

pytestmark = pytest.mark.anyio
CHECK_KEY = "check the key in `providers.one.apiKey` or in the environment"
CHECK_MODEL = "check `providers.one.baseUrl` and the name of the model"
RED = b'{"error": "so \\u001b[31mred"}'
LONG = "a\n\x1b]0;title\x07\u202e b " + "c" * 5000
NO_MESSAGE = (
    *(b"", b"<html>", b"[1]", b'{"error": {"message": 7}}', b"[" * 100_000, b'"\xff"'),
    b'{"error": "' + b"x" * 10_000_000,
)
SHORT = "a ]0;title b " + "c" * 186 + "…"


async def test_refused_requests_become_model_errors(wire: Wire) -> None:
    unauthorized, rejected = "provider `one` refused access", "provider `one` rejected the request (400)"
    for reply, code, message, hint in (
        (refuses(401, "bad key"), ModelFault.UNAUTHORIZED, f"{unauthorized} (401): bad key", CHECK_KEY),
        (Reply(403), ModelFault.UNAUTHORIZED, f"{unauthorized} (403)", CHECK_KEY),
        (Reply(400, RED), ModelFault.REFUSED, f"{rejected}: so [31mred", CHECK_MODEL),
        (Reply(204), ModelFault.REFUSED, "provider `one` answered 204", CHECK_MODEL),
        (refuses(400, LONG), ModelFault.REFUSED, f"{rejected}: {SHORT}", CHECK_MODEL),
        *((Reply(400, body), ModelFault.REFUSED, rejected, CHECK_MODEL) for body in NO_MESSAGE),
    ):
        wire.asked.clear()
        error, waits = await fails(wire, reply)
        assert (error.code, error.message, error.hint, waits) == (code, message, hint, [])
        assert len(wire.asked) == 1


async def test_a_redirect_is_not_followed_and_a_prompt_that_is_not_text_is_not_sent(wire: Wire, other: Wire) -> None:
    async with one(wire) as made:
        with pytest.raises(ModelError, match="the request contains invalid Unicode"):
            await made.ask("\udcff")
    assert wire.asked == []
    ##= man/spec/ask.md#keys
    ##% duvet MUST NOT follow the redirects of a provider or a gateway.
    other.plan(FINE)
    error, _ = await fails(wire, Reply(307, headers={"location": f"{other.url}/v1/chat/completions"}), apiKey="$K")
    assert (error.code, error.message) == (ModelFault.REFUSED, "provider `one` redirects to another URL (307)")
    assert (len(wire.asked), other.asked) == (1, [])


async def test_too_large_and_compressed_answers_are_refused(wire: Wire) -> None:
    for size in (MAX_RESPONSE_BYTES + 1, 3 * MAX_RESPONSE_BYTES):
        error, _ = await fails(wire, Reply(body=b" " * size))
        assert (error.code, error.message) == (ModelFault.TOO_LARGE, "provider `one` sent more than 4,194,304 bytes")
    async with one(wire, Reply(body=FINE.body.ljust(MAX_RESPONSE_BYTES))) as made:
        assert (await made.ask()).text == "Hi"
    # Only the beginning of a long refusal is read, so its reason is not known.
    error, _ = await fails(wire, Reply(400, json.encode({"error": "x" * 1_000_000})))
    assert error.message == "provider `one` rejected the request (400)"
    bomb = gzip.compress(json.encode({"error": "x" * 20_000_000}))
    for status, message in (
        (200, "provider `one` sent a compressed answer, which duvet does not accept"),
        (400, "provider `one` rejected the request (400)"),
        (500, "provider `one` answered 500"),
    ):
        error, _ = await fails(wire, Reply(status, bomb, {"content-encoding": "gzip"}), retries=0)
        assert error.message == message


async def test_server_errors_are_retried_as_often_as_configured(wire: Wire) -> None:
    ##= man/spec/ask.md#calls
    ##% duvet MUST repeat a model call after a temporary failure as often as configured, but only within the provider's
    ##% time limit.
    refusal = refuses(529, "overloaded")
    async with one(wire, refusal, refusal, FINE) as made:
        assert ((await made.ask()).text, made.clock.waits) == ("Hi", [0.5, 1.0])
    for retries, expected in ((0, []), (7, [0.5, 1, 2, 4, 8, 8, 8])):
        wire.asked.clear()
        error, waits = await fails(wire, refusal, retries=retries)
        assert (error.code, error.message) == (ModelFault.UNAVAILABLE, "provider `one` answered 529: overloaded")
        assert (waits, len(wire.asked)) == (expected, retries + 1)


async def test_each_retry_waits_first_unless_the_wait_is_too_long(wire: Wire) -> None:
    nonsense = ("soon", "-5", "9" * 400, "Sun, 99 Foo 2023", "Tue, 14 Nov 99999 22:13:27 GMT", "nan", "1e9")
    for reply, wait in (
        (Reply(body=FINE.body, is_cut=True), 0.5),
        (Reply(500, b"{", is_cut=True), 0.5),
        *((refuses(429, retry_after=after), float(after)) for after in ("3", "0", "1.5")),
        (refuses(429, retry_after="Tue, 14 Nov 2023 22:13:27 GMT"), 7.0),
        *((refuses(429, retry_after=after), 0.5) for after in (*nonsense, "\u0665".encode().decode("latin-1"))),
    ):
        async with one(wire, reply, FINE) as made:
            assert ((await made.ask()).text, made.clock.waits) == ("Hi", [wait]), reply
    told = "the rate limit of provider `one` is reached (429): slow down"
    for after, timeout, hint in (
        ("3600", 60, "try again in 3,600 seconds"),
        ("9" * 18, 60, "try again later"),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 60, "try again later"),
        ("6", 5, "try again in 6 seconds"),
    ):
        wire.asked.clear()
        error, waits = await fails(wire, refuses(429, "slow down", retry_after=after), FINE, timeout=timeout)
        assert (error.code, error.message) == (ModelFault.RATE_LIMITED, told)
        assert (error.hint, waits, len(wire.asked)) == (hint, [], 1)
    error, _ = await fails(wire, refuses(429, retry_after="0"), retries=0)
    assert error.hint == "try again in 1 second"


@pytest.mark.parametrize(("place", "status"), [("headers", 200), ("body", 200), ("body", 500)])
async def test_a_slow_answer_times_out(place: str, status: int, wire: Wire) -> None:
    error, _ = await fails(wire, Reply(status, FINE.body, stops_before=place), timeout=0.5)
    assert (error.code, error.message) == (ModelFault.TIMEOUT, "provider `one` did not answer within 0.5 s")
    # On a busy machine the time may be over before the request arrives; it is never sent twice.
    assert len(wire.asked) <= 1


async def test_a_key_in_a_refusal_is_not_shown(wire: Wire) -> None:
    ##= man/spec/ask.md#keys
    ##% duvet MUST NOT print or log a provider's key.
    for said in (f"key {KEY} is wrong", f"{KEY[:5]}\x00{KEY[5:]}", f"{KEY}{KEY}", "x" * 190 + KEY):
        async with one(wire, refuses(401, said), apiKey="$K") as made:
            with pytest.raises(ModelError) as caught:
                await made.ask()
            assert KEY not in repr(vars(made.router))
            shown = [str(caught.value), repr(caught.value), caught.value.hint, *made.log]
        assert "***" in shown[0] or said.startswith("x")
        assert not any(KEY[:8] in words or KEY[-8:] in words for words in shown)


PARTS = KEY[:5], KEY[5:]
# As JSON may write it.
KEYS = (KEY, KEY.replace("-", r"\u002d"), rf"\u0073{KEY[1:]}", r"\u0000".join(PARTS), r"\u200b".join(PARTS))


@pytest.mark.parametrize(("kind", "says"), [("openai", openai_says), ("anthropic", anthropic_says)])
async def test_a_key_in_an_answer_is_not_shown(kind: str, says: Callable[[str], Reply], wire: Wire) -> None:
    for key in KEYS:
        wire.files = {"/v1/models": Reply(body=f'{{"data": [{{"id": "model-{key}"}}]}}'.encode())}
        reply = Reply(body=says("Your key is KEY.").body.replace(b"KEY", key.encode()))
        async with one(wire, reply, kind=kind, apiKey="$K", discover=True) as made:
            assert (await made.ask()).text == "Your key is ***."
            assert made.models() == ["small", "model-***"]
            assert KEY not in strip_invisible("".join(made.log))
        assert wire.asked[-1].headers["authorization" if kind == "openai" else "x-api-key"].endswith(KEY)


async def test_a_key_in_llms_txt_or_with_an_escaped_slash_is_not_shown(wire: Wire) -> None:
    hidden = f"{KEY[:5]}\x00{KEY[5:]}"
    text = f"## Models\n- [model {KEY}](https://h/{KEY}): {'x' * 190} {KEY}\n- [{hidden}](u): {hidden}\n"
    wire.files = {"/llms.txt": Reply(body=text.encode())}
    async with one(wire, FINE, apiKey="$K", llmsTxt=True) as made:
        await made.ask()
        assert [(model.model, model.url, model.note) for model in made.router.known_models()] == [
            ("small", "", ""),
            ("model ***", "https://h/***", f"{'x' * 190} ***"),
            ("***", "u", "***"),
        ]
    slash = openai_says("KEY").body.replace(b"KEY", rb"Bearer ab\/cdef")
    async with one(wire, Reply(body=slash), apiKey="$SLASH") as made:
        assert (await made.ask()).text == "Bearer ***"


async def test_the_address_of_a_provider_is_not_shown(wire: Wire) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        base = f"http://127.0.0.1:{taken.getsockname()[1]}"
        async with routing({"providers": {"one": {"baseUrl": base, "defaultModel": "m"}}}) as made:
            with pytest.raises(ModelError) as caught:
                await made.ask()
    error = caught.value
    assert (error.code, error.message) == (ModelFault.UNAVAILABLE, "can't reach provider `one`: connect error")
    hint = "check that `providers.one.baseUrl` is right and the provider is running"
    assert (error.hint, made.clock.waits) == (hint, [0.5, 1.0])
    host, port = wire.url.removeprefix("http://").split(":")
    base = f"{wire.url}/tenant-7c3e/v1"
    said = f"no {base}/chat, none at {host}:{port}, at {host}, at \u200b/tenant-\u200b7c3e/v1/chat"
    error, _ = await fails(wire, refuses(404, said), baseUrl=base)
    told = "no ***/chat, none at ***, at ***, at /***/v1/chat"
    assert error.message == f"provider `one` rejected the request (404): {told}"
    llms = Reply(404, b'{"error": "not at %s"}' % wire.url.encode())
    wire.files = {"/llms.txt": llms, "/v1/models": Reply(is_cut=True)}
    async with one(wire, FINE, discover=True, llmsTxt=True) as made:
        await made.ask()
        assert made.log == [
            "can't look up models: can't reach provider `one`: remote protocol error",
            "can't look up llms.txt: provider `one` rejected the request (404): not at ***",
        ]
