"""Inputs that make awslabs duvet panic, or write files that it can't read: its recorded defects, and similar ones."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path

import html5lib
import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.command import Done, Run, files, play, run

PLAIN = """\
'$schema' = "https://awslabs.github.io/duvet/config/v0.4.json"
[[source]]
pattern = "src/*.rs"
[report.html]
enabled = false
"""
CITED = "//= {target}\n//# {quote}\n"
NOT_COMPLETE = "the comment style of the source pattern `{}` is incomplete"


def problems(done: Done) -> list[tuple[str, str]]:
    return re.findall(r"^error: (.*?)(?: \[DUV\d+\])?\n(?: *--> (.*)\n)?", done.err, re.MULTILINE)


def quotes(path: Path) -> list[tuple[str, str]]:
    return [(spec["level"], spec["quote"].strip()) for spec in tomllib.loads(path.read_text())["spec"]]


RECORDED: dict[str, list[list[tuple[str, str]]]] = {
    "comments-parse-error-hides-match-error": [
        [
            ('could not find text in section "heating" of spec.md', "src/a.rs:2:5"),
            ('missing section "nowhere" in spec.md', "src/a.rs:4:5"),
            ("comment is missing source specification", "src/b.rs:1:10"),
        ]
    ],
    "defect-control-character-context": [[], []],
    "defect-dot-multibyte": [[]],
    "defect-empty-section-empty-quote": [[]],
    "defect-empty-section-quote": [[('could not find text in section "empty" of doc.md', "src/a.rs:2:5")]],
    "defect-extract-json-leftover": [[('unsupported extraction type: "json"', "")]],
    "defect-extract-with-config-url": [[]],
    "defect-file-url": [[('file URLs are not supported: "file:///spec.md"', "src/a.rs:1:5")]],
    "defect-hostless-url": [[('the URL "other:///spec.md" has no host', "src/a.rs:1:5")]],
    "defect-html-script-end": [[]],
    "defect-lcov-short-id": [[]],
    "defect-setext-multiline-title": [[], []],
    "defect-source-style-broken": [[(NOT_COMPLETE.format(one), "")] for one in ("(*=)c/*.c", "(*=,*#c/*.c")],
    "defect-triple-quote": [[]],
    "defect-v1-key-collision": [[]],
    "target-missing-files-two": [
        [('Could not resolve file "nope.md"', "src/a.rs:1:5"), ('Could not resolve file "nope2.md"', "src/a.rs:4:5")]
    ],
}
"""The problems that each command of a recorded case has to find."""
EXTRACTED: dict[str, list[tuple[str, str]]] = {
    "defect-control-character-context": [("MUST", f"{one} MUST be seen.") for one in ("First", "Second", "Third")],
    "defect-dot-multibyte": [("MUST", "He said “it MUST be.” Then MAY go.")],
    "defect-setext-multiline-title": [("MUST", "Text MUST be.")],
    "defect-triple-quote": [("MUST", "Use '''MUST''' here."), ("MAY", "Next MAY be.")],
}
"""The requirements that each command of a recorded case writes."""


def is_text_on_the_page(folder: Path) -> bool:
    page = html5lib.parse((folder / "page.html").read_text(), namespaceHTMLElements=False)
    return page.find(".//b") is None and "The </script><b> tag MUST" in " ".join("".join(page.itertext()).split())


MORE_CHECKS: dict[str, Callable[[Path], object]] = {
    "defect-empty-section-empty-quote": lambda folder: specifications(folder) == ["doc.md"],
    "defect-extract-json-leftover": lambda folder: not (folder / "ex").exists(),
    "defect-extract-with-config-url": lambda folder: (
        sorted(files(folder / "www.rfc-editor.org/rfc/rfc99997"))
        == ["appendix-A.toml", "section-1.toml", "section-2.1.toml"]
    ),
    "defect-html-script-end": is_text_on_the_page,
    "defect-lcov-short-id": lambda folder: (
        "BRDA:3,1,0,1\nFNDA:1,Sand\nBRDA:1,1,0,1\n" in (folder / "lcov/compliance.0.lcov").read_text()
    ),
    "defect-v1-key-collision": lambda folder: (
        len(specifications(folder)) == 2
        and (folder / ".duvet/snapshot.txt").read_text().count("SPECIFICATION: [Spec](spec.md)") == 2
    ),
}


def specifications(folder: Path) -> list[str]:
    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        assert len(dict(pairs)) == len(pairs)
        return dict(pairs)

    return list(json.loads((folder / "out.json").read_text(), object_pairs_hook=once)["specifications"])


def test_every_recorded_defect_is_checked(shared: Path) -> None:
    assert {path.name for path in (shared / "probes" / "defects").iterdir()} == RECORDED.keys()


@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_defect(name: str, shared: Path, duvet_command: str, tmp_path: Path) -> None:
    case = shared / "probes" / "defects" / name
    folder = tmp_path / "project"
    shutil.copytree(case / "project", folder, copy_function=shutil.copyfile)
    commands = tomllib.loads((case / "case.toml").read_text())["cmd"]
    done = [run(duvet_command, folder, *shlex.split(command)[1:]) for command in commands]
    assert [(one.code, problems(one)) for one in done] == [(int(bool(one)), one) for one in RECORDED[name]]
    if name in EXTRACTED:
        written = [quote for path in folder.rglob("*.toml") if path.name != "config.toml" for quote in quotes(path)]
        assert sorted(written) == sorted(EXTRACTED[name] * len(commands))
    assert MORE_CHECKS.get(name, Path.exists)(folder)


EMPTY = "# Kettle\n\n## Heating\n\n## Pouring\n\nSlowly.\n"
SIMILAR: tuple[str | dict[str, str], ...] = (
    *({"src/a.rs": CITED.format(target="https://#heating", quote="x")}, "-q report"),
    *({"spec.md": EMPTY, "src/a.rs": "//= spec.md#heating\n"}, "-q report"),
    *({"src/a.rs": CITED.format(target="spec.md#heating", quote="Slowly.")}, "-q report"),
    *(f"report --source-pattern '{pattern}'" for pattern in ("(*=)c/*.c", "(*=,*#c/*.c", "(*=", "(")),
)


def test_similar_defects(kettle: Path, duvet: Run, gold: Snapshot) -> None:
    gold.assert_match(play(duvet, kettle, {".duvet/config.toml": PLAIN}, *SIMILAR), "similar.txt")
