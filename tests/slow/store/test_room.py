"""How much room a store takes."""

from __future__ import annotations

import random
from contextlib import closing
from pathlib import Path

from duvet.store.location import open_store
from duvet.store.records import ChunkFilters, Store
from tests.unit.store.engines import store_path
from tests.unit.store.made import taken


def fill(store: Store, files: int) -> None:
    made = random.Random(1)
    words = [f"w{number}" for number in range(3000)]
    with store.writing() as writing:
        for number in range(files):
            text = "".join(" ".join(made.choices(words, k=20)) + "\n" for _ in range(8))
            writing.put(taken(f"{number}.md", text, vectors=made.randbytes(4 * 260)))


def test_what_is_gone_takes_no_room(tmp_path: Path) -> None:
    path = Path(store_path(str(tmp_path)))
    with closing(open_store(str(path), create=True)) as store:
        fill(store, 1000)
        full = path.stat().st_size
        fill(store, 1000)
        assert path.stat().st_size < full * 1.2
        with store.writing() as writing:
            for number in range(10, 1000):
                writing.remove(f"{number}.md")
        assert path.stat().st_size < full / 3
        assert (store.chunk_total(), len(store.artifacts())) == (40, 10)
        hits = store.lexical([f"w{number}" for number in range(3000)], ChunkFilters(), 99, every=False)
        assert {int(one.artifact.path[:-3]) for one in store.chunks([number for number, _ in hits])} <= set(range(10))
    assert sorted(one.name for one in path.parent.iterdir()) == [".gitignore", "store.db"]


def test_all_runs_together_take_no_more_than_one(tmp_path: Path) -> None:
    path = Path(store_path(str(tmp_path)))
    with closing(open_store(str(path), create=True)) as store:
        fill(store, 200)
        full = path.stat().st_size
        for _ in range(10):
            fill(store, 200)
        assert path.stat().st_size < full * 1.5
