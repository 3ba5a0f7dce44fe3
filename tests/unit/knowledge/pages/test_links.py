"""Links between pages, and to requirements."""

from __future__ import annotations

import pytest

from duvet.knowledge.pages.catalogue import PageEdge, PageGraph, PageNode
from tests.unit.knowledge.pages.made import found_in, notes_of, told


def outlinks(text: str) -> list[str]:
    notes = notes_of({"docs/page.md": text})
    return list(notes.outlinks(notes.require("page")))


LINKS = {
    "plain": ("[[a]] [[b]]", ["a", "b"]),
    "with a label": ("[[a|the first]] [[b | second ]]", ["a", "b"]),
    "with a heading": ("[[a#intro]] [[b#x|label]]", ["a", "b"]),
    "once each, in order": ("[[b]] [[a]] [[b|again]]", ["b", "a"]),
    "trimmed": ("[[  a  ]] [[two  words]]", ["a", "two words"]),
    "in headings and lists": ("# On [[a]]\n\n- [[b]]\n\n> [[c]]\n", ["a", "b", "c"]),
    "over a line end": ("[[a\nb|label\nof it]]", ["a b"]),
    "in a table": ("[[a\\|label]]", ["a"]),
    "nothing": ("[[]] [[ ]] [[#heading]] [[|x]] [a] [[a] [[", []),
    "escaped": ("\\[[a]]", []),
    "a link of Markdown": ("[[1]](https://example.org)", []),
    "brackets in brackets": ("[[[a]]]", ["a"]),
    "in a span": ("`[[a]]` and ``[[b]] ` ``", []),
    "in a fence": ("```\n[[a]]\n```\n~~~sh\nif [[ -f x ]]; then\n~~~\n[[b]]", ["b"]),
    "in indented code": ("text\n\n    [[a]]\n\n[[b]]", ["b"]),
    "in a comment": ("x <!-- [[a]] --> [[b]]\n\n<!--\n[[c]]\n-->\n\n<div>[[d]]</div>\n\n<!-- [[e]]", ["b", "d"]),
    "in other scripts": (
        "[[\u05e2\u05d1\u05e8\u05d9\u05ea]] [[\U0001f375]] [[cafe\u0301]]",
        ["\u05e2\u05d1\u05e8\u05d9\u05ea", "\U0001f375", "caf\u00e9"],
    ),
    "behind carriage returns": ("one\r\n[[a]]\r\n", ["a"]),
}


@pytest.mark.parametrize(("text", "expected"), LINKS.values(), ids=LINKS)
def test_links(text: str, expected: list[str]) -> None:
    ##= man/spec/pages.md#links
    ##= type=test
    ##% The outlinks of a page MUST be the slugs that it links to outside of code and comments, each once and in order,
    ##% and its backlinks the other pages that link to it.
    assert outlinks(text) == expected


def test_backlinks() -> None:
    ##= man/spec/pages.md#links
    ##= type=test
    ##% The outlinks of a page MUST be the slugs that it links to outside of code and comments, each once and in order,
    ##% and its backlinks the other pages that link to it.
    notes = notes_of({"docs/a.md": "[[a]] [[b]]", "docs/b.md": "[[a|x]] [[a#y]] [[c]]", "docs/d/c.md": "[[b]]"})
    assert {page.slug: notes.backlinks(page) for page in notes.pages} == {"a": ("b",), "b": ("a", "d/c"), "d/c": ()}


def test_links_to_requirements() -> None:
    ##= man/spec/pages.md#links
    ##= type=test
    ##% `[[rfc2324#section-2.1.1]]` MUST link to the requirements of that section, and `[[req:ab12cd34]]` to the
    ##% requirement with that id, unless a page has that name.
    ids = notes_of({}).references.catalogue.ids
    text = f"[[spec#brewing]] [[docs/spec.md#Brewing]] [[req:{ids[1][:8]}]] [[REQ:{ids[1]}]] [[spec]] [[spec#history]]"
    files = {"docs/a.md": text, "docs/b.md": "[[a]]"}
    notes = notes_of(files)
    page = notes.require("a")
    assert notes.outlinks(page) == ()
    assert [named.indexes for named in notes.requirements(page)] == [(0, 1), (1,), ()]
    assert {index: [one.slug for one in pages] for index, pages in notes.explaining.items()} == {0: ["a"], 1: ["a"]}
    assert told(files) == []
    shadowed = notes_of({**files, "docs/own.md": "---\nslug: spec\n---\n"})
    assert shadowed.outlinks(shadowed.require("a")) == ("spec",)
    assert [named.indexes for named in shadowed.requirements(shadowed.require("a"))] == [(0, 1), (1,)]


def test_links_that_lead_nowhere() -> None:
    ##= man/spec/pages.md#checks
    ##= type=test
    ##% duvet MUST warn about a link that leads nowhere with its place, and name the missing section or the nearest
    ##% slug.
    text = "---\ntags: x\n---\n# A\n\n\u00e9 [[brewin]] [[brewing]] [[spec#nothing]]\n[[req:0000]] [[req:x]] [[q]]\n"
    found = found_in({"docs/a.md": text, "docs/brewing.md": "[[a]]"})
    id_hint = "write `req:` and at least 4 digits of an id, which no other id begins with"
    assert [
        (one.code, one.severity, one.path, one.place.line, one.place.column, one.message, one.hint)
        for one in found.problems
    ] == [
        ("DUV103", "warning", "docs/a.md", 6, 3, "there is no page `brewin`", "did you mean brewing?"),
        (
            "DUV103",
            "warning",
            "docs/a.md",
            6,
            26,
            "`spec` has no section `nothing`",
            "name one of its sections, or none",
        ),
        ("DUV103", "warning", "docs/a.md", 7, 1, "there is no requirement `req:0000`", id_hint),
        ("DUV103", "warning", "docs/a.md", 7, 14, "there is no requirement `req:x`", id_hint),
        ("DUV103", "warning", "docs/a.md", 7, 24, "there is no page `q`", "write the page, or take the link out"),
    ]
    assert (found.pages, found.links, found.files) == (2, 7, ("docs/a.md", "docs/brewing.md"))


def test_sections_that_are_missing() -> None:
    ##= man/spec/pages.md#checks
    ##= type=test
    ##% duvet MUST warn about a link that leads nowhere with its place, and name the missing section or the nearest
    ##% slug.
    files = {"docs/a.md": "[[docs/spec.md#brewin]] [[spec#nosuch]] [[gone#x]]"}
    assert [(one.message, one.hint) for one in found_in(files).problems] == [
        ("`docs/spec.md` has no section `brewin`", "did you mean brewing?"),
        ("`spec` has no section `nosuch`", "name one of its sections, or none"),
        ("there is no page `gone#x`", "write the page, or take the link out"),
    ]
    notes = notes_of(files)
    assert notes.outlinks(notes.require("a")) == ("gone",)


def test_loops() -> None:
    notes = notes_of({"docs/a.md": "[[b]] [[a]]", "docs/b.md": "[[c]]", "docs/c.md": "[[a]] [[gone]]", "docs/d.md": ""})
    a, b, c = (PageNode(slug, slug, 2) for slug in "abc")
    edges = (PageEdge("a", "b"), PageEdge("c", "a"), PageEdge("b", "c"))
    assert notes.graph(notes.require("a")) == PageGraph((a, b, c), edges)
    assert notes.graph(notes.require("d")) == PageGraph((PageNode("d", "d", 0),), ())


def test_links_in_both_directions_are_one_edge() -> None:
    notes = notes_of({"docs/a.md": "[[b]]", "docs/b.md": "[[a]] [[c]]", "docs/c.md": ""})
    nodes = (PageNode("c", "c", 1), PageNode("b", "b", 2))
    assert notes.graph(notes.require("c")) == PageGraph(nodes, (PageEdge("b", "c"),))
    assert notes.graph(notes.require("a")).edges == (PageEdge("a", "b"),)
