"""A new annotation above a line of a source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from duvet.errors import DuvetError
from duvet.model import Annotation, Kind, Place, ProblemsError
from duvet.sources.comments import scan
from duvet.sources.edit import annotation_lines, edited, indentation, inserted
from duvet.sources.enclosing import enclosed, is_inside, pair_of
from duvet.sources.style import Style
from duvet.text import BOM, line_at, line_starts, plural


class Wanted(Struct, frozen=True):
    """What an annotation has to say."""

    target: str
    quote: str
    kind: Kind
    fields: Mapping[str, str] = {}


class Insertion(Struct, frozen=True):
    """The lines of a new annotation, and the text with them."""

    line: int
    lines: tuple[str, ...]
    text: str


def insertion(path: str, text: str, line: int, wanted: Wanted, style: Style, most: int) -> Insertion:
    """The text of a source with an annotation above this line; DuvetError where that can't be."""
    _check_line(path, text, line)
    indent = indentation(text, line)
    lines = _lines(path, text, line, wanted, style, most, indent)
    ##= man/spec/cite.md#what-is-written
    ##% No other byte of the file may change: line ends, a byte order mark and a missing end of the last line MUST stay as
    ##% they are.
    new = edited(text, [inserted(text, line, lines)])
    # What is wrong with them wherever they stand comes first.
    _, problems = scan(path, "\n".join(lines), style)
    if problems:
        raise ProblemsError(tuple(replace(one, place=Place(line), label="", notes=()) for one in problems))
    _check_others(path, (text, new), line, len(lines), style)
    return Insertion(line, tuple(lines), new)


def _lines(path: str, text: str, line: int, wanted: Wanted, style: Style, most: int, indent: str) -> list[str]:
    ##= man/spec/cite.md#what-is-written
    ##% The annotation MUST be written above the line that is named, in the style of the source and with that line's
    ##% indentation.
    ##= man/spec/cite.md#what-is-written
    ##% The lines of the annotation MUST NOT be wider than asked for, unless a single word is.
    pair = pair_of(path, style.meta)
    alone = pair is None or is_inside(text, line, pair)
    own = indent if alone else f"{indent} "
    lines = annotation_lines(style, own, wanted.target, wanted.quote, kind=wanted.kind, fields=wanted.fields, most=most)
    if pair is None:
        if lines[-1].endswith("\\"):
            message = "the code below would belong to a comment that ends with a backslash"
            raise DuvetError(message, hint="quote another part, by --part")
        return lines
    if any(pair.last in one for one in lines):
        raise DuvetError(
            f"words with {pair.last} in them would end the comment", hint="quote a part of them, by --part"
        )
    ##= man/spec/cite.md#what-is-written
    ##% Where lines in the style of the source are no comments by themselves, the annotation MUST stand inside a comment.
    return lines if alone else enclosed(lines, indent, pair)


def _check_line(path: str, text: str, line: int) -> None:
    ##= man/spec/cite.md#what-is-refused
    ##% A line that the file does not have, or that belongs to an annotation, MUST be refused.
    count = text.count("\n") + (text[-1:] not in ("", "\n"))
    if not 0 < line <= count:
        raise DuvetError("there is no such line", path=path, line=line, hint=f"the file has {plural(count, 'line')}")
    if line == 1:
        _check_top(path, text)
    elif _goes_on(text[: line_starts(text)[line - 1]]):
        ##= man/spec/cite.md#what-is-refused
        ##% An annotation that would stand within a line that goes on in the next one, or whose own last line would go on in
        ##% the code, MUST be refused.
        message = "the line above it goes on in this one"
        raise DuvetError(message, path=path, line=line, hint="put it above the line where that begins")


def _check_top(path: str, text: str) -> None:
    known = {BOM: "a byte order mark", "#!": "the name of the program that runs it", "<?": "what opens its code"}
    for sign, what in known.items():
        if text.startswith(sign):
            raise DuvetError(f"the file has to begin with {what}", path=path, line=1, hint="put it above another line")


def _goes_on(text: str) -> bool:
    """Whether a text ends with a line that a backslash joins to the next one; two of them are one of TeX's own signs."""
    line = text.removesuffix("\n").removesuffix("\r")
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _check_others(path: str, texts: tuple[str, str], line: int, count: int, style: Style) -> None:
    """DuvetError unless all annotations are as they were, and one more stands in the new lines."""
    old, new = ([_Stretch.of(one, text) for one in scan(path, text, style)[0]] for text in texts)
    ##= man/spec/cite.md#what-is-refused
    ##% A line that the file does not have, or that belongs to an annotation, MUST be refused.
    for one in old:
        if one.first < line <= one.last:
            message = f"this line belongs to the annotation at {path}:{one.first}"
            hint = f"put it above line {one.first} or line {one.last + 1}"
            raise DuvetError(message, path=path, line=line, hint=hint)
    below = line + count
    ours = [one for one in new if line <= one.first and one.last < below]
    others = [one.moved(-count if one.first >= below else 0) for one in new if one not in ours]
    if others != old or len(ours) != 1:
        message = "an annotation here would run into the one beside it"
        raise DuvetError(message, path=path, line=line, hint="put it above another line, or leave a line between them")


class _Stretch(Struct, frozen=True):
    """What an annotation says, and on which lines."""

    first: int
    last: int
    says: tuple[str, ...]

    @classmethod
    def of(cls, one: Annotation, text: str) -> _Stretch:
        """The stretch of an annotation of this text."""
        last = line_at(line_starts(text), one.source.text_end - 1) + 1
        fields = (one.reason, one.feature, one.tracking_issue)
        return cls(one.line, last, (one.kind.name, one.target, one.quote, *fields))

    def moved(self, by: int) -> _Stretch:
        """The same some lines below."""
        return _Stretch(self.first + by, self.last + by, self.says)


def style_of(styles: Iterable[Style], kind: Kind | None) -> Style:
    """The style to write in: the first one that gives this type by itself, or else the first one."""
    known = list(styles)
    return next((style for style in known if style.kind is kind), known[0])
