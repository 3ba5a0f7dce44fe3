"""Files that several calls look into."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache, partial

from duvet.queries.places import Files
from duvet.queries.snippets import Text
from duvet.tools.inside import is_inside

_MOST = 64


class KeptFiles(Files, frozen=True, dict=True):
    """Files as they were when they were first asked for; the texts of the last few are kept, line by line."""

    def has(self, path: str) -> bool:
        ##= man/spec/mcp.md#tools
        ##% Whether a file exists outside of the project MUST NOT be told.
        return is_inside(self.root, path) and super().has(path)

    def text(self, path: str) -> Text:
        return self._kept(path)

    @cached_property
    def _kept(self) -> Callable[[str], Text]:
        return lru_cache(maxsize=_MOST)(partial(Files.text, self))
