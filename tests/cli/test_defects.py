"""Inputs that make awslabs duvet panic, or write files that it can't read: its recorded defects, and similar ones."""

import json
import re
import shlex
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path

import html5lib
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


def problems(done: Done) -> list[tuple[str, str]]:
    return re.findall(r"^error: (.*?)(?: \[DUV\d+\])?\n(?: *--> (.*)\n)?", done.err, re.MULTILINE)


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


def test_recorded_defects(shared: Path, duvet_command: str, tmp_path: Path, gold: Snapshot) -> None:
    told = []
    for case in sorted((shared / "probes" / "defects").iterdir()):
        folder = tmp_path / case.name
        shutil.copytree(case / "project", folder, copy_function=shutil.copyfile)
        for command in tomllib.loads((case / "case.toml").read_text())["cmd"]:
            done = run(duvet_command, folder, *shlex.split(command)[1:])
            told.append(f"{case.name}: {command}: exit {done.code}")
            told += [f"  {message} {place}".rstrip() for message, place in problems(done)]
        for path in sorted(folder.rglob("*.toml")):
            stated = tomllib.loads(path.read_text()).get("spec", []) if path.name != "config.toml" else []
            name = path.relative_to(folder).as_posix()
            told += [f"  {name}: {one['level']} {one['quote'].strip()}" for one in stated]
        assert MORE_CHECKS.get(case.name, Path.exists)(folder), case.name
    gold.assert_match("\n".join(told) + "\n", "recorded.txt")
    assert len(MORE_CHECKS.keys() & {path.name for path in tmp_path.iterdir()}) == len(MORE_CHECKS)


EMPTY = "# Kettle\n\n## Heating\n\n## Pouring\n\nSlowly.\n"
SIMILAR: tuple[str | dict[str, str], ...] = (
    *({"src/a.rs": CITED.format(target="https://#heating", quote="x")}, "-q report"),
    *({"spec.md": EMPTY, "src/a.rs": "//= spec.md#heating\n"}, "-q report"),
    *({"src/a.rs": CITED.format(target="spec.md#heating", quote="Slowly.")}, "-q report"),
    *(f"report --source-pattern '{pattern}'" for pattern in ("(*=)c/*.c", "(*=,*#c/*.c", "(*=", "(")),
)


def test_similar_defects(kettle: Path, duvet: Run, gold: Snapshot) -> None:
    gold.assert_match(play(duvet, kettle, {".duvet/config.toml": PLAIN}, *SIMILAR), "similar.txt")
