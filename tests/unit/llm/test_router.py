from typing import Any

import pytest
from msgspec.structs import replace

from duvet.llm import records
from duvet.llm.providers import Sampler
from duvet.llm.records import SETUP_HINT, ModelError, ModelRequest, ModelResponse, NoModelError
from tests.unit.llm.provider_server import Reply, Wire, anthropic_says, openai_says, refuses
from tests.unit.llm.routers import FINE, KEY, Made, fails, make_provider, one, routing
from tests.unit.llm.test_router_discovery import models

pytestmark = pytest.mark.anyio
LOCAL = {"baseUrl": "http://localhost:1/v1"}
CONFIG: dict[str, Any] = {
    "providers": {
        "off": {"enabled": False, "defaultModel": "gpt"},
        "keyless": {"defaultModel": "gpt"},
        "bare": LOCAL,
        "own": {"kind": "client"},
        "local": {**LOCAL, "defaultModel": "small"},
        "claude": {"kind": "anthropic", "defaultModel": "opus"},
    },
    "routing": {
        "ask": {"model": "claude", "fallbacks": ["keyless", "local/large/v2", "local"]},
        "hopeless": {"model": "off", "fallbacks": ["keyless/gpt"]},
    },
}
SKIPPED = (
    "skipped off: the provider is disabled",
    "skipped keyless: the provider has no key",
    "skipped bare: the provider has no `defaultModel`",
    "skipped own: no MCP client offers a model",
)


def pick(config: dict[str, Any] = CONFIG, key: str = KEY, **request: Any) -> tuple[list[str], tuple[str, ...]]:
    choices, warnings = Made(config, {"ANTHROPIC_API_KEY": KEY, "K": key}).router.pick(ModelRequest(**request))
    return [choice.name for choice in choices], tuple(warnings)


def fail_to_pick(config: dict[str, Any] = CONFIG, **request: Any) -> tuple[str, str]:
    with pytest.raises(NoModelError) as caught:
        pick(config, **request)
    return caught.value.message, caught.value.hint


def test_a_model_is_picked_by_name_by_route_or_as_the_first() -> None:
    ##= man/spec/ask.md#choosing-a-model
    ##% duvet MUST use the model that a request names, or else the model of the task's route, or else a model of the
    ##% first usable provider.
    for name, chosen in (("local", "local/small"), ("local/large", "local/large"), ("bare/tiny", "bare/tiny")):
        assert pick(model=name, task="ask") == ([chosen], ())
    assert pick(model="local/meta/large:8b") == (["local/meta/large:8b"], ())
    routed = ["claude/opus", "local/large/v2", "local/small"]
    assert pick(task="ask") == (routed, ("skipped keyless: the provider has no key",))
    for task in (None, "summarize", ""):
        assert pick(task=task) == (["local/small"], SKIPPED)


NO_KEY, NO_MODEL = "the provider has no key", "the provider has no `defaultModel`"
UNUSABLE = [
    ("off", "the provider is disabled", "set `providers.off.enabled` to true"),
    (
        "keyless/gpt",
        NO_KEY,
        "set OPENAI_API_KEY, or set `providers.keyless.apiKey` to another variable, such as `$API_KEY`",
    ),
    ("bare", NO_MODEL, "specify the model as bare/MODEL, or set `providers.bare.defaultModel`"),
    ("own", "no MCP client offers a model", SETUP_HINT),
    ("locale/x", "unknown provider", "did you mean `local`?"),
    ("zzz", "unknown provider", "available: off, keyless, bare, own, local, claude"),
]


def test_no_model_can_be_used() -> None:
    for name, trouble, hint in UNUSABLE:
        ##= man/spec/ask.md#choosing-a-model
        ##% duvet MUST call only the providers that the configuration names.
        assert fail_to_pick(model=name) == (f"no usable model: {name}: {trouble}", hint)
    message, _ = fail_to_pick(task="hopeless")
    assert message == "no usable model: off: the provider is disabled; keyless/gpt: the provider has no key"
    for config in ({}, {"routing": {"ask": {"model": "one"}}}):
        assert fail_to_pick(config, task="ask")[1] == SETUP_HINT
    assert "OPENAI_API_KEY" in SETUP_HINT and "duvet.config.yaml" in SETUP_HINT


def test_base_urls_and_keys_are_checked() -> None:
    here = ("127.0.0.1:8080", "localhost", "[::1]:80", "127.9.9.9")
    elsewhere = ("http://example.com", "http://127.0.0.1.example.com", "http://[2001:db8::1]", "http://10.0.0.1:8080")
    invalid = ("ftp://example.com", "example.com", "https://[::1", "https://example.com:99999", "https://exa mple.com")
    unsafe = (f"https://me:{KEY}@example.com", f"https://example.com/v1?key={KEY}", "https://example.com#x", "https://")

    def section(base: str, **more: bool) -> dict[str, Any]:
        return {"providers": {"one": {"baseUrl": base, "defaultModel": "m", **more}}}

    for host in here:
        assert pick(section(f"http://{host}/v1/")) == (["one/m"], ())
    for key in ("two words", "line\nline", "k\u00e9y", "\x00\x01"):
        message, _ = fail_to_pick({"providers": {"one": {"apiKey": "$K", "defaultModel": "m"}}}, key=key)
        assert key not in message
        wrong_key = "no usable model: one: the key of provider `one` contains characters other than visible ASCII"
        assert message.startswith(wrong_key)
    for base in (*invalid, *unsafe, "https://example.com/\n"):
        message, hint = fail_to_pick(section(base))
        assert message == "no usable model: one: provider `one` has an invalid `baseUrl`"
        assert hint and KEY not in f"{message} {hint}"
    for base in elsewhere:
        ##= man/spec/ask.md#keys
        ##% duvet MUST use HTTPS for a provider on another machine unless the provider has `allowHttp: true`.
        assert fail_to_pick(section(f"{base}/v1")) == (
            "no usable model: one: the `baseUrl` of provider `one` does not use https://",
            "use https://, or set `providers.one.allowHttp` to true if you trust the network",
        )
        assert pick(section(base, allowHttp=True)) == (["one/m"], ())


def test_a_key_of_the_environment_is_sent_to_its_own_host_alone() -> None:
    ##= man/spec/ask.md#keys
    ##% duvet MUST send the key in `OPENAI_API_KEY` only to OpenAI, and the key in `ANTHROPIC_API_KEY` only to
    ##% Anthropic, unless the `apiKey` of another provider names the variable.
    environ = {"OPENAI_API_KEY": "key-openai", "ANTHROPIC_API_KEY": "key-anthropic"}
    for section, sent in (
        ({"kind": "openai"}, True),
        ({"kind": "openai", "baseUrl": "https://api.openai.com/v1/"}, True),
        ({"kind": "openai", "baseUrl": "https://api.openai.com.example.org/v1"}, False),
        ({"kind": "openai", "baseUrl": "http://127.0.0.1:1/v1"}, False),
        ({"kind": "anthropic"}, True),
        ({"kind": "anthropic", "baseUrl": "https://example.org/v1"}, False),
    ):
        made = Made({"providers": {"one": {**section, "defaultModel": "m"}}}, environ)
        endpoint = made.router._backends["one"].endpoint
        assert endpoint is not None
        assert (endpoint.key and endpoint.key.reveal()) == (f"key-{section['kind']}" if sent else None)


@pytest.mark.criterion("core 2.5.4", "core 4.1.6")
async def test_a_fallback_answers_with_a_warning(wire: Wire, other: Wire) -> None:
    ##= man/spec/ask.md#choosing-a-model
    ##% duvet MUST warn when it skips an unusable provider or answers with a fallback.
    wire.plan(refuses(401, "no"))
    other.plan(anthropic_says("Hi"), Reply(body=b"{}"))
    config = {
        "providers": {"one": make_provider(wire), "two": make_provider(other, "anthropic")},
        "routing": {
            "ask": {"model": "one/big", "fallbacks": ["two", "one"]},
            "sum": {"model": "one", "fallbacks": ["two"]},
        },
    }
    async with routing(config) as made:
        words = "used the fallback two/small, because provider `one` refused access (401): no"
        assert await made.ask(task="ask") == ModelResponse("Hi", "two", "small", records.TokenUsage(12, 3), (words,))
        assert made.log == [words]
        assert [asked.body["model"] for asked in (*wire.asked, *other.asked)] == ["big", "small"]
        with pytest.raises(records.ModelError) as caught:
            await made.ask(task="sum")
    missing = "provider `two` sent an unexpected answer: Object missing required field `content`"
    assert caught.value.code is records.ModelFault.MALFORMED
    assert caught.value.message == f"provider `one` refused access (401): no; {missing}"


def sampler(answer: str, requests: list[ModelRequest]) -> Sampler:
    async def sample(request: ModelRequest) -> records.ProviderAnswer:
        requests.append(request)
        return records.ProviderAnswer(answer)

    return sample


async def test_the_model_of_a_client(wire: Wire) -> None:
    own = {"own": {"kind": "client"}}
    wire.plan(openai_says("from one"))
    requests: list[ModelRequest] = []
    async with routing({"providers": {**own, "one": make_provider(wire)}}) as made:
        router = made.router.with_sampler(sampler("from the client", requests))
        request = ModelRequest(prompt="Hi", system="Be brief.")
        assert await router.invoke(request) == ModelResponse("from the client", "own", "")
        assert (await made.ask()).text == "from one"
        await router.discover()
    assert requests == [replace(request, max_tokens=1024)]
    for answer in ("", " \n"):
        async with routing({"providers": own}) as made:
            with pytest.raises(records.ModelError, match="provider `own` sent an empty answer"):
                await made.router.with_sampler(sampler(answer, [])).invoke(request)


HINTS = """\
## Models
- [the large one](/models/large): best to summarize
- [small](/models/small): best for short answers
"""
FILES = {"/v1/models": models("embedding", "large", "small")}
HINTED = {**FILES, "/llms.txt": Reply(body=HINTS.encode())}


@pytest.mark.parametrize(
    ("files", "task", "asked"),
    [
        ({"/v1/models": models("small")}, None, ["small"]),
        (FILES, None, ["embedding", "large"]),
        (HINTED, None, ["large", "small"]),
        (HINTED, "short", ["small", "large"]),
        (HINTED, "summarize", ["large", "small"]),
        ({"/llms.txt": Reply(body=HINTS.encode())}, None, ["small"]),
    ],
)
async def test_a_discovered_model_is_used(wire: Wire, files: dict[str, Reply], task: Any, asked: list[str]) -> None:
    wire.files = files
    section = make_provider(wire, discover="/v1/models" in files, llmsTxt="/llms.txt" in files)
    del section["defaultModel"]
    wire.plan(*[refuses(400)] * (len(asked) - 1), FINE)
    async with routing({"providers": {"one": section}}) as made:
        answer = await made.ask(task=task)
        assert (answer.model, answer.warnings) == (asked[-1], ())
        # The model that has answered is tried first.
        assert task or (await made.ask()).model == asked[-1]
    sent = [one.body["model"] for one in wire.asked if one.method == "POST"]
    assert sent == [*asked, *([] if task else asked[-1:])]


async def test_finding_no_model_is_an_error(wire: Wire) -> None:
    section = make_provider(wire, discover=True)
    del section["defaultModel"]
    wire.files = {"/v1/models": models()}
    async with routing({"providers": {"one": section}}) as made:
        with pytest.raises(ModelError) as error:
            await made.ask()
    told = error.value.message, error.value.hint
    assert told == ("found no models of provider `one`", "set `providers.one.defaultModel`")


async def test_thoughts_are_removed_from_an_answer(wire: Wire) -> None:
    ##= man/spec/ask.md#calls
    ##% duvet MUST remove a `<think>` block at the beginning of a provider's answer.
    for text, answer in (
        ("<think>hm</think>\n\nTea.", "Tea."),
        ("\n<think>\nhm <b>\n</think>Tea.", "Tea."),
        ("hm</think>\nTea.", "Tea."),
        ("Tea is </tea>.", "Tea is </tea>."),
        ("Write <think>x</think>.", "Write <think>x</think>."),
    ):
        async with one(wire, openai_says(text)) as made:
            assert (await made.ask()).text == answer
    error, _ = await fails(wire, openai_says("<think>hm"))
    assert error.message == "provider `one` sent an empty answer"


async def test_the_limit_of_an_answer(wire: Wire) -> None:
    sections: list[dict[str, Any]] = [{}, {"maxTokens": 9}]
    for section in sections:
        async with one(wire, FINE, **section) as made:
            await made.ask()
            await made.ask(max_tokens=5)
    assert [asked.body["max_tokens"] for asked in wire.asked] == [1024, 5, 9, 5]
