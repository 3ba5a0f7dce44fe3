"""The git revision with which a project is compared."""

from __future__ import annotations

from msgspec import Struct

from duvet.errors import NotFoundError
from duvet.text import quote_text, suggest_nearest
from duvet.tree.git import GitRevisions

_DEFAULTS = ("origin/HEAD", "origin/main", "origin/master")


class DiffBase(Struct, frozen=True):
    commit: str
    revision: str
    is_merge_base: bool  # True for the merge base of HEAD and the revision.

    @property
    def words(self) -> str:
        merge_base = f"{self.short}, the merge base of HEAD and {self.revision}"
        return merge_base if self.is_merge_base else f"{self.short} ({self.revision})"

    @property
    def short(self) -> str:
        return self.commit[:12]


def find_base(revisions: GitRevisions, name: str | None, *, exact: bool, is_gate: bool = False) -> DiffBase:
    head = revisions.find("HEAD")
    if head is None:
        raise NotFoundError("the repository has no commits", hint="make a commit to compare with")
    revision = name
    if revision is None:
        ##= man/spec/diff.md#the-base
        ##% Without BASE, `duvet diff` MUST compare the working tree with the default branch of `origin`.
        ##= man/spec/diff.md#the-base
        ##% If BASE is not given and the default branch is unknown, `duvet diff` MUST compare with `HEAD`, or fail
        ##% if `--fail-on` is given and the remote `origin` exists.
        revision = next(filter(revisions.find, _DEFAULTS), "HEAD")
        if revision == "HEAD" and is_gate and revisions.has_origin:
            hint = "give a BASE, such as origin/main; in CI, fetch it first"
            raise NotFoundError("the default branch of origin is unknown", hint=hint)
    commit = revisions.find(revision)
    if commit is None:
        hint = suggest_nearest(revision, revisions.names())
        if revisions.is_shallow:
            hint = "this clone is shallow; run `git fetch --unshallow`" + (f"; {hint}" if hint else "")
        hint = hint or "use a commit, branch or tag; in CI, fetch it first"
        raise NotFoundError(f"unknown revision {quote_text(revision)}", hint=hint)
    ##= man/spec/diff.md#the-base
    ##% `duvet diff` MUST compare with the merge base of `HEAD` and BASE, or with BASE itself if `--exact` is given or
    ##% no merge base exists.
    left = None if exact or commit == head else revisions.merge_base(commit, head)
    return DiffBase(left or commit, revision, left not in (None, commit))
