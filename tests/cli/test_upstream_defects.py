"""What awslabs duvet gets wrong, recorded in the shared folder, has here the outcome that is wanted there."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import tomllib
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.cli.running import Done, run

Check = Callable[[Path, list[Done]], None]


def problems(done: Done) -> list[tuple[str, str]]:
    """Each problem in its first words, and its place."""
    return re.findall(r"^error: (.*) \[DUV\d+\]\n *--> (.*)$", done.err, re.MULTILINE)


def quotes(path: Path) -> list[tuple[str, str]]:
    """The level and the words of each requirement in a file."""
    return [(spec["level"], spec["quote"].strip()) for spec in tomllib.loads(path.read_text())["spec"]]


def json_of(path: Path) -> dict[str, dict[str, object]]:
    """A report in which no key stands twice."""

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        assert len(dict(pairs)) == len(pairs)
        return dict(pairs)

    found = json.loads(path.read_text(), object_pairs_hook=once)
    assert isinstance(found, dict)
    return found


def parse_errors_hide_nothing(folder: Path, done: list[Done]) -> None:
    assert (done[0].code, problems(done[0])) == (
        1,
        [
            ('could not find text in section "heating" of spec.md', "src/a.rs:2:5"),
            ('missing section "nowhere" in spec.md', "src/a.rs:4:5"),
            ("comment is missing source specification", "src/b.rs:1:10"),
        ],
    )


def control_characters(folder: Path, done: list[Done]) -> None:
    assert [one.code for one in done] == [0, 0]
    wanted = [("MUST", "First MUST be seen."), ("MUST", "Second MUST be seen.")]
    for path in (".duvet/requirements/doc/section-1.toml", "ex/doc/section-1.toml"):
        assert quotes(folder / path) == wanted


def dot_before_a_quotation_mark(folder: Path, done: list[Done]) -> None:
    assert done[0].code == 0
    assert quotes(folder / "ex/req/rules.toml") == [("MUST", "He said “it MUST be.” Then MAY go.")]


def empty_quote_of_an_empty_section(folder: Path, done: list[Done]) -> None:
    assert done[0].code == 0
    assert list(json_of(folder / "out.json")["specifications"]) == ["doc.md"]


def quote_of_an_empty_section(folder: Path, done: list[Done]) -> None:
    assert (done[0].code, problems(done[0])) == (
        1,
        [('could not find text in section "empty" of doc.md', "src/a.rs:2:5")],
    )
    assert "section is empty" in done[0].err


def extension_that_is_none(folder: Path, done: list[Done]) -> None:
    assert done[0].code == 1 and 'unsupported extraction type: "json"' in done[0].err
    assert not (folder / "ex").exists()


def extract_a_url_with_a_configuration(folder: Path, done: list[Done]) -> None:
    assert done[0].code == 0
    written = folder / "www.rfc-editor.org/rfc/rfc99997"
    assert sorted(path.name for path in written.iterdir()) == ["appendix-A.toml", "section-1.toml", "section-2.1.toml"]


def file_url(folder: Path, done: list[Done]) -> None:
    wanted = [('file URLs are not supported: "file:///spec.md"', "src/a.rs:1:5")]
    assert (done[0].code, problems(done[0])) == (1, wanted)


def url_without_a_host(folder: Path, done: list[Done]) -> None:
    assert (done[0].code, problems(done[0])) == (1, [('the URL "other:///spec.md" has no host', "src/a.rs:1:5")])


class Page(HTMLParser):
    """The elements of a page, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self.tags.append(f"/{tag}")

    def handle_data(self, data: str) -> None:
        self.text += data


def end_of_a_script(folder: Path, done: list[Done]) -> None:
    assert done[0].code == 0
    page = Page()
    page.feed((folder / "page.html").read_text())
    assert page.tags.count("script") == page.tags.count("/script")
    assert page.tags[-2:] == ["/body", "/html"] and "The </script><b> tag MUST" in " ".join(page.text.split())


def lcov_of_a_short_id(folder: Path, done: list[Done]) -> None:
    assert done[0].code == 0
    tested = "BRDA:3,1,0,1\nFNDA:1,Sand\nBRDA:1,1,0,1\n"
    assert tested in (folder / "lcov/compliance.0.lcov").read_text()


def title_over_two_lines(folder: Path, done: list[Done]) -> None:
    assert [one.code for one in done] == [0, 0]
    for path in (".duvet/requirements/doc/long-title-goes-on.toml", "ex/doc/long-title-goes-on.toml"):
        assert quotes(folder / path) == [("MUST", "Text MUST be.")]


def broken_style(folder: Path, done: list[Done]) -> None:
    for one, pattern in zip(done, ("(*=)c/*.c", "(*=,*#c/*.c"), strict=True):
        assert one.code == 1 and f"`{pattern}` is not complete" in one.err


def three_quotation_marks(folder: Path, done: list[Done]) -> None:
    assert done[0].code == 0
    path = folder / ".duvet/requirements/req/rules.toml"
    assert quotes(path) == [("MUST", "Use '''MUST''' here."), ("MAY", "Next MAY be.")]


def one_file_in_two_formats(folder: Path, done: list[Done]) -> None:
    assert done[0].code == 0
    assert len(json_of(folder / "out.json")["specifications"]) == 2
    assert (folder / ".duvet/snapshot.txt").read_text().count("SPECIFICATION: [Spec](spec.md)") == 2


def two_targets_that_are_missing(folder: Path, done: list[Done]) -> None:
    wanted = [
        ('Could not resolve file "nope.md"', "src/a.rs:1:5"),
        ('Could not resolve file "nope2.md"', "src/a.rs:4:5"),
    ]
    assert (done[0].code, problems(done[0])) == (1, wanted)


CHECKS: dict[str, Check] = {
    "comments-parse-error-hides-match-error": parse_errors_hide_nothing,
    "defect-control-character-context": control_characters,
    "defect-dot-multibyte": dot_before_a_quotation_mark,
    "defect-empty-section-empty-quote": empty_quote_of_an_empty_section,
    "defect-empty-section-quote": quote_of_an_empty_section,
    "defect-extract-json-leftover": extension_that_is_none,
    "defect-extract-with-config-url": extract_a_url_with_a_configuration,
    "defect-file-url": file_url,
    "defect-hostless-url": url_without_a_host,
    "defect-html-script-end": end_of_a_script,
    "defect-lcov-short-id": lcov_of_a_short_id,
    "defect-setext-multiline-title": title_over_two_lines,
    "defect-source-style-broken": broken_style,
    "defect-triple-quote": three_quotation_marks,
    "defect-v1-key-collision": one_file_in_two_formats,
    "target-missing-files-two": two_targets_that_are_missing,
}


def test_every_recorded_defect_is_checked(shared: Path) -> None:
    assert {path.name for path in (shared / "probes" / "defects").iterdir()} == CHECKS.keys()


@pytest.mark.parametrize("name", CHECKS)
def test_a_recorded_defect(name: str, shared: Path, duvet_command: str, tmp_path: Path) -> None:
    case = shared / "probes" / "defects" / name
    folder = tmp_path / "project"
    shutil.copytree(case / "project", folder, copy_function=shutil.copyfile)
    commands = tomllib.loads((case / "case.toml").read_text())["cmd"]
    done = [run(duvet_command, folder, *shlex.split(command)[1:]) for command in commands]
    CHECKS[name](folder, done)
