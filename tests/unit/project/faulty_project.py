from pathlib import Path

from duvet.project.project import Project
from duvet.tree.files import MemoryTree
from tests.sample_project import read_files

# These are no comments of this file, so no line of it begins as they do.
RIGHT = "##= tea.md#brewing\n##% The water MUST boil before the leaves are put into the pot.\ndef brew(): ...\n"
FILES = {**read_files(Path(__file__).with_name("projects") / "faulty"), "src/right.py": RIGHT}
BROKEN = FILES["src/broken.rs"]
FIXED = (
    BROKEN.replace("MUST cook", "MUST boil")
    .replace("    //= tea.md#brewing\n    //= type=test", "    //= tea.md#serving\n    //= type=test")
    .replace("leafs", "leaves")
    .replace("srving", "serving")
    .replace("    //= tea.md\n", "    //= tea.md#cleaning\n")
    .replace("tae.md", "tea.md")
    .replace(
        "//= tea.md#serving\n//# The pot MUST be rinsed with water, but",
        "//= tea.md#cleaning\n//# The pot MUST be rinsed with water, and",
    )
    .replace("./tea.md", "tea.md")
)


def project(files: dict[str, str] | None = None) -> Project:
    return Project(tree=MemoryTree({path: text.encode() for path, text in {**FILES, **(files or {})}.items()}))
