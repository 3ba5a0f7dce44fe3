"""Text helpers: white space, lines, positions, plurals, and the normalisation of quotes."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TypeVar

from duvet.errors import UnreadableError
from duvet.model import Place

# Unicode's White_Space property. str.strip() also takes U+001C to U+001F, which are not in it.
WHITESPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
BOM = "\ufeff"

_Item = TypeVar("_Item")


def trim(text: str) -> str:
    """Strip Unicode white space."""
    return text.strip(WHITESPACE)


def decode_utf8(data: bytes, path: str) -> str:
    """Decode a file, or raise UnreadableError with the offset of the first wrong byte."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        bad = data[: error.start].count(b"\n") + 1
        ##= man/spec/trace.md#sources
        ##% duvet MUST report a source that is not UTF-8 with the offset of the first wrong byte, and one that is not a
        ##% regular file without waiting for it.
        message = f"invalid utf-8 sequence of {error.end - error.start} bytes from index {error.start}"
        if error.reason == "unexpected end of data":
            message = f"incomplete utf-8 byte sequence from index {error.start}"
        raise UnreadableError(message, path=path, line=bad, hint="save the file as UTF-8") from error


def line_starts(text: str) -> list[int]:
    """Return the offset of the first character of each line."""
    starts = [0]
    found = text.find("\n")
    while found >= 0:
        starts.append(found + 1)
        found = text.find("\n", found + 1)
    return starts


def find_place(text: str, start: int, end: int) -> Place:
    """Return the place of these characters, cut at the end of the first line."""
    starts = _cached_line_starts(text)
    line = find_line_index(starts, start)
    line_end = text.find("\n", start)
    stop = min(end, len(text) if line_end < 0 else line_end)
    return Place(line + 1, start - starts[line] + 1, max(1, stop - start))


# Many places of one text are asked for in a row.
_cached_line_starts = lru_cache(maxsize=1)(line_starts)


def find_line_index(starts: list[int] | tuple[int, ...], offset: int) -> int:
    """Return the index of the line that contains the offset."""
    return bisect_right(starts, offset) - 1


class LineNumbers:
    """Line numbers of increasing offsets: lines before the last offset are not counted again."""

    def __init__(self) -> None:
        self._data, self._offset, self._line = b"", 0, 1

    def of(self, data: bytes, offset: int) -> int:
        """Return the number of the line that contains the byte."""
        if data is not self._data or offset < self._offset:
            self._data, self._offset, self._line = data, 0, 1
        self._line += data.count(b"\n", self._offset, offset)
        self._offset = offset
        return self._line


def byte_length(text: str) -> int:
    """Return the length of the text in UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


def split_bytes(text: str, bounds: Sequence[int]) -> list[str]:
    """Return the parts of a text between these byte offsets."""
    if text.isascii():
        return [text[start:end] for start, end in pairwise(bounds)]
    data = text.encode()
    return [data[start:end].decode(errors="replace") for start, end in pairwise(bounds)]


def format_count(count: int, noun: str) -> str:
    """Return `1 error` or `2 errors`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def escape_line_ends(text: str) -> str:
    """Return the text in one line."""
    return " ".join(text.split())


def quote_text(text: str) -> str:
    """Return the beginning of a text in double quotes, with unprintable characters escaped."""
    if len(text) > _LONGEST:
        text = text[:_LONGEST] + "…"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    if not escaped.isprintable():
        escaped = "".join(
            char if char.isprintable() else _ESCAPES.get(char, f"\\u{{{ord(char):x}}}") for char in escaped
        )
    return f'"{escaped}"'


_LONGEST = 1000
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}


def path_key(path: str) -> str:
    """Return a key that sorts paths part by part: the root first, then `.`, then `..`, then names."""
    if "./" in path or path.endswith("."):
        path = "/".join(_LOW_PARTS.get(part, part) for part in path.split("/"))
    return path.replace("/", "\0")


_LOW_PARTS = {".": "\1", "..": "\2"}


def path_parts(path: str) -> list[str]:
    """Split a path, with `/` for the root; redundant parts (`//`, an inner `.`) are left out."""
    parts = [part for part in path.split("/") if part and part != "."]
    if path.startswith("/"):
        return ["/", *parts]
    return [".", *parts] if path == "." or path.startswith("./") else parts


def shorten_text(text: str, most: int = 80) -> str:
    """Return the beginning of a text, cut between words."""
    if len(text) <= most:
        return text
    return text[:most].rsplit(" ", 1)[0] + " …"


def make_text_id(text: str) -> str:
    """Return the hex BLAKE3 of a text."""
    import blake3

    return blake3.blake3(text.encode()).hexdigest()


# A single separator between two letters or digits stays as it is, so that only longer runs are matched.
_RUN = re.compile(r"[\W_]{2,}")
_SPACE = re.compile(r"[^\S\x1c-\x1f]+")
_SPLITTING = bytes(code for code in range(128) if chr(code).isspace())
_NO_SPACE = str.maketrans("", "", WHITESPACE)


def normalise(text: str) -> str:
    """Reduce each run of white space to its first character, and remove white space around punctuation."""
    ##= man/spec/trace.md#targets-and-quotes
    ##% duvet MUST find a quote in its section despite different wrapping or white space around punctuation, or one
    ##% wrong byte, which SHOULD cause a warning.
    return _RUN.sub(_reduce_run, text.strip(WHITESPACE))


def remove_spacing(text: str) -> str:
    """Remove white space; equal normalised texts are equal here too, and this is much faster."""
    if text.isascii():
        return text.encode().translate(None, _SPLITTING).decode()
    return "".join(text.split())


def group_equal_texts(items: Iterable[_Item], text_of: Callable[[_Item], str]) -> Iterator[list[_Item]]:
    """Group the items whose texts differ only in spacing that doesn't count."""
    ##= man/spec/trace.md#requirements
    ##% Sentences of a section that differ only in wrapping and in white space around punctuation MUST be one
    ##% requirement, and wrapping MUST NOT change its id.
    groups: dict[str, list[_Item]] = {}
    for item in items:
        groups.setdefault(remove_spacing(text_of(item)), []).append(item)
    for alike in groups.values():
        if len(alike) == 1:
            yield alike
            continue
        normal: dict[str, list[_Item]] = {}
        for item in alike:
            normal.setdefault(normalise(text_of(item)), []).append(item)
        yield from normal.values()


def normalise_with_map(text: str) -> tuple[str, list[int], list[int]]:
    """Return the normalised text, and where its unbroken parts begin: in it, and in the original."""
    end = len(text.rstrip(WHITESPACE))
    taken = end - len(text[:end].lstrip(WHITESPACE))
    parts: list[str] = []
    offsets, originals = [0], [taken]
    for run in _RUN.finditer(text, taken, end):
        for low, high in _find_dropped(run):
            parts.append(text[taken:low])
            offsets.append(offsets[-1] + low - taken)
            originals.append(high)
            taken = high
    parts.append(text[taken:end])
    return "".join(parts), offsets, originals


def _reduce_run(run: re.Match[str]) -> str:
    return run[0].translate(_NO_SPACE) or run[0][0]


def _find_dropped(run: re.Match[str]) -> list[tuple[int, int]]:
    start, end = run.span()
    spaces = [space.span() for space in _SPACE.finditer(run.string, start, end)]
    return [(start + 1, end)] if spaces == [(start, end)] else spaces


def join_names(names: Sequence[str], most: int) -> str:
    """Return the first names and the number of the others, as in `a, b and 3 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


_MAX_SUGGESTIONS = 3
_MIN_LIKENESS = 60


def suggest_nearest(name: str, known: Iterable[str] | Mapping[str, str]) -> str:
    """A question with the most similar names, or an empty text.

    The values of a mapping are the names to show.
    """
    from rapidfuzz import fuzz, process

    names = known if isinstance(known, Mapping) else {one: one for one in known}
    hits = process.extract(
        name.lower(),
        list(names),
        scorer=fuzz.ratio,
        processor=str.lower,
        limit=_MAX_SUGGESTIONS,
        score_cutoff=_MIN_LIKENESS,
    )
    near = dict.fromkeys(names[hit] for hit, _, _ in hits)
    return f"did you mean {' or '.join(near)}?" if hits else ""
