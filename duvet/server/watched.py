"""The resources that clients want to be told of."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterable
from itertools import islice

from duvet.server.resources.differences import NOTHING, changed, digest
from duvet.tools.context import Context

_AT_ONCE = 20


class Watched:
    """What each of them was when its client was told of it last."""

    def __init__(self) -> None:
        self._digests: dict[str, str] = {}
        self._wanted: Counter[str] = Counter()

    @property
    def uris(self) -> set[str]:
        return set(self._digests)

    def add(self, uris: Iterable[str], context: Context | None) -> None:
        """Somebody wants to be told of these; without a project there is nothing there yet."""
        for uri in uris:
            self._wanted[uri] += 1
            if uri not in self._digests:
                self._digests[uri] = digest(context, uri) if context else NOTHING

    def remove(self, uris: Iterable[str]) -> None:
        """They don't any more."""
        for uri in uris:
            self._wanted[uri] -= 1
            if not self._wanted[uri]:
                del self._wanted[uri], self._digests[uri]

    async def changed(self, after: Context) -> AsyncIterator[str]:
        """Those that are another now, and nobody has been told."""
        from anyio.lowlevel import checkpoint

        rest = iter(tuple(self._digests))
        while part := [uri for uri in islice(rest, _AT_ONCE) if uri in self._digests]:
            found = changed({uri: self._digests[uri] for uri in part}, after)
            self._digests.update(found)
            for uri in found:
                yield uri
            # Others want to be answered in between.
            await checkpoint()
