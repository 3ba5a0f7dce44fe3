"""Annotations that lead nowhere, and those that lead somewhere in a roundabout way."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from duvet.model import Annotation, Format, Kind, Level, Locator, Place, Problem, Severity
from duvet.progress import Progress
from duvet.sources.comments import SourceStyle, scan_comments
from duvet.specs.library import Library
from duvet.specs.requirement_files import read_requirement_file
from duvet.trace.build import build_trace
from duvet.trace.records import CITATION, EXCEPTION, EXCUSED, SPEC, TEST, TITLE_LINE, Fit, Match, Piece, Trace
from duvet.tree.files import MemoryTree
from tests.unit.trace.sections import citing, trace_of

RFC = b"""Network Working Group                                        A. Leaf
Request for Comments: 99901                                    May 2001

1.  Pot

   The pot MUST be warm.
"""
FILES = {
    "tea.md": "# Tea\n\nThe pot MUST be warm.\nIt is é.\n\n## Empty\n\n## Cups\n\nx\n".encode(),
    "d/host.example/pot.txt": RFC,
    "rfc.txt": RFC,
    "bad.md": b"# Tea\n\xff\n",
    "folder/tea.md": b"# Other\n",
}


def traced(*comments: str, files: Mapping[str, bytes] = FILES) -> Trace:
    """The trace of some comments, one file each: a.rs, b.rs, ..."""
    sources = {f"{chr(ord('a') + number)}.rs": text for number, text in enumerate(comments)}
    tree = MemoryTree({**files, **{path: text.encode() for path, text in sources.items()}})
    annotations = [one for path, text in sources.items() for one in scan_comments(path, text, SourceStyle())[0]]
    return build_trace(tuple(annotations), Library(tree, "d"), tree, "", (), Progress())


def only_problem(*comments: str) -> Problem:
    trace = traced(*comments)
    assert trace.match_of == (None,) * len(comments)
    assert [one.matches for one in trace.coverages] in ([], [()])
    (problem,) = trace.problems
    return problem


def test_a_file_that_is_nowhere() -> None:
    hint = "paths start at the working directory or at a folder above it"
    message = 'Could not resolve file "nope.md"'
    found = only_problem("  //= nope.md#tea\n  //# The pot")
    assert found == Problem("DUV040", message, "a.rs", Place(1, 7, 11), "referenced here", hint)
    assert only_problem("//=\n").message == 'Could not resolve file ""'
    assert only_problem("//= folder#x\n").message == 'Could not resolve file "folder"'


def test_a_url_that_is_none() -> None:
    found = only_problem("//= https://#tea")
    assert (found.code, found.path, found.place) == ("DUV041", "a.rs", Place(1, 5, 12))
    assert found.label == "referenced here"


def test_a_target_without_a_section() -> None:
    ##= man/spec/trace.md#targets-and-quotes
    ##% duvet MUST report a target that has no section or leads nowhere, where it is written, and SHOULD suggest similar
    ##% sections.
    assert only_problem("//= tea.md\n//# The pot") == Problem(
        "DUV042",
        "reference to tea.md is missing a section",
        "a.rs",
        Place(1, 5, 6),
        "referenced here",
        "write tea.md#SECTION",
    )


@pytest.mark.parametrize(
    ("section", "hint"),
    [("cup", "did you mean #cups?"), ("Cups", "did you mean #cups?"), ("nothing-like-it", ""), ("", "")],
)
def test_an_unknown_section(section: str, hint: str) -> None:
    message, place = f'missing section "{section}" in tea.md', Place(1, 5, 7 + len(section))
    wanted = Problem("DUV043", message, "a.rs", place, "referenced here", hint)
    assert only_problem(f"//= tea.md#{section}") == wanted


def test_a_specification_that_is_not_utf8_is_told_once() -> None:
    message = "bad.md:2: invalid utf-8 sequence of 1 bytes from index 6"
    found = only_problem("//= bad.md#a", "//= bad.md#b")
    assert found == Problem("DUV011", message, "a.rs", Place(1, 5, 8), "referenced here", "save the file as UTF-8")


def test_a_specification_that_was_not_downloaded_is_told_once() -> None:
    message, hint = "https://host.example/no has not been downloaded", "put its text into d/host.example/no.txt"
    found = only_problem("//= https://host.example/no#a", "//= https://HOST.example/no#b")
    assert found == Problem("DUV045", message, "a.rs", Place(1, 5, 25), "referenced here", hint)


def test_a_quote_that_is_not_there() -> None:
    ##= man/spec/trace.md#targets-and-quotes
    ##% duvet MUST report a quote that its section does not contain.
    message = 'could not find text in section "tea" of tea.md'
    hint = "quote the section's words as they stand there; only spacing may differ"
    found = only_problem("//= tea.md#tea\n//# The pot\n//# is warm")
    assert found == Problem("DUV050", message, "a.rs", Place(2, 5, 7), "text here", hint)


def test_a_quote_of_an_empty_section() -> None:
    message = 'could not find text in section "empty" of tea.md'
    hint = "quote nothing to refer to its title"
    found = only_problem("//= tea.md#empty\n//# x")
    assert found == Problem("DUV050", message, "a.rs", Place(2, 5, 1), "section is empty", hint)


def test_a_quote_that_is_off_by_one() -> None:
    trace = traced("//= tea.md#tea\n//# The pot MUST bee warm.\n", "//= tea.md#tea\n//# The pot MUST bee warm.\n")
    message = "this quote differs from the specification by one character; it is accepted"
    hint = "quote the section's words as they stand there"
    warning = Severity.WARNING
    assert trace.problems == tuple(
        Problem("DUV051", message, path, Place(2, 5, 22), "text here", hint, warning) for path in ("a.rs", "b.rs")
    )
    match = Match(0, (Piece(0, 7, 28),), Fit.ONE_EDIT, (0, 1), CITATION, Level.AUTO)
    assert (trace.match_of, trace.coverages[0].matches) == ((match, match), (match,))


def test_one_match_for_all_that_quote_the_same() -> None:
    trace = trace_of(
        "The pot MUST be warm.",
        citing("The pot", Kind.SPEC, 1, Level.MUST),
        citing("The pot", Kind.EXCEPTION, 2, reason="cold"),
        citing("pot MUST"),
        citing("The pot", Kind.TEST, 4, Level.SHOULD),
        citing("", Kind.EXCEPTION, 5, reason=" "),
    )
    front = Match(0, (Piece(0, 4, 11),), Fit.EXACT, (0, 1, 3), SPEC | EXCEPTION | EXCUSED | TEST, Level.MUST, (0,))
    back = Match(0, (Piece(0, 8, 16),), Fit.EXACT, (2,), CITATION, Level.AUTO)
    title = Match(0, (Piece(TITLE_LINE, 2, 3),), Fit.TITLE, (4,), EXCEPTION, Level.AUTO)
    assert trace.match_of == (front, front, back, front, title)
    assert trace.problems == ()


def test_sections_of_ietf_text_have_several_names() -> None:
    trace = traced("//= rfc.txt#1\n//# The pot\n//= rfc.txt#section-1\n//# The pot\n//= rfc.txt#appendix-1\n//# MUST")
    assert [match.ids for match in trace.coverages[0].matches] == [(0, 1), (2,)]


def test_spellings_and_formats_are_specifications_of_their_own() -> None:
    trace = traced(
        "//= ./tea.md#tea\n//# The pot\n//= tea.md#tea\n//= format=md\n//# The pot\n//= tea.md#tea\n//# It is\n"
        "//= https://HOST.example/pot#1\n//# The pot"
    )
    assert [one.specification.locator for one in trace.coverages] == [
        Locator("https://host.example/pot", True),
        Locator("./tea.md"),
        Locator("tea.md"),
        Locator("tea.md", format=Format.MARKDOWN),
    ]
    assert [one.specification.id for one in trace.coverages] == ["rfc99901", "tea", "tea-2", "tea-3"]


def test_two_spellings_of_one_text() -> None:
    ##= man/spec/trace.md#targets-and-quotes
    ##% duvet SHOULD warn about two spellings of one specification.
    trace = traced("//= tea.md#tea\n\n//= ./tea.md#cups\n\n//= ./tea.md#tea\n//# no such words", "//= tea.md#tea")
    message = "./tea.md and tea.md are one text, but count as two specifications"
    hint, warning = "write tea.md everywhere", Severity.WARNING
    assert trace.problems[0] == Problem("DUV044", message, "a.rs", Place(3), hint=hint, severity=warning)
    assert [one.code for one in trace.problems] == ["DUV044", "DUV050"]


def test_two_spellings_where_no_quote_is_right() -> None:
    trace = traced("//= tea.md#tea\n//# no such words\n//= tea.md#tea\n//= format=md\n//# no such words")
    message = "tea.md (as markdown) and tea.md are one text, but count as two specifications"
    assert [(one.code, one.place.line) for one in trace.problems] == [("DUV050", 2), ("DUV044", 3), ("DUV050", 5)]
    assert (trace.problems[1].message, trace.problems[1].hint) == (message, "give it one format everywhere")


def test_an_absolute_path_is_a_spelling_too() -> None:
    tree = MemoryTree({"/w/tea.md": FILES["tea.md"], "tea.md": FILES["tea.md"]})
    annotations = (
        Annotation("a.rs", 1, Kind.CITATION, "/w/tea.md#tea", ""),
        Annotation("b.rs", 1, Kind.CITATION, "tea.md#tea", ""),
    )
    trace = build_trace(annotations, Library(tree, "d"), tree, "/w", (), Progress())
    assert [(one.code, one.path, one.hint) for one in trace.problems] == [("DUV044", "a.rs", "write tea.md everywhere")]


def in_file(path: str, target: str) -> Annotation:
    text = f"target = '{target}'\n\n[[spec]]\nquote = '''\nThe pot\nMUST be warm.\n'''\n"
    (annotation,), problems = read_requirement_file(path, text.encode())
    assert problems == []
    return annotation


def test_targets_of_requirement_files_start_at_the_file() -> None:
    tree = MemoryTree({"a/b/tea.md": FILES["tea.md"], "top.md": FILES["tea.md"]})
    annotations = in_file("a/b/c/one.toml", "tea.md#tea"), in_file("a/b/c/one.toml", "top.md#tea")
    trace = build_trace(
        (*annotations, in_file("x/two.toml", "tea.md#tea")), Library(tree, "d"), tree, "", (), Progress()
    )
    assert [one.specification.locator.name for one in trace.coverages] == ["a/b/tea.md", "top.md"]
    assert [(one.code, one.path, one.place.line) for one in trace.problems] == [("DUV040", "x/two.toml", 3)]
    assert trace.match_of[2] is None


def test_progress_tells_what_was_found() -> None:
    class Steps(Progress):
        def __init__(self) -> None:
            self.told: list[str] = []

        def begin(self, step: str) -> None:
            self.told.append(step)

        def end(self, outcome: str) -> None:
            self.told.append(outcome)

    steps = Steps()
    tree = MemoryTree(FILES)
    annotations = tuple(
        Annotation("a.rs", line, Kind.CITATION, f"tea.md#{section}", quote)
        for line, section, quote in [(1, "tea", "warm. It"), (2, "tea", "It"), (3, "cups", ""), (4, "no", "")]
    )
    build_trace(annotations, Library(tree, "d"), tree, "", (), steps)
    assert steps.told == [
        "Loading specifications",
        "Loaded 1 specifications",
        "Mapping sections",
        "Mapped 2 sections",
        "Matching references",
        "Matched 4 references",
        "Sorting references",
        "Sorted 4 references",
    ]
