"""What is referred to in a project, as people would say it"""

from __future__ import annotations

import pytest

from duvet import MemoryTree, Project
from duvet.errors import NotFoundError
from duvet.queries.references import FileRef, RequirementRef, ResolvedReference, SectionRef, SpecRef, resolve_reference
from duvet.trace.catalogue import Catalogue
from duvet.trace.locations import ProjectFiles
from tests.cli.made_tea import TEA_PROJECT

MORE = {
    "cafe.md": "# Place\n\n## Added\n\nA cafe MUST open.\n\n## Tee & Öl\n\n## 5bfb\n",
    "src/1dd6.rs": "//= cafe.md#added\n//# A cafe MUST open.\n",
    "src/c#.rs": "/*\n *= tea.md#sugar\n *\n *= tea.md#cup\n *# A cup MUST NOT leak.\n */\nint cup;\nint two;\n\nint three;\n",
    "src/empty.rs": "",
}
CONFIG = TEA_PROJECT[".duvet/config.toml"] + (
    '[[specification]]\nsource = "cafe.md"\n'
    '[[source]]\npattern = "src/c#.rs"\ncomment-style = { meta = "*=", content = "*#" }\n'
)
FILES = {**TEA_PROJECT, **MORE, ".duvet/config.toml": CONFIG}
TREE = MemoryTree({path: text.encode() for path, text in FILES.items()})
CATALOGUE = Project(tree=TREE).catalogue
ROOT = "/home/me/tea"
WARM, ROUND, LID, LEAK = "1dd64a535306", "a5415b83517f", "5bfbf88bbb38", "2c79658776d2"
PLACES = [f"/specifications/tea/sections/{section}/requirements/{WARM}" for section in ("pot", "cup")]


def found(reference: str) -> ResolvedReference:
    return resolve_reference(CATALOGUE, reference, ProjectFiles(TREE, ROOT))


def shown(meant: ResolvedReference, catalogue: Catalogue = CATALOGUE) -> list[str]:
    """What is meant, as people would say it."""
    match meant:
        case RequirementRef(indexes):
            return [catalogue.full_path_of(catalogue.requirements[index]) for index in indexes]
        case SectionRef(specification, section):
            return [f"{catalogue.specifications[specification].id}#{section}"]
        case SpecRef(specification):
            return [catalogue.specifications[specification].id]
        case FileRef(path, indexes):
            return [path, *(str(catalogue.citations[number].line) for number in indexes)]
    return [catalogue.citations[number].id for number in meant.indexes]


def said(reference: str, files: ProjectFiles | None = None) -> str:
    """What is said where nothing, or too much, is meant."""
    with pytest.raises(NotFoundError) as caught:
        resolve_reference(CATALOGUE, reference, files)
    return f"{caught.value.message}\n{caught.value.hint}".rstrip()
