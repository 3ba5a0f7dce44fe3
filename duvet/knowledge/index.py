"""The index of a project for readers, while an ingest run may be writing it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from duvet.config.settings import IngestRule, SearchRule, StoreSection
from duvet.store.errors import StoreError
from duvet.store.location import open_store
from duvet.store.protocol import Store

if TYPE_CHECKING:
    from duvet.knowledge.retrieval.engine import SearchEngine


Answer = TypeVar("Answer")


class KnowledgeSettings(Struct, frozen=True):
    """Where it is kept, and what is said of taking in."""

    root: str
    ingest: IngestRule
    store: StoreSection
    search: SearchRule = SearchRule()
    configurations: tuple[str, ...] = ()
    """The files that say all of that."""

    @property
    def path(self) -> str:
        """The file of the store."""
        return os.path.join(self.root, self.store.path)


class OpenStore:
    """A store that is open, and what searches it."""

    def __init__(self, store: Store, rules: KnowledgeSettings) -> None:
        self.store = store
        self.rules = rules

    @cached_property
    def engine(self) -> SearchEngine:
        """What searches it, made when it is first needed: it loads the vectors."""
        from duvet.knowledge.retrieval.engine import SearchEngine
        from duvet.knowledge.retrieval.signals import find_profile
        from duvet.queries.embeddings import find_embedder

        ##= man/spec/knowledge.md#search
        ##% `km-search` MUST use weights only to order equally good results, and apply edited weights to the next
        ##% search.
        rule, search = self.rules.ingest, self.rules.search
        weights = find_profile(search.profile, **search.weights)
        return SearchEngine(
            self.store,
            find_embedder(rule.semantic),
            rule.editor_uri,
            self.rules.root,
            profile=weights,
            votes=self._votes(),
        )

    def _votes(self) -> Callable[[], Mapping[str, float]] | None:
        """What tells the votes for pieces, where they count."""
        from duvet.knowledge.maintenance.feedback import VoteMeans, find_store_paths

        return VoteMeans(find_store_paths(self.rules).feedback) if self.rules.search.feedback else None


class Knowledge:
    """Opens the store when it is first asked for, and again when the file is another. Any thread may ask."""

    def __init__(self, rules: Callable[[], KnowledgeSettings]) -> None:
        self.rules = rules
        self._lock = Lock()
        self._known: OpenStore | None = None
        self._file: tuple[int, int] | None = None

    def turn_to(self, rules: Callable[[], KnowledgeSettings]) -> None:
        """From the next question on, these rules are in force."""
        self.rules = rules

    def ask(self, question: Callable[[OpenStore], Answer]) -> Answer:
        """What the store answers; StoreError where it can't be had."""
        with self._lock:
            try:
                known = self._current()
                with known.store.reading():
                    return question(known)
            except StoreError:
                ##= man/spec/knowledge.md#answers
                ##% When the index is missing, locked, damaged or of another version, these tools MUST answer
                ##% `upstream_error` with a remedy, and recover without a restart.
                self._let_go()
                raise

    def close(self) -> None:
        """Let go of the store; it is opened again for whoever asks."""
        with self._lock:
            self._let_go()

    def _current(self) -> OpenStore:
        rules = self.rules()
        file = _file_at(rules.path)
        known = self._known
        if known is None or file != self._file or rules != known.rules or not known.store.is_current:
            self._let_go()
            # As long as the old file is open, a new one can't be taken for it.
            known = self._known = OpenStore(open_store(rules.path), rules)
            self._file = file
        return known

    def _let_go(self) -> None:
        known, self._known = self._known, None
        if known is not None:
            known.store.close()


def _file_at(path: str) -> tuple[int, int] | None:
    """Which file stands there."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino
