"""When pages were written, as far as git knows that."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from subprocess import TimeoutExpired

from msgspec import Struct

from duvet.errors import DuvetError
from duvet.project import Project
from duvet.tree.disk import DiskTree
from duvet.tree.git_command import Git
from duvet.tree.recorded import RecordedTree
from duvet.tree.repository import Repository

_LONGEST = 10.0
"""Seconds that git may take: without it there are other times."""
_VARIABLES = ("PATH", "HOME", "SYSTEMROOT")
_COMMIT = "\x01"
_RENAMED = "R"
_ASIDE = ("/", "../")
"""What the folders begin with of which the repository may know nothing, and refuse to say anything."""


class Dates(Struct, frozen=True):
    """When each file came into the repository, as of a commit."""

    head: str = ""
    first: dict[str, float] = {}


def dates_of(project: Project, folders: Collection[str], earlier: Dates | None) -> Dates:
    """The time of the first commit of each file in these folders; nothing where git doesn't tell."""
    head = _head(project)
    if not head:
        return Dates()
    if earlier is not None and earlier.head == head:
        return earlier
    ##= man/spec/pages.md#dates
    ##% What git says MUST be asked for by one call for all pages, and whatever keeps git from answering MUST NOT keep
    ##% pages from being read.
    from duvet.cache.key import key

    def work() -> dict[str, float]:
        # The commit that this depends on is a file that was read.
        _head(project)
        return _asked(project, folders)

    return Dates(head, project.memory.of_tree("page-dates", dict[str, float], key(head, sorted(folders)), work))


def _head(project: Project) -> str:
    if not project.on_disk:
        return ""
    repository = Repository(project.tree, project.root)
    top = repository.top(repository.start)
    return repository.head(top) if top else ""


def _asked(project: Project, folders: Iterable[str]) -> dict[str, float]:
    environ = {name: project.environ[name] for name in _VARIABLES if name in project.environ}
    known = [folder or "." for folder in folders if not folder.startswith(_ASIDE)]
    if not known:
        return {}
    try:
        ##= man/spec/pages.md#dates
        ##% The configuration of a repository MUST NOT change what its dates are.
        process = Git(project.root, environ).open(
            *("-c", "log.showRoot=true", "-c", "log.follow=false", "--literal-pathspecs"),
            # Renames that change nothing are found without a look into files, which a clone may lack.
            *("log", "-z", "--no-show-signature", "--no-color", "--find-renames=100%", "--diff-filter=AR"),
            *("--name-status", "--relative", f"--format=tformat:{_COMMIT}%at", "HEAD", "--", *known),
        )
        try:
            out, _ = process.communicate(timeout=_LONGEST)
        except TimeoutExpired:
            process.kill()
            process.communicate()
            return {}
    except (DuvetError, OSError):
        return {}
    return _read(os.fsdecode(out)) if process.returncode == 0 else {}


def _read(out: str) -> dict[str, float]:
    found: dict[str, float] = {}
    # The names that files have now, by those that they had.
    heirs: dict[str, Collection[str]] = {}
    moment = 0.0
    words = iter(out.split("\0"))
    for word in words:
        if word.startswith(_COMMIT):
            moment = float(word[1:])
        elif word.lstrip("\n").startswith(_RENAMED):
            ##= man/spec/pages.md#dates
            ##% A page that was renamed and not changed in the same commit, within the folders that the patterns name,
            ##% MUST keep the date of its first commit.
            before, after = next(words), next(words)
            heirs[before] = {*heirs.get(before, ()), *heirs.pop(after, ()), after}
        elif word:
            path = next(words)
            # The newest commit comes first, and the first one counts.
            found.update(dict.fromkeys(heirs.pop(path, (path,)), moment))
    return found


def modified(project: Project, path: str) -> float:
    """When a file was changed last; 0 where that is not known."""
    tree = project.tree
    if isinstance(tree, RecordedTree):
        seen = tree.seen.get(path)
        return seen.modified / 1e9 if seen else 0.0
    if isinstance(tree, DiskTree):
        try:
            return tree.marks(path).st_mtime
        except DuvetError:
            return 0.0
    return 0.0
