"""Chooses the model for a request, with fallbacks, and discovers models."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from copy import copy
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct, structs

from duvet.config import service_tables
from duvet.config.document import did_you_mean
from duvet.http_client import Clock, SystemClock
from duvet.llm import records
from duvet.llm.budget import SpendingBudget
from duvet.llm.endpoint import Endpoint, ProviderClient, find_provider_key
from duvet.llm.providers import Backend, Sampler, make_backend
from duvet.tree.cache import BlobStore, make_cache_key

if TYPE_CHECKING:
    from anyio import Lock

Result = TypeVar("Result")

_LINK = re.compile(r"\s{0,8}[-*]\s{0,4}\[([^\]]{1,500})\]\(([^)\s]{1,1000})\)(?:\s{0,4}:\s{0,4}(.*))?")
_ABOUT_MODELS = re.compile(r"\b(?:models?|pricing)\b", re.IGNORECASE)
_MAX_HINTS, _MAX_NAME_CHARACTERS = 100, 100
HINTS_PATH = "llms.txt"
_TIMEOUT = 5.0
_MAX_TRIES = 5  # Discovered models to try for one request.
_PING_TOKENS = 256  # A model that thinks first needs some.
_MAX_HINTS_BYTES = 64 * 1024
_FOUND_SECONDS, _FAILED_SECONDS = 3600.0, 300.0  # Seconds until a listing expires, and until a failed one is retried.


class ModelHint(Struct, frozen=True):
    name: str
    url: str
    note: str


def parse_model_hints(text: str) -> tuple[ModelHint, ...]:
    hints: list[ModelHint] = []
    section = ""
    for line in text.splitlines():
        if line.startswith("## "):
            section = line[: records.MAX_LINE_CHARACTERS]
        link = _LINK.match(line)
        if link is None or not _ABOUT_MODELS.search(f"{section} {link[1]} {link[3] or ''}"):
            continue
        name, url, note = records.shorten_to_line(link[1], _MAX_NAME_CHARACTERS), link[2], link[3] or ""
        hints.append(ModelHint(name, records.shorten_to_line(url), records.shorten_to_line(note)))
        if len(hints) == _MAX_HINTS:
            break
    return tuple(hint for hint in hints if hint.name)


class ModelListing(Struct, frozen=True):
    models: tuple[str, ...] = ()
    hints: tuple[ModelHint, ...] = ()
    until: float = 0.0  # The time at which it expires.


class ModelDiscovery:
    def __init__(self, http: ProviderClient, clock: Clock, blobs: BlobStore) -> None:
        self._http = http
        self._clock = clock
        self._blobs = blobs
        self._cached: dict[str, ModelListing] = {}
        self._locks: dict[str, Lock] = {}  # If several tasks need the same listing, only one requests it.

    def listing(self, backend: Backend) -> ModelListing:
        return self._cached.get(backend.name) or ModelListing()

    async def look_up(self, backend: Backend, log: Callable[[str], None]) -> None:
        """Failures are only logged."""
        ##= man/spec/ask.md#discovery
        ##% duvet MUST NOT request a provider's list of models or its `llms.txt` unless the configuration enables
        ##% discovery.
        section, endpoint = backend.section, backend.endpoint
        if endpoint is None or not backend.is_discovered or self._is_valid(self.listing(backend)):
            return
        import anyio

        async with self._locks.setdefault(backend.name, anyio.Lock()):
            if self._is_valid(self.listing(backend)):
                return
            key = f"models-{make_cache_key((endpoint.base, section.discover, section.llms_txt))}"
            cached = self._blobs.load(key, ModelListing)
            if cached is None or not self._is_valid(cached):
                models: tuple[str, ...] | None = ()
                hints: tuple[ModelHint, ...] | None = ()
                if section.discover and backend.models:
                    models = await _log_failure(backend.models(_TIMEOUT), "models", log)
                if section.llms_txt:
                    hints = await _log_failure(self._request_hints(endpoint), HINTS_PATH, log)
                has_failed = models is None or hints is None
                until = self._clock.now() + (_FAILED_SECONDS if has_failed else _FOUND_SECONDS)
                cached = ModelListing(models or (), hints or (), until)
                if not has_failed:
                    self._blobs.save(key, cached)
            self._cached[backend.name] = cached

    def _is_valid(self, cached: ModelListing) -> bool:
        # A time too far in the future means that the clock was wrong.
        return 0 < cached.until - self._clock.now() <= _FOUND_SECONDS

    async def _request_hints(self, endpoint: Endpoint) -> tuple[ModelHint, ...]:
        keyless = structs.replace(endpoint, key=None)
        ##= man/spec/ask.md#discovery
        ##% duvet MUST request `llms.txt` only from the provider's own origin, and without the key.
        data = await self._http.get(keyless, f"{endpoint.origin}/{HINTS_PATH}", {}, _TIMEOUT, _MAX_HINTS_BYTES)
        return parse_model_hints(endpoint.mask_key(data.decode(errors="replace")))


async def _log_failure(result: Awaitable[Result], what: str, log: Callable[[str], None]) -> Result | None:
    try:
        return await result
    except records.ModelError as error:
        log(f"can't look up {what}: {error.message}")
        return None


def _match_hint(hint: ModelHint, models: Sequence[str]) -> str:
    name = hint.name.lower()
    if not models:
        # Any name without spaces may be a model.
        return "" if " " in hint.name else hint.name
    return next((model for model in models if model.lower() == name), "") or next(
        (model for model in models if model.lower() in f"{name} {hint.url.lower()}"), ""
    )


class StaticRouter:
    def __init__(
        self,
        providers: Mapping[str, service_tables.ProviderSection],
        routing: Mapping[str, service_tables.RouteSection],
        environ: Mapping[str, str],
        *,
        clock: Clock | None = None,
        http: ProviderClient | None = None,
        blobs: BlobStore | None = None,
        spending_folder: str = "",
        log: Callable[[str], None] = lambda words: None,
        report: Callable[[records.ModelCall], None] = lambda call: None,
    ) -> None:
        self.providers = {name: structs.replace(section, api_key=None) for name, section in providers.items()}
        self.routing = routing
        self.log = log
        clock = clock or SystemClock()
        self._http = http or ProviderClient(clock)
        self._discovery = ModelDiscovery(self._http, clock, blobs or BlobStore())
        self.budget = SpendingBudget(clock, spending_folder)
        self._report = report
        self._working: dict[str, str] = {}  # The discovered model that answered last, by provider.
        keys = {name: find_provider_key(section, environ) for name, section in providers.items()}
        self._backends = {
            name: make_backend(name, section, keys[name], self._http) for name, section in self.providers.items()
        }

    def with_sampler(self, sampler: Sampler) -> StaticRouter:
        other = copy(self)
        other._backends = {
            name: make_backend(name, one.section, None, self._http, sampler)
            if one.section.kind is service_tables.ProviderKind.CLIENT
            else one
            for name, one in self._backends.items()
        }
        return other

    async def aclose(self) -> None:
        await self._http.aclose()

    def pick(self, request: records.ModelRequest) -> tuple[list[records.ModelChoice], list[str]]:
        ##= man/spec/ask.md#choosing-a-model
        ##% duvet MUST use the model that a request names, or else the model of the task's route, or else a model
        ##% of the first usable provider.
        if request.model:
            candidates = [request.model]
        elif route := self.routing.get(request.task or ""):
            candidates = [route.model, *route.fallbacks]
        else:
            candidates = list(self.providers)
            usable = (count for count, name in enumerate(candidates, 1) if not self._find_fault(name))
            candidates = candidates[: next(usable, None)]
        troubles = {name: trouble for name in candidates if (trouble := self._find_fault(name))}
        choices = [
            records.ModelChoice(provider, model or self.providers[provider].default_model or "")
            for provider, _, model in (name.partition("/") for name in candidates if name not in troubles)
        ]
        if not choices:
            raise self._make_no_model_error(troubles)
        ##= man/spec/ask.md#choosing-a-model
        ##% duvet MUST warn when it skips an unusable provider or answers with a fallback.
        skipped = [f"skipped {name}: {trouble}" for name, trouble in troubles.items()]
        return choices, [*skipped, *(warning for choice in choices for warning in self._warn_unlisted(choice))]

    def _find_fault(self, name: str) -> str:
        provider, _, model = name.partition("/")
        backend = self._backends.get(provider)
        ##= man/spec/ask.md#choosing-a-model
        ##% duvet MUST call only the providers that the configuration names.
        if backend is None:
            return "unknown provider"
        if backend.trouble:
            return backend.trouble
        chooses = backend.is_discovered or backend.section.kind is service_tables.ProviderKind.CLIENT
        has_model = chooses or model or backend.section.default_model
        return "" if has_model else "the provider has no `defaultModel`"

    def _make_no_model_error(self, troubles: Mapping[str, str]) -> records.NoModelError:
        if not troubles:
            return records.NoModelError()
        hints = []
        for provider in (name.partition("/")[0] for name in troubles):
            backend = self._backends.get(provider)
            if backend is None and self.providers:
                hints.append(did_you_mean(provider, self.providers) or f"available: {', '.join(self.providers)}")
            elif backend is not None and backend.hint:
                hints.append(backend.hint)
            elif backend is not None and not backend.trouble:
                hints.append(f"specify the model as {provider}/MODEL, or set `providers.{provider}.defaultModel`")
        words = "; ".join(f"{name}: {trouble}" for name, trouble in troubles.items())
        return records.NoModelError(f"no usable model: {words}", hint=next(iter(hints), records.SETUP_HINT))

    def _warn_unlisted(self, choice: records.ModelChoice) -> list[str]:
        listed = self._discovery.listing(self._backends[choice.provider]).models
        if not listed or not choice.model or choice.model in listed:
            return []
        near = did_you_mean(choice.model, listed)
        return [f"provider `{choice.provider}` does not list the model `{choice.model}`{near and '; '}{near}"]

    async def invoke(self, request: records.ModelRequest) -> records.ModelResponse:
        """Return the answer of the model, or of the first fallback that answers."""
        choices, skipped = self.pick(request)
        warnings = dict.fromkeys(skipped)
        failures: list[records.ModelError] = []
        for choice in choices:
            backend = self._backends[choice.provider]
            await self._discovery.look_up(backend, self.log)
            warnings.update(dict.fromkeys(self._warn_unlisted(choice)))
            try:
                model, answer = await self._ask_first(backend, choice.model, request)
            except records.ModelError as error:
                failures.append(error)
                continue
            lines = [*warnings]
            if failures:
                lines.append(f"used the fallback {choice.name}, because {'; '.join(one.message for one in failures)}")
            if answer.is_cut:
                lines.append("the answer is incomplete: it reached the token limit")
            for line in lines:
                self.log(line)
            return records.ModelResponse(answer.text, choice.provider, model, answer.usage, tuple(lines))
        *_, last = failures
        if len(failures) == 1:
            raise last
        raise records.ModelError(last.code, "; ".join(one.message for one in failures), hint=last.hint)

    async def _ask_first(
        self, backend: Backend, model: str, request: records.ModelRequest
    ) -> tuple[str, records.ProviderAnswer]:
        candidates = [model] if model or not backend.is_discovered else self._rank_discovered(backend, request.task)
        if not candidates:
            message = f"found no models of provider `{backend.name}`"
            hint = f"set `providers.{backend.name}.defaultModel`"
            raise records.ModelError(records.ModelFault.REFUSED, message, hint=hint)
        for candidate in candidates:
            try:
                answer = await self._complete(backend, candidate, request)
            except records.ModelError as error:
                failure = error
            else:
                if not model:
                    self._working[backend.name] = candidate
                return candidate, answer
        raise failure

    async def _complete(self, backend: Backend, model: str, request: records.ModelRequest) -> records.ProviderAnswer:
        limit = request.max_tokens or backend.section.max_tokens or records.MAX_ANSWER_TOKENS
        request = structs.replace(request, max_tokens=limit)
        self.budget.check(backend.name, backend.section, model)
        if backend.complete is None:
            raise self._make_no_model_error({backend.name: backend.trouble})
        begun = monotonic()
        answer = await backend.complete(model, request)
        # Providers also charge for answers without text.
        self.budget.add(backend.name, backend.section, model, request, answer)
        if not answer.text.strip():
            message, hint = f"provider `{backend.name}` sent an empty answer", "try again, or increase `maxTokens`"
            raise records.ModelError(records.ModelFault.MALFORMED, message, hint=hint)
        self._report(records.ModelCall(backend.name, model, answer.usage, monotonic() - begun))
        return answer

    def _rank_discovered(self, backend: Backend, task: str | None) -> Sequence[str]:
        listing = self._discovery.listing(backend)
        hinted = [_match_hint(hint, listing.models) for hint in listing.hints]
        words = [f"{hint.name} {hint.note}".lower() for hint in listing.hints]
        for_task = [model for model, text in zip(hinted, words, strict=True) if task and task.lower() in text]
        working = [] if for_task else [self._working.get(backend.name, "")]
        ranked = dict.fromkeys(filter(None, [*for_task, *working, *hinted, *listing.models]))
        return list(ranked)[:_MAX_TRIES]

    def list_models(self, provider: str) -> Sequence[str]:
        listing = self._discovery.listing(self._backends[provider])
        known = (one for one in self.known_models() if one.provider == provider)
        configured = [one.model for one in known if one.origin == "configuration"]
        hinted = [_match_hint(hint, listing.models) for hint in listing.hints]
        return list(dict.fromkeys(filter(None, [*configured, *hinted, *listing.models])))

    async def ping(self, provider: str, model: str) -> records.ModelCall:
        calls: list[records.ModelCall] = []
        other = copy(self)
        other._report = calls.append
        request = records.ModelRequest(prompt="Answer with the word: yes", max_tokens=_PING_TOKENS)
        await other._complete(self._backends[provider], model, request)
        return calls[0]

    async def discover(self) -> None:
        for backend in self._backends.values():
            await self._discovery.look_up(backend, self.log)

    def known_models(self) -> tuple[records.KnownModel, ...]:
        models = [
            records.KnownModel(name, section.default_model, "configuration")
            for name, section in self.providers.items()
            if section.default_model
        ]
        for name in (name for route in self.routing.values() for name in (route.model, *route.fallbacks)):
            provider, _, model = name.partition("/")
            if model and provider in self.providers:
                models.append(records.KnownModel(provider, model, "configuration"))
        for provider, backend in self._backends.items():
            listing = self._discovery.listing(backend)
            models += [records.KnownModel(provider, model, "models") for model in listing.models]
            models += [
                records.KnownModel(provider, hint.name, "llms.txt", hint.note, hint.url) for hint in listing.hints
            ]
        found: dict[tuple[str, str], records.KnownModel] = {}
        for one in models:
            earlier = found.setdefault((one.provider, one.model), one)
            if one.note and not earlier.note:
                found[one.provider, one.model] = structs.replace(earlier, note=one.note, url=one.url)
        order = {name: index for index, name in enumerate(self.providers)}
        return tuple(sorted(found.values(), key=lambda one: order[one.provider]))
