from collections.abc import Sequence

from hypothesis import given, strategies as st
from pytest_snapshot.plugin import Snapshot

from duvet.model import Format, Locator, RequirementForm, Section, Specification
from duvet.specs.ietf import parse_ietf
from duvet.specs.library import Library, assign_ids
from duvet.specs.locator import locate_specification
from duvet.specs.markdown import parse_markdown
from duvet.specs.section_names import find_section_index, find_section_indexes
from duvet.tree.files import MemoryTree

FEATURE = """\
# Feature
## Requirement 1
### Acceptance Criteria
The pot MUST be warm.
## Requirement 2
### Acceptance Criteria
The lid MUST be shut.
## Notes
## Notes
# Notes
## Pot {#pot}
"""


def specification(sections: Sequence[Section], format: Format = Format.MARKDOWN) -> Specification:
    return Specification("", "", Locator("spec"), "", "", format, "", "", b"", tuple(sections))


def parse(text: str) -> Specification:
    return specification(parse_markdown(text.encode(), RequirementForm()).sections)


def find(known: Specification, name: str) -> list[str]:
    found = find_section_indexes(known, name, has_prefixes=known.format is Format.IETF)
    return [known.sections[index].name for index in found]


SECTION_NAMES = [
    *("acceptance-criteria", "feature/acceptance-criteria", "requirement-2/acceptance-criteria"),
    *("feature/requirement-2/acceptance-criteria", "/feature/requirement-2/acceptance-criteria"),
    *("acceptance-criteria-1", "requirement-1/acceptance-criteria-1", "/requirement-2/acceptance-criteria"),
    *("requirement-3/acceptance-criteria", "notes", "/notes", "/feature/notes", "notes-1", "notes~2"),
    *("/feature/notes~1", "feature/notes~0", "feature/notes~3", "/notes~1", "pot~1", "notes/pot", "/", ""),
]


def test_names_of_sections_are_paths_of_headings(snapshot: Snapshot) -> None:
    ##= man/spec/trace.md#sections
    ##% duvet MUST distinguish sections with the same heading by the headings above them, as in
    ##% `requirement-2/acceptance-criteria`. duvet MUST number sections with the same path of headings, such as `notes~2`
    ##% for the second.
    known = parse(FEATURE)
    lines = [f"{one.id} | {one.name} | {one.breadcrumb}" for one in known.sections]
    lines += ["", *(f"{name!r}: {' '.join(find(known, name)) or '-'}" for name in SECTION_NAMES)]
    snapshot.assert_match("\n".join(lines) + "\n", "specs/names_of_sections.txt")
    for name in SECTION_NAMES:
        names, index = find(known, name), find_section_index(known, name)
        assert (None if index is None else known.sections[index].name) == (names[0] if len(names) == 1 else None)
    plain = parse_markdown(FEATURE.encode()).sections
    assert [one.name for one in plain] == [one.id for one in known.sections]


def test_names_that_are_ids() -> None:
    known = specification(parse_markdown(FEATURE.encode()).sections)
    names = ["acceptance-criteria", "acceptance-criteria-1", "requirement-2/acceptance-criteria", "/notes"]
    assert [find(known, name) for name in names] == [["acceptance-criteria"], ["acceptance-criteria-1"], [], []]
    known = parse("# A\n## Pot\n## Pot\n## Pot 1\n")
    assert [one.name for one in known.sections] == ["a", "pot~1", "pot~2", "a/pot-1"]
    assert [find(known, name) for name in ("pot-1", "a/pot-1", "pot")] == [["pot~2"], ["a/pot-1"], ["pot~1", "pot~2"]]


HEADINGS = st.lists(st.tuples(st.integers(1, 4), st.sampled_from(["a", "b", "c", "a 1"])), max_size=9)


def write(headings: Sequence[tuple[int, str]]) -> str:
    return "".join(f"{'#' * level} {title}\n" for level, title in headings)


@given(HEADINGS)
def test_each_section_has_a_name_of_its_own(headings: list[tuple[int, str]]) -> None:
    known = parse(write(headings))
    assert [find(known, one.name) for one in known.sections] == [[one.name] for one in known.sections]
    others = [one for one in known.sections if one.id != one.anchors[-1]]
    assert [find(known, one.id)[-1:] for one in others] == [[one.name] for one in others]


@given(HEADINGS, st.integers(0, 9), st.integers(1, 4), st.sampled_from(["a", "b", "new"]))
def test_an_added_section_never_takes_a_path(
    headings: list[tuple[int, str]], place: int, level: int, title: str
) -> None:
    before = parse(write(headings))
    place = min(place, len(headings))
    after = parse(write([*headings[:place], (level, title), *headings[place:]]))
    for index, section in enumerate(before.sections):
        same = after.sections[index + (index >= place)]
        repeated = [one for one in after.sections if one.anchors == same.anchors]
        path = section.name.partition("~")[0]
        if "/" in path and section.anchors == same.anchors and len(repeated) == 1:
            found = find_section_indexes(after, path, has_prefixes=False)
            assert after.sections.index(same) in found


def test_text_above_all_headings() -> None:
    ##= man/spec/trace.md#sections
    ##% duvet MUST treat the text above the first heading of a Markdown file as a section with the name of the file.
    for text, found in [
        ("The pot MUST be warm.\n", [("tea-time", ("The pot MUST be warm.",))]),
        ("It is blue.\n", [("tea-time", ("It is blue.",))]),
        (
            "---\na: b\n---\n\nThe pot must be warm.\n\n\n# Tea time\n\nIt MUST.\n",
            [("tea-time-preamble", ("The pot must be warm.",)), ("tea-time", ("It MUST.",))],
        ),
        ("- FR-1: Blue.\n\n# Tea\n\nx\n", [("tea-time", ("- FR-1: Blue.",)), ("tea", ("x",))]),
        ("It is blue.\n\n# Tea\n\nx\n", [("tea", ("x",))]),
        ("<!-- It MUST. -->\n# Tea\n", [("tea", ())]),
        ("", []),
    ]:
        tree = MemoryTree({"docs/Tea Time.md": text.encode()})
        known = Library(tree, "d", forms={}).load(locate_specification("docs/Tea Time.md"))
        assert [(one.id, one.lines) for one in known.sections] == found
        plain = Library(tree, "d").load(locate_specification("docs/Tea Time.md"))
        assert "tea-time-preamble" not in plain.by_id and len(plain.sections) <= len(known.sections)


COMPOSITE = """\
[Note that this file is a concatenation of more than one RFC.]

Network Working Group                                         S. Bradner
Request for Comments: 2119                            Harvard University
BCP: 14                                                       March 1997

        Key words for use in RFCs to Indicate Requirement Levels

Abstract

   Authors SHOULD cite this document.

1. MUST   This word means an absolute requirement.

2. SHOULD   This word means a recommendation.

Bradner                  Best Current Practice                  [Page 3]

=========================================================================

Internet Engineering Task Force (IETF)                          B. Leiba
Request for Comments: 8174                           Huawei Technologies
BCP: 14                                                         May 2017

Abstract

   Only capitals MUST count.

1.  Introduction

   It MUST be clear.

3.  Security Considerations

   There are none.
"""


def test_a_text_of_several_rfcs() -> None:
    ##= man/spec/trace.md#sections
    ##% In a text that contains several RFCs, the name of a section MUST begin with its RFC, as in `rfc8174/section-2`.
    sections = parse_ietf(COMPOSITE.encode(), has_paths=True)
    assert sections[0].breadcrumb == "RFC 2119 › Abstract"  # noqa: RUF001
    assert [(one.name, one.path, one.title, one.lines) for one in sections] == [
        ("rfc2119/name-abstract", ("RFC 2119",), "Abstract", ("   Authors SHOULD cite this document.",)),
        ("rfc2119/section-1", ("RFC 2119",), "MUST   This word means an absolute requirement.", ()),
        ("rfc2119/section-2", ("RFC 2119",), "SHOULD   This word means a recommendation.", ()),
        ("rfc8174/name-abstract", ("RFC 8174",), "Abstract", ("   Only capitals MUST count.",)),
        ("rfc8174/section-1", ("RFC 8174",), "Introduction", ("   It MUST be clear.",)),
        ("rfc8174/section-3", ("RFC 8174",), "Security Considerations", ("   There are none.",)),
    ]
    known = specification(sections, Format.IETF)
    names = ["section-1", "1", "rfc8174/section-1", "rfc8174/1", "3", "section-2", "rfc2119/section-3"]
    both, last = ["rfc2119/section-1", "rfc8174/section-1"], ["rfc8174/section-1"]
    expected = [both, both, last, last, ["rfc8174/section-3"], ["rfc2119/section-2"], []]
    assert [find(known, name) for name in names] == expected
    plain = parse_ietf(COMPOSITE.encode())
    assert [one.id for one in plain] == ["section-2", "name-abstract", "section-1", "section-3"]
    tree = MemoryTree({"bcp14.txt": COMPOSITE.encode()})
    locator = locate_specification("bcp14.txt")
    assert Library(tree, "d", forms={}).load(locator).name == "bcp14"
    assert Library(tree, "d").load(locator).name == "RFC 2119"


def test_a_repeated_number_is_told_apart_by_its_title() -> None:
    text = "1. One\n\n   a\n\n2. Two\n\n   b\n\n2. Other\n\n   c\n\n2. Other\n\n   d\n"
    sections = parse_ietf(text.encode(), has_paths=True)
    assert [(one.id, one.title, one.lines) for one in sections] == [
        ("section-1", "One", ("   a",)),
        ("section-2/two", "Two", ("   b",)),
        ("section-2/other", "Other", ("   c",)),
        ("section-2/other-2", "Other", ("   d",)),
    ]
    known = specification(sections, Format.IETF)
    twos = ["section-2/two", "section-2/other", "section-2/other-2"]
    assert [find(known, name) for name in ("2", "section-2", "section-2/two")] == [twos, twos, twos[:1]]


def test_ids_of_specifications_by_rank() -> None:
    names = ["https://x/rfc1.txt", "a/rfc1.txt", "b/rfc1.txt"]
    rank = {"b/rfc1.txt": -2, "a/rfc1.txt": -1, "https://x/rfc1.txt": 0}
    located = [(locate_specification(name), name) for name in names]
    known = [Specification("", "RFC 1", one, name, name, Format.IETF, "", "", b"", ()) for one, name in located]
    found = assign_ids(known, rank=lambda one: rank[one.locator.name])
    ids = [(one.locator.name, one.id) for one in found]
    assert ids == [("https://x/rfc1.txt", "rfc1-3"), ("a/rfc1.txt", "rfc1-2"), ("b/rfc1.txt", "rfc1")]
