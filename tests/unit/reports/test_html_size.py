"""What a browser has to make of the page"""

from __future__ import annotations

import itertools

import pytest

from duvet.model import Note, Place, Problem
from tests.unit.reports.made import finished
from tests.unit.reports.made_pages import page, tree
from tests.unit.reports.made_states import CONFIG, FILES
from tests.unit.reports.test_html import EVIL, evil


def elements(text: str, *, scripting: bool = True) -> int:
    return sum(1 for _ in tree(text, scripting=scripting).iter())


def many(requirements: int, citations: int) -> dict[str, str]:
    """So many requirements, all of which are cited so often."""
    sentences = [f"The pot MUST be {number}." for number in range(requirements)]
    sections = [
        f"## Part {start}\n\n" + "\n".join(sentences[start : start + 50]) for start in range(0, requirements, 50)
    ]
    comments = [f"//= tea.md#part-{number // 50 * 50}\n//# {sentence}\n\n" for number, sentence in enumerate(sentences)]
    sources = {f"src/{number}.rs": "".join(comments) for number in range(citations)}
    return {".duvet/config.toml": CONFIG, "tea.md": "# Tea\n\n" + "\n\n".join(sections) + "\n", **sources}


def test_citations_are_no_elements() -> None:
    ##= man/spec/page.md#size-and-accessibility
    ##% The report MUST NOT make a browser create more than 20,000 elements at first, and a citation MUST add at most
    ##% 200 bytes, apart from its code.
    few, more = (elements(page(finished(many(50, citations)))) for citations in (1, 20))
    assert few == more


@pytest.mark.parametrize("scripting", [True, False])
def test_the_page_is_valid(scripting: bool) -> None:
    ##= man/spec/page.md#size-and-accessibility
    ##% The report MUST be valid HTML, whatever it contains, and readable without scripts.
    problem = Problem(EVIL, EVIL, EVIL, Place(1, 1), EVIL, EVIL, notes=(Note(Place(1), EVIL),))
    pages = [
        page(finished({})),
        page(finished(FILES, "https://x/"), problems=(problem,)),
        page(evil("https://x/"), problems=(problem,), title=EVIL, logo=EVIL, commit=EVIL, snippets={0: EVIL}),
    ]
    for shown in pages:
        found = tree(shown, scripting=scripting)
        ids = [id for one in found.iter() if (id := one.get("id")) is not None]
        assert len(ids) == len(set(ids))
        levels = [int(one.tag[1]) for one in found.iter() if one.tag in ("h1", "h2", "h3", "h4")]
        assert levels.count(1) == 1
        assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


@pytest.mark.parametrize("char", ["\x00", "\x0c", "\x1b", "\x7f", "\x85", "\x9f", "\ufdd0", "\uffff", "\U0010fffe"])
def test_characters_that_html_cannot_hold(char: str) -> None:
    shown = page(finished(FILES), title=f"a{char}b", embedded=f'["{char}☕"]'.encode())
    assert tree(shown).findtext(".//h1") == "a?b"
