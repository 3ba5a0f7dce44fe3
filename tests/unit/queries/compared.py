"""Two states of a project in memory, and what has changed between them."""

from __future__ import annotations

from duvet.project.project import Project
from duvet.queries.difference import (
    CitationChange,
    CoverageChange,
    Difference,
    RequirementChange,
    StaleCitation,
    compare_catalogues,
)
from duvet.queries.records import RequirementRow
from duvet.trace.catalogue import Catalogue
from duvet.tree.files import MemoryTree

CONFIG = """\
'$schema' = "duvet-cli/config/v1"
[[source]]
language = "rust"
pattern = "**/*.rs"
[[specification]]
source = "tea.md"
"""
SPECIFICATION = """\
# Tea

## Pot

The pot MUST be warm.
The pot SHOULD be blue.

## Cup

The cup MAY be chipped.
"""
SOURCE = """\
//= tea.md#pot
//# The pot MUST be warm.

//= tea.md#pot
//= type=test
//# The pot MUST be warm.
"""
WARM = "The pot MUST be warm."
FILES = {".duvet/config.toml": CONFIG, "tea.md": SPECIFICATION, "pot.rs": SOURCE}


def catalogue(**changed: str) -> Catalogue:
    """The project with other texts; names are those of files without their extensions."""
    return catalogue_of(
        {**FILES, **{f"{name}.{'md' if name == 'tea' else 'rs'}": text for name, text in changed.items()}}
    )


def catalogue_of(texts: dict[str, str]) -> Catalogue:
    """The project that these files make."""
    return Project(tree=MemoryTree({path: text.encode() for path, text in texts.items()})).catalogue


def changed(**now: str) -> Difference:
    """What has changed since the project was as it is above."""
    return compare_catalogues(catalogue(), catalogue(**now))


def cites(text: str, kind: str = "citation", section: str = "pot") -> str:
    """A comment."""
    return f"//= tea.md#{section}\n//= type={kind}\n//# {text}\n\n"


PARTS = [name for name in Difference.__struct_fields__ if name not in ("then", "now")]


def told(difference: Difference) -> dict[str, list[object]]:
    """The parts in which there is anything, in short."""
    parts = {name: [_short(one) for one in getattr(difference, name)] for name in PARTS}
    return {name: found for name, found in parts.items() if found}


def _short(one: object) -> object:
    match one:
        case RequirementRow():
            return f"{one.target}: {one.text}"
        case CoverageChange():
            return (one.then.status, one.now.status, one.lost, one.gained)
        case CitationChange():
            return (one.kind, one.text, one.places)
        case StaleCitation():
            return (f"{one.file_path}:{one.line_number}", one.kind, one.quote, one.message)
    assert isinstance(one, RequirementChange)
    return (_short(one.then), _short(one.now))
