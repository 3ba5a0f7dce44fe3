"""Which model answers a request, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from typing import Protocol

from msgspec.structs import replace

from duvet.cache.blobs import Blobs, NoBlobs
from duvet.config.service.providers import ProviderKind, ProviderSection, RouteSection
from duvet.config.wording import did_you_mean
from duvet.llm.backends import Backend, backends_of
from duvet.llm.clock import Clock, SystemClock
from duvet.llm.discovery import Discovery
from duvet.llm.errors import SETTING_UP, ModelError, NoModelError
from duvet.llm.http import Http
from duvet.llm.key import key_of
from duvet.llm.known import merged
from duvet.llm.provider import Sampler
from duvet.llm.records import Choice, KnownModel, ModelRequest, ModelResponse, Resolved, Said


class Router(Protocol):
    """Finds the model for a request, and asks it."""

    def pick(self, request: ModelRequest) -> Resolved:
        """The model that is to answer; NoModelError where none can be asked."""

    async def invoke(self, request: ModelRequest, resolved: Resolved | None = None) -> ModelResponse:
        """What it answers, or one of its fallbacks; ModelError where none of them does."""


def unheard(words: str) -> None:
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
        http: Http | None = None,
        blobs: Blobs | None = None,
        log: Callable[[str], None] = unheard,
        sampler: Sampler | None = None,
    ) -> None:
        ##= man/spec/ask.md#keys
        ##% A key MUST NOT be shown or logged, whatever a provider answers.
        self._keys = {name: key for name, section in providers.items() if (key := key_of(section, environ))}
        self.providers = {name: replace(section, api_key=None) for name, section in providers.items()}
        self.routing = routing
        self.log = log
        clock = clock or SystemClock()
        self._http = http or Http(clock)
        self._discovery = Discovery(self._http, clock, blobs or NoBlobs())
        self._backends = backends_of(self.providers, self._keys, self._http, sampler)

    def with_sampler(self, sampler: Sampler) -> StaticRouter:
        """The same for a call of a client that offers its own model; connections and what is known are shared."""
        other = copy(self)
        other._backends = backends_of(self.providers, self._keys, self._http, sampler)
        return other

    async def aclose(self) -> None:
        """Hang up on all providers."""
        await self._http.aclose()

    def pick(self, request: ModelRequest) -> Resolved:
        if request.model:
            ##= man/spec/ask.md#choosing
            ##% A request that names a model or a provider MUST be answered by that one, or not at all.
            return self._resolved([request.model], "it is asked for")
        route = self.routing.get(request.task or "")
        if route is not None:
            ##= man/spec/ask.md#choosing
            ##% A request for a task with a route MUST be answered by the model of the route, or by the first of its
            ##% fallbacks that answers.
            return self._resolved([route.model, *route.fallbacks], f"`routing.{request.task}` says so")
        return self._first()

    def _first(self) -> Resolved:
        ##= man/spec/ask.md#choosing
        ##% Any other request MUST be answered by the default model of the first provider that can be used.
        names = list(self.providers)
        usable = (count for count, name in enumerate(names, 1) if not self._trouble(name))
        return self._resolved(names[: next(usable, None)], "its provider is the first that can be used")

    def _resolved(self, wanted: Sequence[str], reason: str) -> Resolved:
        troubles = {name: trouble for name in wanted if (trouble := self._trouble(name))}
        choices = [self._choice(name) for name in wanted if name not in troubles]
        ##= man/spec/ask.md#choosing
        ##% A provider that is disabled, has no key where it needs one, or has no model MUST be passed over with a warning.
        passed = [f"{name} is passed over: {trouble}" for name, trouble in troubles.items()]
        if not choices:
            raise self._nothing(troubles)
        doubts = [doubt for choice in choices for doubt in self._doubts(choice)]
        first, *others = choices
        return Resolved(first.provider, first.model, reason, tuple(others), (*passed, *doubts))

    def _trouble(self, written: str) -> str:
        """Why what is written can't be asked."""
        name, _, model = written.partition("/")
        backend = self._backends.get(name)
        ##= man/spec/ask.md#choosing
        ##% duvet MUST NOT send anything to a provider that the configuration doesn't name.
        if backend is None:
            return "there is no such provider"
        if backend.trouble:
            return backend.trouble
        needs_model = backend.section.kind is not ProviderKind.CLIENT
        return "it has no `defaultModel`" if needs_model and not (model or backend.section.default_model) else ""

    def _choice(self, written: str) -> Choice:
        name, _, model = written.partition("/")
        return Choice(name, model or self.providers[name].default_model or "")

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
        return SETTING_UP

    def _doubts(self, choice: Choice) -> list[str]:
        listed = self._discovery.known(self._backends[choice.provider]).models
        ##= man/spec/ask.md#discovery
        ##% A model that its provider doesn't list MUST be used with a warning.
        is_listed = not listed or not choice.model or choice.model in listed
        near = "" if is_listed else did_you_mean(choice.model, listed)
        return [] if is_listed else [f"{choice.provider} lists no model {choice.model}{near and '; '}{near}"]

    async def invoke(self, request: ModelRequest, resolved: Resolved | None = None) -> ModelResponse:
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

    def _usable(self, choice: Choice) -> Backend:
        trouble = self._trouble(choice.name)
        if trouble:
            raise self._nothing({choice.name: trouble})
        return self._backends[choice.provider]

    def _response(self, choice: Choice, said: Said, warnings: list[str]) -> ModelResponse:
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
        return merged(self.providers, self.routing, listings)


def _fallen_back(choice: Choice, failures: Sequence[ModelError]) -> list[str]:
    ##= man/spec/ask.md#choosing
    ##% Where a fallback answers, a warning MUST say so, both in the log and in the response.
    return [f"{choice.name} answers instead: {'; '.join(one.message for one in failures)}"] if failures else []


def _all_of(failures: Sequence[ModelError]) -> ModelError:
    """One error for all models that did not answer."""
    *_, last = failures
    if len(failures) == 1:
        return last
    return ModelError(last.code, "; ".join(one.message for one in failures), hint=last.hint)
