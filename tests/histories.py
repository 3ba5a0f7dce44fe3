"""Scratch git repositories in which equal commits always have the same hashes."""

import os
import subprocess
from pathlib import Path

from tests.cli.sample_project import make

ENVIRON = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    **{f"GIT_{role}_NAME": "Ann" for role in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{role}_EMAIL": "ann@example.org" for role in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{role}_DATE": "2026-01-01T12:00:00Z" for role in ("AUTHOR", "COMMITTER")},
    "PATH": os.environ["PATH"],
}


def git(folder: Path, *args: str) -> str:
    command = ["git", "-c", "protocol.file.allow=always", *args]
    return subprocess.run(command, cwd=folder, env=ENVIRON, check=True, capture_output=True, text=True).stdout.strip()


def history(folder: Path, texts: dict[str, str], *options: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch=main", *options)
    make(folder, texts)
    commit(folder)
    return folder


def commit(folder: Path) -> str:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message=change")
    return git(folder, "rev-parse", "HEAD")
