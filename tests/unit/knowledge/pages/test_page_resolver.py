import sys

from pytest_snapshot.plugin import Snapshot

from duvet.knowledge.pages.links import LinkSyntax, PageLink
from duvet.knowledge.pages.page import LinkResolver, LinkTargets
from tests.unit.knowledge.pages.page_projects import notes_of

PAGES = (
    *("tea.md", "green/tea.md", "green/leaf/tea.md", "black/Tea.md", "green/cup one.md", "C# of cups.md", "v2.0.md"),
    *("Cafe\u0301.md", "stra\u00dfe.md", "far/pot.md", "near/pot.md", "near/by/start.md", "list.markdown"),
    "by-slug.md",
)
OTHERS = ("img/kettle one.png", "near/plan.pdf")
ALIASES = (("Brew", "far/pot.md"), ("brew", "near/pot.md"), ("The Cup", "green/cup one.md"), ("tea", "far/pot.md"))
RESOLVER = LinkResolver(LinkTargets(dict.fromkeys(PAGES, ""), OTHERS, {"own": "by-slug.md"}, ALIASES))
WIKI, MARKDOWN = LinkSyntax.WIKI, LinkSyntax.MARKDOWN
AT = "near/by/start.md"

##= man/spec/pages.md#links
##% duvet MUST resolve a link by path, by the end of a path, by the name of a file and by an alias, with or without
##% `.md`, ignoring case.
CASES = [
    *(("a.md", WIKI, written, "green/tea.md") for written in ("green/tea", "green/tea.md", "/green/tea", "GREEN/TEA")),
    *((AT, WIKI, written, "tea.md") for written in ("tea", "tea.md", "tea#Green", "../../tea", "TEA.MD", "Tea")),
    (AT, WIKI, "black/tea", "black/Tea.md"),
    *((AT, WIKI, written, "near/by/start.md") for written in ("#Here", "by/start", "START")),
    *(("a.md", WIKI, written, "Cafe\u0301.md") for written in ("Caf\u00e9", "Cafe\u0301", "CAF\u00c9")),
    *(("a.md", WIKI, written, "stra\u00dfe.md") for written in ("stra\u00dfe", "STRASSE")),
    *(("a.md", WIKI, written, "C# of cups.md") for written in ("C# of cups", "c# OF cups")),
    *(("a.md", WIKI, written, "v2.0.md") for written in ("v2.0", "v2.0.md")),
    ("a.md", WIKI, "list", "list.markdown"),
    ("a.md", WIKI, "own", "by-slug.md"),
    ("a.md", WIKI, "the cup#Rim", "green/cup one.md"),
    ("a.md", WIKI, "kettle one.png", "img/kettle one.png"),
    *((AT, MARKDOWN, written, "near/pot.md") for written in ("../pot.md", "../pot#x", "pot.md", "../POT.md?raw")),
    *((AT, MARKDOWN, written, "green/cup one.md") for written in ("../../green/cup%20one.md", "/green/cup%20one.md")),
    ("a.md", MARKDOWN, "C%23%20of%20cups.md", "C# of cups.md"),
    *(("a.md", WIKI, written, None) for written in ("C#", "v2", "gone/tea", "green/", "./gone", "../tea", "")),
    *(("a.md", MARKDOWN, written, None) for written in ("green/", "../tea.md", ".", "C#%20of%20cups.md")),
    ##= man/spec/pages.md#links
    ##% If several files match a link, duvet MUST choose the nearest file, then the file with the shortest path, then
    ##% the first file in alphabetical order.
    ("green/a.md", WIKI, "leaf/tea", "green/leaf/tea.md"),
    (AT, WIKI, "pot", "near/pot.md"),
    ("a.md", WIKI, "pot", "far/pot.md"),
    ("x/a.md", WIKI, "brew", "far/pot.md"),
    ("near/a.md", WIKI, "BREW", "near/pot.md"),
]


def test_links_lead_to_files() -> None:
    for source, syntax, written, expected in CASES:
        assert (source, written, RESOLVER.resolve(source, PageLink(written, syntax))) == (source, written, expected)
    for source, pages, nearest in (
        # Before that, a file whose name is spelt as in the link.
        ("a.md", ("a/Pot.md", "longer/deep/pot.md"), "longer/deep/pot.md"),
        ("a.md", ("long/pot.md", "b/c/pot.md"), "long/pot.md"),
        ("x/y/a.md", ("x/z/pot.md", "n/pot.md"), "x/z/pot.md"),
        ("x/y/a.md", ("x/deep/z/pot.md", "n/pot.md"), "n/pot.md"),
        ("a.md", ("bb/pot.md", "c/pot.md"), "c/pot.md"),
        ("a.md", ("c/pot.md", "b/pot.md"), "b/pot.md"),
    ):
        assert LinkResolver(LinkTargets(dict.fromkeys(pages, ""))).resolve(source, PageLink("pot")) == nearest


def count_calls(size: int) -> int:
    """Return the number of function calls that resolve a link from each of many folders to files of one name."""
    pages = [f"{number}/index.md" for number in range(size)]
    calls: list[object] = []
    sys.setprofile(lambda frame, event, function: calls.append(event))
    try:
        resolver = LinkResolver(LinkTargets(dict.fromkeys(pages, ""), aliases=tuple(("start", page) for page in pages)))
        for number in range(size):
            source = f"{number}/in/a.md"
            for written in ("index", "start", f"{size - 1 - number}/index"):
                found = resolver.resolve(source, PageLink(written))
                assert found == (pages[size - 1 - number] if "/" in written else pages[number])
    finally:
        sys.setprofile(None)
    return len(calls)


def test_many_files_of_one_name_are_resolved_in_linear_time() -> None:
    assert count_calls(400) < 3 * count_calls(200)


def test_each_link_has_its_target_and_kind(snapshot: Snapshot) -> None:
    ##= man/spec/pages.md#links
    ##% `get_page` MUST return each link with its target, its heading, the slug of the linked page and the kind
    ##% of the link: `page`, `attachment`, `requirement`, `missing` or `external`.
    text = """[[cup#Rim]] [[Cup#gone]] [[gone#x]]
![[pot.png|100]] [all
of it](../src/tea.rs) <https://example.org/#a>
[[req:abcd]] [[spec#brewing]] [[spec#gone]] [[C# cup]] [x](cup.md#r%69m)
[[cup#pot-1]] [[cup#The Pot]] [[cup#The Pot pot-1]] [[cup#1]]
"""
    files: dict[str, str | bytes] = {
        "docs/a.md": text,
        "docs/cup.md": "# Rim\n\n## The *Pot* {#pot-1}\n",
        "docs/img/pot.png": b"",
        "docs/C# cup.md": "",
    }
    notes = notes_of(files)
    snapshot.assert_match("".join(f"{row}\n" for row in notes.links(notes.require("a"))), "pages/links.txt")
