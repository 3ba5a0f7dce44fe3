from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random

import pytest

from duvet import MemoryTree, Project
from duvet.project.validation import fix_project, overlay_project
from duvet.trace.catalogue import State
from duvet.trace.records import Requirement
from tests.slow.edits import Document, Edit, Edited, edit_randomly, renumber_items, rewrap_paragraphs, tick_boxes

EDITS_OF_EACH = 50
DOCUMENTS = (
    *(f"rfc/rfc{number}.txt" for number in (2784, 3909, 4331, 4548, 6387, 6784, 8259, 8914)),
    "sdd/corpus/speckit/11me+light-session/specs/001-lightsession-chatgpt/spec.md",
    "sdd/corpus/speckit/irichard00+codex-study/codex-chrome/specs/001-currently-codex-chrome/spec.md",
    "sdd/corpus/speckit/irichard00+codex-study/specs/001-dom-tool-integration/spec.md",
    "sdd/corpus/speckit/kusaridev+kusari-cli/specs/001-mcp-server/spec.md",
    "sdd/corpus/speckit/raccioly+docguard/specs/003-v011-false-positives/spec.md",
    "sdd/corpus/kiro/seeds/1-spexus-initialize.md",
    "sdd/corpus/kiro/seeds/2-nexus-mcp-endpoint.md",
    "sdd/corpus/openspec/caseyWebb+elmq/openspec/specs/import-context/spec.md",
    "sdd/corpus/openspec/charly-vibes+fotos/openspec/specs/gnome-integration/spec.md",
    "sdd/corpus/openspec/charly-vibes+fotos/openspec/changes/refactor-generic-llm-endpoints/specs/ai-processing/spec.md",
    "sdd/corpus/openspec/Fission-AI+OpenSpec/openspec/specs/openspec-conventions/spec.md",
    "sdd/corpus/openspec/Fission-AI+OpenSpec/openspec/changes/add-global-install-scope/specs/installation-scope/spec.md",
)
CONFIG = b"""\
'$schema' = "duvet-cli/config/v1"
[[source]]
language = "python"
pattern = "src/*.py"
[[specification]]
source = "%s"
"""
SOURCE = "src/code.py"
# Short requirements are parts of others, and not everything that is cited has a text of its own.
FEWEST_DONE = 0.9


class Traced:
    def __init__(self, name: str, data: bytes) -> None:
        self.name, self.data = f"docs/spec{Path(name).suffix}", data
        self.files = {".duvet/config.toml": CONFIG % self.name.encode(), self.name: data}
        plain = self.project(data)
        comments, self.cited = [], list[Requirement]()
        for one in plain.requirements:
            target = f"{self.name}#{one.section.name}"
            comments += [f"##= {target}\n##% {one.text}\n\n##= {target}\n##= type=test\n##% {one.text}\n"]
            self.cited.append(one)
        self.files[SOURCE] = "\n".join(comments).encode()
        self.before = self.project(data)
        done = {index for index, one in enumerate(self.before.requirements) if one.state is State.DONE}
        failed = {self.before.trace.annotations[id].line for id in self.before.trace.failures}
        self.right = [
            (index, self.lines_of(index)) for index in sorted(done) if not failed.intersection(self.lines_of(index))
        ]
        sections = [one for coverage in self.before.trace.coverages for one in coverage.specification.sections]
        headings = tuple(data.count(b"\n", 0, one.heading[0]) for one in sections)
        requirements = tuple(
            (data.count(b"\n", 0, one.section.heading[0]), one.text) for one in self.before.requirements
        )
        self.document = Document(data.decode(), name.endswith(".md"), headings, requirements)

    def lines_of(self, index: int) -> tuple[int, int]:
        return 7 * index + 1, 7 * index + 4

    def project(self, data: bytes) -> Project:
        return Project("/project", tree=MemoryTree({**self.files, self.name: data}))


def check(traced: Traced, edited: Edited) -> Iterator[str]:
    after = traced.project(edited.text.encode())
    expected = traced.document.texts()
    expected.subtract(edited.removed)
    expected.update(edited.added)
    found = Counter(one.text for one in after.requirements)
    yield from (f"lost: {text}" for text in (+expected - found))
    yield from (f"unexpected: {text}" for text in (found - +expected))
    if edited.is_renumbered:
        fixes = fix_project(after, lambda findings: findings.files, lambda one, _: bool(one.fix and not one.fix.change))
        after = overlay_project(after, fixes.after)
    failed = {after.trace.annotations[id].line for id in after.trace.failures}
    done = Counter(one.text for one in after.requirements if one.state is State.DONE)
    for index, lines in traced.right:
        line, text = traced.document.requirements[index]
        is_repeated = sum(text in other for other in expected.elements()) > 1
        if text in edited.removed or (is_repeated and (line in edited.moved or edited.is_renumbered)):
            continue
        if failed.intersection(lines):
            yield f"reported wrong: {text}"
        elif not done[text]:
            yield f"no longer done: {text}"
    if not edited.added:
        return
    fixes = fix_project(after, lambda findings: findings.files)
    for one in (overlay_project(after, fixes.after) if fixes.after else after).requirements:
        if one.text in edited.added and one.state is State.DONE:
            yield f"done: {one.text}"


REPEATED = "# Tea\n\n" + "\n".join(
    f"## {('Notes', 'Notes', 'Rules')[number % 3]}\n\nThe pot {number} MUST be warm. It is blue.\n\n- The lid {number} MAY be red.\n"
    for number in range(12)
)
"""Sections of which only numbers distinguish the names."""


@pytest.mark.parametrize("name", [*DOCUMENTS, "repeated.md"], ids=lambda name: "-".join(Path(name).parts[-4:]))
def test_random_edits_change_what_they_should(name: str, shared: Path) -> None:
    traced = Traced(name, (shared / name).read_bytes() if name in DOCUMENTS else REPEATED.encode())
    right, cited = len(traced.right), len(traced.cited)
    assert right >= FEWEST_DONE * cited > 0
    wrong = []
    for number in range(EDITS_OF_EACH):
        kind, edited = edit_randomly(traced.document, Random(f"{name} {number}"))
        wrong += [(number, kind, problem) for problem in check(traced, edited)]
    assert wrong == []


def list_states(project: Project, *, has_names: bool) -> Counter[tuple[str, str, State]]:
    return Counter((one.id, one.name if has_names else "", one.state) for one in project.requirements)


FORMS: dict[str, Edit] = {
    "ticked": partial(tick_boxes, share=1),
    "wrapped": partial(rewrap_paragraphs, share=1),
    "half wrapped": partial(rewrap_paragraphs, share=0.5),
    "numbered": renumber_items,
}


def test_layout_does_not_change_the_result(shared: Path) -> None:
    wrong, edits = [], Counter[str]()
    for path in sorted((shared / "sdd" / "corpus").rglob("*.md")):
        traced = Traced(path.name, path.read_bytes())
        for name, form in FORMS.items():
            if edited := form(traced.document, Random(path.name)):
                edits[name] += 1
                # The number of an item may be the name of its requirement.
                has_names = name != "numbered"
                after = list_states(traced.project(edited.text.encode()), has_names=has_names)
                if after != list_states(traced.before, has_names=has_names):
                    wrong.append((name, path.relative_to(shared).as_posix()))
    assert wrong == []
    assert all(edits[name] > 5 for name in FORMS)
