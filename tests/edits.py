"""Ways to change files, each as atomic as the system allows."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

Edit = Callable[[Path], object]


def append(name: str, text: str = "\n") -> Edit:
    """Append text to a file with a single call."""

    def edit(folder: Path) -> None:
        handle = os.open(folder / name, os.O_WRONLY | os.O_APPEND)
        os.write(handle, text.encode())
        os.close(handle)

    return edit


def create(name: str, text: str = "// new\n") -> Edit:
    """Create a complete file, with its folders."""

    def edit(folder: Path) -> None:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        prepared(folder, text).replace(folder / name)

    return edit


def prepared(folder: Path, text: str) -> Path:
    """Write a file that is then moved into place, so that nobody sees a part of it."""
    path = folder / "prepared"
    path.write_text(text)
    return path


def save_by_rename(name: str, text: str) -> Edit:
    """Save as careful editors do: move a new file over the old one."""

    def edit(folder: Path) -> None:
        path = folder / name
        temporary = path.with_name(f"{path.name}.tmp")
        temporary.write_text(text)
        temporary.replace(path)

    return edit


def save_with_backup(name: str, text: str) -> Edit:
    """Save as vim does: write a test file, move the old file away, write the new one, delete the old one."""

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
    """Remove a file or folder."""

    def edit(folder: Path) -> None:
        path = folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()

    return edit


def move(name: str, to: str) -> Edit:
    return lambda folder: (folder / name).rename(folder / to)


def link(name: str, to: str) -> Edit:
    """Create a symlink in place of anything else."""

    def edit(folder: Path) -> None:
        new = folder / "link"
        new.symlink_to(to)
        new.replace(folder / name)

    return edit
