import os
import re
from pathlib import Path

import click
from pytest_snapshot.plugin import Snapshot

from duvet.config.settings import SourceRule
from duvet.console.command import TerminalSettings
from duvet.console.report_data import list_comment_styles, make_report_data, read_code_below
from duvet.console.streams import render_bytes
from duvet.model import Kind
from duvet.project.project import Options, Project
from duvet.reports import json_v1
from duvet.reports.html.anchors import CommentStyle, ReportData
from duvet.reports.snapshot import SnapshotChange, SnapshotDiff, render_snapshot
from duvet.sources.glob import parse_legacy_pattern
from duvet.version import VERSION
from tests.cli.sample_project import KETTLE, make
from tests.histories import commit, git, history

EXTENDED = """\
'$schema' = "duvet-cli/config/v1"
[[source]]
pattern = "src/**/*.rs"
[[specification]]
source = "spec.md"
[report.html]
title = "Kettle <2>"
logo = "ACME"
spec-text = "full"
snippet-lines = 1
embed-json = true
[report.snapshot]
enabled = true
"""
OURS = {**KETTLE, ".duvet/config.toml": EXTENDED}


def page(folder: Path, options: Options = Options(), *, wrong: bool = False) -> ReportData:  # noqa: B008 - frozen
    project = Project(str(folder), options)
    finished = project.finished()
    snapshot = None if wrong else lambda: render_bytes(lambda out: render_snapshot(finished, out))
    settings = TerminalSettings({"PATH": os.environ["PATH"], "GIT_DIR": "/nowhere"})
    with click.Context(click.Command("report"), obj=settings):
        return make_report_data(project, finished, (), snapshot)


def test_default_content_of_the_report(tmp_path: Path) -> None:
    # Entries of requirement files have no code.
    todo = 'target = "spec.md#pouring"\n\n[[todo]]\nquote = "The spout MAY drip."\n'
    found = page(make(tmp_path, {**KETTLE, ".duvet/todos/a.toml": todo}))
    assert (found.title, found.logo, found.whole_text, found.embedded, found.since) == ("", "", False, None, None)
    assert (found.version, found.commit, found.config_path) == (VERSION, "", ".duvet/config.toml")
    assert [one.path for one in found.catalogue.citations] == [".duvet/todos/a.toml", "src/a.rs", "src/a.rs"]
    assert found.snippets == {1: "fn boil() {}", 2: "fn boils() {}"}
    assert found.comments == (CommentStyle(label="src/**/*.rs", meta="//=", content="//#"),)


def test_content_of_the_report_with_all_options(tmp_path: Path) -> None:
    folder = make(tmp_path, {**OURS, "src/a.rs": KETTLE["src/a.rs"].replace("{}", "{\n}")})
    found = page(folder)
    ##= man/spec/page.md#overview
    ##% The report MUST show the configured title and logo.
    assert (found.title, found.logo, found.whole_text) == ("Kettle <2>", "ACME", True)
    assert found.snippets == {0: "fn boil() {", 1: "fn boils() {"}
    assert found.embedded == render_bytes(lambda out: json_v1.render_json_v1(Project(str(folder)).finished(), out))
    assert page(folder, wrong=True).embedded is None


def test_content_without_a_configuration(tmp_path: Path) -> None:
    source = "/*\n *= spec.md#pouring\n *# The spout MAY drip.\n */\nx;\n"
    folder = make(tmp_path, {"spec.md": KETTLE["spec.md"], "x.c": source})
    found = page(folder, Options(sources=(parse_legacy_pattern("(*=,*#)*.c"),)))
    assert found.comments == (CommentStyle(label="*.c", meta="*=", content="*#", first="/*", last="*/"),)
    assert (found.snippets, found.config_path) == ({0: "x;"}, "")


def test_next_steps_are_in_the_report(tmp_path: Path) -> None:
    ##= man/spec/page.md#overview
    ##% The overview MUST list the first ten requirements of `duvet prioritize`, with the reason for each rank.
    found = page(make(tmp_path / "a", KETTLE)).next
    assert [(row.rank, row.level, row.reason) for row in found] == [
        (1, "SHOULD", "SHOULD, uncited: nothing cites it"),
        (2, "MAY", "MAY, uncited: nothing cites it"),
    ]
    sentences = "".join(f"It MUST do {number}.\n" for number in range(12))
    many = page(make(tmp_path / "b", {**KETTLE, "spec.md": f"# Kettle\n\n## Heating\n\n{sentences}"}), wrong=True).next
    assert [(row.rank, row.text) for row in many] == [(rank, f"It MUST do {rank - 1}.") for rank in range(1, 11)]


def test_changes_since_the_commit_are_in_the_report(tmp_path: Path) -> None:
    folder = history(tmp_path, {f"deep/{name}": text for name, text in KETTLE.items()}) / "deep"
    assert page(folder).since is None
    finished = Project(str(folder)).finished()
    (folder / ".duvet/snapshot.txt").write_bytes(render_bytes(lambda out: render_snapshot(finished, out)))
    assert page(folder).since is None
    name = commit(folder)
    found = page(folder)
    assert (found.since, found.commit) == (SnapshotDiff(), name)
    (folder / "src/a.rs").write_text(KETTLE["src/a.rs"].partition("\n\n")[0])
    (folder / ".duvet/snapshot.txt").write_bytes(b"whatever is written today")
    where = {"specification": "spec.md", "section": "heating", "text": "The kettle MUST boil water."}
    change = SnapshotChange(**where, before="implementation, test", after="implementation")
    assert page(folder).since == SnapshotDiff(lost=(change,))
    assert page(folder, wrong=True).since is None
    git(folder, "rm", "--quiet", "--cached", ".duvet/snapshot.txt")
    git(folder, "commit", "--quiet", "--message=x")
    assert page(folder).since is None


def test_code_outside_the_project_is_not_shown(tmp_path: Path) -> None:
    ##= man/spec/page.md#safety
    ##% The report MUST NOT contain code from files outside the project, even through symbolic links.
    secret = KETTLE["src/a.rs"].partition("\n\n")[0]
    make(tmp_path / "other", {"b.rs": secret, "deep/c.rs": secret})
    config = KETTLE[".duvet/config.toml"] + '[[source]]\npattern = "../other/b.rs"\n'
    folder = make(tmp_path / "kettle", {**KETTLE, ".duvet/config.toml": config, "real/d.rs": secret})
    (folder / "src/deep").symlink_to(tmp_path / "other/deep")
    (folder / "src/c.rs").symlink_to(tmp_path / "other/b.rs")
    (folder / "src/inside").symlink_to(folder / "real")
    (folder / "src/d.rs").symlink_to(folder / "real/d.rs")
    found = page(folder)
    assert {found.catalogue.citations[number].id: code for number, code in found.snippets.items()} == {
        "src/a.rs:1": "fn boil() {}",
        "src/a.rs:5": "fn boils() {}",
        "src/d.rs:1": "fn boil() {}",
        "src/inside/d.rs:1": "fn boil() {}",
    }


def test_a_source_removed_during_the_run_has_no_code(tmp_path: Path) -> None:
    for now in (None, b"\xff", "fn gone".encode("utf-16")):
        project = Project(str(make(tmp_path, KETTLE)))
        finished = project.finished()
        (tmp_path / "src/a.rs").unlink()
        if now is not None:
            (tmp_path / "src/a.rs").write_bytes(now)
        assert make_report_data(project, finished, (), None).snippets == {}


def test_comment_styles_are_listed() -> None:
    rules = [
        SourceRule(("src/**/*.rs", "x/*.rs")),
        SourceRule(("src/**/*.c", "src/**/*.ml", "src/**/*.h"), "*=", "*#"),
        SourceRule(("tests/*.rs",), kind=Kind.TEST),
        SourceRule(("x/*.rs", "y/*.rs"), blob_link="https://x"),
    ]
    assert list_comment_styles(rules) == (
        CommentStyle(label="src/**/*.rs, x/*.rs, y/*.rs", meta="//=", content="//#"),
        CommentStyle(label="src/**/*.c, src/**/*.h", meta="*=", content="*#", first="/*", last="*/"),
        CommentStyle(label="src/**/*.ml", meta="*=", content="*#", first="(*", last="*)"),
        CommentStyle(label="tests/*.rs", meta="//=", content="//#", kind=Kind.TEST),
    )
    assert list_comment_styles(()) == ()


def read_code(text: str, most: int = 3) -> list[str | None]:
    """Return the code below each `@`, which stands for an annotation."""
    spots = [(number, "src/a.rs", found.span()) for number, found in enumerate(re.finditer("@+", text))]
    found = read_code_below(spots[::-1], lambda path: text if path == "src/a.rs" else None, most)
    return [found.get(number) for number, _, _ in spots]


CODE_BELOW = [
    *("@\na\nb\nc\nd\n", "@\na", "@\n\n \t\na\n\n\n", "@\na\n\nc\n", "@\n\n\na\nb\nc\nd\n", "@", "@\n \n\t\n"),
    *("@\r\n  a\r\n  b\r\n", "@\n    a\n      b\n\n    c\n", "@\n    a\n  b\n", "@\n\t\ta\tb\n\tc\n"),
    *("@\n\t  a\n\t b\n", "@\n\ta\n  b\n", "@\na\n  @\nb\n", "@\n@\na\n@", "@\n\n@@\n\na\n"),
    *("/*\n * @\n */\n/*\n * @\n */\nint a;\n", "/*\n * @\n */\nint a;\n/*\n * @\n */\nint b;\n", "a @\nb\n"),
    *(f"@\n{'x' * 160}\n{'y' * 161}\n", f"@\n{' ' * 200}{'x' * 160}\n", f"@\n{'x' * 100_000}"),
    *("@\na\vb\x85c\u2028d\n", "@\n  é😀\n"),
]


def test_the_code_below_an_annotation_is_shown(snapshot: Snapshot) -> None:
    ##= man/spec/page.md#requirements-and-citations
    ##% The report MUST show the code below each citation, up to the next annotation and at most `snippet-lines` lines.
    lines = "".join(f"{text!r}\n  {read_code(text)}\n" for text in CODE_BELOW)
    lines = re.sub(r"([xy ])\1{99,}", lambda found: f"{len(found[0])} times `{found[1]}`", lines)
    snapshot.assert_match(lines, "html/code_below.txt")
    text = "@\n" + "".join(f"{number}\n" for number in range(60))
    lines = "\n".join(map(str, range(50)))
    assert [read_code(text, most) for most in (0, 1, 50)] == [[None], ["0"], [lines]]


def test_each_file_is_read_once_and_may_have_become_shorter() -> None:
    read: list[str] = []
    texts = {"a": "@\na\n@\nb\n", "b": "@\nc\n"}

    def text_of(path: str) -> str | None:
        read.append(path)
        return texts.get(path)

    spots = [(0, "a", (0, 1)), (1, "b", (0, 1)), (2, "a", (4, 5)), (3, "gone", (0, 1))]
    assert read_code_below(spots, text_of, 3) == {0: "a", 1: "c", 2: "b"}
    assert read == ["a", "b", "gone"]
    assert read_code_below([(0, "a", (50, 60)), (1, "a", (1, 2))], lambda path: "x\ny\n", 3) == {1: "y"}
