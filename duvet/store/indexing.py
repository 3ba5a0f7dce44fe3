"""Which words a piece is found by, and how much each of them counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from duvet.store.database import Database
from duvet.store.records import Piece, Taken
from duvet.store.words import as_one, indexed

OFTEN, TITLE, DECLARED, FILE = ("\ue001", "\ue002", "\ue003"), "\ue004", "\ue005", "\ue006"
"""Before a word: it stands there often, more often, most often; in the title; it is the name of something that is declared
there; it is that of the file, of which this is the first piece. No word of a text begins so."""
_OFTEN = (1.6, 3.2, 6.4)
"""How often a word has to stand in a piece of usual length to be one of these."""
_SHORT = 2
"""So short a word hardly tells anything, and is everywhere."""
_USUAL = 1000
_LENGTH = 0.75
"""How much the length of a piece counts, from 0 to 1; `b` of BM25."""
_INSERT = "INSERT INTO found(rowid, words) VALUES (?, ?)"
_DELETE = "INSERT INTO found(found, rowid, words) VALUES ('delete', ?, ?)"
_MOST = 4000
"""So many pieces wait to be indexed together."""


class Indexing:
    """Puts pieces into the index and takes them out, many at once: each time that is begun anew costs much."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._gone: dict[int, str] = {}
        self._new: dict[int, str] = {}

    def add(self, first: int, taken: Taken) -> None:
        """The pieces of a file, numbered from the first on."""
        self._new.update(_rows(first, taken))
        self._pour()

    def forget(self, first: int, taken: Taken) -> None:
        """The same pieces again."""
        for number, words in _rows(first, taken):
            if self._new.pop(number, None) is None:
                self._gone[number] = words
        self._pour()

    def _pour(self) -> None:
        if len(self._gone) + len(self._new) >= _MOST:
            self.flush()

    def flush(self) -> None:
        """Whatever waits."""
        # Ascending: the index is begun anew for every number that is less than the one before.
        gone, new = sorted(self._gone.items()), sorted(self._new.items())
        self._gone, self._new = {}, {}
        self.database.many(_DELETE, gone)
        self.database.many(_INSERT, new)


def _rows(first: int, taken: Taken) -> Iterable[tuple[int, str]]:
    path = taken.artifact.path
    for ordinal, piece in enumerate(taken.pieces):
        words = _told(taken.text[piece.start : piece.end], piece.title if ordinal else f"{path} {piece.title}")
        names = [*_declared(taken, piece), *(_called(path) if ordinal == 0 else ())]
        yield first + ordinal, " ".join([*words, *names])


def _declared(taken: Taken, piece: Piece) -> Iterable[str]:
    lines = range(piece.line_start, piece.line_end + 1)
    return dict.fromkeys(DECLARED + as_one(one.name) for one in taken.symbols if one.line_start in lines)


def _called(path: str) -> Iterable[str]:
    """The name of a file, with its ending and without."""
    name = path.rpartition("/")[2]
    return dict.fromkeys(FILE + as_one(one) for one in (name, stem_of(name)))


def stem_of(name: str) -> str:
    """The name of a file without its ending; what is hidden has none."""
    return name[: name.find(".", 1)] if "." in name[1:] else name


def _told(text: str, title: str) -> Sequence[str]:
    """The words by which a piece is found."""
    words = Counter(indexed(text))
    titles = dict.fromkeys(indexed(title)) if title else {}
    share = _share(len(text))
    found = [*words, *(word for word in titles if word not in words), *(TITLE + word for word in titles)]
    for mark, often in zip(OFTEN, _OFTEN, strict=True):
        least = often * share
        found += [mark + word for word, count in words.items() if count >= least and len(word) > _SHORT]
    return found


def _share(length: int) -> float:
    """In a short piece a word tells more, and in a long one less."""
    return 1 - _LENGTH + _LENGTH * length / _USUAL
