"""What people and programs do to a project, chosen at random."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

from tests.cli.made import SPECIFICATION
from tests.unit.cache.house import BLOCKS, CONFIGS, FOLDERS, HOUSE, NAMES, OUTPUTS, TEA, TODO
from tests.unit.cache.twins import Edit


def _names(choice: random.Random) -> str:
    return f"{choice.choice(FOLDERS)}/{choice.choice(NAMES)}"


def _there(folder: Path, choice: random.Random, pattern: str = "**/*") -> Path:
    """Something that is there."""
    found = [path for path in sorted(folder.glob(pattern)) if ".duvet/cache" not in path.as_posix()]
    return choice.choice(found or [folder / "src"])


def _a_file(folder: Path, choice: random.Random) -> Path:
    path = _there(folder, choice, choice.choice(("**/*.rs", "**/*.rs", "**/*.toml", "docs/*", "*.md", "specs/*")))
    return path if path.is_file() else folder / "src" / "a.rs"


def _put(path: Path, data: bytes) -> None:
    """Write a file, unless something is in its way."""
    if any(above.is_file() for above in path.parents) or path.is_dir() or (path.exists() and not path.is_file()):
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        for inside in path.iterdir():
            _remove(inside)
        path.rmdir()
    else:
        path.unlink(missing_ok=True)


def _instead(path: Path, place: Callable[[Path], object]) -> None:
    """Put something where something else stands."""
    _remove(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    place(path)


def write(folder: Path, choice: random.Random) -> None:
    blocks = choice.choices(BLOCKS, k=choice.randrange(3))
    _put(folder / _names(choice), "".join(blocks).encode("latin-1"))


def append(folder: Path, choice: random.Random) -> None:
    path = _a_file(folder, choice)
    if path.is_file():
        path.write_bytes(path.read_bytes() + choice.choice(BLOCKS).encode("latin-1"))


def swap_letters(folder: Path, choice: random.Random) -> None:
    """The size stays, and so does the time."""
    path = _a_file(folder, choice)
    if path.is_file():
        info = path.stat()
        old, new = choice.choice(((b"MUST", b"MIST"), (b"MIST", b"MUST"), (b"boil", b"soil"), (b"MAY", b"may")))
        path.write_bytes(path.read_bytes().replace(old, new, 1))
        os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))


def touch(folder: Path, choice: random.Random) -> None:
    path = _a_file(folder, choice)
    if path.is_file():
        moment = choice.choice((None, (0, 0), (1 << 62, 1 << 62)))
        os.utime(path, ns=moment) if moment else os.utime(path)


def delete(folder: Path, choice: random.Random) -> None:
    path = _a_file(folder, choice)
    if path.is_file():
        path.unlink()


def rename(folder: Path, choice: random.Random) -> None:
    path, other = _a_file(folder, choice), folder / _names(choice)
    if path.is_file() and other.parent.is_dir() and not other.is_dir():
        path.replace(other)


def rename_folder(folder: Path, choice: random.Random) -> None:
    path, other = (folder / choice.choice(FOLDERS) for _ in range(2))
    is_free = other.parent.is_dir() and not os.path.lexists(other) and path not in other.parents
    if path.is_dir() and not path.is_symlink() and is_free:
        path.rename(other)


def delete_folder(folder: Path, choice: random.Random) -> None:
    _remove(folder / choice.choice(FOLDERS[1:]))


def make_folder(folder: Path, choice: random.Random) -> None:
    path = folder / choice.choice((_names(choice), choice.choice(FOLDERS)))
    if not any(above.is_file() for above in path.parents) and not os.path.lexists(path):
        path.mkdir(parents=True)


def link(folder: Path, choice: random.Random) -> None:
    """Something becomes a link to a file, to a folder, into a loop or to nothing."""
    path = folder / _names(choice)
    if not any(above.is_symlink() or above.is_file() for above in path.parents):
        targets = ("a.rs", "../a.rs", ".", "..", "../deep", "../tests", "nowhere", path.name, "../spec.md")
        _instead(path, lambda path: path.symlink_to(choice.choice(targets)))


def pipe(folder: Path, choice: random.Random) -> None:
    path = folder / _names(choice)
    if not any(above.is_symlink() or above.is_file() for above in path.parents):
        _instead(path, os.mkfifo)


def ignore(folder: Path, choice: random.Random) -> None:
    path = folder / choice.choice(("", "src", "src/deep", "lib")) / ".gitignore"
    if path.parent.is_dir() and not path.is_dir():
        lines = choice.choices(("*.rs", "!a.rs", "deep/", "/src", "er", "# no", "b.*"), k=choice.randrange(3))
        _put(path, "\n".join(lines).encode())


def specify(folder: Path, choice: random.Random) -> None:
    """A specification is wrapped anew, says something else, is gone, or is back."""
    path, text = choice.choice(((folder / "spec.md", SPECIFICATION), (folder / "specs/tea.txt", TEA)))
    new = (text, text.replace(" MUST ", "\nMUST "), text.replace("MAY", "SHOULD"), text.replace("warm", "cold"))
    if choice.randrange(4):
        _put(path, choice.choice((*new, f"{text}\n## More\n\nIt MUST be more.\n")).encode())
    elif path.is_file():
        path.unlink()


def require(folder: Path, choice: random.Random) -> None:
    """A requirement file is written by hand, changed, or gone."""
    extracted = ("spec/heating.toml", "spec/pouring.toml", "spec/gone.toml", "specs/tea/1.toml", "mine.toml")
    names = (*(f".duvet/requirements/{name}" for name in extracted), "notes/a.toml", ".duvet/todos/t.toml")
    path = folder / choice.choice(names)
    stale = "target = \"spec.md#gone\"\n\n# Gone\n#\n# It MUST go.\n\n[[spec]]\nlevel = \"MUST\"\nquote = '''\nIt MUST go.\n'''\n\n"
    if choice.randrange(4):
        _put(path, choice.choice((TODO.replace("TODO", "todo"), TODO, stale, "not TOML", "")).encode())
    elif path.is_file():
        path.unlink()


def configure(folder: Path, choice: random.Random) -> None:
    path = folder / choice.choice((".duvet/config.toml", ".duvet/config.toml", "second.toml"))
    if choice.randrange(10):
        # What can be read is more telling than what can't.
        _put(path, choice.choice((*CONFIGS, *CONFIGS[:6], *CONFIGS[:6])).encode())
    elif path.is_file():
        path.unlink()


def spoil_output(folder: Path, choice: random.Random) -> None:
    """A report is changed, gone, a folder, or a link."""
    path = folder / choice.choice(OUTPUTS)
    if not path.parent.is_dir():
        return
    kinds: tuple[Callable[[Path], object], ...] = (
        lambda path: path.write_bytes(b"changed"),
        lambda path: None,
        lambda path: None,
        Path.mkdir,
        lambda path: path.symlink_to("elsewhere"),
    )
    _instead(path, choice.choice(kinds))


def mend(folder: Path, choice: random.Random) -> None:
    """What is wrong is put right: else nearly every run would end with problems."""
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
    *(spoil_output, spoil_output, mend, mend, mend, mend, mend, mend),
)
