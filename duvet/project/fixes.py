"""Proposes fixes for wrong targets, and for quotes that their section does not contain."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from posixpath import normpath
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from duvet import rules
from duvet.config.toml import format_one_line_string
from duvet.errors import DuvetError
from duvet.model import Annotation, Applicability, Edit, Fix, Format, Kind, Problem, Source, Specification
from duvet.project.history import TextHistory, squeeze_text
from duvet.sources import editor
from duvet.sources.comments import SourceStyle, scan_comments
from duvet.specs import requirement_files
from duvet.specs.extraction import locate_configured
from duvet.specs.locator import format_locator, resolve_specification
from duvet.specs.section_names import SectionNames, find_section_index
from duvet.text import is_similar_path, load_rapidfuzz
from duvet.trace.names import NO_NAMES, NamedText, find_stated_names, is_stated_name
from duvet.trace.nearest import Neighbourhood, TextStretch, describe_changed_meaning, make_word_diff
from duvet.trace.plain_match import remove_quote_markup
from duvet.trace.records import AnnotationPlaces, find_second_spellings

if TYPE_CHECKING:
    from duvet.project.project import Project

_MOST_SHOWN = 3  # The number of names that a hint shows.
_FEWEST_WORDS = 3  # A shorter quote may be in the only section that contains it by chance.
_SECOND = 95.0  # Text more similar to a quote than this is a second good correction.
_FAR = 90.0  # The similarity that text in another section needs to be proposed.
_TYPO = 90.0  # If a quote is less similar than this, it contains more than a typo.
_NOT_SIMILAR = "no text in this section is similar; quote one of its requirements, or remove the citation"
_DIGITS = "0123456789"
_NO_SOURCE = Source()
# These may begin or end a comment, or a string around it.
_MARKS = ("/*", "*/", "(*", "*)", "<!--", "-->", "{-", "-}", '"""', "'''")


class Correction(NamedTuple):
    hint: str = ""
    target: str | None = None
    quote: str | None = None
    name: str = ""  # The id of the requirement whose words the hint compares with the quote.
    note: str = ""

    @property
    def is_sure(self) -> bool:
        return self.target is not None or self.quote is not None


class ResolvedTarget(NamedTuple):
    near: Neighbourhood
    section: int | None
    named: tuple[NamedText, ...] = ()  # The requirements that the target names by an id; empty for a section.

    def contains(self, quote: str) -> bool:
        if self.named:
            return self.section is not None and self.near.contains_named(self.named, quote)
        return self.section is not None and self.near.contains(self.section, quote)


def resolve_section(near: Neighbourhood, section: str) -> ResolvedTarget:
    index = find_section_index(near.specification, section)
    named = tuple(near.names.find(section)) if index is None else ()
    if len({one.section for one in named}) == 1:
        index = named[0].section
    elif index is None and not named:
        index = near.sections_by_title_id.get(section, near.sections_by_title_id.get(section.casefold()))
    return ResolvedTarget(near, index, named)


class SpecificationTexts:
    def __init__(self, project: Project) -> None:
        self.project = project
        self._near: dict[str, Neighbourhood] = {}

    def resolve_target(self, annotation: Annotation) -> ResolvedTarget | None:
        name, _, section = annotation.target.partition("#")
        base = annotation.path if annotation.from_file else self.project.root
        try:
            locator = resolve_specification(name, annotation.format, base, self.project.tree)
            specification = self.project.library.load(locator)
        except DuvetError:
            return None
        return resolve_section(self._make_neighbourhood(specification), section)

    def is_valid(self, annotation: Annotation) -> bool:
        spot = self.resolve_target(annotation)
        return spot is not None and spot.contains(annotation.quote)

    def list_others(self, but: Neighbourhood | None = None) -> Iterator[tuple[str, Neighbourhood]]:
        project = self.project
        second = {other.locator for other, _ in find_second_spellings(project.trace.coverages, project.root)}
        cited = [one.specification for one in project.trace.coverages if one.specification.locator not in second]
        found = {one.locator: one for one in cited if one.is_configured}
        for _, locator in locate_configured(project.config):
            with suppress(DuvetError):
                loaded = project.library.load(locator)
                found.setdefault(loaded.locator, loaded)
        found = found or {one.locator: one for one in cited}
        for locator, specification in found.items():
            near = self._make_neighbourhood(specification)
            if near is not but:
                yield format_locator(locator, project.root), near

    def _make_neighbourhood(self, specification: Specification) -> Neighbourhood:
        key = f"{specification.locator.name}\n{specification.locator.format}"
        if key not in self._near:
            trace = self.project.trace
            sentences: dict[int, list[str]] = {}
            cited: dict[int, set[str]] = {}
            names = NO_NAMES
            for coverage in trace.coverages:
                if coverage.specification.locator == specification.locator:
                    names = find_stated_names(coverage, trace.annotations)
                    for match in coverage.matches:
                        quotes = [trace.annotations[id].quote for id in match.stating[:1]]
                        sentences.setdefault(match.section, []).extend(quotes)
                        related = [id for one in match.stating[:1] for id in coverage.tallies[one].related]
                        if any(trace.annotations[id].kind is not Kind.SPEC for id in related):
                            cited.setdefault(match.section, set()).update(
                                " ".join(editor.split_words(one)) for one in quotes
                            )
            self._near[key] = Neighbourhood(specification, sentences, cited, names)
        return self._near[key]


def correct_drifted_quote(texts: SpecificationTexts, annotation: Annotation) -> Correction:
    spot, quote = texts.resolve_target(annotation), annotation.quote
    if spot is None or spot.section is None:
        return Correction()
    if spot.named:
        return _correct_named_quote(annotation, spot)
    held = spot.near.find_containing_sections(quote)
    own = spot.near.find_near(spot.section, quote)
    if held:
        moved = _correct_moved_quote(annotation, spot.near, held)
        return moved._replace(target=None) if own is not None and own.score > _SECOND else moved
    if own is None:
        elsewhere = _correct_misplaced_quote(texts, annotation, spot.near)
        is_plain = spot.near.specification.sections[spot.section].plain is not None
        return elsewhere if elsewhere.hint or not is_plain else Correction(_NOT_SIMILAR)
    names = {one.name for one in spot.near.names.find_containing(own.text) if one.section == spot.section}
    return _quote_nearest(quote, own, names.pop() if len(names) == 1 else "")


def _correct_named_quote(annotation: Annotation, spot: ResolvedTarget) -> Correction:
    quote, name = annotation.quote, spot.named[0].name
    ids = list(dict.fromkeys(one.name for one in spot.near.names.find_containing(quote)))
    if ids:
        verb = "contains" if len(ids) == 1 else "contain"
        is_sure = len(ids) == 1 and len(quote.split()) >= _FEWEST_WORDS
        target = f"{annotation.target.partition('#')[0]}#{ids[0]}" if is_sure else None
        return Correction(f"{' and '.join(ids[:_MOST_SHOWN])} {verb} this text", target)
    found = [spot.near.find_near_named(one, quote) for one in spot.named]
    best = max(found, key=lambda one: load_rapidfuzz().fuzz.ratio(quote, one.text))
    return Correction(_show_change(quote, best.text), quote=best.text if len(found) == 1 else None, name=name)


def _add_named_quote(texts: SpecificationTexts, annotation: Annotation) -> Correction:
    spot = texts.resolve_target(annotation)
    is_sure = spot is not None and len(spot.named) == 1
    return Correction(quote=" ".join(editor.split_words(spot.named[0].text))) if spot and is_sure else Correction()


def _correct_one_edit(texts: SpecificationTexts, annotation: Annotation) -> Correction:
    spot, quote = texts.resolve_target(annotation), annotation.quote
    if spot is None or spot.section is None or (own := spot.near.find_near(spot.section, quote)) is None:
        return Correction()
    correction = _quote_nearest(quote, own)
    ##= man/spec/validate.md#fixes
    ##% A fix MUST NOT lower the state of a requirement.
    if spot.near.count_covered_bytes(spot.section, own.text) < spot.near.count_covered_bytes(spot.section, quote):
        return correction._replace(quote=None)
    return correction


def _correct_moved_quote(annotation: Annotation, near: Neighbourhood, held: list[int]) -> Correction:
    ids = [near.section_name(index) for index in held]
    more = [f"{len(ids) - _MOST_SHOWN} more"] if len(ids) > _MOST_SHOWN else []
    *first, last = [*(f"#{id}" for id in ids[:_MOST_SHOWN]), *more]
    names = f"{', '.join(first)} and {last}" if first else last
    is_sure = len(ids) == 1 and len(annotation.quote.split()) >= _FEWEST_WORDS
    target = f"{annotation.target.partition('#')[0]}#{ids[0]}" if is_sure else None
    return Correction(f"the quote is in {names}", target)


def _quote_nearest(quote: str, own: TextStretch, name: str = "") -> Correction:
    ##= man/spec/validate.md#checks
    ##% For a quote that its section does not contain, `duvet validate` SHOULD show the most similar text with the
    ##% differing words marked, and name any other section that contains the quote.
    change = _show_change(quote, own.text)
    note = f"\nnote: {own.parts} requirements replaced the quoted text" if own.parts else ""
    change += note
    if name and own.is_clear:
        return Correction(change, quote=own.text, name=name, note=note)
    hint = f"the nearest text in this section is:\n{change}"
    return Correction(hint, quote=own.text if own.is_clear else None, note=note)


def _show_change(old: str, new: str) -> str:
    note = describe_changed_meaning(old, new)
    # The text itself may contain markup, such as backticks.
    words = remove_quote_markup(old)
    texts = [old] if words == new else [old, words]
    return min([make_word_diff(one, new) for one in texts], key=len) + (f"\nnote: {note}" if note else "")


def _correct_misplaced_quote(texts: SpecificationTexts, annotation: Annotation, near: Neighbourhood) -> Correction:
    index, stretch = near.find_anywhere(annotation.quote) or (0, None)
    if stretch is None or stretch.score < _FAR:
        for name, other in texts.list_others(near):
            held = other.find_containing_sections(annotation.quote)
            if held:
                return Correction(f"the quote is in {name}#{other.section_name(held[0])}")
    if stretch is None:
        return _show_nearest_elsewhere(texts, annotation.quote, near)
    id = near.section_name(index)
    hint = f"the nearest text is in #{id}:\n{_show_change(annotation.quote, stretch.text)}"
    if not stretch.is_clear or stretch.score < _FAR:
        return Correction(hint)
    return Correction(hint, f"{annotation.target.partition('#')[0]}#{id}", stretch.text)


def _show_nearest_elsewhere(texts: SpecificationTexts, quote: str, near: Neighbourhood) -> Correction:
    others = list(texts.list_others(near))
    likely = sorted(
        (
            (share, number, index)
            for number, (_, other) in enumerate(others)
            for share, index in other.find_likely(quote)
        ),
        key=lambda one: -one[0],
    )
    found = [
        (stretch, number, index)
        for _, number, index in likely[:_MOST_SHOWN]
        if (stretch := others[number][1].find_near(index, quote)) is not None
    ]
    if not found:
        return Correction()
    stretch, number, index = max(found, key=lambda one: one[0].score)
    name, other = others[number]
    return Correction(
        f"the nearest text is in {name}#{other.section_name(index)}:\n{make_word_diff(quote, stretch.text)}"
    )


def correct_section(texts: SpecificationTexts, annotation: Annotation) -> Correction:
    spot = texts.resolve_target(annotation)
    name, _, section = annotation.target.partition("#")
    # The id of a requirement in a specification that is not configured needs no other target.
    if spot is None or (not any(spot.near.names) and is_stated_name(spot.near.specification, section)):
        return Correction()
    near = SectionNames(spot.near.specification.sections, spot.near.names).find_nearest(section) if section else []
    named = {one.name for one in spot.near.names.find_containing(annotation.quote) if one.name in near}
    if len(named) == 1:
        (id,) = named
        return Correction(f"did you mean #{id}?", f"{name}#{id}")
    ##= man/spec/names.md#targets
    ##% If only the number in the id of a requirement has changed, `duvet validate --fix` MUST replace the id in
    ##% targets.
    series = section.rstrip(_DIGITS)
    renumbered = {one.name for one in spot.near.names.find_containing(remove_quote_markup(annotation.quote))}
    if len(renumbered) == 1 and len(annotation.quote.split()) >= _FEWEST_WORDS:
        (id,) = renumbered
        if section != series == id.rstrip(_DIGITS):
            return Correction(f"the quote is in #{id}", f"{name}#{id}")
    held = spot.near.find_containing_sections(annotation.quote)
    if held:
        ids = {spot.near.section_name(index): index for index in held}
        # Of several sections that contain the quote, take the one with a similar name.
        similar = [ids[id] for id in near if id in ids]
        if len(similar) != 1:
            return _correct_moved_quote(annotation, spot.near, held)
        moved = _correct_moved_quote(annotation, spot.near, similar)
        return moved._replace(target=f"{name}#{spot.near.section_name(similar[0])}")
    if annotation.quote:
        found = _correct_misplaced_quote(texts, annotation, spot.near)
        # A section with a similar name has to contain the text; without one, any section will do.
        return found if not near or (found.target and found.target.partition("#")[2] in near) else Correction()
    return Correction(target=f"{name}#{near[0]}" if len(near) == 1 else None)


def _correct_specification(texts: SpecificationTexts, annotation: Annotation) -> Correction:
    name, _, section = annotation.target.partition("#")

    def has_quote(near: Neighbourhood) -> bool:
        index = find_section_index(near.specification, section)
        return index is not None and near.contains(index, annotation.quote)

    others = list(texts.list_others())
    known = [one for one in others if is_similar_path(name, one[0])]
    fitting = [other for other, near in known if has_quote(near)]
    if len(fitting) == 1:
        return Correction(f"did you mean {fitting[0]}?", f"{fitting[0]}#{section}")
    if not fitting and len(annotation.quote.split()) >= _FEWEST_WORDS and not texts.project.is_like_upstream:
        # A file that was renamed may have an entirely different name.
        held = [other for other, near in others if has_quote(near)]
        if len(held) == 1:
            return Correction(f"the quote is in {held[0]}#{section}", f"{held[0]}#{section}")
    return Correction(f"did you mean {' or '.join(name for name, _ in known[:_MOST_SHOWN])}?" if known else "")


def _correct_spelling(texts: SpecificationTexts, annotation: Annotation) -> Correction:
    spot = texts.resolve_target(annotation)
    if spot is None:
        return Correction()
    written, _, section = annotation.target.partition("#")
    for other, first in find_second_spellings(texts.project.trace.coverages, texts.project.root):
        name = format_locator(first.locator, texts.project.root)
        # A path that begins in another folder may be right for a reader of the file in that folder.
        if spot.near.specification.locator == other.locator and written != name and normpath(written) == normpath(name):
            return Correction(target=f"{name}#{section}")
    return Correction()


_CORRECTIONS: dict[str, Callable[[SpecificationTexts, Annotation], Correction]] = {
    rules.QUOTE_NOT_FOUND.code: correct_drifted_quote,
    rules.QUOTE_ONE_EDIT.code: _correct_one_edit,
    rules.NAME_UNQUOTED.code: _add_named_quote,
    rules.TARGET_UNKNOWN_SECTION.code: correct_section,
    rules.TARGET_AMBIGUOUS.code: correct_section,
    rules.TARGET_NO_SECTION.code: correct_section,
    rules.TARGET_UNRESOLVED.code: _correct_specification,
    rules.TARGET_TWO_SPELLINGS.code: _correct_spelling,
}

_ReadingsByStyle = dict[SourceStyle | None, list[Annotation]]
"""The annotations of a file by comment style; None is the style of a requirement file."""


class AnnotationFixer:
    def __init__(
        self,
        project: Project,
        places: AnnotationPlaces,
        styles: dict[str, tuple[SourceStyle, ...]],
        history: TextHistory,
    ) -> None:
        self.texts = SpecificationTexts(project)
        self.places = places
        self.styles = styles
        self.history = history
        self._corrections: dict[tuple[str, str, str, Format, str], Correction] = {}
        self._readings: dict[str, _ReadingsByStyle] = {}

    def add_fixes(self, pairs: Sequence[tuple[Annotation, Problem]]) -> list[Problem]:
        corrected = [(annotation, problem, self._correct(annotation, problem)) for annotation, problem in pairs]
        fixed = [
            replace(problem, hint=correction.hint or problem.hint, fix=self._fix(annotation, correction))
            for annotation, problem, correction in corrected
        ]
        if self.texts.project.is_like_upstream:
            return fixed
        quotes: dict[tuple[str, str], set[str]] = {}  # The different quotes that fixes would make equal.
        keys: dict[int, tuple[str, str]] = {}
        for index, (annotation, _, correction) in enumerate(corrected):
            if fixed[index].fix is not None and correction.quote is not None:
                keys[index] = (correction.target or annotation.target, squeeze_text(correction.quote))
                quotes.setdefault(keys[index], set()).add(squeeze_text(annotation.quote))
        note = "note: this is also the nearest text to another citation's quote; correct both quotes by hand"
        for index, problem in enumerate(fixed):
            fix = problem.fix
            if fix is None or fix.applicability is not Applicability.UNSAFE:
                continue
            if index in keys and len(quotes[keys[index]]) > 1:
                fixed[index] = replace(problem, hint=f"{problem.hint}\n{note}", fix=None)
            else:
                step = "check the code, then use `--unsafe-fixes` or `--interactive`"
                hint = problem.hint.removesuffix(f"note: {fix.doubt}; check the code").rstrip("\n")
                hint = "\n".join(filter(None, (hint, f"note: {fix.doubt}; {step}")))
                fixed[index] = replace(problem, hint=hint)
        return fixed

    def _correct(self, annotation: Annotation, problem: Problem) -> Correction:
        ##= man/spec/validate.md#fixes
        ##% With `--fix`, `duvet validate` MUST correct a wrong target or quote if there is exactly one correction and
        ##% it is safe.
        base = annotation.path if annotation.from_file else ""
        key = (problem.code, annotation.target, annotation.quote, annotation.format, base)
        if key in self._corrections:
            return self._corrections[key]
        correct = _CORRECTIONS.get(problem.code)
        found = correct(self.texts, annotation) if correct else Correction()
        is_lost = problem.code == rules.QUOTE_NOT_FOUND.code and not found.is_sure
        is_lost = is_lost and found.hint not in ("", _NOT_SIMILAR) and not self.texts.project.is_like_upstream
        if found.name:
            verb = "has changed" if self._find_source(annotation) else "reads"
            found = found._replace(hint=f"{found.name} {verb}:\n{found.hint}")
        ##= man/spec/validate.md#checks
        ##% If the most similar text is too different for a fix, and an earlier version of the specification contained
        ##% the quote, `duvet validate` MUST say which commit or snapshot contained it.
        elif is_lost and (source := self._find_source(annotation)):
            note = f"note: {source}; if the requirement was removed, remove the citation"
            found = found._replace(hint=f"{found.hint}\n{note}")
        self._corrections[key] = found
        return found

    def _find_source(self, annotation: Annotation) -> str:
        spot = self.texts.resolve_target(annotation)
        return self.history.find_source(spot.near.specification, annotation.quote) if spot else ""

    def _fix(self, annotation: Annotation, correction: Correction) -> Fix | None:
        if not correction.is_sure or _is_dangerous(annotation, correction):
            return None
        text = self.places.text(annotation.path)
        edits = self._make_edits(annotation, correction, text)
        if not edits or not self._is_valid(annotation, correction, text, editor.apply_edits(text, edits)):
            return None
        what = "" if correction.quote is None else "update the quote" if annotation.quote else "add the quote"
        name = f"change the target to {correction.target}" if correction.target is not None else ""
        change = ""
        if correction.quote is not None and annotation.quote:
            change = _show_change(annotation.quote, correction.quote) + correction.note
        doubt = "" if self.texts.project.is_like_upstream else self._find_doubt(annotation, correction, text)
        applicability = Applicability.UNSAFE if doubt else Applicability.SAFE
        return Fix(" and ".join(filter(None, (name, what))), edits, applicability, change, doubt)

    def _find_doubt(self, annotation: Annotation, correction: Correction, text: str) -> str:
        old, new = annotation.quote, correction.quote
        ##= man/spec/validate.md#safe-fixes
        ##% A fix MUST be safe if it changes only the target of a quote that moved, or only white space, markup or the
        ##% case of the first letter.
        if new is None:
            return self._find_target_doubt(annotation, correction)
        one, other = squeeze_text(old), squeeze_text(new)
        if one == other or (one[1:] == other[1:] and one[:1].casefold() == other[:1].casefold()):
            return ""
        ##= man/spec/validate.md#safe-fixes
        ##% A fix that changes a keyword, a negation or a number MUST be unsafe.
        if old and (changed := describe_changed_meaning(old, new)):
            return changed.partition(";")[0]
        spot = self.texts.resolve_target(replace(annotation, target=correction.target or annotation.target))
        if spot is None:
            return "no earlier version of the specification is available"
        doubt = self.history.find_doubt(spot.near.specification, annotation, new, text)
        is_typo = not old or load_rapidfuzz().fuzz.ratio(one, other) >= _TYPO
        return doubt or ("" if is_typo else "the quote and the specification differ by more than a typo")

    def _find_target_doubt(self, annotation: Annotation, correction: Correction) -> str:
        spot = self.texts.resolve_target(annotation)
        if not annotation.quote:
            before, after = (
                re.findall(r"\d+", one.partition("#")[2]) for one in (annotation.target, correction.target or "")
            )
            return "" if before == after else "the new target has a different number"
        if spot is None or spot.section is None or self.texts.is_valid(annotation):
            return ""
        own = spot.near.find_near(spot.section, annotation.quote)
        moved = self.texts.resolve_target(replace(annotation, target=correction.target or ""))
        if moved is not None and (moved.near, moved.section) == (spot.near, spot.section):
            # Another requirement of the section contains the quote.
            return ""
        if own is None or not own.is_clear or self.history.has_moved(spot.near.specification, annotation.quote):
            return ""
        return "the cited section contains similar text"

    def _make_edits(self, annotation: Annotation, correction: Correction, text: str) -> tuple[Edit, ...]:
        if annotation.path not in self._readings:
            self._readings[annotation.path] = self._read(annotation.path, text)
        readings = self._readings[annotation.path]
        edits: tuple[Edit, ...] = ()
        for style in [style for style, found in readings.items() if annotation in found][:1]:
            if correction.target is not None:
                new = correction.target if style else format_one_line_string(correction.target)
                edits += (editor.make_edit(text, *annotation.source.target, new),)
            if correction.quote is not None and style and not annotation.quote:
                edits += editor.make_quote_insertion_edits(text, annotation, style, correction.quote)
            elif correction.quote is not None and style:
                edits += editor.make_comment_quote_edits(text, annotation, style, correction.quote)
            elif correction.quote is not None and annotation.quote:
                edits += editor.make_entry_quote_edits(text, annotation, correction.quote)
        return edits

    def _read(self, path: str, text: str) -> _ReadingsByStyle:
        styles = self.styles.get(path)
        if styles is None:
            return {None: requirement_files.read_requirement_file(path, text.encode())[0]}
        return {style: scan_comments(path, text, style)[0] for style in styles}

    def _is_valid(self, annotation: Annotation, correction: Correction, before: str, after: str) -> bool:
        ##= man/spec/validate.md#fixes
        ##% A fix MUST make its annotation valid, and MUST NOT change anything else in the file.
        # Comments are read line by line, so those further away are unchanged.
        low, high = self._find_surroundings(annotation, before)
        olds = self._read(annotation.path, before[low:high])
        news = self._read(annotation.path, after[low : high + len(after) - len(before)])
        if any(len(olds[style]) != len(news[style]) for style in olds):
            return False
        line, bare = annotation.line - before.count("\n", 0, low), _remove_place(annotation)
        for old, new in (pair for style in olds for pair in zip(olds[style], news[style], strict=True)):
            if old.line == line and _remove_place(old) == bare:
                quote = annotation.quote if correction.quote is None else correction.quote
                target = annotation.target if correction.target is None else correction.target
                fixed = _remove_place(replace(annotation, target=target, quote=""))
                if (
                    editor.split_words(new.quote) != editor.split_words(quote)
                    or _remove_place(replace(new, quote="")) != fixed
                ):
                    return False
                if not self.texts.is_valid(new):
                    return False
            elif _remove_place(old) != _remove_place(new):
                return False
        return True

    def _find_surroundings(self, annotation: Annotation, text: str) -> tuple[int, int]:
        styles = self.styles.get(annotation.path)
        if styles is None:
            return 0, len(text)
        marks = [mark for style in styles for mark in (style.meta, style.content) if mark]
        low, high = annotation.source.text
        low, high = text.rfind("\n", 0, low) + 1, text.find("\n", max(high - 1, 0)) + 1 or len(text)
        while low:
            start = text.rfind("\n", 0, low - 1) + 1
            if not any(mark in text[start:low] for mark in marks):
                break
            low = start
        while high < len(text):
            end = text.find("\n", high) + 1 or len(text)
            if not any(mark in text[high:end] for mark in marks):
                break
            high = end
        return low, high


def _remove_place(annotation: Annotation) -> Annotation:
    # The reason of a `[[spec]]` is its quote as it is wrapped.
    is_stated = annotation.from_file and annotation.kind is Kind.SPEC
    return replace(annotation, line=0, source=_NO_SOURCE, reason="" if is_stated else annotation.reason)


def _is_dangerous(annotation: Annotation, correction: Correction) -> bool:
    pairs = [(annotation.target, correction.target), (annotation.quote, correction.quote)]
    changes = [(old, new) for old, new in pairs if new is not None]
    return any(new.count(mark) != old.count(mark) for old, new in changes for mark in _MARKS) or any(
        word.endswith("\\")
        for old, new in changes
        for word in set(editor.split_words(new)) ^ set(editor.split_words(old))
    )
