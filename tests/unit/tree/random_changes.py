import os
import random
import time
from collections.abc import Callable
from datetime import date
from functools import wraps
from pathlib import Path

from tests.cli.sample_project import SPECIFICATION, make
from tests.unit.tree.twins import Edit

Place = Callable[[Path], object]
FileChange = Callable[[Path, Path, random.Random], object]
_EXTENDED = """\
'$schema' = "duvet-cli/config/v1"
[[source]]
pattern = ["src/**/*.rs", "lib/*/*.rs"]
exclude = ["src/**/old", "lib/x*"]
gitignore = true
[[source]]
pattern = "tests/**/*.rs"
type = "test"
blob-link = "${{ LINK || 'https://host/tests' }}"
[[source]]
pattern = "docs/**/*"
[[specification]]
source = "spec.md"
[[specification]]
source = "specs/tea.txt"
[[requirement]]
pattern = "notes/*.toml"
[report.html]
blob-link = "${{ LINK || 'https://host/blob' }}"
[report.json]
enabled = true
[report.snapshot]
enabled = true
"""
_SMALL = """\
'$schema' = "https://awslabs.github.io/duvet/config/v0.4.json"
[[source]]
pattern = "**/*.rs"
[[specification]]
source = "spec.md"
[report.html]
enabled = true
issue-link = "${{ LINK || OTHER }}"
"""
_ENTRIES = """\
[[not-applicable]]
target = "spec.md#pouring"
reason = "no spout"
expiry = 2030-01-31
[[not-applicable]]
target = "specs/tea.txt#1"
quote = "The pot MUST be warm."
reason = "no pot"
expiry = 2030-02-01
"""
DAYS = (None, *(date(2030, month, day) for month, day in ((1, 30), (1, 31), (2, 1), (2, 2))))
"""Before, while and after one entry and the other expires."""
NOT_OWED = _EXTENDED + _ENTRIES
CONFIGS = (
    _EXTENDED,
    NOT_OWED,
    _EXTENDED.replace("gitignore = true\n", ""),
    _EXTENDED.replace("docs/**/*", "docs/**").replace('exclude = ["src/**/old", "lib/x*"]\n', ""),
    _EXTENDED.replace("[[specification]]", "[report.snapshot]\npath = 'other.txt'\n[[specification]]", 1).replace(
        "[report.snapshot]\nenabled = true\n", ""
    ),
    _SMALL,
    _SMALL.replace("**/*.rs", "src/**x"),
    _SMALL.replace("enabled = true", "enabled = 'yes'"),
    _SMALL.replace("spec.md", "./spec.md"),
    "not TOML",
)
TEA = """\
1.  Tea

   The pot MUST be warm.  It SHOULD be brown.

2.  Milk

   Milk MAY be added, but MUST NOT be warm.
"""
BLOCKS = (
    "//= spec.md#heating\n//# The kettle MUST boil water.\n",
    "//= spec.md#heating\n//= type=test\n//# The kettle MUST boil water.\n",
    "//= spec.md#pouring\n//= type=exception\n//= reason=no\n//# The spout MAY drip.\n",
    "//= spec.md#pouring\n//= type=todo\n//# The spout MAY drip.\n",
    "//= specs/tea.txt#1\n//# The pot MUST be warm.\n",
    "//= specs/tea.txt#2\n//= type=implication\n//# Milk MAY be added,\n//# but MUST NOT be warm.\n",
    "//= spec.md#heating\n//# The kettle MUST boil watr.\n",
    "//= spec.md#heating\n//# The kettle MUST cook tea.\n",
    "//= spec.md#heeting\n//# The kettle MUST boil water.\n",
    "//= gone.md#heating\n//# The kettle MUST boil water.\n",
    "//= type=test\n",
    "fn main() {}\n",
    "",
    "\xe9\n",
)
TODO = 'target = "spec.md#heating"\n\n[[TODO]]\nquote = "It SHOULD whistle when done."\n'
HOUSE = {
    ".duvet/config.toml": _EXTENDED,
    "spec.md": SPECIFICATION,
    "specs/tea.txt": TEA,
    "src/a.rs": BLOCKS[0],
    "src/deep/er/b.rs": BLOCKS[4],
    "src/old/c.rs": BLOCKS[7],
    "lib/one/d.rs": BLOCKS[3],
    "tests/t.rs": BLOCKS[0],
    "docs/page.txt": BLOCKS[11],
    "notes/todo.toml": TODO.replace("TODO", "todo"),
    ".duvet/exceptions/e.toml": TODO.replace("TODO", "exception").replace("\n\n[", "\n\n[") + 'reason = "quiet"\n',
}
FOLDERS = (
    *("src", "src/deep", "src/deep/er", "src/old", "src/new", "src/\udcfe", "lib", "lib/one", "lib/xy"),
    *("tests", "docs", "docs/q", "docs/n\nl"),
)
NAMES = ("a.rs", "b.rs", "c.rs", "n\nl.rs", "é.rs", "\udcff.rs", "z.txt")
OUTPUTS = (
    *("out.json", "out2.json", "page.html", ".duvet/reports/report.html", ".duvet/reports/report.json"),
    *(".duvet/snapshot.txt", "other.txt", "cover/spec.lcov", "src/z.txt"),
)
OPTIONS: tuple[tuple[str, ...], ...] = (
    (),
    (),
    (),
    ("--json", "out.json", "--json-v2", "out2.json", "--html", "page.html", "--lcov", "cover"),
    ("--json", "other.json"),
    ("--json", "-"),
    ("--ci",),
    ("--strict",),
    ("--prune",),
    ("--lcov", "cover", "--require-tests", "false"),
    ("--config-path", "second.toml"),
    ("--source-pattern", "(##=,##%)docs/*", "--spec-pattern", "notes/*.toml"),
    ("--html", "docs/page.html", "--json", "src/z.txt"),
)


def fill(folder: Path) -> None:
    make(folder, HOUSE)


def _name(choice: random.Random) -> str:
    return f"{choice.choice(FOLDERS)}/{choice.choice(NAMES)}"


def _put(path: Path, data: bytes) -> None:
    if any(above.is_file() for above in path.parents) or path.is_dir() or (path.exists() and not path.is_file()):
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _put_or_remove(path: Path, choice: random.Random, text: str) -> None:
    if choice.randrange(4):
        _put(path, text.encode())
    elif path.is_file():
        path.unlink()


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        for inside in path.iterdir():
            _remove(inside)
        path.rmdir()
    else:
        path.unlink(missing_ok=True)


def _replace(path: Path, place: Place) -> None:
    if not any(above.is_symlink() or above.is_file() for above in path.parents):
        _remove(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        place(path)


def _of_file(change: FileChange) -> Edit:
    @wraps(change)
    def edit(folder: Path, choice: random.Random) -> None:
        pattern = choice.choice(("**/*.rs", "**/*.rs", "**/*.toml", "docs/*", "*.md", "specs/*"))
        found = [path for path in sorted(folder.glob(pattern)) if ".duvet/cache" not in path.as_posix()]
        path = choice.choice(found or [folder / "src" / "a.rs"])
        if path.is_file():
            change(folder, path, choice)

    return edit


def write(folder: Path, choice: random.Random) -> None:
    blocks = choice.choices(BLOCKS, k=choice.randrange(3))
    _put(folder / _name(choice), "".join(blocks).encode("latin-1"))


@_of_file
def append(folder: Path, path: Path, choice: random.Random) -> None:
    path.write_bytes(path.read_bytes() + choice.choice(BLOCKS).encode("latin-1"))


@_of_file
def swap_letters(folder: Path, path: Path, choice: random.Random) -> None:
    info = path.stat()
    old, new = choice.choice(((b"MUST", b"MIST"), (b"MIST", b"MUST"), (b"boil", b"soil"), (b"MAY", b"may")))
    path.write_bytes(path.read_bytes().replace(old, new, 1))
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))


@_of_file
def touch(folder: Path, path: Path, choice: random.Random) -> None:
    os.utime(path, ns=choice.choice(((path.stat().st_atime_ns, time.time_ns()), (0, 0), (1 << 62, 1 << 62))))


@_of_file
def delete(folder: Path, path: Path, choice: random.Random) -> None:
    path.unlink()


@_of_file
def rename(folder: Path, path: Path, choice: random.Random) -> None:
    other = folder / _name(choice)
    if other.parent.is_dir() and not other.is_dir():
        path.replace(other)


def rename_folder(folder: Path, choice: random.Random) -> None:
    path, other = (folder / choice.choice(FOLDERS) for _ in range(2))
    is_free = other.parent.is_dir() and not os.path.lexists(other) and path not in other.parents
    if path.is_dir() and not path.is_symlink() and is_free:
        path.rename(other)


def delete_folder(folder: Path, choice: random.Random) -> None:
    _remove(folder / choice.choice(FOLDERS[1:]))


def make_folder(folder: Path, choice: random.Random) -> None:
    path = folder / choice.choice((_name(choice), choice.choice(FOLDERS)))
    if not any(above.is_file() for above in path.parents) and not os.path.lexists(path):
        path.mkdir(parents=True)


def link(folder: Path, choice: random.Random) -> None:
    path = folder / _name(choice)
    targets = ("a.rs", "../a.rs", ".", "..", "../deep", "../tests", "nowhere", path.name, "../spec.md")
    _replace(path, lambda path: path.symlink_to(choice.choice(targets)))


def pipe(folder: Path, choice: random.Random) -> None:
    _replace(folder / _name(choice), os.mkfifo)


def ignore(folder: Path, choice: random.Random) -> None:
    path = folder / choice.choice(("", "src", "src/deep", "lib")) / ".gitignore"
    if path.parent.is_dir() and not path.is_dir():
        lines = choice.choices(("*.rs", "!a.rs", "deep/", "/src", "er", "# no", "b.*"), k=choice.randrange(3))
        _put(path, "\n".join(lines).encode())


def specify(folder: Path, choice: random.Random) -> None:
    path, text = choice.choice(((folder / "spec.md", SPECIFICATION), (folder / "specs/tea.txt", TEA)))
    more = f"{text}\n## More\n\nIt MUST be more.\n"
    new = (text.replace(" MUST ", "\nMUST "), text.replace("MAY", "SHOULD"), text.replace("warm", "cold"))
    _put_or_remove(path, choice, choice.choice((text, *new, more)))


def require(folder: Path, choice: random.Random) -> None:
    extracted = ("spec/heating.toml", "spec/pouring.toml", "spec/gone.toml", "specs/tea/1.toml", "mine.toml")
    names = (*(f".duvet/requirements/{name}" for name in extracted), "notes/a.toml", ".duvet/todos/t.toml")
    stale = 'target = "spec.md#gone"\n\n# Gone\n#\n# It MUST go.\n\n[[spec]]\nlevel = "MUST"\n'
    texts = (TODO.replace("TODO", "todo"), TODO, f"{stale}quote = '''\nIt MUST go.\n'''\n\n", "not TOML", "")
    _put_or_remove(folder / choice.choice(names), choice, choice.choice(texts))


def configure(folder: Path, choice: random.Random) -> None:
    path = folder / choice.choice((".duvet/config.toml", ".duvet/config.toml", "second.toml"))
    # Configurations that can be read find more faults than those that can't.
    _put_or_remove(path, choice, choice.choice((*CONFIGS, *CONFIGS[:6], *CONFIGS[:6])))


def spoil_output(folder: Path, choice: random.Random) -> None:
    path = folder / choice.choice(OUTPUTS)
    if not path.parent.is_dir():
        return
    places: tuple[Place, ...] = (
        *(lambda path: path.write_bytes(b"changed"), lambda path: None, lambda path: None),
        *(Path.mkdir, lambda path: path.symlink_to("elsewhere")),
    )
    _remove(path)
    choice.choice(places)(path)


def restore(folder: Path, choice: random.Random) -> None:
    """Repair everything, because otherwise nearly every run would end with errors."""
    wanted = {folder / name: text.encode() for name, text in HOUSE.items()}
    known = {path for file in wanted for path in (file, *file.parents)}
    for path in sorted(folder.rglob("*")):
        if path not in known and ".duvet" not in path.parts and os.path.lexists(path):
            _remove(path)
    for path, data in wanted.items():
        if path.is_symlink() or not path.is_file() or path.read_bytes() != data:
            for above in (path, *path.parents):
                if above.is_symlink() or (above.exists() and above.is_dir() == (above == path)):
                    _remove(above)
            _put(path, data)


EDITS: tuple[Edit, ...] = (
    *(write, write, append, append, swap_letters, swap_letters, touch, delete, rename, rename_folder, delete_folder),
    *(make_folder, link, pipe, ignore, ignore, specify, specify, require, require, configure),
    *(spoil_output, spoil_output, restore, restore, restore, restore, restore, restore),
)
