"""Files that several calls look into."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache, partial

from duvet.queries.places import Files
from duvet.queries.snippets import Text

_MOST = 64


class KeptFiles(Files, frozen=True, dict=True):
    """Files as they were when they were first asked for; the texts of the last few are kept, line by line."""

    def text(self, path: str) -> Text:
        return self._kept(path)

    @cached_property
    def _kept(self) -> Callable[[str], Text]:
        return lru_cache(maxsize=_MOST)(partial(Files.text, self))
