"""What the links of documents lead to: files of the project, and requirements."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping

from duvet.knowledge.ingest.remembered import Remembered
from duvet.knowledge.ingest.tracing import Traced, node_id, section_key
from duvet.knowledge.pages.records import Link
from duvet.knowledge.pages.requirements import References
from duvet.knowledge.pages.slugs import plain
from duvet.store.records import Artifact, Edge, Label, Relation

_INDEXES = ("README.md", "index.md")
"""What a link to a folder leads to."""


class Links:
    """Finds what is meant by what stands in a document."""

    def __init__(
        self, artifacts: Mapping[str, Artifact], known: Mapping[str, Remembered], traced: Traced | None
    ) -> None:
        self._artifacts = artifacts
        self._known = known
        self._traced = traced
        self._references = References(traced.catalogue) if traced else None
        self._slugs: dict[str, str] = {}
        for path, one in known.items():
            if path in artifacts and (one.slug or path.endswith(".md")):
                self._name(path, one.slug)

    def _name(self, path: str, slug: str) -> None:
        """What a page may be called: its path without its ending, from any folder on."""
        stem = path.removesuffix(".md")
        self._slugs.setdefault(plain(slug or stem), path)
        while "/" in stem and not slug:
            stem = stem.partition("/")[2]
            self._slugs.setdefault(plain(stem), path)

    def edges(self) -> Iterator[Edge]:
        """An edge for each thing that a document links to."""
        for path, one in self._known.items():
            artifact = self._artifacts.get(path)
            if artifact is None or not (one.links or one.pages):
                continue
            source = node_id(artifact)
            targets = dict.fromkeys((*self._files(path, one), *self._pages(one)))
            ##= man/spec/knowledge.md#files
            ##% A link of a document to a file of the project, to a page or to a requirement MUST be an edge of the graph.
            for target in targets:
                if target != source:
                    yield Edge(source=source, relation=Relation.LINKS_TO, target=target)

    def _files(self, path: str, one: Remembered) -> Iterator[str]:
        for link in one.links:
            start = "" if link.startswith("/") else posixpath.dirname(path)
            target = posixpath.normpath(posixpath.join(start, link.lstrip("/")))
            for candidate in (target, *(posixpath.join(target, name) for name in _INDEXES)):
                if found := self._artifacts.get(candidate):
                    yield node_id(found)
                    break

    def _pages(self, one: Remembered) -> Iterator[str]:
        for written in one.pages:
            name, _, heading = written.partition("#")
            page = self._artifacts.get(self._slugs.get(plain(name), ""))
            if page is not None:
                yield node_id(page)
            elif self._references is not None and self._traced is not None:
                yield from self._meant(Link(plain(name), heading.strip(), 0, 0, 0), self._references, self._traced)

    @staticmethod
    def _meant(link: Link, references: References, traced: Traced) -> Iterator[str]:
        found = references.meant(link)
        if found is None:
            return
        yield from (traced.ids[index] for index in found.indexes)
        if found.specification is not None and not found.indexes:
            specification = traced.catalogue.specifications[found.specification]
            if found.section is None:
                yield f"{Label.SPECIFICATION}:{specification.id}"
            else:
                yield f"{Label.SECTION}:{section_key(specification, found.section)}"
