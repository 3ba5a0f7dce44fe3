"""Inserts and edits annotations in a file without changing anything else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, compress, repeat

from msgspec import Struct
from msgspec.structs import replace

from duvet.config.languages import C_COMMENT, CommentPair, find_comment_pair
from duvet.errors import DuvetError, ProblemsError
from duvet.model import Annotation, Edit, Kind, Place
from duvet.sources.comments import SourceStyle, scan_comments
from duvet.text import BOM, WHITESPACE, compare_sequences, find_line_index, find_line_starts, format_count

LINE_WIDTH = 80


def split_words(text: str) -> list[str]:
    return [word for word in text.translate(_BLANKS).split(" ") if word]


_BLANKS = dict.fromkeys(map(ord, WHITESPACE), " ")


def measure_line(line: str) -> int:
    return len(line.expandtabs(4))


def wrap_words(words: Sequence[str], *rooms: int) -> Iterator[list[str]]:
    line: list[str] = []
    left = chain(rooms, repeat(rooms[-1]))
    used, room = 0, next(left)
    for word in words:
        if line and used + 1 + len(word) > room:
            yield line
            line, used, room = [], 0, next(left)
        used += len(word) + bool(line)
        line.append(word)
    if line:
        yield line


def rewrap_words(lines: Sequence[Sequence[str]], words: Sequence[str], rooms: Sequence[int]) -> list[list[str]]:
    """Lines may become empty, or be added."""
    home = [index for index, line in enumerate(lines) for _ in line]
    old = [word for line in lines for word in line]
    placed: list[list[str]] = [[] for _ in lines]
    changes = 0
    for tag, low, high, first, last in compare_sequences(old, words).get_opcodes():
        changes += max(high - low, last - first) if tag != "equal" else 0
        for step, word in enumerate(words[first:last]):
            # An added word goes after the old word before it.
            at = max(0, low - 1) if tag == "insert" else min(low + step, high - 1)
            placed[home[at]].append(word)
    for index, line in enumerate(placed):
        # Several changed words leave uneven lines, so fill the rest up to the width of the longest line.
        if line != list(lines[index]) and ((changes > 1 and all(lines)) or len(" ".join(line)) > rooms[index]):
            rest = [word for one in placed[index:] for word in one]
            wrapped = [*placed[:index], *wrap_words(rest, *compress(rooms[index:], lines[index:]))]
            return wrapped + [[] for _ in lines[len(wrapped) :]]
    return placed


_WIDEST = 120


def format_annotation(
    style: SourceStyle,
    indent: str,
    target: str,
    quote: str,
    *,
    kind: Kind = Kind.CITATION,
    fields: Mapping[str, str] | None = None,
    most: int = LINE_WIDTH,
) -> list[str]:
    meta, content = f"{indent}{style.meta} ", f"{indent}{style.content} "
    word = "implementation" if kind is Kind.CITATION else kind.name.lower()
    written = {} if kind is style.kind else {"type": word}
    room = most - measure_line(meta)
    lines = [f"source={target}" if "=" in target else target]
    for key, value in (written | dict(fields or {})).items():
        words = split_words(value)
        # Only a reason may continue on additional lines.
        wrapped = wrap_words(words, room - len(key) - 1) if key == "reason" else [words]
        lines += [f"{key}={' '.join(line)}" for line in wrapped]
    quoted = [" ".join(line) for line in wrap_words(split_words(quote), most - measure_line(content))]
    return [*(meta + line for line in lines), *(content + line for line in quoted)]


def make_insertion_edit(text: str, line: int, lines: Iterable[str]) -> Edit:
    starts = find_line_starts(text)
    # A last line without a line end gets that of the line above.
    end = "\r\n" if text.endswith("\r\n", 0, starts[min(line, len(starts) - 1)]) else "\n"
    new = "".join(one + end for one in lines)
    if line <= len(starts):
        return Edit(line, 1, line, 1, new)
    # Add a line end to a last line that has none.
    ended = "" if text.endswith("\n") or not text else end
    return make_edit(text, len(text), len(text), ended + new)


def make_edit(text: str, start: int, end: int, new: str) -> Edit:
    starts = find_line_starts(text)
    first, last = find_line_index(starts, start), find_line_index(starts, end)
    return Edit(first + 1, start - starts[first] + 1, last + 1, end - starts[last] + 1, new)


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Apply the edits to a text; of overlapping edits, apply only the first in the text."""
    starts = find_line_starts(text)
    parts: list[str] = []
    taken = 0
    spans = [
        (starts[one.line - 1] + one.column - 1, starts[one.end_line - 1] + one.end_column - 1, one.text)
        for one in edits
    ]
    for start, end, new in sorted(dict.fromkeys(spans)):
        if start >= taken:
            parts += text[taken:start], new
            taken = end
    return "".join([*parts, text[taken:]])


class QuoteLine(Struct, frozen=True):
    start: int
    end: int
    first: int  # Where its text begins.
    last: int
    prefix: str
    words: list[str]


def _read_quote_line(text: str, start: int, end: int, first: int) -> QuoteLine:
    last = first + len(text[first:end].rstrip(WHITESPACE))
    return QuoteLine(start, end, first, last, text[start:first], split_words(text[first:end]))


def make_comment_quote_edits(text: str, annotation: Annotation, style: SourceStyle, quote: str) -> tuple[Edit, ...]:
    found: list[QuoteLine] = []
    at, end = annotation.source.quote
    start = text.rfind("\n", 0, at) + 1
    while start < end:
        stop = text.find("\n", start)
        stop = len(text) if stop < 0 else stop
        if not found:
            first = at
        else:
            behind = text[start:stop].lstrip(WHITESPACE)[len(style.content) :]
            first = stop - len(behind.lstrip(WHITESPACE))
        found.append(_read_quote_line(text, start, stop, first))
        start = stop + 1
    return make_line_edits(text, found, quote)


def make_quote_insertion_edits(text: str, annotation: Annotation, style: SourceStyle, quote: str) -> tuple[Edit, ...]:
    end = annotation.source.text_end
    start, stop = text.rfind("\n", 0, end) + 1, text.find("\n", end)
    line = text[start : stop if stop >= 0 else len(text)]
    indent = line[: len(line) - len(line.lstrip(WHITESPACE))]
    if not line.startswith(f"{indent}{style.meta}") or text[end : start + len(line)].strip(WHITESPACE):
        return ()
    prefix = f"{indent}{style.content} "
    words = wrap_words(split_words(quote), LINE_WIDTH - measure_line(prefix))
    number = text.count("\n", 0, start) + 2
    return (make_insertion_edit(text, number, [prefix + " ".join(one) for one in words]),)


def make_line_edits(text: str, lines: Sequence[QuoteLine], quote: str) -> tuple[Edit, ...]:
    """The first and the last line must contain text."""
    filled = [line for line in lines if line.words]
    widest = max(measure_line(text[line.start : line.last]) for line in filled)
    if len(filled) == 1:
        # A quote on one line does not show where the lines of the file end.
        is_narrow = all(measure_line(line) <= LINE_WIDTH for line in text.splitlines())
        widest = max(widest, LINE_WIDTH if is_narrow else _WIDEST)
    rooms = [widest - measure_line(line.prefix) for line in lines]
    new = rewrap_words([line.words for line in lines], split_words(quote), rooms)
    changed = [index for index, line in enumerate(lines) if index >= len(new) or line.words != new[index]]
    if len(new) <= len(lines) and all(index < len(new) and lines[index].words for index in changed):
        edits = []
        for index in changed:
            line = lines[index]
            if new[index]:
                edits.append(make_edit(text, line.first, line.last, " ".join(new[index])))
            # Remove a line that has no words left.
            elif any(new[:index]):
                edits.append(make_edit(text, lines[index - 1].end, line.end, ""))
            else:
                edits.append(make_edit(text, line.start, lines[index + 1].start, ""))
        return tuple(edits)
    first = changed[0] if changed else len(lines) - 1
    while not lines[first].words:
        first -= 1
    # The edit that replaces these lines; added lines get the prefix of the last one.
    old_lines = lines[first:]
    new_lines = new[first:]
    above = text.rfind("\n", 0, old_lines[0].first) + 1
    end = "\r\n" if text.endswith("\r\n", 0, above) else "\n"
    prefixes = [line.prefix for line in old_lines if line.words]
    prefixes += prefixes[-1:] * len(new_lines)
    written = [" ".join(line) for line in new_lines if line]
    joined = written[0] + "".join(end + prefix + line for prefix, line in zip(prefixes[1:], written[1:], strict=False))
    return (make_edit(text, old_lines[0].first, old_lines[-1].last, joined),)


def make_entry_quote_edits(text: str, annotation: Annotation, quote: str) -> tuple[Edit, ...]:
    """The caller must check the resulting file."""
    start, end = annotation.source.quote
    if not text.startswith(("'''", '"""'), start):
        # A string of one line stays one.
        return (make_edit(text, start + 1, end - 1, quote),)
    at = start + 3
    limit = end - 3
    lines: list[QuoteLine] = []
    while at <= limit:
        stop = text.find("\n", at, limit)
        stop = limit if stop < 0 else stop
        lines.append(_read_quote_line(text, at, stop, stop - len(text[at:stop].lstrip(WHITESPACE))))
        at = stop + 1
    filled = [index for index, line in enumerate(lines) if line.words]
    return make_line_edits(text, lines[filled[0] : filled[-1] + 1], quote) if filled else ()


_STRINGS = r'"(?:[^"\\\n]|\\.)*+"'


def is_inside_comment(text: str, line: int, pair: CommentPair) -> bool:
    start = find_line_starts(text)[line - 1]
    first, last = map(re.escape, pair)
    lines = r"//[^\n]*+|'(?:[^'\\\n]|\\.)'|" if pair == C_COMMENT else ""
    for found in re.finditer(rf"{lines}{_STRINGS}|(?P<comment>{first}(?s:.*?)(?:{last}|\Z))", text):
        if found.start() >= start:
            return False
        if found["comment"] and start < found.end():
            return True
    return False


class NewAnnotation(Struct, frozen=True):
    target: str
    quote: str
    kind: Kind
    fields: Mapping[str, str] = {}


class Insertion(Struct, frozen=True):
    line: int
    lines: tuple[str, ...]
    text: str


def insert_annotation(path: str, text: str, line: int, new: NewAnnotation, style: SourceStyle, most: int) -> Insertion:
    ##= man/spec/cite.md#refusals
    ##% `duvet cite` MUST refuse to insert a citation inside an annotation, or below a line that a backslash
    ##% continues.
    count = text.count("\n") + (text[-1:] not in ("", "\n"))
    signs = ((BOM, "its byte order mark"), ("#!", "its `#!` line"), ("<?", "its `<?` tag"))
    start = next((what for sign, what in signs if text.startswith(sign)), "")
    message = hint = ""
    if line == 1 and start:
        message = f"the file must start with {start}"
    elif not 0 < line <= count:
        message = f"line {line} does not exist; the file has {format_count(count, 'line')}"
    if message:
        first = 2 if start else 1
        hint = f"choose line {first}" if count == first else f"choose a line from {first} to {count}"
        if count < first:
            hint = "start the code on line 2, and choose that line" if start else "write the code first"
    elif line > 1:
        above = text[: find_line_starts(text)[line - 1]].removesuffix("\n").removesuffix("\r")
        # A backslash continues a line; two of them are a TeX command.
        if (len(above) - len(above.rstrip("\\"))) % 2 == 1:
            message, hint = "this line continues the line above", "choose the line where the statement starts"
    if message:
        raise DuvetError(message, path=path, line=line, hint=hint)
    lines = _format_lines(path, text, line, new, style, most)
    ##= man/spec/cite.md#inserting
    ##% Apart from the citation, `duvet cite` MUST leave the file unchanged, including line endings, a byte order mark
    ##% and a missing final newline.
    edited = apply_edits(text, [make_insertion_edit(text, line, lines)])
    # Problems of the annotation itself come before those of its place.
    _, problems = scan_comments(path, "\n".join(lines), style)
    if problems:
        raise ProblemsError(tuple(replace(one, place=Place(line), label="", notes=()) for one in problems))
    _check_others(path, (text, edited), line, len(lines), style)
    return Insertion(line, tuple(lines), edited)


def _format_lines(path: str, text: str, line: int, new: NewAnnotation, style: SourceStyle, most: int) -> list[str]:
    ##= man/spec/cite.md#inserting
    ##% `duvet cite` MUST insert the citation above the given line, in the comment style of the file and with the
    ##% indentation of the line.
    written = text[find_line_starts(text)[line - 1] :].partition("\n")[0]
    indent = written[: len(written) - len(written.lstrip(WHITESPACE))]
    pair = find_comment_pair(path, style.meta)
    is_enclosed = pair is None or is_inside_comment(text, line, pair)
    own = indent if is_enclosed else f"{indent} "
    lines = format_annotation(style, own, new.target, new.quote, kind=new.kind, fields=new.fields, most=most)
    if pair is None:
        if lines[-1].endswith("\\"):
            message = "a comment that ends with a backslash would continue on the next line"
            raise DuvetError(message, hint="with `--part`, quote a part that does not end with a backslash")
        return lines
    if any(pair.last in one for one in lines):
        raise DuvetError(
            f"the text contains `{pair.last}`, which would end the comment",
            hint=f"with `--part`, quote a part that does not contain `{pair.last}`",
        )
    return lines if is_enclosed else [f"{indent}{pair.first}", *lines, f"{indent} {pair.last}"]


def _check_others(path: str, texts: tuple[str, str], line: int, count: int, style: SourceStyle) -> None:
    old, new = (list(_list_ranges_and_contents(path, text, style)) for text in texts)
    for first, last, _ in old:
        if first < line <= last:
            message = f"this line is inside the annotation at {path}:{first}"
            is_last = not texts[0][find_line_starts(texts[0])[last - 1] :].partition("\n")[2]
            hint = f"choose line {first}{'' if is_last else f' or line {last + 1}'}"
            raise DuvetError(message, path=path, line=line, hint=hint)
    below = line + count
    ours = [one for one in new if line <= one[0] and one[1] < below]
    shifted = [(one, count if one[0] >= below else 0) for one in new if one not in ours]
    if [(first - by, last - by, content) for (first, last, content), by in shifted] != old or len(ours) != 1:
        message = "the new annotation would merge with the one next to it"
        raise DuvetError(
            message,
            path=path,
            line=line,
            hint="choose a line that is not next to an annotation; if necessary, add empty lines",
        )


def _list_ranges_and_contents(
    path: str, text: str, style: SourceStyle
) -> Iterator[tuple[int, int, tuple[object, ...]]]:
    starts = find_line_starts(text)
    for one in scan_comments(path, text, style)[0]:
        last = find_line_index(starts, one.source.text_end - 1) + 1
        yield one.line, last, (one.kind, one.target, one.quote, one.reason, one.feature, one.tracking_issue)


def choose_style(styles: Iterable[SourceStyle], kind: Kind | None) -> SourceStyle:
    known = list(styles)
    return next((style for style in known if style.kind is kind), known[0])
