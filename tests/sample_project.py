from collections.abc import Mapping
from pathlib import Path

from duvet import MemoryTree, Options, Project

CONFIG = b"""'$schema' = 'duvet-cli/config/v1'

[[source]]
pattern = ["src/*.rs", "lib/*.rs"]
blob-link = "https://host/${{ COMMIT || 'main' }}"

[[requirement]]
pattern = "more/**/*.toml"

[[specification]]
source = "tea.md"

[report.html]
blob-link = "https://html"
issue-link = "https://issues"
"""
TEA = b"# Tea\n\nThe pot MUST be warm.\nIt MAY be blue.\n\n## Cup\n\nA cup SHOULD\nbe \xe2\x98\x95.\n"
FILES = {
    ".duvet/config.toml": CONFIG,
    ".duvet/exceptions/tea.toml": b"target = 'tea.md#tea'\n[[exception]]\nquote = 'It MAY be blue.'\nreason = 'red'\n",
    "more/a/todo.toml": b"[[todo]]\ntarget = 'tea.md#cup'\nquote = 'A cup SHOULD'\n",
    "tea.md": TEA,
    "src/a.rs": b"//= tea.md#tea\n//# The pot MUST be warm.\n",
    "lib/a.rs": b"//= tea.md#tea\n//= type=test\n//# The pot MUST be warm.\n",
}


def written(folder: Path, files: Mapping[str, bytes] = FILES) -> Path:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def in_memory(files: Mapping[str, bytes], options: Options = Options()) -> Project:  # noqa: B008 - frozen
    return Project(options=options, tree=MemoryTree(files))


def read_files(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
