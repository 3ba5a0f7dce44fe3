"""When vectors are made again."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from duvet.config.settings import IngestRule
from duvet.knowledge.ingest.run import SPACE_SIZE_KEY
from duvet.knowledge.settings import IngestOptions
from duvet.store.records import SPACE_KEY
from tests.unit.knowledge.ingest.made import PLAIN, opened, taken, written

DUMMY = IngestOptions(dummy=True)


def test_vectors_are_made_again_where_the_corpus_is_another(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#ingest-runs
    ##= type=test
    ##% `duvet ingest` MUST process only files whose bytes have changed, and compute all vectors again when the model or
    ##% more than a fifth of the chunks has changed.
    wanted = IngestRule()
    folder = written(tmp_path, {f"docs/{number}.md": f"# Part {number}\n" for number in range(20)})

    def spaces() -> tuple[bytes | None, int]:
        with closing(opened(folder)) as store:
            return store.kept(SPACE_KEY), sum(len(one.numbers) for one in store.segments() if one.rows)

    taken(folder, wanted, DUMMY)
    first, count = spaces()
    assert first and count == 20
    written(folder, {f"docs/more{number}.md": f"# More {number}\n" for number in range(4)})
    taken(folder, wanted)
    second, count = spaces()
    assert second != first and count == 24
    written(folder, {"docs/last.md": "# Last of all\n"})
    taken(folder, wanted)
    assert spaces() == (second, 25)
    written(folder, {f"docs/many{number}.md": f"# Many words {number}\n" for number in range(10)})
    taken(folder, wanted)
    third, count = spaces()
    assert third not in (first, second) and count == 35
    taken(folder, PLAIN)
    assert spaces() == (b"", 0)


def test_a_corpus_is_another_beyond_a_fifth(tmp_path: Path) -> None:
    fitted = []
    for total in (20, 24, 16, 25, 20, 19):
        for number in range(25):
            path = tmp_path / f"docs/{number}.md"
            if number < total:
                written(tmp_path, {f"docs/{number}.md": f"# Part {number}\n"})
            else:
                path.unlink(missing_ok=True)
        taken(tmp_path, IngestRule(), DUMMY)
        with closing(opened(tmp_path)) as store:
            fitted.append((store.chunk_total(), int.from_bytes(store.kept(SPACE_SIZE_KEY) or b"")))
    assert fitted == [(20, 20), (24, 20), (16, 20), (25, 25), (20, 25), (19, 19)]
