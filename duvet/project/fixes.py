"""Proposes fixes for wrong targets and quotes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from posixpath import normpath
from typing import NamedTuple

from msgspec.structs import replace

from duvet import rules
from duvet.errors import DuvetError
from duvet.model import Annotation, Edit, Fix, Format, Kind, Problem, Source, Specification
from duvet.project.project import Project
from duvet.sources.comments import SourceStyle, scan_comments
from duvet.sources.editor import apply_edits, make_comment_quote_edits, make_comment_target_edit, split_words
from duvet.specs import requirement_text
from duvet.specs.locator import (
    SectionNames,
    find_section_index,
    format_locator,
    locate_specification,
    resolve_specification,
)
from duvet.specs.requirement_files import read_requirement_file
from duvet.trace.build import find_second_spellings
from duvet.trace.nearest import Neighbourhood, TextStretch, make_word_diff
from duvet.trace.records import AnnotationPlaces

MAX_SHOWN_SECTIONS = 3
"""So many names are shown of what may be meant."""
_FEWEST = 3
"""Fewer words than this may stand in the only section that has them by chance."""


class Correction(NamedTuple):
    """What an annotation should say, where that is sure, and what people should know."""

    hint: str = ""
    target: str | None = None
    quote: str | None = None

    @property
    def is_sure(self) -> bool:
        return self.target is not None or self.quote is not None


def correct_moved_quote(annotation: Annotation, near: Neighbourhood, held: list[int]) -> Correction:
    """The answer for a quote that stands in these sections."""
    ids = [near.section_id(index) for index in held]
    names = " and ".join(f"#{id}" for id in ids[:MAX_SHOWN_SECTIONS])
    more = f" and {len(ids) - MAX_SHOWN_SECTIONS} more" if len(ids) > MAX_SHOWN_SECTIONS else ""
    sure = len(ids) == 1 and len(annotation.quote.split()) >= _FEWEST
    target = f"{annotation.target.partition('#')[0]}#{ids[0]}" if sure else None
    return Correction(f"these words stand in {names}{more}", target)


class ResolvedTarget(NamedTuple):
    """The specification that a target names and what is near in it, and the index of the section, where there is one."""

    near: Neighbourhood
    section: int | None


class SpecificationTexts:
    """Every specification that an annotation may mean; what is read of them is kept."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._near: dict[str, Neighbourhood] = {}

    def spot(self, annotation: Annotation) -> ResolvedTarget | None:
        """Where the target of an annotation leads; None where no specification is there."""
        name, _, wanted = annotation.target.partition("#")
        base = annotation.path if annotation.from_file else self.project.root
        try:
            locator = resolve_specification(name, annotation.format, base, self.project.tree)
            specification = self.project.library.load(locator)
        except DuvetError:
            return None
        return ResolvedTarget(self._neighbourhood(specification), find_section_index(specification, wanted))

    def is_valid(self, annotation: Annotation) -> bool:
        """Whether an annotation quotes what stands in the section that it names."""
        spot = self.spot(annotation)
        return spot is not None and spot.section is not None and spot.near.holds(spot.section, annotation.quote)

    def others(self, but: Neighbourhood | None = None) -> Iterator[tuple[str, Neighbourhood]]:
        """Every specification that is cited or configured, each with what targets call it, by one name."""
        project = self.project
        second = {other.locator for other, _ in find_second_spellings(project.trace.coverages, project.root)}
        cited = [one.specification for one in project.trace.coverages]
        found = {one.locator: one for one in cited if one.locator not in second}
        for rule in project.config.specifications if project.config else ():
            with suppress(DuvetError):
                loaded = project.library.load(locate_specification(rule.source, rule.format))
                found.setdefault(loaded.locator, loaded)
        for locator, specification in found.items():
            near = self._neighbourhood(specification)
            if near is not but:
                yield format_locator(locator, project.root), near

    def _neighbourhood(self, specification: Specification) -> Neighbourhood:
        key = f"{specification.locator.name}\n{specification.locator.format}"
        if key not in self._near:
            self._near[key] = Neighbourhood(specification, self._sentences(specification))
        return self._near[key]

    def _sentences(self, specification: Specification) -> dict[int, list[str]]:
        """The requirements of a specification by section."""
        trace = self.project.trace
        found: dict[int, list[str]] = {}
        for coverage in trace.coverages:
            if coverage.specification.locator == specification.locator:
                for match in coverage.matches:
                    quotes = [trace.annotations[id].quote for id in match.stating[:1]]
                    found.setdefault(match.section, []).extend(quotes)
        return found


_SAFE = 95.0
"""What is more like a quote than this is a second good answer to it."""
_FAR = 90.0
"""How like a quote text in another section has to be to have been meant."""


def correct_drifted_quote(texts: SpecificationTexts, annotation: Annotation) -> Correction:
    """The answer for a quote that stands nowhere in its section."""
    spot, quote = texts.spot(annotation), annotation.quote
    if spot is None or spot.section is None:
        return Correction()
    held = spot.near.holding(quote)
    own = spot.near.near(spot.section, quote)
    if held:
        answer = correct_moved_quote(annotation, spot.near, held)
        return answer._replace(target=None) if own is not None and own.score > _SAFE else answer
    return correct_misplaced_quote(texts, annotation, spot.near) if own is None else _here(quote, own)


def correct_one_edit(texts: SpecificationTexts, annotation: Annotation) -> Correction:
    """The answer for a quote that is found there, but for one character."""
    spot = texts.spot(annotation)
    own = spot.near.near(spot.section, annotation.quote) if spot and spot.section is not None else None
    return Correction() if own is None else _here(annotation.quote, own)


def _here(quote: str, own: TextStretch) -> Correction:
    """The answer for a quote with something like it in its section."""
    ##= man/spec/validate.md#checks
    ##% For a quote that its section does not contain, `duvet validate` SHOULD show the most similar text with the
    ##% differing words marked, and name another section that contains the quote.
    hint = f"the nearest text in this section is\n{make_word_diff(quote, own.text)}"
    return Correction(hint, quote=own.text if own.is_clear else None)


def correct_misplaced_quote(texts: SpecificationTexts, annotation: Annotation, near: Neighbourhood) -> Correction:
    """The answer for a quote with nothing like it where its target leads: another section, or another specification."""
    found = near.anywhere(annotation.quote)
    if found is None or found.stretch.score < _FAR:
        for name, other in texts.others(near):
            held = other.holding(annotation.quote)
            if held:
                return Correction(f"these words stand in {name}#{other.section_id(held[0])}")
    if found is None:
        return _in_others(texts, annotation.quote, near)
    id = near.section_id(found.section)
    hint = f"the nearest text stands in #{id}:\n{make_word_diff(annotation.quote, found.stretch.text)}"
    if not found.stretch.is_clear or found.stretch.score < _FAR:
        return Correction(hint)
    return Correction(hint, f"{annotation.target.partition('#')[0]}#{id}", found.stretch.text)


def _in_others(texts: SpecificationTexts, quote: str, near: Neighbourhood) -> Correction:
    """What other specifications have that is like a quote: something to show, and nothing to write."""
    others = list(texts.others(near))
    likely = sorted(
        ((share, number, index) for number, (_, other) in enumerate(others) for share, index in other.likely(quote)),
        key=lambda one: -one[0],
    )
    found = [
        (stretch, number, index)
        for _, number, index in likely[:MAX_SHOWN_SECTIONS]
        if (stretch := others[number][1].near(index, quote)) is not None
    ]
    if not found:
        return Correction()
    stretch, number, index = max(found, key=lambda one: one[0].score)
    name, other = others[number]
    return Correction(
        f"the nearest text stands in {name}#{other.section_id(index)}:\n{make_word_diff(quote, stretch.text)}"
    )


_LIKENESS = 60
"""How like another a name has to be to have been meant, of 100."""


def correct_section(texts: SpecificationTexts, annotation: Annotation) -> Correction:
    """The answer for a target with a section that is not there, or without one."""
    spot = texts.spot(annotation)
    if spot is None:
        return Correction()
    name, _, wanted = annotation.target.partition("#")
    near = SectionNames(spot.near.specification).nearest(wanted) if wanted else []
    held = spot.near.holding(annotation.quote)
    if held:
        ids = {spot.near.section_id(index): index for index in held}
        # Of several sections with these words, the one that is called nearly so is meant.
        meant = [ids[id] for id in near if id in ids]
        answer = correct_moved_quote(annotation, spot.near, meant if len(meant) == 1 else held)
        return answer._replace(target=f"{name}#{spot.near.section_id(meant[0])}") if len(meant) == 1 else answer
    if annotation.quote:
        found = correct_misplaced_quote(texts, annotation, spot.near)
        # A section that is called nearly so has to have the text; without one, any section will do.
        return found if not near or (found.target and found.target.partition("#")[2] in near) else Correction()
    return Correction(target=f"{name}#{near[0]}" if len(near) == 1 else None)


def correct_specification(texts: SpecificationTexts, annotation: Annotation) -> Correction:
    """The answer for a target with a specification that is not there."""
    from rapidfuzz import fuzz

    name, _, wanted = annotation.target.partition("#")
    known = [(other, near) for other, near in texts.others() if fuzz.ratio(name, other) >= _LIKENESS]
    fitting = []
    for other, near in known:
        index = find_section_index(near.specification, wanted)
        if index is not None and near.holds(index, annotation.quote):
            fitting.append(other)
    if len(fitting) == 1:
        return Correction(f"did you mean {fitting[0]}?", f"{fitting[0]}#{wanted}")
    return Correction(f"did you mean {' or '.join(name for name, _ in known[:MAX_SHOWN_SECTIONS])}?" if known else "")


def correct_spelling(texts: SpecificationTexts, annotation: Annotation) -> Correction:
    """The answer for a target with a second name of a text: the first one, where the two are spellings of one path."""
    spot = texts.spot(annotation)
    if spot is None:
        return Correction()
    written, _, wanted = annotation.target.partition("#")
    for other, first in find_second_spellings(texts.project.trace.coverages, texts.project.root):
        name = format_locator(first.locator, texts.project.root)
        # A path that begins elsewhere may be the right one for whoever reads the file from there.
        if spot.near.specification.locator == other.locator and written != name and normpath(written) == normpath(name):
            return Correction(target=f"{name}#{wanted}")
    return Correction()


_BY_CODE: dict[str, Callable[[SpecificationTexts, Annotation], Correction]] = {
    rules.QUOTE_NOT_FOUND.code: correct_drifted_quote,
    rules.QUOTE_ONE_EDIT.code: correct_one_edit,
    rules.TARGET_UNKNOWN_SECTION.code: correct_section,
    rules.TARGET_NO_SECTION.code: correct_section,
    rules.TARGET_UNRESOLVED.code: correct_specification,
    rules.TARGET_TWO_SPELLINGS.code: correct_spelling,
}


class CorrectionFinder:
    """Finds answers in the specifications of a project."""

    def __init__(self, texts: SpecificationTexts) -> None:
        self.texts = texts
        self._known: dict[tuple[str, str, str, Format, str], Correction] = {}

    def to(self, code: str, annotation: Annotation) -> Correction:
        """The answer to a problem of an annotation; one that others have, too, is found once."""
        find = _BY_CODE.get(code)
        if find is None:
            return Correction()
        base = annotation.path if annotation.from_file else ""
        known = (code, annotation.target, annotation.quote, annotation.format, base)
        if known not in self._known:
            self._known[known] = find(self.texts, annotation)
        return self._known[known]


_NOWHERE = Source()
# Text with these may begin or end a comment, or a string around it.
_MARKS = ("/*", "*/", "(*", "*)", "<!--", "-->", "{-", "-}", '"""', "'''")


ReadingsByStyle = dict[SourceStyle | None, list[Annotation]]
"""The annotations of a file by the style that it is read in; a requirement file has none."""


class AnnotationFixer:
    """Gives problems of annotations their answers, and the edits that make them."""

    def __init__(self, project: Project, places: AnnotationPlaces, styles: dict[str, tuple[SourceStyle, ...]]) -> None:
        self.texts = SpecificationTexts(project)
        self.answers = CorrectionFinder(self.texts)
        self.places = places
        self.styles = styles
        self._read: dict[str, ReadingsByStyle] = {}

    def mended(self, annotation: Annotation, problem: Problem) -> Problem:
        """The problem with what there is to know, and with a fix where exactly one is good."""
        ##= man/spec/validate.md#fixes
        ##% With `--fix`, `duvet validate` MUST correct a wrong target or quote, in comments and in requirement files,
        ##% when exactly one correction fits.
        answer = self.answers.to(problem.code, annotation)
        hint = answer.hint or problem.hint
        return replace(problem, hint=hint, fix=self._fix(annotation, answer) if answer.is_sure else None)

    def _fix(self, annotation: Annotation, answer: Correction) -> Fix | None:
        text = self.places.text(annotation.path)
        edits = () if _is_dangerous(annotation, answer) else self._edits(annotation, answer, text)
        if not edits or not self._holds(annotation, answer, apply_edits(text, edits)):
            return None
        return Fix(_described(answer), edits)

    def _edits(self, annotation: Annotation, answer: Correction, text: str) -> tuple[Edit, ...]:
        """What makes the annotation say the answer; nothing where its file holds something else by now."""
        readings = self._readings(annotation.path)
        here = [style for style, found in readings.items() if annotation in found]
        edits: tuple[Edit, ...] = ()
        for style in here[:1]:
            if answer.target is not None:
                edit = make_comment_target_edit if style else requirement_text.make_entry_target_edit
                edits += (edit(text, annotation, answer.target),)
            if answer.quote is not None and style:
                edits += make_comment_quote_edits(text, annotation, style, answer.quote)
            elif answer.quote is not None:
                edits += requirement_text.make_entry_quote_edits(text, annotation, answer.quote)
        return edits

    def _readings(self, path: str) -> ReadingsByStyle:
        if path not in self._read:
            self._read[path] = self._readings_of(path, self.places.text(path))
        return self._read[path]

    def _readings_of(self, path: str, text: str) -> ReadingsByStyle:
        """What a text says in each style that its file is read in."""
        styles = self.styles.get(path)
        if styles is None:
            return {None: read_requirement_file(path, text.encode())[0]}
        return {style: scan_comments(path, text, style)[0] for style in styles}

    def _holds(self, annotation: Annotation, answer: Correction, text: str) -> bool:
        """Whether the annotation is right in this text, and all others say what they said."""
        ##= man/spec/validate.md#fixes
        ##% A fix MUST make its annotation valid, and MUST NOT change anything else in the file, nor anything when it
        ##% runs again.
        readings = self._readings_of(annotation.path, text)
        pairs = [(found, readings[style]) for style, found in self._readings(annotation.path).items()]
        if any(len(before) != len(after) for before, after in pairs):
            return False
        for old, new in (pair for before, after in pairs for pair in zip(before, after, strict=True)):
            if old == annotation:
                if not _says(new, annotation, answer) or not self.texts.is_valid(new):
                    return False
            elif _meaning(old) != _meaning(new):
                return False
        return True


def _says(new: Annotation, old: Annotation, answer: Correction) -> bool:
    quote = old.quote if answer.quote is None else answer.quote
    target = old.target if answer.target is None else answer.target
    return split_words(new.quote) == split_words(quote) and _meaning(replace(new, quote="")) == _meaning(
        replace(old, target=target, quote="")
    )


def _meaning(annotation: Annotation) -> Annotation:
    """The annotation wherever it stands, and a requirement of a requirement file however it is wrapped."""
    is_stated = annotation.from_file and annotation.kind is Kind.SPEC
    return replace(annotation, line=0, source=_NOWHERE, reason="" if is_stated else annotation.reason)


def _is_dangerous(annotation: Annotation, answer: Correction) -> bool:
    """Whether the new words may do something to the code around the comment."""
    pairs = [(annotation.target, answer.target), (annotation.quote, answer.quote)]
    changes = [(old, new) for old, new in pairs if new is not None]
    return any(new.count(mark) != old.count(mark) for old, new in changes for mark in _MARKS) or any(
        word.endswith("\\") for old, new in changes for word in set(split_words(new)) ^ set(split_words(old))
    )


def _described(answer: Correction) -> str:
    if answer.quote is None:
        return f"name {answer.target}"
    return "quote what stands there" if answer.target is None else f"name {answer.target} and quote what stands there"
