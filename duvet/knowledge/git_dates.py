"""Dates of files from git: first and last commits."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from threading import Timer
from typing import TYPE_CHECKING

from msgspec import DecodeError, Struct, ValidationError, msgpack

from duvet.errors import DuvetError
from duvet.project.project import Project
from duvet.tree.git import GitCommand, GitRepository

if TYPE_CHECKING:
    from subprocess import Popen


_VARIABLES = ("PATH", "HOME", "SYSTEMROOT")
_COMMIT = b"\x01"
_LONGEST = 120.0
"""Seconds that git may take: without it there are other times."""
_BLOCK = 1 << 20


class LastCommit(Struct, frozen=True, array_like=True, gc=False):
    """The commit that has changed a file last."""

    commit: str
    time: float


class CommitTimes(Struct, frozen=True, array_like=True):
    """The last changes of all files, as of a commit."""

    head: str = ""
    changes: dict[str, LastCommit] = {}
    edited: frozenset[str] = frozenset()
    """The files that are not as they were committed."""
    fault: str = ""
    """Why git could not answer, in a repository."""

    def of(self, path: str) -> LastCommit | None:
        """The last change of a file that is as it was committed."""
        ##= man/spec/knowledge.md#files
        ##% The date of a file MUST be that of the last commit that changed it, or that of the file itself if git does
        ##% not know this content.
        return None if path in self.edited else self.changes.get(path)

    def encoded(self) -> bytes:
        """To be kept."""
        return zlib.compress(msgpack.encode(CommitTimes(self.head, self.changes)), 1)


def decode_times(data: bytes | None) -> CommitTimes:
    """What was kept; nothing where that can't be read."""
    with suppress(DecodeError, ValidationError, zlib.error):
        if data:
            return msgpack.decode(zlib.decompress(data), type=CommitTimes)
    return CommitTimes()


def find_commit_times(project: Project, earlier: CommitTimes) -> CommitTimes:
    """The times of the files as they are now; what is known already is not asked again."""
    if not project.on_disk:
        return CommitTimes()
    environ = {name: project.environ[name] for name in _VARIABLES if name in project.environ}
    git = GitCommand(project.root, environ)
    try:
        head = _line(git, "rev-parse", "--verify", "--quiet", "HEAD")
        if not head:
            git.require("rev-parse", "--git-dir")
            return CommitTimes()
        edited = frozenset(_edited(git))
        if head == earlier.head:
            return CommitTimes(head, earlier.changes, edited)
        known = earlier.head and _line(git, "merge-base", earlier.head, head) == earlier.head
        # One question about all files, and in later runs one about what was committed since.
        changes = dict(_newest(git, f"{earlier.head}..{head}" if known else head))
        # What is committed later may have been changed before.
        old: Mapping[str, LastCommit] = earlier.changes if known else {}
        latest = {path: max(change, old.get(path, change), key=_time) for path, change in changes.items()}
        return CommitTimes(head, {**old, **latest}, edited)
    except (DuvetError, OSError) as error:
        ##= man/spec/knowledge.md#ingest-runs
        ##% `duvet ingest` MUST continue with a warning when git fails or the trace cannot be read.
        return CommitTimes(fault=str(error) if _is_in_repository(project) else "")


def _is_in_repository(project: Project) -> bool:
    repository = GitRepository(project.disk, project.root)
    return repository.top(repository.start) is not None


def _time(change: LastCommit) -> float:
    return change.time


def _line(git: GitCommand, *args: str) -> str:
    return git.ask(*args) or ""


def _edited(git: GitCommand) -> Iterator[str]:
    """The files that are not as they were committed."""
    out = git.content(
        *_unfiltered(git),
        *("diff", "-z", "--name-only", "--no-ext-diff", "--no-textconv", "--no-renames", "--relative"),
        *("--ignore-submodules=all", "HEAD"),
    )
    if out is None:
        raise DuvetError("git did not tell which files have changed", path=git.folder)
    yield from filter(None, map(_name, out.split(b"\0")))


def _unfiltered(git: GitCommand) -> Iterator[str]:
    """Options that keep git from running the filters that the configuration of a repository names."""
    names = git.content("config", "-z", "--name-only", "--get-regexp", r"^filter\.") or b""
    for name in names.split(b"\0"):
        key, _, last = os.fsdecode(name).rpartition(".")
        if last in ("clean", "smudge", "process"):
            yield from ("-c", f"{key}.{last}=")
        elif last == "required":
            yield from ("-c", f"{key}.{last}=false")


def _newest(git: GitCommand, revisions: str) -> Iterator[tuple[str, LastCommit]]:
    """The newest change of each file in these commits."""
    process = git.open(
        *("-c", "log.showRoot=true", "-c", "log.follow=false", "log", "-z", "--no-show-signature", "--no-color"),
        *("--no-renames", "--name-only", "--relative", f"--format=tformat:{_COMMIT.decode()}%H %ct", revisions, "--"),
    )
    # It has nothing to be asked, and the stream of a repository with a long history is not held as a whole.
    timer = Timer(_LONGEST, process.kill)
    timer.start()
    try:
        seen: set[bytes] = set()
        change = LastCommit("", 0.0)
        for word in _words(process):
            if word.startswith(_COMMIT):
                commit, _, time = word[1:].decode("ascii").partition(" ")
                change = LastCommit(commit, float(time))
            elif (name := word.removeprefix(b"\n")) and name not in seen:
                seen.add(name)
                if path := _name(name):
                    yield path, change
        if process.wait() != 0:
            raise DuvetError("git did not tell when files were changed", path=git.folder)
    finally:
        timer.cancel()
        process.kill()
        process.communicate()


def _name(data: bytes) -> str:
    """A path; empty where it is no text, for such files are left out."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return ""


def _words(process: Popen[bytes]) -> Iterator[bytes]:
    assert process.stdout is not None
    rest = b""
    while block := process.stdout.read(_BLOCK):
        *words, rest = (rest + block).split(b"\0")
        yield from words
    yield rest
