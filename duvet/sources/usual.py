"""Annotations of the usual form, read many times faster than line by line."""

from __future__ import annotations

from functools import lru_cache

from duvet.model import Annotation, Kind, Source
from duvet.sources.fields import Fields, field_of, read_fields
from duvet.sources.finder import Finder
from duvet.sources.runs import Run
from duvet.sources.style import Style
from duvet.text import WHITESPACE


def usual(path: str, run: Run, style: Style, finder: Finder) -> Annotation | None:
    """The annotation of a run of a target, perhaps fields, and a quote, all without a mistake; None for any other."""
    found = run.found
    if found.lastgroup != "quote" or found.start() != run.start:
        return None
    target, fields, quote, _ = found.groups()
    quote = quote.rstrip(WHITESPACE)
    given = _given(style.kind, style.meta, fields)
    if given is None or "=" in target or quote.endswith(finder.without_text):
        return None
    target = target.rstrip(WHITESPACE)
    start = found.start("target")
    end = found.start("quote") + len(quote)
    source = Source(start, start + len(target), start, end, found.start("text"), end)
    return given.annotation(path, run.line, target, " ".join(finder.texts(quote)), style.blob_link, source)


@lru_cache(maxsize=512)
def _given(kind: Kind, meta: str, fields: str) -> Fields | None:
    """What the lines below a target say, which are the same again and again; None where something is wrong."""
    texts = [line.lstrip(WHITESPACE)[len(meta) :].strip(WHITESPACE) for line in fields.split("\n")[1:]]
    given = read_fields("", "", [field_of("", 0), *(field_of(text, 0) for text in texts)], kind)
    return None if given.problems else given
