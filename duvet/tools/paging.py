"""Splits lists into pages with cursors."""

from __future__ import annotations

from base64 import b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

from blake3 import blake3
from msgspec import Struct, json, msgpack

from duvet.tools.tool import ErrorCode, ResultPage, ToolError

MAX_PAGE_ROWS = 10_000
"""No more entries than this can be asked for at once."""
MAX_PAGE_BYTES = 10_000
"""What nobody has set a limit for holds about 4,000 tokens at most; one of them is hardly ever less than 2.5 bytes."""

_CHECK, _POSITION, _ANCHOR, _ANCHORS = 8, 4, 6, 4

_Item = TypeVar("_Item")
_Row = TypeVar("_Row")


class PageRequest(Struct, frozen=True):
    """Which part of a list is asked for."""

    question: tuple[object, ...]
    """What the list is an answer to. A cursor is good for this question alone."""
    cursor: str | None = None
    limit: int | None = None
    page_size: int = 0
    """How many entries there are at most where no limit is given; 0 is all."""


def make_result_page(
    items: Sequence[_Item], wish: PageRequest, *, key: Callable[[_Item], str], row: Callable[[_Item], _Row]
) -> tuple[list[_Row], ResultPage]:
    """The rows of the part that is asked for; keys tell items apart even after an edit of the project."""
    start = _start(items, wish, key)
    rows = list(_wanted(map(row, islice(items, start, None)), wish))
    end = start + len(rows)
    return rows, ResultPage(len(items), _cursor(items, end, wish, key) if end < len(items) else None)


def describe_rest(shown: int, page: ResultPage) -> str:
    """How to get the rest of a list; nothing where there is no more."""
    if page.next_cursor is None:
        return ""
    return f"{shown} of {page.total} shown; for more give cursor={page.next_cursor}, or a higher limit."


def _wanted(rows: Iterator[_Row], wish: PageRequest) -> Iterator[_Row]:
    """As many as may be; the first one in any case, or a list would never end."""
    ##= man/spec/mcp.md#tools
    ##% The server MUST limit lists, texts and the details of a requirement to about 4,000 tokens unless `limit` asks
    ##% for more, and say how to get the rest.
    if wish.limit is not None or not wish.page_size:
        yield from islice(rows, wish.limit)
    else:
        yield from take_fitting_rows(islice(rows, wish.page_size), MAX_PAGE_BYTES, least=1)


def take_fitting_rows(rows: Iterable[_Row], room: int, least: int = 0) -> Iterator[_Row]:
    """As many of the first rows as so many bytes of JSON have room for."""
    for number, row in enumerate(rows):
        room -= len(json.encode(row)) + 1
        if room < 0 and number >= least:
            return
        yield row


def _cursor(items: Sequence[_Item], end: int, wish: PageRequest, key: Callable[[_Item], str]) -> str:
    """Where the list goes on: after the last one that was shown, with those that come next."""
    anchors = b"".join(_digest(key(item)) for item in items[end - 1 : end - 1 + _ANCHORS])
    body = end.to_bytes(_POSITION) + anchors
    return urlsafe_b64encode(_check(wish, body) + body).rstrip(b"=").decode()


def _start(items: Sequence[_Item], wish: PageRequest, key: Callable[[_Item], str]) -> int:
    """Where the part begins."""
    if wish.cursor is None:
        return 0
    body = _opened(wish.cursor, wish)
    position = int.from_bytes(body[:_POSITION])
    anchors = [body[at : at + _ANCHOR] for at in range(_POSITION, len(body), _ANCHOR)]
    if position < len(items) and _digest(key(items[position])) == anchors[1]:
        return position
    ##= man/spec/mcp.md#tools
    ##% A cursor MUST continue its list even when entries have been added or removed, and MUST be refused for any other
    ##% question.
    places = {_digest(key(item)): index for index, item in enumerate(items)}
    last, *coming = anchors
    found = next((places[anchor] for anchor in coming if anchor in places), None)
    if found is None:
        found = places[last] + 1 if last in places else min(position, len(items))
    return found


def _opened(cursor: str, wish: PageRequest) -> bytes:
    """What a cursor says; ToolError for one that was made up, or made for another list."""
    try:
        data = b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True)
    except ValueError:
        data = b""
    check, body = data[:_CHECK], data[_CHECK:]
    if check != _check(wish, body):
        raise ToolError(
            ErrorCode.INVALID_REQUEST,
            "the cursor does not belong to this list",
            "leave it out to begin anew, or give it with the arguments of the call that it came from",
        )
    return body


def _check(wish: PageRequest, body: bytes) -> bytes:
    return blake3(msgpack.encode(wish.question) + body).digest(_CHECK)


def _digest(text: str) -> bytes:
    return blake3(text.encode(errors="surrogatepass")).digest(_ANCHOR)
