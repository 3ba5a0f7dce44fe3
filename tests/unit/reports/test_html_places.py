"""Anchors and links of the page"""

from __future__ import annotations

import re
from urllib.parse import unquote

from duvet.queries.revisions import SnapshotDiff
from duvet.reports.html.anchors import AnchorNames
from tests.unit.reports.made import finished
from tests.unit.reports.made_pages import page, tree
from tests.unit.reports.made_states import CONFIG, FILES

ODD = """\
# main

## Main {#main}

A pot MUST a.

## Cited {#main/cited}

A pot MUST b.

## Signs {#x"y&amp'<z}

A pot MUST d.
"""
ODD_FILES = {
    ".duvet/config.toml": CONFIG.replace("tea.md", "main.md"),
    "main.md": ODD,
    "src/a.rs": "//= main.md#main\n\n//= main.md#main\n//# A pot MUST a.\n\n//= main.md#main/cited\n",
}


def ids(text: str) -> list[str]:
    return [id for element in tree(text).iter() if (id := element.get("id")) is not None]


def test_what_is_shown_has_an_anchor() -> None:
    ##= man/spec/page.md#links
    ##% Each specification, each section shown and each requirement MUST have a unique anchor; that of a requirement
    ##% consists of its specification, its section and the first 12 digits of its id.
    report = finished(FILES)
    found = ids(page(report))
    assert {"tea", "tea/tea-biscuits", "tea/pot", "tea/cup", "tea/milk", "manners", "manners/guests"} < set(found)
    wanted = {f"tea/{one.section.id}/{one.id[:12]}" for one in report.requirements}
    assert len(wanted) == 10 and wanted < set(found)


def test_anchors_do_not_move() -> None:
    ##= man/spec/page.md#links
    ##% Each specification, each section shown and each requirement MUST have a unique anchor; that of a requirement
    ##% consists of its specification, its section and the first 12 digits of its id.
    more = FILES | {"src/0.rs": "//= tea.md#pot\n//# The lid MUST NOT be lost.\n"}
    assert [id for id in ids(page(finished(more))) if id.startswith("tea/")] == [
        id for id in ids(page(finished(FILES))) if id.startswith("tea/")
    ]


def test_names_are_given_once() -> None:
    ##= man/spec/page.md#links
    ##% Each specification, each section shown and each requirement MUST have a unique anchor; that of a requirement
    ##% consists of its specification, its section and the first 12 digits of its id.
    found = ids(page(finished(ODD_FILES)))
    assert len(found) == len(set(found))
    assert [re.sub("/[0-9a-f]{12}", "/ID", id) for id in found if id.startswith("main")] == [
        *("main", "main-2", "main-2/main", "main-2/main/cited", "main-2/main-1", "main-2/main-1/ID"),
        *("main-2/main/cited-2", "main-2/main/cited-2/ID", "main-2/main/cited-2/cited"),
        *("main-2/signs-x-y-amp-z", "main-2/signs-x-y-amp-z/ID"),
    ]


def test_links_lead_to_places() -> None:
    ##= man/spec/page.md#links
    ##% A link into the report MUST lead to what it names or, with a notice, to the nearest place that the report
    ##% contains.
    for files in (FILES, ODD_FILES):
        elements = list(tree(page(finished(files))).iter())
        links = {link for element in elements if (link := element.get("href", "")).startswith("#")}
        assert len(links) > 10
        assert {unquote(link[1:]) for link in links if not link.startswith("#requirements?")} <= set(
            ids(page(finished(files)))
        )


def test_a_section_says_its_id_where_its_anchor_does_not() -> None:
    parts = [one for one in tree(page(finished(ODD_FILES))).iter("section") if one.get("class") == "part"]
    assert [(one.get("id"), one.get("data-id")) for one in parts if one.get("data-id")] == [
        ("main-2/main/cited-2", "main/cited")
    ]


def test_what_the_page_itself_has_is_taken() -> None:
    own = [
        id for id in ids(page(finished(FILES), since=SnapshotDiff(), embedded=b"{}")) if not re.match("tea|manners", id)
    ]
    assert len(own) > 15
    assert [AnchorNames().new(id) for id in own] == [f"{id}-2" for id in own]


def test_numbers_of_names_are_taken_too() -> None:
    names = AnchorNames()
    assert [names.new(name) for name in ("a", "a-2", "a", "a", "a-2", "sources", "a b", "c?d")] == [
        *("a", "a-2", "a-3", "a-4", "a-2-2", "sources-2", "a-b", "c-d")
    ]
