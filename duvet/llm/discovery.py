"""What providers say of their models, where the configuration has them asked; it is kept for a while."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from duvet.cache.blobs import Blobs
from duvet.cache.key import key
from duvet.llm.backends import Backend
from duvet.llm.clock import Clock
from duvet.llm.endpoint import Endpoint
from duvet.llm.errors import ModelError
from duvet.llm.hints import Hint, hints_in
from duvet.llm.http import Http

if TYPE_CHECKING:
    from anyio import Lock

Found = TypeVar("Found")

HINTS = "llms.txt"
_SECONDS = 5.0
"""So long anybody waits for it."""
_MOST_BYTES = 64 * 1024
_FRESH, _FAILED = 3600.0, 300.0
"""So many seconds what was found counts, and what could not be found is not looked for again."""


class Listing(Struct, frozen=True):
    """What is known of the models of a provider."""

    models: tuple[str, ...] = ()
    hints: tuple[Hint, ...] = ()


class _Kept(Struct, frozen=True):
    """A listing, and until when it counts."""

    until: float
    listing: Listing


class Discovery:
    """Asks providers, seldom."""

    def __init__(self, http: Http, clock: Clock, blobs: Blobs) -> None:
        self._http = http
        self._clock = clock
        self._blobs = blobs
        self._kept: dict[str, _Kept] = {}
        self._locks: dict[str, Lock] = {}
        """Of many who ask at the same time, one looks."""

    def known(self, backend: Backend) -> Listing:
        """What has been found out about a provider."""
        kept = self._kept.get(backend.name)
        return kept.listing if kept else Listing()

    async def look_up(self, backend: Backend, log: Callable[[str], None]) -> None:
        """Find out what the configuration allows to be found out; nothing where that fails."""
        ##= man/spec/ask.md#discovery
        ##% duvet MUST NOT ask for models or for `llms.txt` unless the configuration says so.
        section, endpoint = backend.section, backend.endpoint
        if endpoint is None or not (section.discover or section.llms_txt) or self._is_fresh(backend.name):
            return
        import anyio

        async with self._locks.setdefault(backend.name, anyio.Lock()):
            if not self._is_fresh(backend.name):
                self._kept[backend.name] = await self._looked_up(backend, endpoint, log)

    async def _looked_up(self, backend: Backend, endpoint: Endpoint, log: Callable[[str], None]) -> _Kept:
        section = backend.section
        name = f"models-{key(endpoint.base, section.discover, section.llms_txt)}"
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
        hints: tuple[Hint, ...] | None = ()
        if backend.section.discover and backend.provider is not None:
            models = await _unless_it_fails(backend.provider.models(_SECONDS), "models", log)
        if backend.section.llms_txt:
            hints = await _unless_it_fails(self._hints(endpoint), HINTS, log)
        lasts = _FAILED if models is None or hints is None else _FRESH
        return _Kept(self._clock.now() + lasts, Listing(models or (), hints or ()))

    async def _hints(self, endpoint: Endpoint) -> tuple[Hint, ...]:
        ##= man/spec/ask.md#discovery
        ##% `llms.txt` MUST be read from the very origin of the provider, without the key, and no more of it than 64 KiB.
        stranger = replace(endpoint, key=None)
        data = await self._http.get(stranger, f"{endpoint.origin}/{HINTS}", {}, _SECONDS, _MOST_BYTES)
        return hints_in(endpoint.without_key(data.decode(errors="replace")))


async def _unless_it_fails(answer: Awaitable[Found], what: str, log: Callable[[str], None]) -> Found | None:
    ##= man/spec/ask.md#discovery
    ##% What goes wrong with the discovery of models MUST NOT keep any of them from being used.
    try:
        return await answer
    except ModelError as error:
        log(f"{what} can't be looked up: {error.message}")
        return None
