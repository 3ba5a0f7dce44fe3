"""The git revision to compare a project with."""

from __future__ import annotations

from msgspec import Struct

from duvet.errors import DuvetError, NotFoundError
from duvet.text import quote_text
from duvet.trace.names import suggest_nearest
from duvet.tree.git import GitRevisions

_DEFAULTS = ("origin/HEAD", "origin/main", "origin/master")
_SHORT_DIGITS = 12


class DiffBase(Struct, frozen=True):
    """A commit to compare with, and the name that led to it."""

    commit: str
    revision: str
    is_merge_base: bool
    """True for the commit where HEAD left the revision."""

    @property
    def words(self) -> str:
        """`1a2b3c4d5e6f (v1.0)`."""
        if self.is_merge_base:
            return f"{self.short}, where HEAD left {self.revision}"
        return f"{self.short} ({self.revision})"

    @property
    def short(self) -> str:
        return self.commit[:_SHORT_DIGITS]


def find_base(revisions: GitRevisions, name: str | None, *, exact: bool, is_gate: bool = False) -> DiffBase:
    """Find the commit to compare with; a NotFoundError for an unknown name suggests others."""
    head = revisions.find("HEAD")
    if head is None:
        ##= man/spec/diff.md#output
        ##% `duvet diff` MUST say when git or a commit to compare with is missing, and suggest names for an unknown
        ##% revision.
        raise NotFoundError("there is no commit to compare with", hint="commit something first")
    revision = _find_default(revisions, is_gate=is_gate) if name is None else name
    commit = revisions.find(revision)
    if commit is None:
        raise _make_unknown_error(revisions, revision)
    ##= man/spec/diff.md#the-base
    ##% `duvet diff` MUST name the commit that it compares with: the one where `HEAD` left BASE, or BASE itself with
    ##% `--exact` or without such a commit.
    left = None if exact or commit == head else revisions.merge_base(commit, head)
    return DiffBase(left or commit, revision, left not in (None, commit))


def _find_default(revisions: GitRevisions, *, is_gate: bool) -> str:
    ##= man/spec/diff.md#the-base
    ##% Without BASE, `duvet diff` MUST compare with the default branch of `origin` or else with `HEAD`, but a gate MUST
    ##% fail when `origin` exists and that branch is unknown.
    found = next(filter(revisions.find, _DEFAULTS), "HEAD")
    if found == "HEAD" and is_gate and revisions.has_origin:
        hint = "name a BASE that the gate is to hold against; in CI, it may have to be fetched first"
        raise NotFoundError("the default branch of origin is not known here", hint=hint)
    return found


def _make_unknown_error(revisions: GitRevisions, name: str) -> DuvetError:
    hint = suggest_nearest(name, revisions.names())
    if revisions.is_shallow:
        hint = "this clone lacks earlier commits: `git fetch --unshallow` brings them" + (f"; {hint}" if hint else "")
    return NotFoundError(f"there is no revision {quote_text(name)}", hint=hint)
