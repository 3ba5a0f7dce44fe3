"""The graph of files, subsystems, requirements and links."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from duvet.store.records import NodeLabel, Relation
from tests.unit.knowledge.ingest.ingest_projects import LEDGER, LONG_AGO, ingest_files, opened, project, written
from tests.unit.store.store_files import node

CATALOGUE = "ledger:\n  description: Books\n  criticality: high\n  dependencies: [mail, Outside]\n"


def edges(folder: Path) -> list[str]:
    """Return all stored edges as text, except those to chunks."""
    with closing(opened(folder)) as store:
        found = []
        for label in NodeLabel:
            for node in store.nodes(label) if label is not NodeLabel.CHUNK else ():
                for edge, _ in store.edges(node.id, out=True, limit=1000):
                    if edge.relation is not Relation.HAS_CHUNK:
                        about = " ".join(f"{key}={value}" for key, value in edge.properties.items())
                        found.append(f"{edge.source} {edge.relation} {edge.target} {about}".strip())
        return sorted(found)


def test_the_nodes_and_edges_of_a_project(tmp_path: Path) -> None:
    folder = written(tmp_path, {**LEDGER, "subsystems.yaml": CATALOGUE})
    balance, note = (one[:12] for one in project(folder).catalogue.ids)
    design = LEDGER["docs/ledger/design.md"].replace("REQUIREMENT", balance)
    ingest_files(written(folder, {"docs/ledger/design.md": design}))
    assert edges(folder) == sorted(
        [
            "DesignDoc:docs/ledger/design.md DESCRIBES Subsystem:ledger",
            "DesignDoc:docs/ledger/design.md LINKS_TO DesignDoc:docs/spec.md",
            f"DesignDoc:docs/ledger/design.md LINKS_TO Requirement:spec#booking/{balance}",
            "DesignDoc:docs/ledger/design.md LINKS_TO SourceFile:src/app/ledger/book.py",
            f"Requirement:spec#booking/{balance} PART_OF Section:spec#booking",
            f"Requirement:spec#booking/{note} PART_OF Section:spec#booking",
            "Section:spec#booking PART_OF Specification:spec",
            "Section:spec#ledger PART_OF Specification:spec",
            "SourceFile:src/app/ledger/book.py BELONGS_TO Subsystem:ledger",
            f"SourceFile:src/app/ledger/book.py CITES Requirement:spec#booking/{balance} kinds=['implementation'] lines=[2]",
            "SourceFile:src/app/mail/send.py BELONGS_TO Subsystem:mail",
            "Specification:spec WRITTEN_IN DesignDoc:docs/spec.md",
            "Subsystem:ledger DEPENDS_ON Subsystem:Outside",
            "Subsystem:ledger DEPENDS_ON Subsystem:mail",
            f"TestCase:tests/ledger/test_book.py CITES Requirement:spec#booking/{balance} kinds=['test'] lines=[1]",
            "TestCase:tests/ledger/test_book.py VALIDATES Subsystem:ledger",
        ]
    )
    with closing(opened(folder)) as store:
        assert [*store.nodes(NodeLabel.SUBSYSTEM)] == [
            node("Subsystem:Outside"),
            node("Subsystem:ledger", description="Books", criticality="high"),
            node("Subsystem:mail"),
        ]
        assert store.node(NodeLabel.REQUIREMENT, f"spec#booking/{balance}") == node(
            f"Requirement:spec#booking/{balance}",
            "An entry MUST balance.",
            text="An entry MUST balance.",
            level="MUST",
            status="done",
            target="docs/spec.md#booking",
            full_path=f"/specifications/spec/sections/booking/requirements/{balance}",
            line=5,
        )
        spec = node("Specification:spec", "Ledger", url="docs/spec.md", path="docs/spec.md")
        assert store.node(NodeLabel.SPECIFICATION, "spec") == spec
        assert store.node(NodeLabel.DESIGN_DOC, "docs/ledger/design.md") == node(
            "DesignDoc:docs/ledger/design.md",
            "Design",
            path="docs/ledger/design.md",
            artifact_type="doc",
            subsystem="ledger",
            namespace="docs",
            tags=["money"],
            git_timestamp=LONG_AGO,
            chunk_count=1,
        )


def test_links_by_path_and_slug(tmp_path: Path) -> None:
    pages = {
        "docs/a.md": "[up](../README.md) [folder](.) [abs](/docs/b.md) [no](no.md) [out](../../x.md) [web](http://x/a.md)",
        "docs/b.md": "---\nslug: named\n---\n[[named]] [[deep/c]] [[nothing]] [[c|label]] [[docs/a#part]]",
        "docs/deep/c.md": "[[named]]",
        "docs/README.md": "x",
        "README.md": "x",
    }
    ingest_files(written(tmp_path, pages))
    assert [one.replace("DesignDoc:", "") for one in edges(tmp_path)] == [
        "docs/a.md LINKS_TO README.md",
        "docs/a.md LINKS_TO docs/README.md",
        "docs/a.md LINKS_TO docs/b.md",
        "docs/b.md LINKS_TO docs/a.md",
        "docs/b.md LINKS_TO docs/deep/c.md",
        "docs/deep/c.md LINKS_TO docs/b.md",
    ]
