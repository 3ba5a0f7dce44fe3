from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import json

from duvet.config.settings import PagesTable
from duvet.knowledge.pages.catalogue import PageCollection, load_pages
from duvet.knowledge.pages.files import find_page_files
from duvet.knowledge.pages.page import decode_page_body
from duvet.knowledge.pages.search import PageIndex
from duvet.project.project import Options, Project

LEAST = {
    # Of a kind of query: the share that has to be found first, among the first five, and among the first twenty.
    "filename": (0.9, 0.99, 0.99),
    "title": (0.8, 0.9, 0.99),
    "variant": (0.0, 0.9, 0.9),
    "question": (0.0, 0.8, 0.8),
}
LEAST_WITHOUT_BLANKS = (0.0, 0.6, 0.6)
"""Of questions in Chinese."""


def rows(shared: Path, vault: str, name: str) -> Iterator[dict[str, Any]]:
    for line in (shared / f"vaults/meta/{vault}/{name}.jsonl").read_bytes().splitlines():
        yield json.decode(line)


@pytest.fixture(scope="module", params=["foam-docs", "knowledge-garden", "traps"])
def vault(request: pytest.FixtureRequest, shared: Path) -> tuple[str, Path, PageCollection]:
    folder = shared / f"vaults/{request.param}"
    project = Project(str(folder), Options(notes=(PagesTable(pattern="**/*.md"),)))
    return request.param, folder, PageCollection(load_pages(project, find_page_files(project)), project.catalogue)


def test_links_lead_where_they_lead_in_obsidian(vault: tuple[str, Path, PageCollection], shared: Path) -> None:
    name, _, pages = vault
    expected: Counter[tuple[object, ...]] = Counter(
        (row["source"], row["line"], row["target_text"], row["heading"], row["kind"], row["resolves_to"])
        for row in rows(shared, name, "links")
        if row["context"] == "body"
    )
    found: Counter[tuple[object, ...]] = Counter()
    for page in pages.pages:
        for row, link in zip(pages.links(page), page.content.links, strict=True):
            path = pages.store.resolver.resolve(page.path, link)
            found[(page.path, row.line, row.target, row.heading, row.kind.value, path)] += 1
    assert (expected & found).total() >= 0.99 * max(expected.total(), found.total())


def test_titles_are_those_that_people_see(vault: tuple[str, Path, PageCollection], shared: Path) -> None:
    name, _, pages = vault
    expected = {row["path"]: row["title"] for row in rows(shared, name, "titles")}
    found = {page.path: page.title for page in pages.pages}
    assert found.keys() == expected.keys()
    assert sum(found[path] == title for path, title in expected.items()) >= 0.99 * len(expected)


def test_queries_find_their_pages(vault: tuple[str, Path, PageCollection], shared: Path) -> None:
    name, folder, pages = vault
    index = PageIndex(pages, lambda page: decode_page_body((folder / page.path).read_bytes(), page.path))
    ranks: dict[str, list[int]] = {}
    for row in rows(shared, name, "queries"):
        found = [page.path for page in index.rank(row["query"])]
        kind = row["kind"] if row["query"].isascii() or row["kind"] != "question" else "question without blanks"
        rank = min((found.index(path) for path in row["relevant"] if path in found), default=len(found) + 20)
        ranks.setdefault(kind, []).append(rank)
    for kind, all_ranks in ranks.items():
        for limit, least in zip((1, 5, 20), LEAST.get(kind, LEAST_WITHOUT_BLANKS), strict=True):
            found_above = sum(rank < limit for rank in all_ranks)
            assert found_above >= least * len(all_ranks), f"{kind}: {found_above} of {len(all_ranks)} in {limit}"
