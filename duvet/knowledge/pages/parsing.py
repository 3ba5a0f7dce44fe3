"""From the bytes of a file to what it says as a page."""

from __future__ import annotations

from duvet import rules
from duvet.errors import DuvetError, UnreadableError
from duvet.knowledge.pages.front import Front, body_start, front_matter, is_doubtful, no_front_matter
from duvet.knowledge.pages.markdown import read_text
from duvet.knowledge.pages.records import Parsed
from duvet.knowledge.pages.slugs import fault_of, plain
from duvet.model import Place, Problem
from duvet.text import BOM, decode
from duvet.tree.protocol import Tree

MOST = 4 << 20
"""So many bytes of a page count."""
_LONGEST_CHARACTER = 4


def read_page(tree: Tree, path: str) -> Parsed:
    """What the file says; a file that is no text, or can't be read, is no page."""
    try:
        data = tree.read(path)
        text = text_of(data, path)
    except DuvetError as error:
        ##= man/spec/pages.md#hostile-input
        ##% A file that is not UTF-8, that is binary, or that can't be read MUST be left out with a warning.
        hint = error.hint or "save it as UTF-8, or name it in `exclude`"
        return Parsed(problems=(_unread(error.message, path, Place(error.line), hint),), is_page=False)
    cut = (_unread(_CUT, path, Place(), "split it"),) if len(data) > MOST else ()
    return _parsed(text, path, cut)


_CUT = f"the page is larger than {MOST >> 20} MiB: what comes after that is not read"


def _unread(message: str, path: str, place: Place, hint: str) -> Problem:
    return rules.PAGE_UNREAD.problem(message, path, place, hint=hint)


def text_of(data: bytes, path: str) -> str:
    """The text of a page with its front matter; DuvetError where it is none."""
    ##= man/spec/pages.md#hostile-input
    ##% No more than the first 4 MiB of a page MUST be read as its text, with a warning.
    if len(data) > MOST:
        data = _whole_characters(data[:MOST])
    if b"\0" in data:
        raise UnreadableError("it is binary", path=path)
    return decode(data, path).removeprefix(BOM)


def _whole_characters(data: bytes) -> bytes:
    """The same without a character that is cut at the end."""
    for back in range(1, _LONGEST_CHARACTER):
        byte = data[-back]
        if byte & 0xC0 == 0xC0:
            return data[:-back]
        if not byte & 0x80:
            break
    return data


def body_of(data: bytes, path: str) -> str:
    """The text of a page without its front matter."""
    text = text_of(data, path)
    return text[body_start(text) :]


def _parsed(text: str, path: str, problems: tuple[Problem, ...]) -> Parsed:
    start = body_start(text)
    front = front_matter(text[:start], path) if start else Front()
    found = read_text(text[start:], 1 + text.count("\n", 0, start))
    slug = None if front.slug is None else plain(front.slug)
    doubts = (no_front_matter(path),) if is_doubtful(text) else ()
    problems = (*problems, *doubts, *front.problems)
    if slug is not None and (fault := fault_of(slug)):
        return Parsed(problems=(*problems, bad_slug(slug, fault, path)), is_page=False)
    return Parsed(slug or "", front.title or found.title, front.created, front.tags, found.links, problems)


def bad_slug(slug: str, fault: str, path: str) -> Problem:
    """The problem that a page can't be called so."""
    message = f"{slug!a} can't be the slug of a page: {fault}"
    return rules.PAGE_BAD_SLUG.problem(message, path, hint="give it a `slug` in its front matter")
