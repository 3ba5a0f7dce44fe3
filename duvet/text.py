"""Text helpers: white space, lines, positions, plurals, "did you mean", differences, and normalised quotes."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

from duvet.errors import UnreadableError
from duvet.model import Place

if TYPE_CHECKING:
    from difflib import SequenceMatcher

# Unicode's White_Space property. str.strip() also strips U+001C to U+001F, which do not have this property.
WHITESPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
BOM = "\ufeff"

_Item = TypeVar("_Item")


def trim(text: str) -> str:
    return text.strip(WHITESPACE)


def decode_utf8(data: bytes, path: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        bad = data[: error.start].count(b"\n") + 1
        message = f"invalid utf-8 sequence of {error.end - error.start} bytes from index {error.start}"
        if error.reason == "unexpected end of data":
            message = f"incomplete utf-8 byte sequence from index {error.start}"
        raise UnreadableError(message, path=path, line=bad, hint="save the file as UTF-8") from error


def line_starts(text: str) -> list[int]:
    starts = [0]
    found = text.find("\n")
    while found >= 0:
        starts.append(found + 1)
        found = text.find("\n", found + 1)
    return starts


def find_place(text: str, start: int, end: int) -> Place:
    """Return the place of a character range, cut at the end of its first line."""
    starts = find_line_starts(text)
    line = find_line_index(starts, start)
    line_end = text.find("\n", start)
    stop = min(end, len(text) if line_end < 0 else line_end)
    return Place(line + 1, start - starts[line] + 1, max(1, stop - start))


# Callers look up many places in one text in a row.
find_line_starts = lru_cache(maxsize=1)(line_starts)


def find_line_index(starts: list[int] | tuple[int, ...], offset: int) -> int:
    return bisect_right(starts, offset) - 1


class LineNumbers:
    """Computes the line numbers of byte offsets; fast if the offsets increase."""

    def __init__(self) -> None:
        self._data, self._offset, self._line = b"", 0, 1

    def of(self, data: bytes, offset: int) -> int:
        if data is not self._data or offset < self._offset:
            self._data, self._offset, self._line = data, 0, 1
        self._line += data.count(b"\n", self._offset, offset)
        self._offset = offset
        return self._line


def byte_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def split_bytes(text: str, bounds: Sequence[int]) -> list[str]:
    if text.isascii():
        return [text[start:end] for start, end in pairwise(bounds)]
    data = text.encode()
    return [data[start:end].decode(errors="replace") for start, end in pairwise(bounds)]


def format_count(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count:,} {noun}s"


def collapse_whitespace(text: str) -> str:
    return " ".join(text.split())


def quote_text(text: str) -> str:
    if len(text) > _LONGEST:
        text = text[:_LONGEST] + "…"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    if not escaped.isprintable():
        escaped = "".join(
            char if char.isprintable() else _ESCAPES.get(char, f"\\u{{{ord(char):x}}}") for char in escaped
        )
    return f'"{escaped}"'


def quote_phrase(text: str) -> str:
    """Quote words that users copy, if possible in full and without escapes."""
    mark = "'" if '"' in text else '"'
    return f"{mark}{text}{mark}" if mark not in text and text.isprintable() else quote_text(text)


_LONGEST = 1000
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}


def path_key(path: str) -> str:
    """Return a key that sorts paths part by part: the root, `.`, `..`, then names."""
    if "./" in path or path.endswith("."):
        path = "/".join(_LOW_PARTS.get(part, part) for part in path.split("/"))
    return path.replace("/", "\0")


_LOW_PARTS = {".": "\1", "..": "\2"}


def path_parts(path: str) -> list[str]:
    parts = [part for part in path.split("/") if part and part != "."]
    if path.startswith("/"):
        return ["/", *parts]
    return [".", *parts] if path == "." or path.startswith("./") else parts


def shorten_text(text: str, most: int = 80) -> str:
    if len(text) <= most:
        return text
    return text[:most].rsplit(" ", 1)[0] + " …"


def make_text_id(text: str) -> str:
    import blake3

    return blake3.blake3(text.encode()).hexdigest()


# Only runs of several separators are matched, because a single one does not change.
_RUN = re.compile(r"[\W_]{2,}")
_SPACE = re.compile(r"[^\S\x1c-\x1f]+")
_SEPARATOR = "\1"
_SPLITTING = bytes(code for code in range(128) if chr(code).isspace())
_NO_SPACE = str.maketrans("", "", WHITESPACE)


def normalise(text: str) -> str:
    """Strip text, reduce runs of white space to their first character, and remove white space around punctuation."""
    ##= man/spec/trace.md#targets-and-quotes
    ##% When duvet compares a quote with its section, duvet MUST ignore differences in line breaks and in spaces around
    ##% punctuation.
    return _RUN.sub(lambda run: run[0].translate(_NO_SPACE) or run[0][0], text.strip(WHITESPACE))


def remove_spacing(text: str) -> str:
    """Remove all white space, much faster than normalising; texts that are equal when normalised stay equal."""
    if text.isascii():
        return text.encode().translate(None, _SPLITTING).decode()
    return "".join(text.split())


def group_equal_texts(items: Sequence[_Item], texts: Sequence[str]) -> Iterator[list[_Item]]:
    """Group the items whose texts are equal when normalised."""
    # Removing the white space of all texts at once is faster, unless one of them contains the separator.
    keys = remove_spacing(_SEPARATOR.join(texts)).split(_SEPARATOR)
    if len(keys) != len(texts):
        keys = [remove_spacing(text) for text in texts]
    if len(set(keys)) == len(keys):
        yield from ([item] for item in items)
        return
    groups: dict[str, list[tuple[_Item, str]]] = {}
    for item, key, text in zip(items, keys, texts, strict=True):
        groups.setdefault(key, []).append((item, text))
    for alike in groups.values():
        normal: dict[str, list[_Item]] = {}
        for item, text in alike:
            normal.setdefault(normalise(text) if len(alike) > 1 else "", []).append(item)
        yield from normal.values()


def normalise_with_map(text: str) -> tuple[str, list[int], list[int]]:
    """Return the normalised text, and where its unchanged parts begin in that text and in the original."""
    end = len(text.rstrip(WHITESPACE))
    taken = end - len(text[:end].lstrip(WHITESPACE))
    parts: list[str] = []
    offsets, originals = [0], [taken]
    for run in _RUN.finditer(text, taken, end):
        start, stop = run.span()
        spaces = [space.span() for space in _SPACE.finditer(run.string, start, stop)]
        for low, high in [(start + 1, stop)] if spaces == [(start, stop)] else spaces:
            parts.append(text[taken:low])
            offsets.append(offsets[-1] + low - taken)
            originals.append(high)
            taken = high
    parts.append(text[taken:end])
    return "".join(parts), offsets, originals


def join_names(names: Sequence[str], most: int) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def load_rapidfuzz() -> Any:
    import rapidfuzz

    return rapidfuzz


def suggest_nearest(name: str, known: Iterable[str] | Mapping[str, str]) -> str:
    names = known if isinstance(known, Mapping) else {one: one for one in known}
    hits = load_rapidfuzz().process.extract(
        name.lower(),
        list(names),
        scorer=load_rapidfuzz().fuzz.ratio,
        processor=str.lower,
        limit=3,
        score_cutoff=_SIMILAR,
    )
    near = dict.fromkeys(names[hit] for hit, _, _ in hits)
    return f"did you mean {' or '.join(near)}?" if hits else ""


def is_similar_path(one: str, other: str) -> bool:
    # Two files in a deep folder have similar paths, so the file names must be similar, too.
    paths = [path.lower().replace("\\", "/") for path in (one, other)]
    pairs = paths, [posixpath.splitext(posixpath.basename(path))[0] for path in paths]
    return all(load_rapidfuzz().fuzz.ratio(*pair) >= _SIMILAR for pair in pairs)


_SIMILAR = 60


# If no line is unique in both texts, compare up to this many pairs of lines.
_FEW_PAIRS = 10_000


def make_unified_diff(old: Sequence[str], new: Sequence[str], context: int) -> Iterator[str]:
    # The sign and text of each line, and the line numbers reached in both texts.
    rows: list[tuple[str, str, int, int]] = []
    one = other = 0
    for i, j in [*match_lines(old, new), (len(old), len(new))]:
        rows += [("-", old[index], index, other) for index in range(one, i)]
        rows += [("+", new[index], i, index) for index in range(other, j)]
        rows += [(" ", old[i], i, j)] if i < len(old) else []
        one, other = i + 1, j + 1
    changed = [index for index, row in enumerate(rows) if row[0] != " "]
    start = 0
    for index, row_index in enumerate(changed):
        if index + 1 == len(changed) or changed[index + 1] - row_index > 2 * context + 1:
            hunk = rows[max(0, changed[start] - context) : row_index + context + 1]
            removed, added = (sum(row[0] != sign for row in hunk) for sign in "+-")
            yield f"@@ -{_format_range(hunk[0][2], removed)} +{_format_range(hunk[0][3], added)} @@"
            yield from (mark + line for mark, line, *_ in hunk)
            start = index + 1


def colour_diff_line(line: str) -> str:
    code = {"+": "32", "-": "31", "@": "36"}.get(line[:1])
    return f"\x1b[{code}m{line}\x1b[0m" if code else line


def _format_range(start: int, count: int) -> str:
    return str(start + 1) if count == 1 else f"{start + 1 if count else start},{count}"


def compare_sequences(old: Sequence[str], new: Sequence[str]) -> SequenceMatcher[str]:
    from difflib import SequenceMatcher

    return SequenceMatcher(None, old, new, autojunk=False)


def match_lines(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return the indexes of the shared lines in both texts, in order."""
    found: list[tuple[int, int]] = []
    pending = [(0, len(old), 0, len(new))]
    while pending:
        a, b, c, d = pending.pop()
        while a < b and c < d and old[a] == new[c]:
            found.append((a, c))
            a, c = a + 1, c + 1
        while a < b and c < d and old[b - 1] == new[d - 1]:
            b, d = b - 1, d - 1
            found.append((b, d))
        # Pair the lines that are unique in this part of both texts. The anchors are the longest increasing run.
        theirs = _index_unique_lines(new, c, d)
        pairs = [(index, theirs[text]) for text, index in _index_unique_lines(old, a, b).items() if text in theirs]
        ends: list[int] = []
        last: list[int] = []
        before: list[int] = []
        for index, (_, second) in enumerate(pairs):
            at = bisect_left(ends, second)
            before.append(last[at - 1] if at else -1)
            ends[at : at + 1] = [second]
            last[at : at + 1] = [index]
        run = []
        index = last[-1] if last else -1
        while index >= 0:
            run.append(pairs[index])
            index = before[index]
        anchors = run[::-1]
        if anchors:
            found += anchors
            edges = [(a - 1, c - 1), *anchors, (b, d)]
            pending += [(i + 1, k, j + 1, n) for (i, j), (k, n) in pairwise(edges)]
        elif 0 < (b - a) * (d - c) <= _FEW_PAIRS:
            for block in compare_sequences(old[a:b], new[c:d]).get_matching_blocks():
                found += [(a + block.a + step, c + block.b + step) for step in range(block.size)]
    return sorted(found)


def _index_unique_lines(lines: Sequence[str], start: int, end: int) -> dict[str, int]:
    found: dict[str, int] = {}
    again = set()
    for index in range(start, end):
        if found.setdefault(lines[index], index) != index:
            again.add(lines[index])
    return {text: index for text, index in found.items() if text not in again}
