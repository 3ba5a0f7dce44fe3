"""The catalogue of subsystems, and what is wrong with it."""

from __future__ import annotations

import pytest

from duvet.errors import ProblemsError
from duvet.knowledge.ingest.subsystems import read_subsystem_catalogue
from duvet.tree.files import MemoryTree


@pytest.mark.parametrize("path", ["subsystems.yaml", ".duvet/subsystems.yml", ".metadata/subsystems.json"])
def test_where_the_catalogue_is(path: str) -> None:
    ##= man/spec/knowledge.md#subsystems
    ##= type=test
    ##% `duvet ingest` MUST read subsystems from `subsystems.yaml`, `.yml` or `.json` at the top, in `.duvet`,
    ##% `.metadata` or `docs`, and stop at an error in it with its line.
    files = {path: b'{"a": {"paths": "x"}}', "docs/subsystems.json": b'{"b": {}}'}
    assert [one.name for one in read_subsystem_catalogue(MemoryTree(files))] == ["a"]
    assert [one.name for one in read_subsystem_catalogue(MemoryTree({path: b'{"subsystems": {"c": {}}}'}))] == ["c"]


def test_how_critical_a_subsystem_is() -> None:
    text = b"a: {criticality: LOW}\nb: {criticality: ' High '}\nc: {criticality: ''}\nd: {}\n"
    assert [one.criticality for one in read_subsystem_catalogue(MemoryTree({"subsystems.yaml": text}))] == [
        "low",
        "high",
        "",
        "",
    ]
    with pytest.raises(ProblemsError) as error:
        read_subsystem_catalogue(MemoryTree({"subsystems.yaml": b"a: {criticality: hihg}\n"}))
    assert [(one.message, one.hint) for one in error.value.problems] == [
        ('"hihg" is no criticality', "did you mean high?")
    ]


BAD = {
    b"a: [1]\n": (1, "invalid type"),
    b"a:\n  path: x\n": (2, "unknown field `path`"),
    b"a:\n  tags: {}\n": (2, "invalid type"),
    b"a:\n  paths:\n  - 'x**'\n": (3, "Pattern syntax error"),
    b"a: &x [*x]\n": (1, "an alias of nothing"),
    b"a: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"
    b"d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n": (5, "more than 100,000 values"),
    b"a: {description: &d " + b"x" * 500_000 + b"}\n" + b"".join(b"b%d: {description: *d}\n" % n for n in range(9)): (
        9,
        "more than 4,194,304 characters",
    ),
    b"a: {\n": (2, "YAML parse error"),
    b"b: {}\na:\n  owner: x\n  criticality: urgent\n": (4, '"urgent" is no criticality'),
    b"A:\n  owner: x\na:\n  owner: y\n": (3, '"a" is the same subsystem as "A"'),
    b"a: {}\n' ': {}\n": (2, "a subsystem has to have a name"),
}


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_what_is_wrong_with_the_catalogue_is_told(text: bytes) -> None:
    ##= man/spec/knowledge.md#subsystems
    ##= type=test
    ##% `duvet ingest` MUST read subsystems from `subsystems.yaml`, `.yml` or `.json` at the top, in `.duvet`,
    ##% `.metadata` or `docs`, and stop at an error in it with its line.
    with pytest.raises(ProblemsError) as error:
        read_subsystem_catalogue(MemoryTree({"docs/subsystems.yaml": text}))
    line, message = BAD[text]
    problem = error.value.problems[0]
    assert (problem.path, problem.place.line) == ("docs/subsystems.yaml", line)
    assert message in problem.message
