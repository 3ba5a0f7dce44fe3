"""Ways to change files, each done at once as far as the system lets it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

Edit = Callable[[Path], object]


def append(name: str, text: str = "\n") -> Edit:
    """More text at the end of the same file, with a single call."""

    def edit(folder: Path) -> None:
        handle = os.open(folder / name, os.O_WRONLY | os.O_APPEND)
        os.write(handle, text.encode())
        os.close(handle)

    return edit


def create(name: str, text: str = "// new\n") -> Edit:
    """A whole file where none was, in folders that may not have been there."""

    def edit(folder: Path) -> None:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        prepared(folder, text).replace(folder / name)

    return edit


def prepared(folder: Path, text: str) -> Path:
    """A file that is to be moved into place: nobody sees it half written."""
    path = folder / "prepared"
    path.write_text(text)
    return path


def save_by_rename(name: str, text: str) -> Edit:
    """What careful editors do: a new file is moved over the old one."""

    def edit(folder: Path) -> None:
        path = folder / name
        temporary = path.with_name(f"{path.name}.tmp")
        temporary.write_text(text)
        temporary.replace(path)

    return edit


def save_with_backup(name: str, text: str) -> Edit:
    """What vim does: a trial, the old file is moved away, a new one takes its place, the old one is deleted."""

    def edit(folder: Path) -> None:
        path = folder / name
        trial, backup, new = path.with_name("4913"), path.with_name(f"{path.name}~"), prepared(folder, text)
        trial.touch()
        trial.unlink()
        path.rename(backup)
        new.rename(path)
        backup.unlink()

    return edit


def delete(name: str) -> Edit:
    """No file or folder any more."""

    def edit(folder: Path) -> None:
        path = folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()

    return edit


def move(name: str, to: str) -> Edit:
    return lambda folder: (folder / name).rename(folder / to)


def link(name: str, to: str) -> Edit:
    """A link, in place of what may have been there."""

    def edit(folder: Path) -> None:
        new = folder / "link"
        new.symlink_to(to)
        new.replace(folder / name)

    return edit
