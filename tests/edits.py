"""Ways to change files, each as atomic as the system allows."""

import os
import shutil
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec

Edit = Callable[[Path], object]
Given = ParamSpec("Given")


def _bind(edit: Callable[Concatenate[Path, Given], object]) -> Callable[Given, Edit]:
    @wraps(edit)
    def make(*args: Given.args, **more: Given.kwargs) -> Edit:
        return lambda folder: edit(folder, *args, **more)

    return make


@_bind
def append(folder: Path, name: str, text: str = "\n") -> None:
    # A single call of the system writes all of it.
    with open(folder / name, "ab", buffering=0) as file:
        file.write(text.encode())


@_bind
def create(folder: Path, name: str, text: str = "// new\n") -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    prepared(folder, text).replace(folder / name)


def prepared(folder: Path, text: str) -> Path:
    path = folder / "prepared"
    path.write_text(text)
    return path


@_bind
def save_by_rename(folder: Path, name: str, text: str) -> None:
    temporary = folder / f"{name}.tmp"
    temporary.write_text(text)
    temporary.replace(folder / name)


@_bind
def save_with_backup(folder: Path, name: str, text: str) -> None:
    """Save as vim does: write a test file, move the old file away, write the new one, delete the old one."""
    path = folder / name
    trial, backup, new = path.with_name("4913"), path.with_name(f"{path.name}~"), prepared(folder, text)
    trial.touch()
    trial.unlink()
    path.rename(backup)
    new.rename(path)
    backup.unlink()


@_bind
def delete(folder: Path, name: str) -> None:
    path = folder / name
    shutil.rmtree(path) if path.is_dir() else path.unlink()


@_bind
def move(folder: Path, name: str, to: str) -> None:
    (folder / name).rename(folder / to)


@_bind
def link(folder: Path, name: str, to: str) -> None:
    os.symlink(to, folder / "link")
    (folder / "link").replace(folder / name)
