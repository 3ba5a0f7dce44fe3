"""Chooses the model for a request, and discovers models."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from duvet.config.fields import did_you_mean
from duvet.config.service_tables import ProviderKind, ProviderSection, RouteSection
from duvet.llm.endpoint import Endpoint, find_provider_key
from duvet.llm.http import ProviderClient
from duvet.llm.providers import Backend, Sampler, make_backends
from duvet.llm.records import (
    MAX_LINE_CHARACTERS,
    SETUP_HINT,
    Clock,
    KnownModel,
    ModelChoice,
    ModelError,
    ModelRequest,
    ModelResponse,
    NoModelError,
    ProviderAnswer,
    ResolvedModel,
    SystemClock,
    shorten_to_line,
)
from duvet.tree.cache import make_cache_key
from duvet.tree.cache_files import BlobStore, NoBlobStore

if TYPE_CHECKING:
    from anyio import Lock


_LINK = re.compile(r"\s{0,8}[-*]\s{0,4}\[([^\]]{1,500})\]\(([^)\s]{1,1000})\)(?:\s{0,4}:\s{0,4}(.*))?")
_ABOUT_MODELS = re.compile(r"\b(?:models?|pricing)\b", re.IGNORECASE)
_MOST_HINTS = 100
_LONGEST_NAME = 100


class ModelHint(Struct, frozen=True):
    """A link that has to do with models."""

    name: str
    url: str
    note: str


def parse_model_hints(text: str) -> tuple[ModelHint, ...]:
    """The links of a text in that format that have to do with models, cut to what can be shown."""
    found = (
        ModelHint(shorten_to_line(name, _LONGEST_NAME), shorten_to_line(url), shorten_to_line(note))
        for name, url, note in _links(text)
    )
    return tuple([hint for hint, _ in zip(found, range(_MOST_HINTS), strict=False) if hint.name])


def _links(text: str) -> Iterator[tuple[str, str, str]]:
    section = ""
    for line in text.splitlines():
        if line.startswith("## "):
            section = line[:MAX_LINE_CHARACTERS]
        link = _LINK.match(line)
        if link and _ABOUT_MODELS.search(f"{section} {link[1]} {link[3] or ''}"):
            yield link[1], link[2], link[3] or ""


DiscoveredType = TypeVar("DiscoveredType")

HINTS_PATH = "llms.txt"
_SECONDS = 5.0
"""So long anybody waits for it."""
_MOST_BYTES = 64 * 1024
_FRESH, _FAILED = 3600.0, 300.0
"""So many seconds what was found counts, and what could not be found is not looked for again."""


class ModelListing(Struct, frozen=True):
    """What is known of the models of a provider."""

    models: tuple[str, ...] = ()
    hints: tuple[ModelHint, ...] = ()


class _Kept(Struct, frozen=True):
    """A listing, and until when it counts."""

    until: float
    listing: ModelListing


class ModelDiscovery:
    """Asks providers, seldom."""

    def __init__(self, http: ProviderClient, clock: Clock, blobs: BlobStore) -> None:
        self._http = http
        self._clock = clock
        self._blobs = blobs
        self._kept: dict[str, _Kept] = {}
        self._locks: dict[str, Lock] = {}
        """Of many who ask at the same time, one looks."""

    def known(self, backend: Backend) -> ModelListing:
        """What has been found out about a provider."""
        kept = self._kept.get(backend.name)
        return kept.listing if kept else ModelListing()

    async def look_up(self, backend: Backend, log: Callable[[str], None]) -> None:
        """Find out what the configuration allows to be found out; nothing where that fails."""
        ##= man/spec/ask.md#discovery
        ##% duvet MUST NOT request the list of models or `llms.txt` unless the configuration says so.
        section, endpoint = backend.section, backend.endpoint
        if endpoint is None or not (section.discover or section.llms_txt) or self._is_fresh(backend.name):
            return
        import anyio

        async with self._locks.setdefault(backend.name, anyio.Lock()):
            if not self._is_fresh(backend.name):
                self._kept[backend.name] = await self._looked_up(backend, endpoint, log)

    async def _looked_up(self, backend: Backend, endpoint: Endpoint, log: Callable[[str], None]) -> _Kept:
        section = backend.section
        name = f"models-{make_cache_key((endpoint.base, section.discover, section.llms_txt))}"
        kept = self._blobs.load(name, _Kept)
        if kept is None or not self._counts(kept):
            kept = await self._found(backend, endpoint, log)
            if kept.until > self._clock.now() + _FAILED:
                self._blobs.save(name, kept)
        return kept

    def _is_fresh(self, name: str) -> bool:
        return name in self._kept and self._counts(self._kept[name])

    def _counts(self, kept: _Kept) -> bool:
        # One from the future was kept by a clock that was wrong.
        return 0 < kept.until - self._clock.now() <= _FRESH

    async def _found(self, backend: Backend, endpoint: Endpoint, log: Callable[[str], None]) -> _Kept:
        models: tuple[str, ...] | None = ()
        hints: tuple[ModelHint, ...] | None = ()
        if backend.section.discover and backend.provider is not None:
            models = await _unless_it_fails(backend.provider.models(_SECONDS), "models", log)
        if backend.section.llms_txt:
            hints = await _unless_it_fails(self._hints(endpoint), HINTS_PATH, log)
        lasts = _FAILED if models is None or hints is None else _FRESH
        return _Kept(self._clock.now() + lasts, ModelListing(models or (), hints or ()))

    async def _hints(self, endpoint: Endpoint) -> tuple[ModelHint, ...]:
        ##= man/spec/ask.md#discovery
        ##% duvet MUST read no more than 64 KiB of `llms.txt`, from the provider's own origin and without the key, and
        ##% keep the hints in it out of prompts.
        stranger = replace(endpoint, key=None)
        data = await self._http.get(stranger, f"{endpoint.origin}/{HINTS_PATH}", {}, _SECONDS, _MOST_BYTES)
        return parse_model_hints(endpoint.without_key(data.decode(errors="replace")))


async def _unless_it_fails(
    answer: Awaitable[DiscoveredType], what: str, log: Callable[[str], None]
) -> DiscoveredType | None:
    try:
        return await answer
    except ModelError as error:
        log(f"{what} can't be looked up: {error.message}")
        return None


def merge_models(
    providers: Mapping[str, ProviderSection], routing: Mapping[str, RouteSection], listings: Mapping[str, ModelListing]
) -> tuple[KnownModel, ...]:
    """Each model once, by provider."""
    found: dict[tuple[str, str], KnownModel] = {}
    for one in _told(providers, routing, listings):
        ##= man/spec/ask.md#discovery
        ##% duvet MUST use a configured model as configured, even when discovery fails, says otherwise, or does not list
        ##% the model.
        earlier = found.setdefault((one.provider, one.model), one)
        if one.note and not earlier.note:
            found[one.provider, one.model] = replace(earlier, note=one.note, url=one.url)
    order = {name: index for index, name in enumerate(providers)}
    return tuple(sorted(found.values(), key=lambda one: order[one.provider]))


def _told(
    providers: Mapping[str, ProviderSection], routing: Mapping[str, RouteSection], listings: Mapping[str, ModelListing]
) -> Iterator[KnownModel]:
    for name, section in providers.items():
        if section.default_model:
            yield KnownModel(name, section.default_model, "configuration")
    for written in _routed(routing.values()):
        name, _, model = written.partition("/")
        if model and name in providers:
            yield KnownModel(name, model, "configuration")
    for name, listing in listings.items():
        yield from (KnownModel(name, model, "models") for model in listing.models)
        yield from (KnownModel(name, hint.name, "llms.txt", hint.note, hint.url) for hint in listing.hints)


def _routed(routes: Iterable[RouteSection]) -> Iterator[str]:
    for route in routes:
        yield from (route.model, *route.fallbacks)


class Router(Protocol):
    """Finds the model for a request, and asks it."""

    def pick(self, request: ModelRequest) -> ResolvedModel:
        """The model that is to answer; NoModelError where none can be asked."""

    async def invoke(self, request: ModelRequest, resolved: ResolvedModel | None = None) -> ModelResponse:
        """What it answers, or one of its fallbacks; ModelError where none of them does."""


def ignore_log(words: str) -> None:
    """Where nobody keeps a log."""


class StaticRouter:
    """A router that goes by the configuration."""

    def __init__(
        self,
        providers: Mapping[str, ProviderSection],
        routing: Mapping[str, RouteSection],
        environ: Mapping[str, str],
        *,
        clock: Clock | None = None,
        http: ProviderClient | None = None,
        blobs: BlobStore | None = None,
        log: Callable[[str], None] = ignore_log,
        sampler: Sampler | None = None,
    ) -> None:
        ##= man/spec/ask.md#keys
        ##% duvet MUST NOT show or log a provider's key, nor its `baseUrl` when a call fails.
        self._keys = {name: key for name, section in providers.items() if (key := find_provider_key(section, environ))}
        self.providers = {name: replace(section, api_key=None) for name, section in providers.items()}
        self.routing = routing
        self.log = log
        clock = clock or SystemClock()
        self._http = http or ProviderClient(clock)
        self._discovery = ModelDiscovery(self._http, clock, blobs or NoBlobStore())
        self._backends = make_backends(self.providers, self._keys, self._http, sampler)

    def with_sampler(self, sampler: Sampler) -> StaticRouter:
        """The same for a call of a client that offers its own model; connections and what is known are shared."""
        other = copy(self)
        other._backends = make_backends(self.providers, self._keys, self._http, sampler)
        return other

    async def aclose(self) -> None:
        """Hang up on all providers."""
        await self._http.aclose()

    def pick(self, request: ModelRequest) -> ResolvedModel:
        if request.model:
            return self._resolved([request.model], "it is asked for")
        route = self.routing.get(request.task or "")
        if route is not None:
            ##= man/spec/ask.md#choosing-a-model
            ##% duvet MUST use the model or provider that a request names, otherwise the model or first working fallback
            ##% of the task's route, otherwise the default model of the first usable provider.
            return self._resolved([route.model, *route.fallbacks], f"`routing.{request.task}` says so")
        return self._first()

    def _first(self) -> ResolvedModel:
        names = list(self.providers)
        usable = (count for count, name in enumerate(names, 1) if not self._trouble(name))
        return self._resolved(names[: next(usable, None)], "its provider is the first that can be used")

    def _resolved(self, wanted: Sequence[str], reason: str) -> ResolvedModel:
        troubles = {name: trouble for name in wanted if (trouble := self._trouble(name))}
        choices = [self._choice(name) for name in wanted if name not in troubles]
        ##= man/spec/ask.md#choosing-a-model
        ##% duvet MUST warn when it skips an unusable provider or answers with a fallback, and say how to set up a model
        ##% when there is none.
        passed = [f"{name} is passed over: {trouble}" for name, trouble in troubles.items()]
        if not choices:
            raise self._nothing(troubles)
        doubts = [doubt for choice in choices for doubt in self._doubts(choice)]
        first, *others = choices
        return ResolvedModel(first.provider, first.model, reason, tuple(others), (*passed, *doubts))

    def _trouble(self, written: str) -> str:
        """Why what is written can't be asked."""
        name, _, model = written.partition("/")
        backend = self._backends.get(name)
        ##= man/spec/ask.md#choosing-a-model
        ##% duvet MUST call only the providers that the configuration names.
        if backend is None:
            return "there is no such provider"
        if backend.trouble:
            return backend.trouble
        needs_model = backend.section.kind is not ProviderKind.CLIENT
        return "it has no `defaultModel`" if needs_model and not (model or backend.section.default_model) else ""

    def _choice(self, written: str) -> ModelChoice:
        name, _, model = written.partition("/")
        return ModelChoice(name, model or self.providers[name].default_model or "")

    def _nothing(self, troubles: Mapping[str, str]) -> NoModelError:
        if not troubles:
            return NoModelError()
        words = "; ".join(f"{name}: {trouble}" for name, trouble in troubles.items())
        return NoModelError(f"no model can be asked: {words}", hint=self._hint_for(troubles))

    def _hint_for(self, troubles: Iterable[str]) -> str:
        for written in troubles:
            name = written.partition("/")[0]
            backend = self._backends.get(name)
            if backend is None and self.providers:
                return did_you_mean(name, self.providers) or f"there are {', '.join(self.providers)}"
            if backend is not None and backend.hint:
                return backend.hint
            if backend is not None and not backend.trouble:
                return f"name a model as {name}/MODEL, or give `providers.{name}.defaultModel`"
        return SETUP_HINT

    def _doubts(self, choice: ModelChoice) -> list[str]:
        listed = self._discovery.known(self._backends[choice.provider]).models
        is_listed = not listed or not choice.model or choice.model in listed
        near = "" if is_listed else did_you_mean(choice.model, listed)
        return [] if is_listed else [f"{choice.provider} lists no model {choice.model}{near and '; '}{near}"]

    async def invoke(self, request: ModelRequest, resolved: ResolvedModel | None = None) -> ModelResponse:
        chosen = resolved or self.pick(request)
        warnings = dict.fromkeys(chosen.warnings)
        failures: list[ModelError] = []
        for choice in chosen.choices:
            backend = self._usable(choice)
            await self._discovery.look_up(backend, self.log)
            warnings.update(dict.fromkeys(self._doubts(choice)))
            assert backend.provider is not None
            try:
                said = await backend.provider.complete(choice.model, request)
            except ModelError as error:
                failures.append(error)
                continue
            return self._response(choice, said, [*warnings, *_fallen_back(choice, failures)])
        raise _all_of(failures)

    def _usable(self, choice: ModelChoice) -> Backend:
        trouble = self._trouble(choice.name)
        if trouble:
            raise self._nothing({choice.name: trouble})
        return self._backends[choice.provider]

    def _response(self, choice: ModelChoice, said: ProviderAnswer, warnings: list[str]) -> ModelResponse:
        if said.is_cut:
            warnings.append("the answer is cut: the model was allowed no more tokens")
        for words in warnings:
            self.log(words)
        return ModelResponse(said.text, choice.provider, choice.model, said.usage, tuple(warnings))

    async def discover(self) -> None:
        """Look up the models of all providers that the configuration has asked for them."""
        for backend in self._backends.values():
            await self._discovery.look_up(backend, self.log)

    def known_models(self) -> tuple[KnownModel, ...]:
        """The models that the configuration names, and those that have been found."""
        listings = {name: self._discovery.known(backend) for name, backend in self._backends.items()}
        return merge_models(self.providers, self.routing, listings)


def _fallen_back(choice: ModelChoice, failures: Sequence[ModelError]) -> list[str]:
    return [f"{choice.name} answers instead: {'; '.join(one.message for one in failures)}"] if failures else []


def _all_of(failures: Sequence[ModelError]) -> ModelError:
    """One error for all models that did not answer."""
    *_, last = failures
    if len(failures) == 1:
        return last
    return ModelError(last.code, "; ".join(one.message for one in failures), hint=last.hint)
