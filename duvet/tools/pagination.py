"""Paging: splits lists into pages with cursors."""

from __future__ import annotations

from base64 import b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

from blake3 import blake3
from msgspec import Struct, json, msgpack

from duvet.tools.tool import ErrorCode, ResultPage, ToolError

MAX_PAGE_ROWS = 10_000  # The highest limit.
MAX_PAGE_BYTES = 10_000
"""The size of an answer without `limit`, about 4,000 tokens: few tokens are shorter than 2.5 bytes."""

# The size of each part of a cursor in bytes, and the number of entries that a cursor remembers.
_CHECK, _POSITION, _ANCHOR, _ANCHORS = 8, 4, 6, 4

_Item = TypeVar("_Item")
_Row = TypeVar("_Row")


class PageRequest(Struct, frozen=True):
    question: tuple[object, ...]  # The question that the list answers. A cursor is valid only for this question.
    cursor: str | None = None
    limit: int | None = None
    page_size: int = 0  # Maximum number of entries without `limit`; 0 means all.


def make_result_page(
    items: Sequence[_Item], request: PageRequest, *, key: Callable[[_Item], str], row: Callable[[_Item], _Row]
) -> tuple[list[_Row], ResultPage]:
    """Return the requested rows and their page; cursors contain keys, so they stay valid when the list changes."""
    start = _find_start(items, request, key)
    rows = map(row, islice(items, start, None))
    ##= man/spec/mcp.md#answers
    ##% The server MUST limit an answer to about 4,000 tokens unless `limit` asks for more, and say how to get the rest.
    if request.limit is not None or not request.page_size:
        shown = list(islice(rows, request.limit))
    else:
        # Without at least one row, a client would get the same cursor forever.
        shown = list(take_fitting_rows(islice(rows, request.page_size), MAX_PAGE_BYTES, least=1))
    end = start + len(shown)
    if end >= len(items):
        return shown, ResultPage(len(items))
    # The cursor names the last row that was shown and those after it.
    anchors = b"".join(_digest(key(item)) for item in items[end - 1 : end - 1 + _ANCHORS])
    body = end.to_bytes(_POSITION) + anchors
    return shown, ResultPage(len(items), urlsafe_b64encode(_sign(request, body) + body).rstrip(b"=").decode())


def describe_rest(shown: int, page: ResultPage) -> str:
    """Return how to request the rest of a list; empty at the end of the list."""
    if page.next_cursor is None:
        return ""
    return f"{shown} of {page.total} shown; for more, set cursor={page.next_cursor}, or raise limit."


def take_fitting_rows(rows: Iterable[_Row], room: int, least: int = 0) -> Iterator[_Row]:
    """Yield rows as long as they fit into `room` bytes of JSON, but at least `least` rows."""
    for number, row in enumerate(rows):
        room -= len(json.encode(row)) + 1
        if room < 0 and number >= least:
            return
        yield row


def _find_start(items: Sequence[_Item], request: PageRequest, key: Callable[[_Item], str]) -> int:
    if request.cursor is None:
        return 0
    try:
        data = b64decode(request.cursor + "=" * (-len(request.cursor) % 4), b"-_", validate=True)
    except ValueError:
        data = b""
    if data[:_CHECK] != _sign(request, data[_CHECK:]):
        hint = "omit it to start over, or repeat the arguments of the call that returned it"
        raise ToolError(ErrorCode.INVALID_REQUEST, "the cursor does not belong to this list", hint)
    body = data[_CHECK:]
    position = int.from_bytes(body[:_POSITION])
    anchors = [body[at : at + _ANCHOR] for at in range(_POSITION, len(body), _ANCHOR)]
    if position < len(items) and _digest(key(items[position])) == anchors[1]:
        return position
    ##= man/spec/mcp.md#answers
    ##% The server MUST continue a list at the given cursor even if entries were added or removed.
    places = {_digest(key(item)): index for index, item in enumerate(items)}
    last, *coming = anchors
    found = next((places[anchor] for anchor in coming if anchor in places), None)
    if found is None:
        found = places[last] + 1 if last in places else min(position, len(items))
    return found


def _sign(request: PageRequest, body: bytes) -> bytes:
    return blake3(msgpack.encode(request.question) + body).digest(_CHECK)


def _digest(text: str) -> bytes:
    return blake3(text.encode(errors="surrogatepass")).digest(_ANCHOR)
