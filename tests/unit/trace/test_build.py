from collections.abc import Mapping

from pytest_snapshot.plugin import Snapshot

from duvet.model import Annotation, Format, Kind, Level, Locator
from duvet.progress import Progress
from duvet.sources.comments import SourceStyle, scan_comments
from duvet.specs.library import Library
from duvet.specs.requirement_files import read_requirement_file
from duvet.trace.build import build_trace
from duvet.trace.records import CITATION, EXCEPTION, EXCUSED, SPEC, TEST, TITLE_LINE, Fit, Match, Piece, Trace
from duvet.tree.files import MemoryTree
from tests.problems import show_problem
from tests.unit.trace.trace_samples import citing, trace_of

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
    sources = {f"{chr(ord('a') + number)}.rs": text for number, text in enumerate(comments)}
    tree = MemoryTree({**files, **{path: text.encode() for path, text in sources.items()}})
    annotations = [one for path, text in sources.items() for one in scan_comments(path, text, SourceStyle())[0]]
    return build_trace(tuple(annotations), Library(tree, "d"), tree, "", (), Progress())


def test_references_to_missing_targets_are_reported(snapshot: Snapshot) -> None:
    ##= man/spec/trace.md#targets-and-quotes
    ##% duvet MUST report a quote that its section does not contain.
    ##= man/spec/trace.md#targets-and-quotes
    ##% duvet MUST report a target without a section, with an unknown section or with an unknown specification, and
    ##% suggest similar specifications and sections.
    found: list[str] = []
    for comments in [
        *(["  //= nope.md#tea\n  //# The pot"], ["//=\n"], ["//= folder#x\n"], ["//= https://#tea"]),
        *(["//= tea.md\n//# The pot"], ["//= tea.md#cup"], ["//= tea.md#Cups"], ["//= tea.md#nothing-like-it"]),
        ["//= tea.md#"],
        # A specification that can't be read is reported once.
        ["//= bad.md#a", "//= bad.md#b"],
        ["//= tea.md#nowhere", "//= tee.md#tea"],
        ["//= https://host.example/no#a", "//= https://HOST.example/no#b"],
        *(["//= tea.md#tea\n//# The pot\n//# is warm"], ["//= tea.md#empty\n//# x"]),
    ]:
        trace = traced(*comments)
        assert trace.match_of == (None,) * len(comments)
        assert [one.matches for one in trace.coverages] in ([], [()])
        found += [*comments[0].splitlines(), *map(show_problem, trace.problems), ""]
    snapshot.assert_match("\n".join(found), "problems/references.txt")


def test_a_quote_with_one_wrong_character_is_found() -> None:
    ##= man/spec/trace.md#targets-and-quotes
    ##% duvet MUST accept a quote with one different, extra or missing byte, and warn about it.
    trace = traced("//= tea.md#tea\n//# The pot MUST bee warm.\n", "//= tea.md#tea\n//# The pot MUST bee warm.\n")
    warning = (
        ":2:5+22 warning DUV051 this quote differs from the specification by one character [one character differs]; "
        "copy the words of the section exactly"
    )
    assert [show_problem(problem) for problem in trace.problems] == [f"a.rs{warning}", f"b.rs{warning}"]
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


def test_spellings_and_formats_are_specifications_of_their_own_and_reported() -> None:
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
    wrong = "are the same text, but count as two specifications"
    # The quotes need not be right.
    one_format = "//= tea.md#tea\n//# no such words\n//= tea.md#tea\n//= format=md\n//# no such words"
    for comments, said in [
        (
            ["//= tea.md#tea\n\n//= ./tea.md#cups\n\n//= ./tea.md#tea\n//# no such words", "//= tea.md#tea"],
            f"./tea.md and tea.md {wrong}; write tea.md everywhere",
        ),
        ([one_format], f"tea.md (as markdown) and tea.md {wrong}; use one format everywhere"),
    ]:
        problems = [show_problem(one) for one in traced(*comments).problems if one.code != "DUV050"]
        assert problems == [f"a.rs:3 warning DUV044 {said}"]
    tree = MemoryTree({"/w/tea.md": FILES["tea.md"], "tea.md": FILES["tea.md"]})
    targets = {"a.rs": "/w/tea.md#tea", "b.rs": "tea.md#tea"}
    annotations = tuple(Annotation(path, 1, Kind.CITATION, target, "") for path, target in targets.items())
    trace = build_trace(annotations, Library(tree, "d"), tree, "/w", (), Progress())
    assert [(one.code, one.path, one.hint) for one in trace.problems] == [("DUV044", "a.rs", "write tea.md everywhere")]


def in_file(path: str, target: str) -> Annotation:
    text = f"target = '{target}'\n\n[[spec]]\nquote = '''\nThe pot\nMUST be warm.\n'''\n"
    (annotation,), problems = read_requirement_file(path, text.encode())
    assert problems == []
    return annotation


def test_targets_of_requirement_files_start_at_the_file() -> None:
    tree = MemoryTree({"a/b/tea.md": FILES["tea.md"], "top.md": FILES["tea.md"]})
    targets = ("a/b/c/one.toml", "tea.md#tea"), ("a/b/c/one.toml", "top.md#tea"), ("x/two.toml", "tea.md#tea")
    trace = build_trace(tuple(in_file(*one) for one in targets), Library(tree, "d"), tree, "", (), Progress())
    assert [one.specification.locator.name for one in trace.coverages] == ["a/b/tea.md", "top.md"]
    assert [(one.code, one.path, one.place.line) for one in trace.problems] == [("DUV040", "x/two.toml", 3)]
    assert trace.match_of[2] is None
