"""Writes what was extracted from a section, as a requirement file or as Rust comments."""

from collections.abc import Sequence

from msgspec import Struct

from duvet.config.toml_text import has_controls, multi_line_string, one_line_string, without_controls
from duvet.model import Annotation, Extracted, Format, Kind, Level, Section, Source

_BEFORE_TARGET = "target = "
_HEADER = "[[spec]]"
_AFTER_QUOTE = "\n\n"
_BEFORE_QUOTE = {level: f'{_HEADER}\nlevel = "{level.name}"\nquote = ' for level in Level}


class _Parts(Struct, frozen=True):
    """What stands above the first table of a file, and the text of each table, bare and in its quotes."""

    head: str
    texts: list[str]
    quotes: list[str]


def requirement_file(
    path: str, target: str, section: Section, found: Sequence[Extracted]
) -> tuple[bytes, list[Annotation]]:
    """The requirement file of a section with what reading it gives; the target names that section, too."""
    parts = _parts(target, section, found)
    return _toml(parts, found), _annotations(path, target, parts, found)


def toml_file(target: str, section: Section, found: Sequence[Extracted]) -> bytes:
    """The requirement file of a section."""
    return _toml(_parts(target, section, found), found)


def annotations(path: str, target: str, section: Section, found: Sequence[Extracted]) -> list[Annotation]:
    """What reading the requirement file of a section gives, without writing or parsing it."""
    return _annotations(path, target, _parts(target, section, found), found)


def rust_file(target: str, section: Section, found: Sequence[Extracted]) -> bytes:
    """The same as comments of a Rust module, each a requirement by itself."""
    # A carriage return may not stand in a comment that documents.
    context = "".join(f"//! {line}\n" for line in section.lines).replace("\r", "")
    title = "".join(f"//! {line}\n" for line in section.full_title.split("\n")).replace("\r", "")
    blocks = [
        f"//= {target}\n//= type=spec\n//= level={extracted.level.name}\n"
        + "".join(f"//# {piece}\n" for piece in extracted.pieces)
        + "\n"
        for extracted in found
    ]
    return f"//! {target}\n//!\n{title}//!\n{context}\n{''.join(blocks)}".encode()


def _toml(parts: _Parts, found: Sequence[Extracted]) -> bytes:
    ##= man/spec/trace.md#requirements
    ##% A requirement file that duvet writes MUST equal the one that awslabs duvet writes.
    quotes = zip(found, parts.quotes, strict=True)
    return (parts.head + "".join([f"{_BEFORE_QUOTE[it.level]}{quote}{_AFTER_QUOTE}" for it, quote in quotes])).encode()


def _annotations(path: str, target: str, parts: _Parts, found: Sequence[Extracted]) -> list[Annotation]:
    head = parts.head
    target_span = (len(_BEFORE_TARGET), len(_BEFORE_TARGET) + len(one_line_string(target)))
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
        # Those of the text, of its quotes, above and below.
        line += len(extracted.pieces) + 5
        position = end + len(_AFTER_QUOTE)
    return read


def _parts(target: str, section: Section, found: Sequence[Extracted]) -> _Parts:
    head = f"{_BEFORE_TARGET}{one_line_string(target)}\n\n{_comment(section)}\n"
    texts = ["\n".join(extracted.pieces) for extracted in found]
    together = "\n".join(texts)
    if "'''" in together or has_controls(together.encode()):
        return _Parts(head, texts, [multi_line_string(text) for text in texts])
    return _Parts(head, texts, [f"'''\n{text}\n'''" for text in texts])


def _comment(section: Section) -> str:
    """The title and the text of the section."""
    title = section.full_title.replace("\n", "\n# ")
    lines = "# " + "\n# ".join(section.lines) + "\n" if section.lines else ""
    comment = f"# {title}\n#\n{lines}"
    return without_controls(comment) if has_controls(comment.encode()) else comment
