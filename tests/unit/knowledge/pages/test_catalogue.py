import os
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from duvet.knowledge.pages.catalogue import PageCollection, PageEdge, PageGraph, PageNode, PageStore, find_page_problems
from duvet.knowledge.pages.page import decode_page_body
from duvet.knowledge.pages.search import PageIndex, search_pages
from tests.cli.sample_project import make
from tests.unit.knowledge.pages.page_projects import TRACE, list_problems, load, notes_of, project_in, project_of

LINKS = [
    *("[[a]] [[b]]", "[[a|the first]] [[b | second ]]", "[[a#intro]] [[b#x|label]]", "[[b]] [[a]] [[b|again]]"),
    *("[[  a  ]] [[two  words]]", "# On [[a]]\n\n- [[b]]\n\n> [[c]]\n", "[[a\nb|label\nof it]]"),
    *("[[a|[[b|c]] [[d|[[e|f", "[[a|`x` [y]]] [[#`move`|move]]", "![[a]] ![[b#x|100]]"),
    *("[x](a.md) [y](./b.md#z) [z](c%20d.md) ![p](q.png)", "%% [[a]]\n\n[[b]] %% [[c]] `%%` [[d]] %%\n\n[[e]]"),
    *("x[^1]\n\n[^1]: [[a]]\n", "[[https://example.org|x]] <https://example.org> <a@b.example>"),
    *("[[a\\|label]]", "[[]] [[ ]] [[#heading]] [[|x]] [a] [[a] [[", "\\[[a]]", "[[1]](https://example.org)"),
    *("[[[a]]]", "`[[a]]` and ``[[b]] ` ``", "```\n[[a]]\n```\n~~~sh\nif [[ -f x ]]; then\n~~~\n[[b]]"),
    "text\n\n    [[a]]\n\n[[b]]",
    "x <!-- [[a]] --> [[b]]\n\n<!--\n[[c]]\n-->\n\n<div>[[d]]</div>\n\n<!-- [[e]]",
    *("[[\u05e2\u05d1\u05e8\u05d9\u05ea]] [[\U0001f375]] [[cafe\u0301]]", "one\r\n[[a]]\r\n"),
]


def test_links_of_pages_are_listed(snapshot: Snapshot) -> None:
    lines = []
    for text in LINKS:
        notes = notes_of({"docs/page.md": text})
        lines.append(f"{text!r}\n  {[*notes.outlinks(notes.require('page'))]}\n")
    snapshot.assert_match("".join(lines), "pages/outlinks.txt")


def test_links_to_requirements() -> None:
    ##= man/spec/pages.md#links
    ##% duvet MUST resolve `[[rfc2324#section-2.1.1]]` to the requirements of that section, and `[[req:ab12cd34]]` to
    ##% the requirement with that id, unless a file matches the link.
    ids = notes_of({}).references.catalogue.ids
    text = f"[[spec#brewing]] [[docs/spec.md#Brewing]] [[req:{ids[1][:8]}]] [[REQ:{ids[1]}]] [[spec]] [[spec#history]]"
    files = {"docs/a.md": text, "docs/b.md": "[[a]]"}
    notes = notes_of(files)
    page = notes.require("a")
    assert notes.outlinks(page) == ()
    assert [named.indexes for named in notes.requirements(page)] == [(0, 1), (1,), ()]
    assert {index: [one.slug for one in pages] for index, pages in notes.explaining.items()} == {0: ["a"], 1: ["a"]}
    assert list_problems(files) == []
    shadowed = notes_of({**files, "docs/own.md": "---\nslug: spec\n---\n"})
    assert shadowed.outlinks(shadowed.require("a")) == ("spec",)
    assert [named.indexes for named in shadowed.requirements(shadowed.require("a"))] == [(0, 1), (1,)]


WRITE, NONE = "create the page, or remove the link", "link to an existing section, or to the specification alone"
ID = "after `req:`, write the name of one requirement or at least the first 4 digits of its id"
DANGLING = [
    ("[[brewin]]", "link to unknown page `brewin`", "did you mean brewing?"),
    ("[[spec#nothing]]", "`spec` has no section `nothing`", NONE),
    ("[[docs/spec.md#brewin]]", "`docs/spec.md` has no section `brewin`", "did you mean brewing?"),
    ("[[gone#x]]", "link to unknown page `gone#x`", WRITE),
    ("[[req:0000]]", "link to unknown requirement `req:0000`", ID),
    ("[[req:x]]", "link to unknown requirement `req:x`", ID),
    ("[[q]]", "link to unknown page `q`", WRITE),
    ("[x](gone.md)", "link to missing file `gone.md`", "correct the path, or remove the link"),
    ("[[brewing#Cup]]", "`brewing` has no heading `Cup`", "did you mean Cups?"),
    ("[[brewing#^b2]]", "`brewing` has no block `^b2`", "link to an existing block"),
]


def test_dangling_links_are_reported_with_their_place() -> None:
    ##= man/spec/pages.md#checks
    ##% For each broken link in a page, `duvet validate` and `duvet pages check` MUST print a warning with the path and
    ##% line of the link.
    lines = "".join(f"\u00e9 [[brewing]] {link}\n" for link, _, _ in DANGLING)
    files = {
        "docs/a.md": f"---\ntags: x\n---\n# A\n\n{lines}",
        "docs/brewing.md": "[[a]] [[#^b1]] <me@a.org> [a](a.md) [up](..)\n\n# Cups ^b1\n",
    }
    found = find_page_problems(project_of(files))
    assert {(one.code, one.severity, one.path, one.place.column) for one in found.problems} == {
        ("DUV103", "warning", "docs/a.md", 15)
    }
    texts = [(one.place.line, one.message, one.hint) for one in found.problems]
    assert texts == [(line, message, hint) for line, (_, message, hint) in enumerate(DANGLING, 6)]
    assert (found.pages, found.links, found.files) == (2, 24, ("docs/a.md", "docs/brewing.md"))
    notes = notes_of(files)
    assert notes.outlinks(notes.require("a")) == ("brewing", "brewin", "gone", "q")


def test_the_graph_of_pages() -> None:
    notes = notes_of({"docs/a.md": "[[b]] [[a]]", "docs/b.md": "[[c]]", "docs/c.md": "[[a]] [[gone]]", "docs/d.md": ""})
    a, b, c = (PageNode(slug, slug, 2) for slug in "abc")
    edges = (PageEdge("a", "b"), PageEdge("b", "c"), PageEdge("c", "a"))
    assert notes.graph(notes.require("a")) == PageGraph((a, b, c), edges)
    assert notes.graph(notes.require("d")) == PageGraph((PageNode("d", "d", 0),), ())
    backlinks = {page.slug: notes.backlinks(page) for page in notes.pages}
    assert backlinks == {"a": ("c",), "b": ("a",), "c": ("b",), "d": ()}
    # Links in both directions are two edges.
    notes = notes_of({"docs/a.md": "[[b]]", "docs/b.md": "[[a]] [[c]]", "docs/c.md": ""})
    nodes = (PageNode("c", "c", 1), PageNode("b", "b", 2))
    assert notes.graph(notes.require("c")) == PageGraph(nodes, (PageEdge("b", "c"),))
    assert notes.graph(notes.require("a")).edges == (PageEdge("a", "b"), PageEdge("b", "a"))
    notes = notes_of({"docs/a.md": "[[a]] [[b]]", "docs/b.md": "[[a|x]] [[a#y]] [[c]]", "docs/d/c.md": "[[b]]"})
    assert {page.slug: notes.backlinks(page) for page in notes.pages} == {"a": ("b",), "b": ("a", "d/c"), "d/c": ("b",)}


@pytest.fixture
def tea(tmp_path: Path) -> Path:
    make(tmp_path, {**TRACE, **{f"docs/{name}.md": f"# Page {name}\n\nabout {name}\n" for name in "abcde"}})
    for path in tmp_path.rglob("*"):
        os.utime(path, (1000.0, 1000.0))
    return tmp_path


def titles(pages: PageStore) -> list[str]:
    return sorted(page.title for page in pages.pages)


def index_of(folder: Path, pages: PageStore, earlier: PageIndex | None = None) -> tuple[PageIndex, list[str]]:
    read: list[str] = []
    project = project_in(folder)

    def text(slug: str, path: str) -> str:
        read.append(slug)
        return decode_page_body(project.tree.read(path), path)

    index = PageIndex(PageCollection(pages, project.catalogue), lambda page: text(page.slug, page.path), earlier)
    return index, sorted(read)


def test_only_changed_pages_are_read_and_indexed_again(tea: Path) -> None:
    make(tea, {f"docs/old/{number}.md": "old" for number in range(80)})
    first = load(tea)
    assert load(tea, first).read_paths == frozenset()
    base, read = index_of(tea, first)
    assert len(read) == 85
    make(tea, {"docs/c.md": "# Other\n\nabout cups\n", "docs/new.md": "# New\n\nabout tea\n"})
    (tea / "docs/e.md").unlink()
    second = load(tea, first)
    assert second.read_paths == {"docs/c.md", "docs/new.md"}
    assert titles(second)[-5:] == ["New", "Other", "Page a", "Page b", "Page d"]
    index, read = index_of(tea, second, base)
    assert read == ["c", "new"]
    assert sorted(page.slug for page in index.rank("about")) == ["a", "b", "c", "d", "new"]
    assert [page.slug for page in index.rank("cups")] == ["c"]
    assert index.rank("e") == []
    third, read = index_of(tea, second, index)
    assert read == []
    assert search_pages(third, "about") == search_pages(index, "about")
    # After many changes all pages are indexed again.
    make(tea, {f"docs/new/{number}.md": "more" for number in range(201)})
    index, read = index_of(tea, load(tea, second), base)
    assert (len(read), search_pages(index, "more").total) == (286, 201)


def test_the_ranking_does_not_depend_on_earlier_edits(tea: Path) -> None:
    pages = load(tea)
    index, _ = index_of(tea, pages)
    for number in range(30):
        make(tea, {"docs/a.md": f"# Page a\n\nkettle {number}\n", "docs/b.md": "tea tea\n", "docs/c.md": "tea\n"})
        pages = load(tea, pages)
        index, _ = index_of(tea, pages, index)
    fresh, _ = index_of(tea, load(tea))
    scores = [made.table.score("kettle tea") for made in (index, fresh)]
    assert sorted(filter(None, scores[0])) == sorted(filter(None, scores[1]))


def test_memory_does_not_grow_with_discarded_indexes(tea: Path) -> None:
    make(tea, {f"docs/old/{number}.md": "old" for number in range(80)})
    first = load(tea)
    base, _ = index_of(tea, first)
    make(tea, {"docs/c.md": "# Other\n"})
    second = load(tea, first)
    indexes = [index_of(tea, second, base)[0] for _ in range(9)]
    assert len(base.table.score("old")) == 88
    assert {index.rank("other")[0].title for index in indexes} == {"Other"}


def test_folders_are_searched_again_only_after_a_change(tea: Path) -> None:
    first = load(tea)
    second = load(tea, first)
    assert second.files.prefixes is first.files.prefixes
    (tea / "docs/new.md").write_text("# New\n")
    third = load(tea, second)
    assert third.files.prefixes.keys() - first.files.prefixes.keys() == {"docs/new.md"}
    (tea / ".gitignore").write_text("new.md\n")
    assert load(tea, third).files.prefixes == first.files.prefixes
    (tea / "docs/link.md").symlink_to(tea / "docs/new.md")
    fourth = load(tea, third)
    assert load(tea, fourth).files.prefixes == fourth.files.prefixes


def test_pages_are_cached_between_runs(tea: Path) -> None:
    assert len(load(tea, kept=True).read_paths) == 5
    assert load(tea, kept=True).read_paths == frozenset()
    make(tea, {"docs/c.md": "# Other\n"})
    again = load(tea, kept=True)
    assert again.read_paths == {"docs/c.md"}
    assert titles(again) == titles(load(tea))
