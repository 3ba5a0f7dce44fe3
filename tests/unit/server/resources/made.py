"""Readings of small projects that are made in memory."""

from __future__ import annotations

from duvet.project.project import Project
from duvet.tools.context import ProjectSnapshot
from duvet.tree.files import MemoryTree

_CONFIG = "'$schema' = 'duvet-cli/config/v1'\nspecification = [{ source = 'tea.md' }]\n"
TEA = "# Tea\n\n## Pot\n\nThe pot MUST be warm.\n\n## Cup\n\nA cup MUST NOT leak.\n"


def context_of(*paths: str, tea: str = TEA, above: str = "", code: str = "") -> ProjectSnapshot:
    """A reading of a project whose sources of these names all cite the same requirement, between some lines."""
    pattern = "".join(f"[[source]]\npattern = {path!r}\nlanguage = 'rust'\n" for path in map(_exactly, paths))
    cited = f"{above}//= tea.md#pot\n//# The pot MUST be warm.\n{code}"
    files = {".duvet/config.toml": _CONFIG + pattern, "tea.md": tea, **dict.fromkeys(paths, cited)}
    project = Project(tree=MemoryTree({path: text.encode() for path, text in files.items()}))
    return ProjectSnapshot(project, project.catalogue, page_size=50)


def _exactly(path: str) -> str:
    return "".join(f"[{char}]" if char in "*?[" else char for char in path)
