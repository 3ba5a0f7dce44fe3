"""Which model is picked"""

from __future__ import annotations

from typing import Any

import pytest

from duvet.llm.records import SETUP_HINT, ModelChoice, ModelRequest, NoModelError, ResolvedModel
from tests.unit.llm.made import KEY, Made

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
ENVIRON = {"ANTHROPIC_API_KEY": KEY}
PASSED = (
    "off is passed over: it is disabled",
    "keyless is passed over: it has no key",
    "bare is passed over: it has no `defaultModel`",
    "own is passed over: no client offers its model",
)


def picked(config: dict[str, Any] = CONFIG, **asked: Any) -> ResolvedModel:
    return Made(config, ENVIRON).router.pick(ModelRequest(**asked))


@pytest.mark.parametrize(
    ("name", "provider", "model"),
    [
        ("local", "local", "small"),
        ("local/large", "local", "large"),
        ("local/meta/large:8b", "local", "meta/large:8b"),
        ("bare/tiny", "bare", "tiny"),
    ],
)
async def test_by_name(name: str, provider: str, model: str) -> None:
    ##= man/spec/ask.md#choosing-a-model
    ##= type=test
    ##% duvet MUST use the model or provider that a request names, otherwise the model or first working fallback of the
    ##% task's route, otherwise the default model of the first usable provider.
    assert picked(model=name, task="ask") == ResolvedModel(provider, model, "it is asked for")


@pytest.mark.parametrize(
    ("name", "trouble", "hint"),
    [
        ("off", "it is disabled", "`providers.off.enabled` switches it on"),
        ("keyless/gpt", "it has no key", "set OPENAI_API_KEY, or name another variable as `providers.keyless.apiKey`"),
        ("bare", "it has no `defaultModel`", "name a model as bare/MODEL, or give `providers.bare.defaultModel`"),
        ("own", "no client offers its model", SETUP_HINT),
        ("locale/x", "there is no such provider", "did you mean `local`?"),
        ("zzz", "there is no such provider", "there are off, keyless, bare, own, local, claude"),
    ],
)
async def test_by_name_that_can_not_be_asked(name: str, trouble: str, hint: str) -> None:
    ##= man/spec/ask.md#choosing-a-model
    ##= type=test
    ##% duvet MUST call only the providers that the configuration names.
    with pytest.raises(NoModelError) as caught:
        picked(model=name)
    assert (caught.value.message, caught.value.hint) == (f"no model can be asked: {name}: {trouble}", hint)


async def test_by_task() -> None:
    assert picked(task="ask") == ResolvedModel(
        "claude",
        "opus",
        "`routing.ask` says so",
        (ModelChoice("local", "large/v2"), ModelChoice("local", "small")),
        ("keyless is passed over: it has no key",),
    )


async def test_by_task_without_anybody() -> None:
    with pytest.raises(NoModelError) as caught:
        picked(task="hopeless")
    assert caught.value.message == "no model can be asked: off: it is disabled; keyless/gpt: it has no key"


@pytest.mark.parametrize("task", [None, "summarize", ""])
async def test_the_first(task: str | None) -> None:
    assert picked(task=task) == ResolvedModel(
        "local", "small", "its provider is the first that can be used", warnings=PASSED
    )


@pytest.mark.parametrize("config", [{}, {"routing": {"ask": {"model": "one"}}}])
async def test_nobody(config: dict[str, Any]) -> None:
    with pytest.raises(NoModelError) as caught:
        picked(config, task="ask")
    assert caught.value.hint == SETUP_HINT
    assert "OPENAI_API_KEY" in SETUP_HINT and "duvet.config.toml" in SETUP_HINT


@pytest.mark.parametrize(
    ("base", "trouble"),
    [
        ("http://example.com/v1", "the baseUrl of one is not https"),
        ("http://127.0.0.1.example.com/v1", "the baseUrl of one is not https"),
        ("http://[2001:db8::1]/v1", "the baseUrl of one is not https"),
        ("http://10.0.0.1/v1", "the baseUrl of one is not https"),
        ("ftp://example.com", "the baseUrl of one is not one"),
        ("example.com/v1", "the baseUrl of one is not one"),
        (f"https://me:{KEY}@example.com/v1", "the baseUrl of one is not one"),
        (f"https://example.com/v1?key={KEY}", "the baseUrl of one is not one"),
        ("https://example.com/v1#x", "the baseUrl of one is not one"),
        ("https://[::1", "the baseUrl of one is not one"),
        ("https://example.com:99999/", "the baseUrl of one is not one"),
        ("https://exa mple.com/", "the baseUrl of one is not one"),
        ("https://example.com/\n", "the baseUrl of one is not one"),
        ("https://", "the baseUrl of one is not one"),
    ],
)
async def test_a_base_that_nothing_is_sent_to(base: str, trouble: str) -> None:
    with pytest.raises(NoModelError) as caught:
        picked({"providers": {"one": {"baseUrl": base, "defaultModel": "m"}}})
    assert caught.value.message == f"no model can be asked: one: {trouble}"
    assert caught.value.hint and KEY not in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost", "[::1]:80", "127.9.9.9"])
async def test_a_base_on_this_machine(host: str) -> None:
    assert picked({"providers": {"one": {"baseUrl": f"http://{host}/v1/", "defaultModel": "m"}}}).provider == "one"


@pytest.mark.parametrize("key", ["two words", "line\nline", "k\u00e9y", "\x00\x01"])
async def test_a_key_that_no_header_carries(key: str) -> None:
    config = {"providers": {"one": {"apiKey": "$K", "defaultModel": "m"}}}
    with pytest.raises(NoModelError) as caught:
        Made(config, {"K": key}).router.pick(ModelRequest())
    assert key not in caught.value.message
    assert caught.value.message.startswith("no model can be asked: one: the key of one can't be sent")


@pytest.mark.parametrize(
    ("section", "sent"),
    [
        ({"kind": "openai"}, True),
        ({"kind": "openai", "baseUrl": "https://api.openai.com/v1/"}, True),
        ({"kind": "openai", "baseUrl": "https://api.openai.com.example.org/v1"}, False),
        ({"kind": "openai", "baseUrl": "http://127.0.0.1:1/v1"}, False),
        ({"kind": "anthropic"}, True),
        ({"kind": "anthropic", "baseUrl": "https://example.org/v1"}, False),
    ],
)
async def test_keys_of_the_environment(section: dict[str, Any], sent: bool) -> None:
    ##= man/spec/ask.md#keys
    ##= type=test
    ##% duvet MUST NOT send an OpenAI or Anthropic key that it finds in the environment to any other host, unless the
    ##% configuration names its variable.
    environ = {"OPENAI_API_KEY": "key-openai", "ANTHROPIC_API_KEY": "key-anthropic"}
    made = Made({"providers": {"one": {**section, "defaultModel": "m"}}}, environ)
    endpoint = made.router._backends["one"].endpoint
    assert endpoint is not None
    assert (endpoint.key and endpoint.key.reveal()) == (f"key-{section['kind']}" if sent else None)
