"""Whatever stands in specifications and sources: nothing breaks, and a mend is a mend."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from duvet.project.project import Project
from duvet.project.validation import fix_project, overlay_project
from duvet.tree.files import MemoryTree

WORDS = (
    "The",
    "pot",
    "MUST",
    "be",
    "warm.",
    "warm",
    "-",
    "*",
    "|",
    "é",
    "日本",
    "\u2028",
    "\t",
    "'''",
    "*/",
    "\\",
    '"',
    "a" * 40,
)
TEXT = st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join)
HEADINGS = st.sampled_from(["# Tea", "## Pot", "## Lid", "### Lid", ""])
SPECIFICATIONS = st.lists(st.tuples(HEADINGS, TEXT), max_size=5).map(
    lambda found: "\n\n".join(f"{heading}\n\n{text}" for heading, text in found)
)
TARGETS = st.sampled_from(
    ["tea.md#pot", "tea.md#lid", "tea.md#lidd", "tea.md", "tae.md#pot", "./tea.md#pot", "#", "=", ""]
)
LINES = st.lists(
    st.one_of(
        TARGETS.map("//= {}".format),
        TEXT.map("  //# {}".format),
        TEXT,
        st.sampled_from(["//= type=exception", "//= type=test", "//= reason=so", 'r#"', '"#', "//#", "\t//=", ""]),
    ),
    max_size=30,
)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])
ENTRIES = st.lists(st.tuples(TARGETS, TEXT), max_size=3).map(
    lambda found: "".join(f"[[todo]]\ntarget = '{target}'\nquote = '''\n{text}\n'''\n" for target, text in found)
)


@settings(deadline=None)
@given(SPECIFICATIONS, LINES, ENDS, ENTRIES)
def test_any_input(specification: str, lines: list[str], end: str, entries: str) -> None:
    files = {
        ".duvet/config.toml": "'$schema' = 'duvet-cli/config/v1'\n[[source]]\npattern = 'a.rs'\n"
        "[[specification]]\nsource = 'tea.md'\n",
        ".duvet/todos/a.toml": entries,
        "tea.md": specification,
        "a.rs": end.join(lines),
    }
    project = Project(tree=MemoryTree({path: text.encode() for path, text in files.items()}))
    found = fix_project(project, lambda findings: findings.files)
    assert len(found.findings.found) <= len(found.first.found) + found.citations
    again = fix_project(overlay_project(project, found.after), lambda findings: findings.files)
    assert again.after == {}
    assert all(data.decode() == found.before[path].decode() for path, data in found.before.items())
    kept = overlay_project(project, found.after).trace.annotations
    assert [(one.path, one.kind) for one in kept] == [(one.path, one.kind) for one in project.trace.annotations]
