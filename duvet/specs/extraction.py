"""Finds sentences with RFC 2119 keywords, and extracts them as annotations and requirement files."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from unicodedata import category

from msgspec import Struct
from msgspec.structs import replace

from duvet import model, rules
from duvet.config.settings import BUILT_IN_REQUIREMENTS, Config, SpecificationRule
from duvet.errors import DuvetError, ProblemsError, describe_plainly
from duvet.specs import requirement_files
from duvet.specs.library import Library
from duvet.specs.locator import format_locator, locate_specification, strip_extension
from duvet.text import (
    WHITESPACE,
    find_line_index,
    format_count,
    group_equal_texts,
    line_starts,
    make_text_id,
    path_parts,
    quote_text,
)
from duvet.tree.files import Tree, is_folder

_NEGATED = ("MUST", "SHALL", "SHOULD")
_WORDS = {
    "MUST": model.Level.MUST,
    "SHALL": model.Level.MUST,
    "REQUIRED": model.Level.MUST,
    "SHOULD": model.Level.SHOULD,
    "RECOMMENDED": model.Level.SHOULD,
    "MAY": model.Level.MAY,
    "OPTIONAL": model.Level.MAY,
}

# The look-behind follows the word, because a search is faster if the expression begins with letters. A word right
# before a quotation mark is mentioned, not used.
_KEYWORD = re.compile(
    "(?:" + "|".join(rf"{word}(?<!\w{word})" + r"(?: NOT\b)?+" * (word in _NEGATED) for word in _WORDS) + r')\b(?!")',
    re.ASCII,
)
_NOT = "NOT "
_OTHER_WORDS = "[\u200c\u200d\u24b6-\u24e9\U0001f130-\U0001f149\U0001f150-\U0001f169\U0001f170-\U0001f189]"
"""Characters that belong to words, in addition to letters, marks, digits and connectors."""


class Keyword(Struct, frozen=True):
    start: int
    end: int
    level: model.Level
    rank: int  # The index of the keyword: awslabs duvet searches each line for one keyword after the other.


_MEANINGS = {
    word + suffix: (level, rank) for rank, (word, level) in enumerate(_WORDS.items()) for suffix in ("", " NOT")
}


def find_keywords(text: str) -> Iterator[Keyword]:
    is_plain = text.isascii()
    for found in _KEYWORD.finditer(text):
        start, end = found.span()
        before, after = text[start - 1 : start], text[end : end + 1]
        # A keyword next to a letter of any script is a part of a longer word.
        if is_plain or not (_is_word(before) or (_is_word(after) and not text.endswith(" NOT", start, end))):
            # NOT RECOMMENDED begins with the NOT; this matters only after a dot.
            if text.endswith(f".{_NOT}", 0, start):
                start -= len(_NOT)
            level, rank = _MEANINGS[found[0]]
            yield Keyword(start, end, level, rank)


def _is_word(char: str) -> bool:
    if char <= "\x7f":
        return False
    kind = category(char)
    return kind[0] in "LM" or kind in ("Nd", "Nl", "Pc") or re.match(_OTHER_WORDS, char) is not None


LOWER_CASE = "lower-case keyword"  # Why a sentence is not a requirement.
INTRODUCTION = "introduction"  # The sentence introduces a list, whose items are the requirements.

_UNSPACED = "[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]"
"""Chinese, Japanese and Korean characters, which no space separates from a keyword; compiled on first use, in 2 ms."""
_ANY_CASE = r"(?i)\b(must|shall|should)\b(?![\"-])"


def find_level(text: str, *, any_case: bool = False) -> model.Level:
    ##= man/spec/trace.md#requirements-in-markdown
    ##% In Chinese, Japanese and Korean text, duvet MUST recognise keywords without spaces around them.
    text = text if max(text, default="") < "\u3000" else re.sub(_UNSPACED, " ", text)
    level = max([keyword.level for keyword in find_keywords(text)], default=model.Level.AUTO)
    ##= man/spec/trace.md#requirements-in-markdown
    ##% With `keywords = "any"`, duvet MUST also recognise `must`, `shall` and `should` in lower case.
    if any_case and level < model.Level.MUST:
        words = [found[1].upper() for found in re.finditer(_ANY_CASE, text)]
        level = max([level, *(_WORDS[word] for word in words)])
    return level


# A dot before white space ends a sentence; any other dot hides the character after it.
SENTENCE_END = re.compile(r"[^.]*(?:\.[^ \t\n][^.]*)*\.(?=[ \t\n]|\Z)")
_BLANK = " \t\n"


class SentenceOpenings:
    """Finds the beginnings of the sentences of IETF text in linear time."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._places = {".": -1, "\n": -1}  # The last of each sign, and how far it was searched.
        self._searched = {".": 0, "\n": 0}
        self._known: dict[int, int] = {}  # The beginnings of sentences after dots that don't end a sentence.
        self._ends: dict[int, int] = {}  # The end of the first sentence of a line, by the beginning of the line.

    def find_start(self, offset: int, floor: int) -> int:
        """Return the start of the sentence at `offset`, but at least `floor`; neither may decrease between calls."""
        text, known = self.text, self._known
        dot = self._find_last(".", floor, offset)
        if dot < floor:
            return floor
        if dot + 1 == offset or text[dot + 1] in _BLANK:
            return dot + 1
        line = max(self._find_last("\n", floor, dot) + 1, floor) if dot not in known else floor
        passed = []
        while dot not in known:
            passed.append(dot)
            start = self._find_first_end(line, dot)
            before = -1 if start else text.rfind(".", floor, line)
            if start or before < 0 or text[before + 1] in _BLANK:
                known[dot] = start or max(before + 1, floor)
                break
            dot, line = before, max(text.rfind("\n", floor, before) + 1, floor)
        known.update(dict.fromkeys(passed, known[dot]))
        return known[dot]

    def _find_last(self, sign: str, floor: int, offset: int) -> int:
        found = self.text.rfind(sign, max(floor, self._searched[sign]), offset)
        self._searched[sign] = offset
        if found >= 0:
            self._places[sign] = found
        return self._places[sign]

    def _find_first_end(self, line: int, dot: int) -> int:
        text, ends = self.text, self._ends
        if line not in ends:
            stop = text.find("\n", dot)
            found = SENTENCE_END.match(text, line, stop if stop >= 0 else len(text))
            ends[line] = found.end() if found else len(text)
        if ends[line] < dot:
            return ends[line]
        first = dot
        while first > line and text[first - 1] == ".":
            first -= 1
        # The first of two consecutive dots hides the second.
        return dot if (dot - first) % 2 else 0


_PARAGRAPH = "\n\n"


class _Sentence(Struct, frozen=True):
    start: int
    pieces: tuple[str, ...]
    keywords: list[Keyword]


def extract_requirements(section: model.Section) -> tuple[model.ExtractedSentence, ...]:
    if section.plain is not None:
        statements = section.plain.statements
        alike = group_equal_texts(statements, [f"{one.name}\0{one.text}" for one in statements])
        return tuple(
            [
                model.ExtractedSentence(max([one.level for one in group]), (group[0].text,), group[0].name)
                for group in alike
            ]
        )
    # Sentences end where a list item begins or ends, as at an empty line.
    breaks = [0, *sorted(section.breaks), len(section.lines)]
    text = _PARAGRAPH.join("\n".join(section.lines[start:end]) for start, end in pairwise(breaks))
    found = []
    sentences = find_sentences(text)
    for group in group_equal_texts(sentences, ["\n".join(one.pieces) for one in sentences]):
        ##= man/spec/trace.md#requirements
        ##% Each sentence with a keyword of RFC 2119 MUST be a requirement with the level of its strongest keyword,
        ##% unless a documented rule excludes the sentence.
        level = max([keyword.level for sentence in group for keyword in sentence.keywords])
        first = group[0]
        if len(group) > 1:
            # The one that awslabs duvet finds first: on each line, it searches for one keyword after another.
            starts = line_starts(text)
            words = [(word, one) for one in group for word in one.keywords]
            _, first = min(
                words, key=lambda pair: (find_line_index(starts, pair[0].start), pair[0].rank, pair[0].start)
            )
        found.append((first.start, level, first.pieces))
    return tuple([model.ExtractedSentence(level, pieces) for _, level, pieces in sorted(found)])


def find_sentences(text: str) -> list[_Sentence]:
    spans: dict[tuple[int, int], list[Keyword]] = {}
    openings = SentenceOpenings(text)
    floor = ceiling = end = -1
    for keyword in find_keywords(text):
        if keyword.start > ceiling:
            before, after = text.rfind(_PARAGRAPH, 0, keyword.start), text.find(_PARAGRAPH, keyword.start)
            floor, ceiling = before + len(_PARAGRAPH) if before >= 0 else 0, after if after >= 0 else len(text)
        if keyword.end > end:
            closing = SENTENCE_END.match(text, keyword.end, ceiling)
            end = closing.end() if closing else ceiling
        spans.setdefault((openings.find_start(keyword.start, floor), end), []).append(keyword)
    return [
        _Sentence(start, tuple([it for line in text[start:end].split("\n") if (it := line.strip(WHITESPACE))]), held)
        for (start, end), held in spans.items()
    ]


# Characters that lead to another folder, or that file names can't or shouldn't contain.
_NAMELESS = re.compile(r"[/\x00-\x1f\x7f]")
# File systems allow names of 255 bytes, and a paragraph above a line of hyphens is a title.
_LONGEST, _KEPT = 240, 50


def requirements_folder(source: str, out: str, downloads: str = "") -> str:
    parts = path_parts(source)
    kept = (
        _list_parts_below(parts, downloads)
        or _list_parts_below(parts, out)
        or [part for part in parts if part not in ("/", ".", "..")]
    )
    return posixpath.join(out, strip_extension("/".join(kept)))


def requirements_file(folder: str, section: str, extension: str = "toml") -> str:
    # No section id can point outside the folder.
    name = _NAMELESS.sub(lambda found: f"%{ord(found[0]):02X}", section)
    if len(name.encode()) > _LONGEST:
        name = f"{name[:_KEPT]}-{make_text_id(section)[:12]}"
    return posixpath.join(folder, f"{name}.{extension}")


def _list_parts_below(parts: list[str], folder: str) -> list[str]:
    start = path_parts(folder)
    return parts[len(start) :] if start and parts[: len(start)] == start else []


class Extraction(Struct, frozen=True):
    files: dict[str, bytes]
    annotations: dict[str, list[model.Annotation]]
    folders: dict[str, str]  # The beginning of the targets in each folder.
    problems: list[model.Problem]
    all_below: str = ""  # A folder that contains only these files; empty if it may contain others.


def extract_configured(config: Config, library: Library, root: str) -> Extraction:
    # If no specification is configured, the files in the folder come from elsewhere.
    folder = config.requirements_folder
    is_owner = config.specifications and f"{folder}/**/*.toml" in BUILT_IN_REQUIREMENTS
    extraction = Extraction({}, {}, {}, [], folder if is_owner else "")
    library.prefetch(locator for _, locator in locate_configured(config))
    for index, rule in enumerate(config.specifications):
        found: list[model.Problem] = []
        try:
            specification = library.load(locate_specification(rule.source, rule.format))
        except ProblemsError as error:
            found.append(error.problems[0])
        except DuvetError as error:
            message, hint = str(error), error.hint
            if config.extended and describe_plainly(error.message)[0] != error.message:
                message = f"can't read the specification {quote_text(error.path)}: {error.message}"
                message, _ = describe_plainly(message)
                hint = "set `source` to a file that duvet can read"
            found.append(rules.find_broken_rule(error).problem(message, hint=hint))
        else:
            plain = [] if rule.has_keywords else [one.plain for one in specification.sections if one.plain]
            count = sum(one.reason == LOWER_CASE for text in plain for one in text.uncounted)
            if count:
                verb, other = ("use", "are") if count > 1 else ("uses", "is")
                message = f"{format_count(count, 'sentence')} {verb} lower-case keywords and {other} not counted"
                hint = 'set `keywords = "any"` to count lower-case keywords, or `keywords = "uppercase"` to ignore them; `duvet report -v` shows where the first few are'
                found.append(rules.KEYWORDS_LOWER_CASE.problem(message, hint=hint))
            lost = _extract(config, library, specification, root, extraction)
            if lost:
                more = f" and {format_count(len(lost) - 1, 'more section')}" if len(lost) > 1 else ""
                message = f"the requirement files of this specification overwrite those of {lost[0]}{more}"
                hint = "rename one of the specifications: their names must differ in more than the extension"
                found.append(rules.REQUIREMENT_CLASH.problem(message, hint=hint))
        for problem in found:
            place = config.toml.value_place("specification", index, "source")
            extraction.problems.append(replace(problem, path=config.path, place=place, label="configured here"))
    return extraction


def locate_configured(config: Config | None) -> Iterator[tuple[SpecificationRule, model.Locator]]:
    for rule in config.specifications if config else ():
        # Loading reports invalid names.
        with suppress(DuvetError):
            yield rule, locate_specification(rule.source, rule.format)


def _extract(
    config: Config, library: Library, specification: model.Specification, root: str, all: Extraction
) -> list[str]:
    name = format_locator(specification.locator, root)
    path = specification.path
    folder = requirements_folder(path, config.requirements_folder, config.specifications_folder)
    all.folders[folder] = f"{name}#"

    def extract() -> dict[str, tuple[bytes, list[model.Annotation]]]:
        files = {}
        for section, found in list_extracted_sections(specification):
            file = requirements_file(folder, section.id)
            files[file] = requirement_files.make_requirement_file(file, f"{name}#{section.id}", section, found)
        return files

    how = f"{name}\n{folder}\n{specification.locator.format.name}\n{specification.form}"
    kind = dict[str, tuple[bytes, list[model.Annotation]]]
    lost = []
    found = library.memory.parse_text("requirements", kind, path, how, specification.data, extract)
    for file, (data, own) in found.items():
        others = all.annotations.get(file)
        if others and others[0].target != own[0].target:
            lost.append(others[0].target)
        all.files[file], all.annotations[file] = data, own
    return lost


EXTENSIONS = ("toml", "rs")  # Of the files that an extraction can write: requirement files and Rust comments.


def extract_specification(
    specification: model.Specification, out: str, downloads: str, root: str, extension: str
) -> tuple[Extraction, int]:
    name = format_locator(specification.locator, root)
    folder = requirements_folder(specification.path, out, downloads)
    extraction = Extraction({}, {}, {folder: f"{name}#"} if extension == "toml" else {}, [])
    count = 0
    for section, found in list_extracted_sections(specification):
        path = requirements_file(folder, section.id, extension)
        target = f"{name}#{section.id}"
        if extension == "toml":
            extraction.files[path], _ = requirement_files.make_requirement_file(path, target, section, found)
        else:
            extraction.files[path] = requirement_files.render_rust_file(target, section, found)
        count += len(found)
    return extraction, count


def list_extracted_sections(
    specification: model.Specification,
) -> Iterator[tuple[model.Section, tuple[model.ExtractedSentence, ...]]]:
    extracted = ((section, extract_requirements(section)) for section in specification.sections)
    return ((section, found) for section, found in extracted if found)


def list_markup_texts(tree: Tree, path: str, locator: str) -> Iterator[tuple[str, str]]:
    """Yield the requirements that awslabs duvet extracts from Markdown, each with and without markup."""
    from duvet.specs.markdown import remove_markup

    try:
        specification = Library(tree, "").load_from(path, locate_specification(locator))
    except DuvetError:
        return
    if specification.format is model.Format.MARKDOWN:
        for _, sentences in list_extracted_sections(specification):
            for sentence in sentences:
                text = " ".join(" ".join(sentence.pieces).split())
                yield text, remove_markup(text)


# Matches a file that an extraction wrote; compiled only when a file may be stale.
_GENERATED = rb"""
    target[ ]=[ ]"(?P<target>[^\n]*)"\n
    \n
    (?:\#[^\n]*\n)+
    \n
    (?:\[\[spec\]\]\n
    level[ ]=[ ]"[A-Z]+"\n
    quote[ ]=[ ](?:'''\n(?:(?!''').)*'''|\"\"\"\n(?:(?!\"\"\").)*\"\"\")\n
    \n)+
"""


def _match(data: bytes) -> re.Match[bytes] | None:
    may_match = data.startswith(b"target = ") and data.endswith(b"\n\n")
    return re.fullmatch(_GENERATED, data, re.VERBOSE | re.DOTALL) if may_match else None


def find_stale_files(extraction: Extraction, tree: Tree) -> Iterator[model.Problem]:
    current = set(map(posixpath.normpath, extraction.files))
    for folder, target in sorted(extraction.folders.items()):
        for name in sorted(entry.name for entry in tree.entries(folder)):
            path = f"{folder}/{name}"
            is_other = name.endswith(".toml") and posixpath.normpath(path) not in current
            if is_other and _is_generated(folder, path, target, tree):
                message = "this extracted file is outdated: its section was removed or no longer contains requirements"
                yield rules.REQUIREMENT_STALE.problem(message, path, model.Place(1), hint="remove it with `--prune`")


def _is_generated(folder: str, path: str, target: str, tree: Tree) -> bool:
    ##= man/spec/trace.md#requirement-files
    ##% With `--prune`, duvet MUST remove the requirement files that are no longer needed, but no file that a person
    ##% wrote or edited.
    try:
        data = tree.read(path)
    except DuvetError:
        return False
    if not _match(data):
        return False
    annotations, _ = requirement_files.read_requirement_file(path, data)
    sections = {one.target.removeprefix(target) for one in annotations if one.target.startswith(target)}
    return [requirements_file(folder, section) for section in sections] == [path]


def list_unneeded_files(extraction: Extraction, library: Library, *, writes: bool) -> dict[str, model.Problem]:
    if not _may_have_files(extraction, library.tree):
        return {}
    needed = extraction if writes else replace(extraction, files={})
    found = (*find_stale_files(needed, library.tree), *_find_orphaned_files(extraction, library))
    return {problem.path: problem for problem in found}


def _may_have_files(extraction: Extraction, tree: Tree) -> bool:
    return not extraction.all_below or tree.exists(extraction.all_below)


def find_ignored_files(extraction: Extraction, tree: Tree) -> Iterator[model.Problem]:
    for folder in extraction.folders if _may_have_files(extraction, tree) else ():
        for path in sorted(f"{folder}/{entry.name}" for entry in tree.entries(folder) if not is_folder(entry)):
            if path not in extraction.files:
                continue
            message = "duvet ignores this file and extracts the requirements of its section from the specification"
            hint = "move your changes to a file in `.duvet/exceptions` or `.duvet/todos`, and delete this one"
            yield rules.REQUIREMENT_STALE.problem(message, path, model.Place(1), hint=hint)


def _find_orphaned_files(extraction: Extraction, library: Library) -> Iterator[model.Problem]:
    # The files of a specification that can't be loaded may have any name.
    if not extraction.all_below or any(one.severity is model.Severity.ERROR for one in extraction.problems):
        return
    folders = [extraction.all_below]
    for folder in folders:
        if folder in extraction.folders:
            continue
        for entry in sorted(library.tree.entries(folder), key=lambda one: one.name):
            path = f"{folder}/{entry.name}"
            if is_folder(entry):
                folders += [] if entry.is_symlink() else [path]
            elif entry.name.endswith(".toml"):
                name = _find_extraction_source(folder, path, extraction.all_below, library)
                if name:
                    message = f"this file was extracted from {quote_text(name)}, which is not in the configuration"
                    hint = "remove it with `--prune`, or add a `[[specification]]` for its source"
                    yield rules.REQUIREMENT_STALE.problem(message, path, model.Place(1), hint=hint)


def _find_extraction_source(folder: str, path: str, out: str, library: Library) -> str:
    try:
        found = _match(library.tree.read(path))
        name = found["target"].decode().partition("#")[0] if found else ""
        source = library.path(locate_specification(name))
    except (DuvetError, UnicodeDecodeError):
        return ""
    is_its_own = name and requirements_folder(source, out, library.folder) == folder
    return name if is_its_own and _is_generated(folder, path, f"{name}#", library.tree) else ""
