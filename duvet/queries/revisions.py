"""Changes since a git revision and since the committed snapshot."""

from __future__ import annotations

import re
from collections import Counter

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


_HEADING = re.compile(r"\[.*\]\((.*)\)$", re.MULTILINE)
_TEXT = re.compile(r"^    TEXT\[([^\]\n]*)\]: (.*)$", re.MULTILINE)
_DONE = frozenset(("implementation", "implication", "test"))


class SnapshotChange(Struct, frozen=True, kw_only=True):
    specification: str  # The part of its targets before `#`.
    section: str
    text: str
    before: str  # The types of its citations; empty for a new line.
    after: str


class SnapshotDiff(Struct, frozen=True, kw_only=True):
    gained: tuple[SnapshotChange, ...] = ()
    lost: tuple[SnapshotChange, ...] = ()
    added: tuple[SnapshotChange, ...] = ()
    removed: tuple[SnapshotChange, ...] = ()


_Spot = tuple[str, str]  # A specification and a section of it.
_Line = tuple[str, int]  # A text, and the number of earlier equal lines in its section.


def compare_snapshots(committed: str, today: str) -> SnapshotDiff:
    before, after = _split_sections(committed), _split_sections(today)
    found: dict[str, list[SnapshotChange]] = {name: [] for name in SnapshotDiff.__struct_fields__}
    # Most sections are equal, and skipping them is cheap.
    for spot in (*after, *(spot for spot in before if spot not in after)):
        if before.get(spot) == after.get(spot):
            continue
        then, now = _parse_lines(before.get(spot, "")), _parse_lines(after.get(spot, ""))
        for line in (*now, *(line for line in then if line not in now)):
            old, new = then.get(line), now.get(line)
            if old != new:
                words = {"before": ", ".join(old or ()), "after": ", ".join(new or ())}
                change = SnapshotChange(specification=spot[0], section=spot[1], text=line[0], **words)
                found[_classify(old, new)].append(change)
    return SnapshotDiff(**{kind: tuple(changes) for kind, changes in found.items()})


def _split_sections(snapshot: str) -> dict[_Spot, str]:
    found: dict[_Spot, str] = {}
    for block in f"\n{snapshot}".replace("\r\n", "\n").split("\nSPECIFICATION: ")[1:]:
        specification, *sections = block.split("\n  SECTION: ")
        name = _parse_name(specification)
        for section in sections:
            found[name, _parse_name(section).removeprefix("#")] = section.partition("\n")[2].rstrip("\n")
    return found


def _parse_name(text: str) -> str:
    heading = _HEADING.match(text)
    return heading[1] if heading else text.partition("\n")[0]


def _parse_lines(section: str) -> dict[_Line, tuple[str, ...]]:
    found: dict[_Line, tuple[str, ...]] = {}
    seen: Counter[str] = Counter()
    for status, text in _TEXT.findall(section):
        plain = text.strip()
        found[plain, seen[plain]] = tuple(word for word in status.split(",") if word and not word.startswith("!"))
        seen[plain] += 1
    return found


def _classify(before: tuple[str, ...] | None, after: tuple[str, ...] | None) -> str:
    if before is None:
        return "added"
    if after is None:
        return "removed"
    then, now = set(before), set(after)
    has_lost = not then & _DONE <= now or not now - then
    return "lost" if has_lost else "gained"
