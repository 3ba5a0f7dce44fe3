"""Random ways to damage citations, all citations of a project in the same way."""

import random
from collections.abc import Iterator
from typing import NamedTuple

from duvet.model import Annotation, Edit, Kind, Specification
from duvet.project.project import Project
from duvet.sources.comments import SourceStyle, scan_comments
from duvet.sources.editor import apply_edits, make_comment_quote_edits, make_edit
from duvet.trace.match import QuoteMatcher
from duvet.trace.records import AnnotationPlaces, Fit

VALID = (Fit.EXACT, Fit.NORMALISED)


class Spoilt(NamedTuple):
    """The texts of files with changed citations, and how each was changed and whether it is still correct."""

    files: dict[str, bytes]
    how: dict[int, str]
    right: dict[int, bool]


MOVE, WRAP = "move", "wrap"
HOW = ("drop", "change", "dashes", "swap", "case", "end", MOVE, WRAP)


def _damage(how: str, words: list[str], at: int, choice: random.Random) -> list[str]:
    before, word, after, first = words[:at], words[at], words[at + 1 :], max(at - 1, 0)
    match how:
        case "drop":
            return before + after
        case "change":
            return [*before, choice.choice(("zebra", "Every", "not", "MUST NOT", "x")), *after]
        case "dashes":
            dash = choice.choice(("\u2013", " - ", "\u2014"))
            return [one.replace("-", dash) for one in words]
        case "swap":
            return words[:first] + words[first : first + 2][::-1] + words[first + 2 :]
        case "case":
            return [*before, word.swapcase(), *after]
    return [*words, choice.choice(("and so on", "This is all.", "in all cases, as said above."))]


class Spoiler:
    def __init__(self, project: Project) -> None:
        self.project = project
        self.places = AnnotationPlaces(project.tree)
        self.styles = {path: styles for styles, paths in project.inputs.sources for path in paths}
        self.spots = dict(self._spots())

    def _spots(self) -> Iterator[tuple[int, tuple[Specification, int]]]:
        trace = self.project.trace
        for coverage in trace.coverages:
            for match in coverage.matches:
                for id in match.ids if match.fit in VALID else ():
                    one = trace.annotations[id]
                    if one.kind is not Kind.SPEC and not one.from_file and len(one.quote.split()) >= 5:
                        yield id, (coverage.specification, match.section)

    def spoil(self, choice: random.Random) -> Spoilt:
        edits: dict[str, list[Edit]] = {}
        spoilt = Spoilt({}, {}, {})
        for id in sorted(self.spots):
            how = choice.choice(HOW)
            annotation = self.project.trace.annotations[id]
            made, section, quote = self._change(id, annotation, how, choice)
            edits.setdefault(annotation.path, []).extend(made)
            found = QuoteMatcher(self.spots[id][0].sections[section]).find(quote)
            spoilt.how[id], spoilt.right[id] = how, found is not None and found[1] in VALID
        for path, all_made in edits.items():
            spoilt.files[path] = apply_edits(self.places.text(path), all_made).encode()
        return spoilt

    def _change(self, id: int, one: Annotation, how: str, choice: random.Random) -> tuple[tuple[Edit, ...], int, str]:
        specification, section = self.spots[id]
        text = self.places.text(one.path)
        style = next(style for style in self.styles[one.path] if one in scan_comments(one.path, text, style)[0])
        if how == MOVE:
            other = choice.choice([index for index in range(len(specification.sections)) if index != section])
            target = f"{one.target.partition('#')[0]}#{specification.sections[other].id}"
            return (make_edit(text, *one.source.target, target),), other, one.quote
        if how == WRAP:
            return (_wrap(text, one, style, choice),), section, one.quote
        words = one.quote.split()
        quote = " ".join(_damage(how, words, choice.randrange(len(words)), choice))
        return make_comment_quote_edits(text, one, style, quote), section, quote


def _wrap(text: str, annotation: Annotation, style: SourceStyle, choice: random.Random) -> Edit:
    start, end = annotation.source.quote
    blanks = [index for index in range(start, end) if text[index - 1 : index + 2].strip(" ") and text[index] == " "]
    blanks = [at for at in blanks if not text[text.rfind("\n", 0, at) + 1 : at].strip().endswith(style.content.strip())]
    if not blanks:
        return make_edit(text, start, start, "")
    at = choice.choice(blanks)
    indent = text[text.rfind("\n", 0, start) + 1 : start].partition(style.content)[0]
    line_end = "\r\n" if text.endswith("\r\n", 0, text.rfind("\n", 0, start) + 1) else "\n"
    return make_edit(text, at, at + 1, f"{line_end}{indent}{style.content} ")


def around(text: str, path: str, styles: tuple[SourceStyle, ...], numbers: set[int]) -> str:
    found = sorted((one for style in styles for one in scan_comments(path, text, style)[0]), key=lambda one: one.line)
    left: list[str | None] = list(text.split("\n"))
    for number in numbers:
        one = found[number]
        last = text.count("\n", 0, one.source.text_end)
        left[one.line - 1 : last + 1] = [None] * (last + 2 - one.line)
    return "\n".join(line for line in left if line is not None)
