import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

Damage = Callable[[Path], object]


def holds(name: str, data: bytes) -> Damage:
    return lambda folder: _cleared(folder / name).write_bytes(data)


def missing(name: str) -> Damage:
    return lambda folder: (folder / name).unlink()


def pipe(name: str) -> Damage:
    return lambda folder: os.mkfifo(_cleared(folder / name))


def directory(name: str) -> Damage:
    return lambda folder: _cleared(folder / name).mkdir()


def link(name: str, target: str) -> Damage:
    return lambda folder: _cleared(folder / name).symlink_to(target)


def loop(name: str) -> Damage:
    return link(name, Path(name).name)


def unreadable(name: str) -> Damage:
    return link(name, "/proc/self/mem")


def _cleared(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    return path


@contextmanager
def small_files(size: int) -> Iterator[None]:
    import resource

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[None]:
    old = {path: path.read_bytes() for path in folder.iterdir()}
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    mounted = subprocess.run(command, capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip(f"no disk of its own: {mounted.stderr.decode().strip()}")
    try:
        for path, data in old.items():
            path.write_bytes(data)
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)
