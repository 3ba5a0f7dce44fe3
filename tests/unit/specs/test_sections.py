"""The section that a target means."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz

from duvet.model import Format, Locator, Section, Specification
from duvet.specs.locator import SectionNames, find_section_index, make_anchor


def specification(format: Format, titles: dict[str, str]) -> Specification:
    sections = tuple(Section(id, title, (0, 0), title, (), ()) for id, title in titles.items())
    return Specification("s", "S", Locator("s"), "s", "s", format, "", "", b"", sections)


RFC = specification(
    Format.IETF,
    {
        "section-1": "Introduction",
        "section-2": "Body",
        "section-2.1": "Head of the Body",
        "appendix-A": "Tail",
        "name-references": "References",
    },
)
PAGE = specification(Format.MARKDOWN, {"spec": "Spec", "sub-part": "Sub Part", "": ""})


@pytest.mark.parametrize(
    ("wanted", "id"),
    [
        ("section-2.1", "section-2.1"),
        ("2.1", "section-2.1"),
        ("appendix-2.1", "section-2.1"),
        ("section-section-2.1", "section-2.1"),
        ("A", "appendix-A"),
        ("section-A", "appendix-A"),
        ("section-appendix-A", "appendix-A"),
        ("name-references", "name-references"),
    ],
)
def test_ietf_ids_may_lack_their_prefix(wanted: str, id: str) -> None:
    ##= man/spec/trace.md#specifications
    ##% duvet MUST find sections of IETF text by number, appendices by letter, and a few sections by name.
    index = find_section_index(RFC, wanted)
    assert index is not None and RFC.sections[index].id == id


@pytest.mark.parametrize(
    "wanted", ["", "section-", "a", "references", "name-introduction", "2.1.", "appendix-section-1"]
)
def test_unknown_sections(wanted: str) -> None:
    assert find_section_index(RFC, wanted) is None


def test_markdown_ids_are_exact() -> None:
    wanted = ["sub-part", "", "section-sub-part", "Sub-Part"]
    assert [find_section_index(PAGE, id) for id in wanted] == [1, 2, None, None]


@pytest.mark.parametrize(
    ("wanted", "near"),
    [
        ("section-2.11", ["section-2.1"]),
        ("name-introduction", ["section-1"]),
        ("introductoin", ["section-1"]),
        ("section-7", []),
        ("", []),
    ],
)
def test_nearest_sections_of_ietf_text(wanted: str, near: list[str]) -> None:
    ##= man/spec/trace.md#targets-and-quotes
    ##% duvet MUST report a target that has no section or leads nowhere, where it is written, and SHOULD suggest similar
    ##% sections.
    assert SectionNames(RFC.sections).nearest(wanted) == near


NAMES = st.text(st.sampled_from("abc-"), max_size=8)


@given(st.dictionaries(NAMES, NAMES, max_size=12), NAMES)
def test_nearest_sections_are_the_likest(titles: dict[str, str], wanted: str) -> None:
    names = [*((id, id) for id in titles), *((make_anchor(title), id) for id, title in titles.items())]
    ratios = [(fuzz.ratio(wanted, name), id) for name, id in names]
    likest = [id for ratio, id in sorted(ratios, key=lambda one: -one[0]) if ratio >= 70]
    assert (
        SectionNames(specification(Format.MARKDOWN, titles).sections).nearest(wanted) == list(dict.fromkeys(likest))[:3]
    )


def test_nearest_sections_of_markdown() -> None:
    assert SectionNames(PAGE.sections).nearest("Sub-Parts") == ["sub-part"]
    assert SectionNames(specification(Format.MARKDOWN, {}).sections).nearest("x") == []
