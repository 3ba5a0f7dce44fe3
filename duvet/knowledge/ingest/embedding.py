"""Vectors for the pieces of a store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from duvet.progress import Counted, Progress
from duvet.search.vectors.protocol import Embedder, Space
from duvet.search.vectors.rows import row_size
from duvet.store.protocol import Store, Writing
from duvet.store.records import Artifact, Chunk

SPACE, SIZE = "space", "space-size"
"""What the space is kept as, and how many pieces there were when it was fitted."""

_SAMPLE = 10_000
"""So many pieces tell what a corpus is like."""
_BATCH = 512
_TOLERANCE = 5
"""A corpus that has grown or shrunk by more than this part is another one."""


class Vectors:
    """Brings the vectors of a store up to date."""

    def __init__(self, store: Store, writing: Writing, embedder: Embedder) -> None:
        self._store = store
        self._writing = writing
        self._embedder = embedder
        self._space: Space | None = None
        self._total = 0

    def plan(self, artifacts: Sequence[Artifact], changed: Iterable[str]) -> list[Artifact]:
        """The files whose pieces need vectors: those that have changed, or all where the corpus is another one."""
        with_pieces = [one for one in artifacts if one.chunk_count]
        total = sum(one.chunk_count for one in with_pieces)
        ##= man/spec/knowledge.md#runs
        ##% All vectors MUST be made again when the number of pieces has changed by more than a fifth since they were
        ##% fitted, or when the model is another.
        self._space = self._kept(total)
        if self._space is None:
            self._total = total
            return with_pieces
        known = frozenset(changed)
        return [one for one in with_pieces if one.path in known]

    def make(self, artifacts: Sequence[Artifact], counted: Counted) -> None:
        """Make the vectors of these files."""
        space = self._space or self._fitted(artifacts, self._total)
        for batch in _batches(artifacts):
            self._embed(space, batch)
            counted.advance(sum(one.chunk_count for one in batch))

    def _kept(self, total: int) -> Space | None:
        data = self._store.kept(SPACE)
        space = self._embedder.space(data) if data else None
        size = int.from_bytes(self._store.kept(SIZE) or b"")
        return space if space and abs(total - size) * _TOLERANCE <= size else None

    def _fitted(self, artifacts: Sequence[Artifact], total: int) -> Space:
        space = self._embedder.fitted(list(self._sample(artifacts, total)))
        self._writing.keep(SPACE, space.data)
        self._writing.keep(SIZE, total.to_bytes(8))
        return space

    def _sample(self, artifacts: Sequence[Artifact], total: int) -> Iterator[str]:
        """Texts from all over the corpus, the same of the same one."""
        step = max(1, -(-total // _SAMPLE))
        first = 0
        for one in artifacts:
            start = -first % step
            first += one.chunk_count
            if start < one.chunk_count:
                numbers = self._store.chunk_numbers(one.path)
                yield from map(_words, self._store.chunks(numbers[start::step]))

    def _embed(self, space: Space, batch: Sequence[Artifact]) -> None:
        numbers = [self._store.chunk_numbers(one.path) for one in batch]
        chunks = self._store.chunks([number for some in numbers for number in some])
        rows = space.rows(list(map(_words, chunks)))
        size, start = row_size(space.width), 0
        for one, some in zip(batch, numbers, strict=True):
            end = start + len(some) * size
            self._writing.replace_vectors(one.path, rows[start:end])
            start = end


def bring_vectors_up_to_date(
    store: Store,
    writing: Writing,
    embedder: Embedder | None,
    artifacts: Sequence[Artifact],
    changed: Iterable[str],
    progress: Progress,
) -> None:
    """Make those that are missing; without a model there are none."""
    if embedder is None:
        _without_vectors(store, writing, artifacts)
        return
    vectors = Vectors(store, writing, embedder)
    todo = vectors.plan(artifacts, changed)
    if todo:
        count = sum(one.chunk_count for one in todo)
        with progress.counted("Making vectors", count) as counted:
            vectors.make(todo, counted)
        progress.end(f"Made {count} vectors")


def _without_vectors(store: Store, writing: Writing, artifacts: Iterable[Artifact]) -> None:
    """Leave none: some would be of texts that have changed."""
    if store.kept(SPACE):
        writing.keep(SPACE, b"")
        for one in artifacts:
            if one.chunk_count:
                writing.replace_vectors(one.path, b"")


def _words(chunk: Chunk) -> str:
    title = chunk.piece.title
    return f"{title}\n{chunk.text}" if title else chunk.text


def _batches(artifacts: Iterable[Artifact]) -> Iterator[list[Artifact]]:
    """The files, so many at once that their pieces make one batch."""
    batch: list[Artifact] = []
    size = 0
    for one in artifacts:
        batch.append(one)
        size += one.chunk_count
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
