"""Dates of files: last commits for the index, and first commits and creation times for pages."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from threading import Timer

from msgspec import Struct

from duvet.errors import DuvetError
from duvet.project.project import Project
from duvet.tree.git import GitCommand
from duvet.tree.git_repository import GitRepository

_VARIABLES = ("PATH", "HOME", "SYSTEMROOT")
_COMMIT = b"\x01"  # The beginning of a commit's line in the log.
_BLOCK = 1 << 20
_LAST_COMMITS_TIMEOUT, _FIRST_COMMITS_TIMEOUT = 120.0, 10.0  # In seconds; after that, modification times are used.


class LastCommit(Struct, frozen=True, array_like=True, gc=False):
    commit: str
    time: float


class CommitTimes(Struct, frozen=True, array_like=True):
    head: str = ""
    changes: dict[str, LastCommit] = {}
    edited: frozenset[str] = frozenset()  # Files with uncommitted changes.
    fault: str = ""  # The reason why git failed in a repository.

    def find_last_commit(self, path: str) -> LastCommit | None:
        ##= man/spec/knowledge.md#files
        ##% `duvet ingest` MUST date a file by the last commit that changed it, or by its modification time if its
        ##% content is not committed.
        return None if path in self.edited else self.changes.get(path)


def find_commit_times(project: Project, earlier: CommitTimes) -> CommitTimes:
    if not project.on_disk:
        return CommitTimes()
    git = _git(project)
    try:
        head = git.ask("rev-parse", "--verify", "--quiet", "HEAD")
        if not head:
            git.require("rev-parse", "--git-dir")
            return CommitTimes()
        edited = frozenset(_list_edited_files(git))
        if head == earlier.head:
            return CommitTimes(head, earlier.changes, edited)
        is_later = earlier.head and git.ask("merge-base", earlier.head, head) == earlier.head
        changes = dict(_read_last_commits(git, f"{earlier.head}..{head}" if is_later else head))
        old: Mapping[str, LastCommit] = earlier.changes if is_later else {}
        # A merged commit may be older than the known one.
        latest = {path: max(new, old.get(path, new), key=lambda change: change.time) for path, new in changes.items()}
        return CommitTimes(head, {**old, **latest}, edited)
    except (DuvetError, OSError) as error:
        repository = GitRepository(project.disk, project.root)
        return CommitTimes(fault=str(error) if repository.top(repository.start) is not None else "")


def _git(project: Project) -> GitCommand:
    return GitCommand(project.root, {name: project.environ[name] for name in _VARIABLES if name in project.environ})


def _list_edited_files(git: GitCommand) -> Iterator[str]:
    # Keep git from running filters that the repository configures.
    filters: list[str] = []
    names = git.content("config", "-z", "--name-only", "--get-regexp", r"^filter\.") or b""
    for name in map(os.fsdecode, names.split(b"\0")):
        if name.endswith((".clean", ".smudge", ".process")):
            filters += ("-c", f"{name}=")
        elif name.endswith(".required"):
            filters += ("-c", f"{name}=false")
    out = git.content(
        *(*filters, "diff", "-z", "--name-only", "--no-ext-diff", "--no-textconv", "--no-renames", "--relative"),
        *("--ignore-submodules=all", "HEAD"),
    )
    if out is None:
        raise DuvetError("git could not list the changed files", path=git.folder)
    yield from filter(None, map(_decode_path, out.split(b"\0")))


def _read_last_commits(git: GitCommand, revisions: str) -> Iterator[tuple[str, LastCommit]]:
    seen: set[bytes] = set()
    commit = LastCommit("", 0.0)
    options = ("--no-renames", "--name-only", "--relative", "--format=tformat:\x01%H %ct", revisions, "--")
    for word in _read_log(git, _LAST_COMMITS_TIMEOUT, *options):
        if word.startswith(_COMMIT):
            digest, _, time = word[1:].decode("ascii").partition(" ")
            commit = LastCommit(digest, float(time))
        elif (name := word.removeprefix(b"\n")) and name not in seen:
            seen.add(name)
            if path := _decode_path(name):
                yield path, commit


def _decode_path(data: bytes) -> str:
    # Files whose paths are not UTF-8 are not indexed.
    try:
        return data.decode()
    except UnicodeDecodeError:
        return ""


def _read_log(git: GitCommand, timeout: float, *options: str) -> Iterator[bytes]:
    process = git.start(
        *("-c", "log.showRoot=true", "-c", "log.follow=false", "--literal-pathspecs"),
        *("log", "-z", "--no-show-signature", "--no-color", *options),
    )
    # The log of a long history would not fit into memory, so `communicate` and its timeout can't be used.
    timer = Timer(timeout, process.kill)
    timer.start()
    try:
        assert process.stdout is not None
        rest = b""
        while block := process.stdout.read(_BLOCK):
            *words, rest = (rest + block).split(b"\0")
            yield from words
        yield rest
        if process.wait() != 0:
            raise DuvetError("git could not list the commit dates of files", path=git.folder)
    finally:
        timer.cancel()
        process.kill()
        process.communicate()


class FirstCommitDates(Struct, frozen=True):
    head: str = ""
    first: dict[str, float] = {}


def find_first_commits(
    project: Project, folders: Collection[str], earlier: FirstCommitDates | None
) -> FirstCommitDates:
    head = _read_head(project)
    if not head:
        return FirstCommitDates()
    if earlier is not None and earlier.head == head:
        return earlier

    def work() -> dict[str, float]:
        # Read again for the recorder: the result depends on the file that names the commit.
        _read_head(project)
        # If one of the folders is outside the repository, git refuses to answer for any of them.
        paths = [folder or "." for folder in folders if not folder.startswith(("/", "../"))]
        try:
            return _read_first_commits(_git(project), paths) if paths else {}
        except (DuvetError, OSError):
            return {}

    key = (head, sorted(folders))
    return FirstCommitDates(head, project.memory.compute("page-dates", dict[str, float], key, work))


def _read_head(project: Project) -> str:
    if not project.on_disk:
        return ""
    repository = GitRepository(project.tree, project.root)
    top = repository.top(repository.start)
    return repository.head(top) if top else ""


def _read_first_commits(git: GitCommand, paths: Collection[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    heirs: dict[str, Collection[str]] = {}  # The current names of files, by their earlier names.
    moment = 0.0
    # Exact renames are found without reading files, which a partial clone may lack.
    options = ("--find-renames=100%", "--diff-filter=AR", "--name-status", "--relative", "--format=tformat:\x01%at")
    words = map(os.fsdecode, _read_log(git, _FIRST_COMMITS_TIMEOUT, *options, "HEAD", "--", *paths))
    for word in words:
        if word.startswith("\x01"):
            moment = float(word[1:])
        elif word.lstrip("\n").startswith("R"):
            before, after = next(words), next(words)
            heirs[before] = {*heirs.get(before, ()), *heirs.pop(after, ()), after}
        elif word:
            path = next(words)
            # The log begins with the newest commit, so that the oldest one overwrites it.
            found.update(dict.fromkeys(heirs.pop(path, (path,)), moment))
    return found


_HERE, _BIRTH_MASK, _BUFFER_SIZE = -100, 0x800, 256  # AT_FDCWD, STATX_BTIME and the size of `struct statx`.
_MASK_AND_BIRTH = struct.Struct("=I76xqI")


def find_birth_time(path: str) -> float:
    try:
        born = getattr(os.stat(path), "st_birthtime", None)
        return born if born is not None else _load_statx()(path)
    except (OSError, ValueError):
        return 0.0


@cache
def _load_statx() -> Callable[[str], float]:
    import ctypes

    try:
        statx = ctypes.CDLL(None, use_errno=True).statx
    except (OSError, AttributeError, TypeError):
        return lambda path: 0.0

    def find(path: str) -> float:
        buffer = ctypes.create_string_buffer(_BUFFER_SIZE)
        if statx(_HERE, os.fsencode(path), 0, _BIRTH_MASK, buffer) != 0:
            return 0.0
        mask, seconds, nanoseconds = _MASK_AND_BIRTH.unpack_from(buffer.raw)
        return seconds + nanoseconds / 1e9 if mask & _BIRTH_MASK else 0.0

    return find
