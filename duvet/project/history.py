"""Earlier texts of specifications, from git and the snapshot, to distinguish typos from changed requirements."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from duvet.errors import DuvetError
from duvet.model import Annotation, Specification
from duvet.specs.locator import format_locator
from duvet.text import find_line_index, line_starts, load_rapidfuzz
from duvet.tree.files import DiskTree, MemoryTree, Tree
from duvet.tree.git import GitCommand, GitObjects
from duvet.tree.git_repository import GitRepository
from duvet.tree.recorder import RecordedTree

if TYPE_CHECKING:
    from duvet.project.project import Project

_VARIABLES = ("PATH", "HOME", "SYSTEMROOT")
_MOST_REVISIONS = 200  # Older revisions are not read.
_MOST_BYTES = 1 << 25
_SIMILAR = 75.0  # The quote may have been copied from a sentence that is at least this similar.
_SHORT = 12  # Number of characters to show of a commit's name.

_LEAD = re.compile(r"^(?:[ \t>|]|[-*+\u2022][ \t]|\[[ xX]\][ \t]|\d+[.)][ \t]|#+[ \t])+", re.MULTILINE)
_LINK_TARGET = re.compile(r"\]\([^()\s]*\)|\]\[[^\[\]\n]*\]")
_MARKUP = re.compile(r"[\s*_`\\\[\]|]+")
_TEXT = re.compile(r"^    TEXT\[[^\]\n]*\]: (.*)$", re.MULTILINE)
_CHANGED = re.compile(r":\d+ \d+ [0-9a-f]+ ([0-9a-f]+) [A-Z]\d*\t(.*)")


def squeeze_text(text: str) -> str:
    return _MARKUP.sub("", _LINK_TARGET.sub("]", _LEAD.sub("", text)))


class SpecificationRevision(NamedTuple):
    commit: str
    path: str  # Its path at that time, relative to the top of the repository.
    text: str


class TextHistory:
    def __init__(self, project: Project) -> None:
        self.project = project
        self._read_revisions = lru_cache(maxsize=None)(self._load_revisions)
        self._doubts: dict[tuple[str, int, str, str], str] = {}

    def find_doubt(self, specification: Specification, annotation: Annotation, new: str, text: str) -> str:
        """Return why the new words may come from a changed requirement, or ""; `text` is the whole file with the annotation."""
        ##= man/spec/validate.md#safe-fixes
        ##% A fix that adds, removes or replaces words MUST be unsafe unless git or the snapshot shows that
        ##% the specification has not changed since the citation was written.
        key = (annotation.path, annotation.line, annotation.quote, new)
        if key not in self._doubts:
            self._doubts[key] = self._compare(specification, annotation, new, text)
        return self._doubts[key]

    def has_moved(self, specification: Specification, quote: str) -> bool:
        """Return True if the last commit with these words contains them as often as the specification does now."""
        words = squeeze_text(quote)
        now = squeeze_text(specification.data.decode(errors="replace")).count(words)
        counts = (one.text.count(words) for one in self._read_revisions(specification.path)[0])
        return next(filter(None, counts), 0) == now

    def find_source(self, specification: Specification, quote: str) -> str:
        words = squeeze_text(quote)
        for revision in self._read_revisions(specification.path)[0]:
            if words in revision.text:
                return f"the specification had the quoted words in commit {revision.commit[:_SHORT]}"
        return (
            "the specification had the quoted words when the snapshot was written"
            if words in self._find_snapshot_text(specification)
            else ""
        )

    def _compare(self, specification: Specification, annotation: Annotation, new: str, text: str) -> str:
        old_words, new_words = squeeze_text(annotation.quote), squeeze_text(new)
        known, is_complete = self._read_revisions(specification.path)
        if not old_words:
            if all(new_words in one.text for one in known):
                return ""
            written = self._read_at(self._find_last_change(annotation, text), known)
            return "" if new_words in written else "the requirement is newer than the citation"
        if source := self.find_source(specification, annotation.quote):
            return source
        if not known:
            return (
                ""
                if new_words in self._find_snapshot_text(specification)
                else "no earlier version of the specification is available"
            )
        if new_words not in known[0].text:
            return "the specification has uncommitted changes"
        before = next((one for one in known if new_words not in one.text), None)
        if before is None and is_complete:
            return ""
        fuzz = load_rapidfuzz().fuzz
        if before is not None and fuzz.partial_ratio(old_words, before.text, score_cutoff=_SIMILAR) == 0:
            # That version contains no other wording of the requirement, so the requirement is newer.
            return ""
        commit = self._find_last_change(annotation, text) if is_complete else ""
        written = self._read_at(commit, known)
        return "" if new_words in written else "the specification may have changed since the citation was written"

    @cached_property
    def _snapshot(self) -> str:
        path = self.project.snapshot_path
        if path is None:
            return ""
        if self._git is not None:
            found = self._git.content("cat-file", "blob", f"HEAD:./{path}")
            return (found or b"").decode(errors="replace")
        try:
            return self.project.tree.read(path).decode(errors="replace")
        except DuvetError:
            return ""

    def _find_snapshot_text(self, specification: Specification) -> str:
        name = format_locator(specification.locator, self.project.root)
        for block in f"\n{self._snapshot}".split("\nSPECIFICATION: ")[1:]:
            heading = block.partition("\n")[0]
            if heading == name or heading.endswith(f"]({name})"):
                return squeeze_text("\n".join(_TEXT.findall(block)))
        return ""

    @cached_property
    def _git(self) -> GitCommand | None:
        project = self.project
        tree: Tree | None = project.tree
        while isinstance(tree, MemoryTree):
            tree = tree.below
        if not isinstance(tree, (DiskTree, RecordedTree)):
            return None
        # The tree records its answers, so cached results depend on the commit.
        repository = GitRepository(project.tree, project.root)
        top = repository.top(repository.start)
        if top is None:
            return None
        if not repository.head(top):
            project.memory.forgo()
        environ = {name: project.environ[name] for name in _VARIABLES if name in project.environ}
        git = GitCommand(project.root, {**environ, "GIT_LITERAL_PATHSPECS": "1"})
        try:
            return git if git.ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}") else None
        except DuvetError:
            return None

    def _load_revisions(self, path: str) -> tuple[list[SpecificationRevision], bool]:
        git = self._git
        if git is None:
            return [], False
        options = ("--follow", "--raw", "--no-abbrev", "--no-ext-diff", "--no-textconv", "--format=%H")
        out = git.ask("-c", "core.quotePath=false", "log", *options, "--", path)
        listed: list[tuple[str, str, str]] = []  # The commits that changed the file, with its object and path in each.
        commit = ""
        for line in (out or "").split("\n"):
            if changed := _CHANGED.fullmatch(line):
                if changed[1].strip("0"):
                    listed.append((commit, changed[1], changed[2].rpartition("\t")[2]))
            elif line:
                commit = line
        found: list[SpecificationRevision] = []
        size = 0
        objects = GitObjects(git)
        for commit, name, at in listed[:_MOST_REVISIONS]:
            data = objects.read(name)
            if data is None or (size := size + len(data)) > _MOST_BYTES:
                break
            found.append(SpecificationRevision(commit, at, squeeze_text(data.decode(errors="replace"))))
        objects.close()
        is_shallow = git.ask("rev-parse", "--is-shallow-repository") == "true"
        return found, len(found) == len(listed) and not is_shallow

    def _find_last_change(self, annotation: Annotation, text: str) -> str:
        git = self._git
        try:
            if git is None or self.project.disk.read(annotation.path).decode(errors="replace") != text:
                return ""
        except DuvetError:
            return ""
        starts = line_starts(text)
        span = annotation.source.quote if annotation.quote else annotation.source.target
        first, last = (find_line_index(starts, at) + 1 for at in span)
        out = git.ask("blame", "--porcelain", "-L", f"{first},{last}", "--", annotation.path)
        if out is None:
            return "HEAD"
        times = dict[str, int]()
        commit = ""
        for line in out.split("\n"):
            if found := re.match(r"([0-9a-f]{40,64}) \d+ \d+", line):
                commit = found[1]
            elif line.startswith("committer-time "):
                times[commit] = int(line.partition(" ")[2])
        last_commit = max(times, key=lambda one: times[one], default="")
        return "HEAD" if not last_commit.strip("0") else last_commit

    def _read_at(self, commit: str, known: list[SpecificationRevision]) -> str:
        for path in dict.fromkeys(one.path for one in known):
            data = self._git.content("cat-file", "blob", f"{commit}:{path}") if self._git and commit else None
            if data is not None:
                return squeeze_text(data.decode(errors="replace"))
        return ""
