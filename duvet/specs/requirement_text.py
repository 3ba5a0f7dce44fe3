"""Writes requirement files and Rust comments, and edits requirement files."""

from __future__ import annotations

from collections.abc import Sequence

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


def make_requirement_file(
    path: str, target: str, section: Section, found: Sequence[ExtractedSentence]
) -> tuple[bytes, list[Annotation]]:
    """The requirement file of a section, and the annotations that reading it gives."""
    ##= man/spec/trace.md#requirements
    ##% `duvet extract` MUST write the requirement files that awslabs duvet writes, inside the folder of the
    ##% specification, and leave unchanged ones alone.
    title = section.full_title.replace("\n", "\n# ")
    lines = "# " + "\n# ".join(section.lines) + "\n" if section.lines else ""
    comment = f"# {title}\n#\n{lines}"
    if has_control_characters(comment.encode()):
        comment = strip_control_characters(comment)
    target_string = format_one_line_string(target)
    head = f"{_BEFORE_TARGET}{target_string}\n\n{comment}\n"
    texts = ["\n".join(extracted.pieces) for extracted in found]
    together = "\n".join(texts)
    is_literal = "'''" not in together and not has_control_characters(together.encode())
    target_span = (len(_BEFORE_TARGET), len(_BEFORE_TARGET) + len(target_string))
    line, position = head.count("\n") + 1, len(head)
    # Looking up a member of an enum in the loop takes longer.
    kind, form, nothing = Kind.SPEC, Format.AUTO, ()
    parts, annotations = [head], []
    for extracted, text in zip(found, texts, strict=True):
        level = extracted.level
        string = f"'''\n{text}\n'''" if is_literal else format_multi_line_string(text)
        parts.append(f"{_BEFORE_QUOTE[level]}{string}{_AFTER_QUOTE}")
        start = position + len(_BEFORE_QUOTE[level])
        end = start + len(string)
        source = Source(*target_span, position, position + len(_HEADER), start, end)
        quote, written = " ".join(extracted.pieces), text + "\n"
        annotations.append(
            Annotation(path, line, kind, target, quote, level, form, written, "", "", nothing, None, True, source)
        )
        # The lines of the text, of its quotes, above and below.
        line += len(extracted.pieces) + 5
        position = end + len(_AFTER_QUOTE)
    return "".join(parts).encode(), annotations


def render_toml_file(target: str, section: Section, found: Sequence[ExtractedSentence]) -> bytes:
    return make_requirement_file("", target, section, found)[0]


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


_LONG = ("'''", '"""')


def make_entry_target_edit(text: str, annotation: Annotation, target: str) -> Edit:
    return make_edit(text, *annotation.source.target, format_one_line_string(target))


def make_entry_quote_edits(text: str, annotation: Annotation, quote: str) -> tuple[Edit, ...]:
    """The edits that change the quote of an entry; the caller has to check the result."""
    start, end = annotation.source.quote
    if not text.startswith(_LONG, start):
        # A string of one line stays one.
        return (make_edit(text, start + 1, end - 1, quote),)
    lines = _quote_lines(text, start + 3, end - 3)
    filled = [index for index, line in enumerate(lines) if line.words]
    return make_line_edits(text, lines[filled[0] : filled[-1] + 1], quote) if filled else ()


def _quote_lines(text: str, at: int, end: int) -> list[QuoteLine]:
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
