"""Writes requirement files and Rust comments, and edits requirement files."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from duvet.config.toml import (
    format_multi_line_string,
    format_one_line_string,
    has_control_characters,
    strip_control_characters,
)
from duvet.model import Annotation, Edit, ExtractedSentence, Format, Kind, Level, Section, Source
from duvet.sources.editor import QuoteLine, make_edit, make_line_edits, split_words
from duvet.text import WHITESPACE

_BEFORE_TARGET = "target = "
_HEADER = "[[spec]]"
_AFTER_QUOTE = "\n\n"
_BEFORE_QUOTE = {level: f'{_HEADER}\nlevel = "{level.name}"\nquote = ' for level in Level}


class _Parts(Struct, frozen=True):
    """The text above the first table of a file, and the text of each table, bare and quoted."""

    head: str
    texts: list[str]
    quotes: list[str]


def make_requirement_file(
    path: str, target: str, section: Section, found: Sequence[ExtractedSentence]
) -> tuple[bytes, list[Annotation]]:
    """The requirement file of a section, and the annotations that reading it gives."""
    parts = _make_parts(target, section, found)
    return _render(parts, found), _annotate(path, target, parts, found)


def render_toml_file(target: str, section: Section, found: Sequence[ExtractedSentence]) -> bytes:
    return _render(_make_parts(target, section, found), found)


def render_rust_file(target: str, section: Section, found: Sequence[ExtractedSentence]) -> bytes:
    """A Rust module with a comment for each requirement."""
    # Rust doesn't allow a carriage return in a doc comment.
    context = "".join(f"//! {line}\n" for line in section.lines).replace("\r", "")
    title = "".join(f"//! {line}\n" for line in section.full_title.split("\n")).replace("\r", "")
    blocks = [
        f"//= {target}\n//= type=spec\n//= level={extracted.level.name}\n"
        + "".join(f"//# {piece}\n" for piece in extracted.pieces)
        + "\n"
        for extracted in found
    ]
    return f"//! {target}\n//!\n{title}//!\n{context}\n{''.join(blocks)}".encode()


def _render(parts: _Parts, found: Sequence[ExtractedSentence]) -> bytes:
    ##= man/spec/trace.md#requirements
    ##% `duvet extract` MUST write the requirement files that awslabs duvet writes, inside the folder of the
    ##% specification, and leave unchanged ones alone.
    quotes = zip(found, parts.quotes, strict=True)
    return (parts.head + "".join([f"{_BEFORE_QUOTE[it.level]}{quote}{_AFTER_QUOTE}" for it, quote in quotes])).encode()


def _annotate(path: str, target: str, parts: _Parts, found: Sequence[ExtractedSentence]) -> list[Annotation]:
    head = parts.head
    target_span = (len(_BEFORE_TARGET), len(_BEFORE_TARGET) + len(format_one_line_string(target)))
    line, position = head.count("\n") + 1, len(head)
    kind, form, nothing = Kind.SPEC, Format.AUTO, ()
    read = []
    for extracted, text, quote in zip(found, parts.texts, parts.quotes, strict=True):
        start = position + len(_BEFORE_QUOTE[extracted.level])
        end = start + len(quote)
        source = Source(*target_span, position, position + len(_HEADER), start, end)
        quoted, written = " ".join(extracted.pieces), text + "\n"
        read.append(
            Annotation(
                path, line, kind, target, quoted, extracted.level, form, written, "", "", nothing, None, True, source
            )
        )
        # The lines of the text, of its quotes, above and below.
        line += len(extracted.pieces) + 5
        position = end + len(_AFTER_QUOTE)
    return read


def _make_parts(target: str, section: Section, found: Sequence[ExtractedSentence]) -> _Parts:
    title = section.full_title.replace("\n", "\n# ")
    lines = "# " + "\n# ".join(section.lines) + "\n" if section.lines else ""
    comment = f"# {title}\n#\n{lines}"
    if has_control_characters(comment.encode()):
        comment = strip_control_characters(comment)
    head = f"{_BEFORE_TARGET}{format_one_line_string(target)}\n\n{comment}\n"
    texts = ["\n".join(extracted.pieces) for extracted in found]
    together = "\n".join(texts)
    if "'''" in together or has_control_characters(together.encode()):
        return _Parts(head, texts, [format_multi_line_string(text) for text in texts])
    return _Parts(head, texts, [f"'''\n{text}\n'''" for text in texts])


_LONG = ("'''", '"""')


def make_entry_target_edit(text: str, annotation: Annotation, target: str) -> Edit:
    """The edit that gives an entry another target."""
    return make_edit(text, *annotation.source.target, format_one_line_string(target))


def make_entry_quote_edits(text: str, annotation: Annotation, quote: str) -> tuple[Edit, ...]:
    """The edits that change the quote of an entry; the caller has to check the result."""
    start, end = annotation.source.quote
    if not text.startswith(_LONG, start):
        # A string of one line stays one.
        return (make_edit(text, start + 1, end - 1, quote),)
    lines = _lines(text, start + 3, end - 3)
    filled = [index for index, line in enumerate(lines) if line.words]
    return make_line_edits(text, lines[filled[0] : filled[-1] + 1], quote) if filled else ()


def _lines(text: str, at: int, end: int) -> list[QuoteLine]:
    found: list[QuoteLine] = []
    while at <= end:
        stop = text.find("\n", at, end)
        stop = end if stop < 0 else stop
        written = text[at:stop]
        first = stop - len(written.lstrip(WHITESPACE))
        last = at + len(written.rstrip(WHITESPACE))
        found.append(QuoteLine(at, stop, first, max(first, last), text[at:first], split_words(written)))
        at = stop + 1
    return found
