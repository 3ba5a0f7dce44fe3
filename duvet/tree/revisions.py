"""The revisions of a git repository, and the trees of them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from duvet.tree.git import GitTree
from duvet.tree.git_command import Git
from duvet.tree.git_objects import Objects
from duvet.tree.git_paths import Paths
from duvet.tree.protocol import Tree

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def _git(folder: str, environ: Mapping[str, str]) -> Git:
    """The git of a folder.

    A hook is told of a repository, but not of its top, which git takes to be any folder that it is started in.
    """
    given = Git(folder, environ)
    if "GIT_DIR" not in environ or "GIT_WORK_TREE" in environ:
        return given
    found = Git(folder, {name: value for name, value in environ.items() if name != "GIT_DIR"})
    own, other = (git.ask("rev-parse", "--absolute-git-dir") for git in (found, given))
    ##= man/spec/diff.md#reading
    ##% In a hook of git, the folder of the project MUST be found in the repository, wherever it is.
    return found if own is not None and other in (own, None) else given


class Revisions:
    """The revisions of the repository that a folder is in."""

    def __init__(self, root: str, environ: Mapping[str, str]) -> None:
        self.root = root.rstrip("/")
        self.git = _git(root, environ)
        inside, _, prefix = self.git.require("rev-parse", "--is-inside-work-tree", "--show-prefix").partition("\n")
        self.prefix = prefix.rstrip("/")
        """The folder, from the top of the repository."""
        self.tops = self._tops() if inside == "true" else ()
        """The top of the working tree, by each of its names."""

    def _tops(self) -> tuple[str, ...]:
        real = self.git.require("rev-parse", "--show-toplevel")
        below = f"/{self.prefix}"
        spelt = self.root.removesuffix(below) if self.prefix and self.root.endswith(below) else self.root
        return (spelt, real) if self.prefix == "" or spelt != self.root else (real,)

    def find(self, name: str) -> str | None:
        """The commit of that name."""
        # A name may end in words of a message, to which nothing can be added.
        found = self._verified(name)
        return self._verified(f"{found}^{{commit}}") if found else None

    def _verified(self, name: str) -> str | None:
        ##= man/spec/diff.md#reading
        ##% The name of a revision MUST NOT be taken for an option.
        found = self.git.ask("rev-parse", "--verify", "--quiet", "--end-of-options", name)
        return found if found and _COMMIT.fullmatch(found) else None

    def merge_base(self, one: str, other: str) -> str | None:
        """The commit that two others have grown from."""
        return self.git.ask("merge-base", one, other)

    @property
    def has_origin(self) -> bool:
        """Whether this is a clone of another repository."""
        return "origin" in (self.git.ask("remote") or "").splitlines()

    @property
    def is_shallow(self) -> bool:
        """Whether earlier commits are left out of this clone."""
        return self.git.ask("rev-parse", "--is-shallow-repository") == "true"

    def names(self) -> list[str]:
        """What branches and tags are called."""
        return (self.git.ask("for-each-ref", "--format=%(refname:short)") or "").splitlines()

    def tree(self, commit: str, disk: Tree) -> GitTree:
        """The folder in a commit, with the disk for what is outside."""
        return GitTree(Paths(Objects(self.git, len(commit) // 2), commit, self.tops, self.prefix), disk)
