"""Reads the files of a git revision from git's objects, without a checkout."""

from __future__ import annotations

import errno
import os
import posixpath
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from msgspec import Struct

from duvet.errors import DuvetError, NotRegularError, UnreadableError, describe_os_error
from duvet.tree.files import IS_FOLDER, Tree, TreeEntry, is_own_folder
from duvet.tree.git_repository import COMMIT

if TYPE_CHECKING:
    from subprocess import Popen

_READ_ONLY = {
    # Messages are parsed in English, and git must not ask for passwords.
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    # For versions of git without GIT_NO_LAZY_FETCH.
    "GIT_ALLOW_PROTOCOL": "",
}

_NO_PROGRAMS = (
    # A repository's configuration can name programs to run; these options override it.
    *("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", "-c", "log.showSignature=false"),
    "--no-pager",
)


class GitCommand:
    def __init__(self, folder: str, environ: Mapping[str, str]) -> None:
        self.folder = folder
        kept = {name: value for name, value in environ.items() if not name.startswith("GIT_TRACE")}
        ##= man/spec/diff.md#reading-a-revision
        ##% `duvet diff` MUST NOT let git write, fetch, prompt, or run a program from git's configuration.
        self.environ = {**kept, **_READ_ONLY}

    def ask(self, *args: str) -> str | None:
        out = self.content(*args)
        return None if out is None else os.fsdecode(out).removesuffix("\n")

    def content(self, *args: str) -> bytes | None:
        process = self.start(*args)
        out, _ = process.communicate()
        return out if process.returncode == 0 else None

    def require(self, *args: str) -> str:
        process = self.start(*args, complaints=True)
        out, complaints = process.communicate()
        if process.returncode == 0:
            return os.fsdecode(out).removesuffix("\n")
        words = complaints.decode(errors="replace").strip().removeprefix("fatal: ")
        raise DuvetError(words or f"git {args[0]} failed", path=self.folder)

    def start(self, *args: str, questions: bool = False, complaints: bool = False) -> Popen[bytes]:
        from subprocess import DEVNULL, PIPE, Popen

        command, folder = ["git", *_NO_PROGRAMS, *args], self.folder or None
        stdin, stderr = PIPE if questions else DEVNULL, PIPE if complaints else DEVNULL
        try:
            return Popen(command, cwd=folder, env=self.environ, stdin=stdin, stdout=PIPE, stderr=stderr)
        except ValueError as error:
            raise DuvetError("revision names can't contain NUL characters") from error
        except OSError as error:
            if isinstance(error, FileNotFoundError) and os.path.isdir(self.folder or "."):
                hint = "install git, which duvet needs to read revisions"
                raise DuvetError("git was not found", hint=hint) from error
            raise DuvetError(f"can't run git: {error.strerror}", path=self.folder) from error


_FOLDER, _LINK, _SUBMODULE = "40000", "120000", "160000"


class GitNode(Struct, frozen=True):
    path: str
    mode: str
    object: str

    @property
    def is_folder(self) -> bool:
        return self.mode in (_FOLDER, _SUBMODULE)


class GitObjects:
    def __init__(self, git: GitCommand) -> None:
        self.git = git
        self._process: Popen[bytes] | None = None

    def read(self, name: str) -> bytes | None:
        """Return None if this clone lacks the object."""
        process = self._process = self._process or self.git.start("cat-file", "--batch", questions=True)
        assert process.stdin and process.stdout
        try:
            process.stdin.write(f"{name}\n".encode())
            process.stdin.flush()
        except BrokenPipeError:
            # The output is not about this object.
            self.close()
            return None
        *_, size = process.stdout.readline().split() or [b"0"]
        if not size.isdigit():
            return None
        data = process.stdout.read(int(size) + 1)
        if len(data) > int(size):
            return data[:-1]
        # In an incomplete clone, the process may have ended.
        self.close()
        return None

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            # The rest of its output is not needed.
            process.kill()
            process.communicate()


_MOST_LINKS = 40


class OutsideRepositoryError(Exception):
    """Raised with a path that points outside the repository."""


class GitEntry(Struct, frozen=True):
    name: str
    path: str
    node: GitNode
    tree: GitTree

    def is_dir(self) -> bool:
        place = self.tree.find(self.path) if self.node.mode == _LINK else None
        if isinstance(place, str):
            return self.tree.disk.exists(place) and not self.tree.disk.is_file(place)
        return (place or self.node).is_folder

    def is_symlink(self) -> bool:
        return self.node.mode == _LINK


class GitTree:
    """The files of a revision; some paths, such as those outside the repository, are read from disk."""

    def __init__(self, objects: GitObjects, commit: str, tops: tuple[str, ...], prefix: str, disk: Tree) -> None:
        self.objects = objects
        self.tops = tops  # Each path that leads to the top of the working tree; none in a bare repository.
        self.prefix = prefix  # The folder that paths are relative to, as a path from the top.
        self.disk = disk
        self.taken: dict[str, None] = {}  # The files that were read from disk.
        self.lent: tuple[frozenset[str], str] = (frozenset(), "")
        """Files and a folder to read from disk if the revision lacks them."""
        self.lacks: list[str] = []  # Paths that could not be read because the clone is incomplete.
        self._digest_size = len(commit) // 2  # 20 bytes, or 32 in a repository with SHA-256.
        self._root = GitNode("", _FOLDER, f"{commit}^{{tree}}")
        self._folders: dict[str, dict[str, GitNode]] = {}

    def read(self, path: str) -> bytes:
        try:
            ##= man/spec/diff.md#reading-a-revision
            ##% `duvet diff` MUST read a revision from git's objects, without a checkout, and trace it as if its
            ##% files were on disk.
            place = self._locate(path)
            if isinstance(place, GitNode):
                if place.is_folder:
                    raise NotRegularError(IS_FOLDER, path=path)
                return self._read_object(place)
        except (OSError, ValueError) as error:
            raise UnreadableError(describe_os_error(error), path=path) from error
        data = self.disk.read(place)
        if not _is_in_git_folder(place):
            self.taken[path] = None
        return data

    def is_file(self, path: str) -> bool:
        place = self.find(path)
        if isinstance(place, str):
            return self.disk.is_file(place)
        return place is not None and not place.is_folder

    def exists(self, path: str) -> bool:
        place = self.find(path, follow=False)
        if isinstance(place, str):
            return self.disk.exists(place)
        return place is not None and not is_own_folder(place.path)

    def entries(self, folder: str) -> Iterator[TreeEntry]:
        nodes: dict[str, GitNode] = {}
        try:
            place = self._locate(folder)
            if isinstance(place, GitNode) and place.is_folder and not is_own_folder(place.path):
                nodes = self._list_nodes(place)
        except (FileNotFoundError, NotADirectoryError):
            return
        except (OSError, ValueError) as error:
            raise UnreadableError(describe_os_error(error), path=folder) from error
        if isinstance(place, str):
            yield from self.disk.entries(place)
        for name, node in nodes.items():
            if not is_own_folder(node.path):
                yield GitEntry(name, posixpath.join(folder, name), node, self)

    def identity(self, folder: str) -> object:
        try:
            place = self._locate(folder)
        except (OSError, ValueError) as error:
            raise UnreadableError(describe_os_error(error), path=folder) from error
        return self.disk.identity(place) if isinstance(place, str) else place.path

    def find(self, path: str, *, follow: bool = True) -> GitNode | str | None:
        """Return a node of the revision, a path to read from disk instead, or None."""
        try:
            return self._locate(path, follow=follow)
        except (OSError, ValueError):
            return None

    def _locate(self, path: str, *, follow: bool = True) -> GitNode | str:
        if "\0" in path:
            raise ValueError("paths can't contain NUL characters")
        try:
            return path if _is_in_git_folder(path) or self._is_lent(path) else self._resolve(path, follow=follow)
        except OutsideRepositoryError as outside:
            return str(outside)

    def _is_lent(self, path: str) -> bool:
        ##= man/spec/diff.md#reading-a-revision
        ##% If a revision lacks a specification, `duvet diff` MUST read the specification from disk and say so. If a
        ##% revision lacks a source file, `duvet diff` MUST NOT read that file from disk.
        files, folder = self.lent
        plain = posixpath.normpath(path)
        if plain not in files and not (folder and plain.startswith(f"{folder}/")):
            return False
        # An error means that the revision lacks this path.
        with suppress(OSError, ValueError):
            if not is_own_folder(self._resolve(path, follow=False).path):
                return False
        return self.disk.is_file(path)

    def _resolve(self, path: str, *, follow: bool) -> GitNode:
        way, links = [self._root], 0  # The parent folders, for `..`.
        todo = self._split(path) if path.startswith("/") else [*self.prefix.split("/"), *path.split("/")][::-1]
        while todo:
            name, folder = todo.pop(), way[-1]
            if not folder.is_folder:
                raise _make_os_error(errno.ENOTDIR)
            if name == ".." and len(way) > 1:
                way.pop()
            elif name == "..":
                if not self.tops:
                    raise _make_os_error(errno.ENOENT)
                todo = self._split(posixpath.join(posixpath.dirname(self.tops[0]), *todo[::-1]))
            if name in ("", ".", ".."):
                continue
            node = self._list_nodes(folder).get(name)
            if node is None:
                raise _make_os_error(errno.ENOENT)
            if not (node.mode == _LINK and (follow or todo)):
                way.append(node)
                continue
            links += 1
            if links > _MOST_LINKS:
                raise _make_os_error(errno.ELOOP)
            target = os.fsdecode(self._read_object(node))
            if target.startswith("/"):
                way, todo = [self._root], self._split(posixpath.join(target, *todo[::-1]))
            else:
                todo += target.split("/")[::-1]
        return way[-1]

    def _split(self, path: str) -> list[str]:
        for spelt in (path, posixpath.normpath(path)):
            for top in self.tops:
                if f"{spelt}/".startswith(f"{top}/"):
                    return spelt[len(top) :].split("/")[::-1]
        raise OutsideRepositoryError(path)

    def _list_nodes(self, folder: GitNode) -> dict[str, GitNode]:
        # The files of a submodule are in another repository.
        if folder.mode == _SUBMODULE:
            return {}
        if folder.path not in self._folders:
            data, start, found = self._read_object(folder), 0, dict[str, GitNode]()
            while start < len(data):
                blank = data.index(b" ", start)
                end = data.index(b"\0", blank)
                name, after = os.fsdecode(data[blank + 1 : end]), end + 1 + self._digest_size
                mode, object = data[start:blank].decode(), data[end + 1 : after].hex()
                found[name] = GitNode(posixpath.join(folder.path, name), mode, object)
                start = after
            self._folders[folder.path] = found
        return self._folders[folder.path]

    def _read_object(self, node: GitNode) -> bytes:
        data = self.objects.read(node.object)
        if data is None:
            self.lacks.append(node.path)
            raise OSError(errno.EIO, "this clone lacks the object")
        return data


def _make_os_error(number: int) -> OSError:
    return OSError(number, os.strerror(number))


def _is_in_git_folder(path: str) -> bool:
    return "/.git/" in f"/{path}/"


class GitRevisions:
    def __init__(self, root: str, environ: Mapping[str, str]) -> None:
        self.root = root.rstrip("/")
        self.git = GitCommand(root, environ)
        if "GIT_DIR" in environ and "GIT_WORK_TREE" not in environ:
            # git sets GIT_DIR for hooks, and would then use its current folder as the top.
            plain = GitCommand(root, {name: value for name, value in environ.items() if name != "GIT_DIR"})
            own, other = (one.ask("rev-parse", "--absolute-git-dir") for one in (plain, self.git))
            self.git = plain if own is not None and other in (own, None) else self.git
        inside, _, prefix = self.git.require("rev-parse", "--is-inside-work-tree", "--show-prefix").partition("\n")
        self.prefix = prefix.rstrip("/")  # The folder, relative to the top of the repository.
        self.tops: tuple[str, ...] = ()  # Each path that leads to the top of the working tree.
        if inside == "true":
            real = self.git.require("rev-parse", "--show-toplevel")
            below = f"/{self.prefix}"
            spelt = self.root.removesuffix(below) if self.prefix and self.root.endswith(below) else self.root
            self.tops = (spelt, real) if self.prefix == "" or spelt != self.root else (real,)

    def find(self, name: str) -> str | None:
        # A name such as `:/words` ends in free text, so `^{commit}` can't be appended.
        found = self._verify(name)
        return self._verify(f"{found}^{{commit}}") if found else None

    def _verify(self, name: str) -> str | None:
        ##= man/spec/diff.md#reading-a-revision
        ##% `duvet diff` MUST NOT let git read the name of a revision as an option.
        found = self.git.ask("rev-parse", "--verify", "--quiet", "--end-of-options", name)
        return found if found and COMMIT.fullmatch(found) else None

    def merge_base(self, one: str, other: str) -> str | None:
        return self.git.ask("merge-base", one, other)

    @property
    def has_origin(self) -> bool:
        return "origin" in (self.git.ask("remote") or "").splitlines()

    @property
    def is_shallow(self) -> bool:
        return self.git.ask("rev-parse", "--is-shallow-repository") == "true"

    def names(self) -> list[str]:
        return (self.git.ask("for-each-ref", "--format=%(refname:short)") or "").splitlines()

    @contextmanager
    def tree(self, commit: str, disk: Tree) -> Iterator[GitTree]:
        objects = GitObjects(self.git)
        try:
            yield GitTree(objects, commit, self.tops, self.prefix, disk)
        finally:
            objects.close()
