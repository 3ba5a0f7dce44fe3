"""A project is read step by step, from its configuration to its requirements."""

from __future__ import annotations

import doctest
from collections.abc import Mapping
from pathlib import Path

import pytest

import duvet.project
from duvet import (
    FetchError,
    Finished,
    Kind,
    Level,
    MemoryTree,
    Options,
    Place,
    Policy,
    Problem,
    ProblemsError,
    Progress,
    Project,
    Severity,
    SourceRule,
    Status,
    Tree,
    UnreadableError,
)
from duvet.specs.requirement_files import read
from duvet.specs.resolve import locate
from tests.specs.test_fetch import TEXT, Server, server

# pytest looks for the fixture by its name here.
__all__ = ["server"]

CONFIG = b"""'$schema' = 'duvet-cli/config/v1'

[[source]]
pattern = ["src/*.rs", "lib/*.rs"]
blob-link = "https://host/${{ COMMIT || 'main' }}"

[[requirement]]
pattern = "more/**/*.toml"

[[specification]]
source = "tea.md"

[report.html]
blob-link = "https://html"
issue-link = "https://issues"
"""
PLAIN = b"'$schema' = 'duvet-cli/config/v1'\nsource = [{ pattern = '*.rs' }]\n"
TEA = b"# Tea\n\nThe pot MUST be warm.\nIt MAY be blue.\n\n## Cup\n\nA cup SHOULD\nbe \xe2\x98\x95.\n"
FILES = {
    ".duvet/config.toml": CONFIG,
    ".duvet/exceptions/tea.toml": b"target = 'tea.md#tea'\n[[exception]]\nquote = 'It MAY be blue.'\nreason = 'red'\n",
    "more/a/todo.toml": b"[[todo]]\ntarget = 'tea.md#cup'\nquote = 'A cup SHOULD'\n",
    "tea.md": TEA,
    "src/a.rs": b"//= tea.md#tea\n//# The pot MUST be warm.\n",
    "lib/a.rs": b"//= tea.md#tea\n//= type=test\n//# The pot MUST be warm.\n",
}
SCHEMA = b"'$schema' = 'duvet-cli/config/v1'\n"


def written(folder: Path, files: Mapping[str, bytes] = FILES) -> Path:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def in_memory(files: Mapping[str, bytes], options: Options = Options()) -> Project:  # noqa: B008 - frozen
    return Project(options=options, tree=MemoryTree(files))


def content(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


def test_the_example_runs() -> None:
    results = doctest.testmod(duvet.project)
    assert (results.failed, results.attempted) == (0, 5)


@pytest.mark.parametrize("kind", ["disk", "memory"])
def test_a_whole_project(kind: str, tmp_path: Path) -> None:
    tree = MemoryTree(FILES) if kind == "memory" else None
    project = Project(str(written(tmp_path)), tree=tree, environ={"COMMIT": "abc"})
    trace = project.trace
    shown = [(one.path, one.line, one.kind, one.quote, one.blob_link) for one in trace.annotations]
    warm, blue = "The pot MUST be warm.", "It MAY be blue."
    assert shown == [
        (".duvet/exceptions/tea.toml", 2, Kind.EXCEPTION, blue, None),
        (".duvet/requirements/tea/cup.toml", 8, Kind.SPEC, "A cup SHOULD be ☕.", None),
        (".duvet/requirements/tea/tea.toml", 8, Kind.SPEC, warm, None),
        (".duvet/requirements/tea/tea.toml", 14, Kind.SPEC, blue, None),
        ("lib/a.rs", 1, Kind.TEST, warm, "https://host/abc"),
        ("more/a/todo.toml", 1, Kind.TODO, "A cup SHOULD", None),
        ("src/a.rs", 1, Kind.CITATION, warm, "https://host/abc"),
    ]
    assert [(one.section.id, one.level, one.text, one.status) for one in project.requirements] == [
        ("tea", Level.MUST, warm, Status.DONE),
        ("tea", Level.MAY, blue, Status.DONE),
        ("cup", Level.SHOULD, "A cup SHOULD be ☕.", Status.NOT_STARTED),
    ]
    assert (trace.problems, [match is None for match in trace.match_of]) == ((), [False] * 7)


def test_nothing_is_written(tmp_path: Path) -> None:
    before = content(written(tmp_path))
    assert Project(str(tmp_path)).finished().requirements
    assert content(tmp_path) == before


def test_what_is_extracted_equals_what_the_next_run_reads(tmp_path: Path) -> None:
    first = Project(str(written(tmp_path)))
    assert {path: read(path, data)[0] for path, data in first.extraction.files.items()} == first.extraction.annotations
    trace = first.trace
    written(tmp_path, first.extraction.files)
    assert Project(str(tmp_path)).trace == trace
    written(tmp_path, {".duvet/config.toml": CONFIG.replace(b'[[specification]]\nsource = "tea.md"\n', b"")})
    again = Project(str(tmp_path))
    assert (again.extraction.files, again.trace) == ({}, trace)


@pytest.mark.parametrize("spelling", ["./{0}", ".//x/../{0}", "{1}/{0}", "../{2}/{0}", "{1}/../{2}/./{0}"])
def test_one_configuration_has_one_name(tmp_path: Path, spelling: str) -> None:
    root = written(tmp_path / "project")
    path = spelling.format(".duvet/config.toml", root, "project")
    project = Project(str(root), Options(config_path=path))
    assert project.config is not None
    assert (project.config.path, project.downloads) == (".duvet/config.toml", ".duvet/specifications")
    assert project.trace == Project(str(root)).trace


def test_a_configuration_elsewhere(tmp_path: Path) -> None:
    root = written(tmp_path / "project")
    (root / ".duvet/config.toml").rename(tmp_path / "other.toml")
    for name in ("../other.toml", f"{tmp_path}/other.toml"):
        project = Project(str(root), Options(config_path=name))
        folder = name.removesuffix("other.toml") + "requirements/tea"
        assert sorted(project.extraction.files) == [f"{folder}/cup.toml", f"{folder}/tea.toml"]
        assert [one.kind for one in project.trace.annotations] == [Kind.EXCEPTION, Kind.TEST, Kind.TODO, Kind.CITATION]
        assert project.trace.problems == ()


def test_the_root_may_be_the_root_of_all() -> None:
    project = Project("/", Options(config_path="/p/config.toml"), tree=MemoryTree({"/p/config.toml": SCHEMA}))
    assert (project.root, project.downloads, project.trace.problems) == ("/", "/p/specifications", ())


def test_without_a_configuration() -> None:
    project = in_memory({"a.rs": b"//= tea.md#tea\n"})
    assert (project.config, project.trace.annotations, project.requirements) == (None, (), ())
    assert project.finished() == Finished(project.trace, (), project.root)


def test_patterns_beside_the_configuration() -> None:
    options = Options(sources=(SourceRule(("other/*.c",), "*=", "*#"),), requirements=("r/*.toml", "r/a.*"))
    files = {
        "tea.md": TEA,
        "other/a.c": b" *= tea.md#tea\n",
        "r/a.toml": b"[[spec]]\ntarget = 'tea.md#cup'\nquote = 'be \xe2\x98\x95.'\n",
    }
    without = in_memory(files, options)
    assert [(one.path, one.kind) for one in without.trace.annotations] == [
        ("other/a.c", Kind.CITATION),
        ("r/a.toml", Kind.SPEC),
    ]
    both = in_memory({**FILES, **files}, options)
    assert len(both.trace.annotations) == len(in_memory(FILES).trace.annotations) + 2
    assert both.trace.problems == without.trace.problems == ()


def test_a_trace_with_problems_is_still_a_trace() -> None:
    wrong = b"//= tea.md#tea\n//# no such words\n\n//= tea.md#nowhere\n\n//= level=x\n\n\n\n//# stray\n"
    project = in_memory({**FILES, "src/b.rs": wrong, "src/c.rs": b"\xff", "more/b.toml": b"[[spec]]\n"})
    trace = project.trace
    assert [(one.code, one.path, one.place.line, one.severity) for one in trace.problems] == [
        ("DUV032", "more/b.toml", 1, Severity.ERROR),
        ("DUV032", "more/b.toml", 1, Severity.ERROR),
        ("DUV050", "src/b.rs", 2, Severity.ERROR),
        ("DUV043", "src/b.rs", 4, Severity.ERROR),
        ("DUV023", "src/b.rs", 6, Severity.ERROR),
        ("DUV025", "src/b.rs", 6, Severity.ERROR),
        ("DUV027", "src/b.rs", 10, Severity.WARNING),
        ("DUV011", "src/c.rs", 1, Severity.ERROR),
    ]
    unmatched = [one for one, match in zip(trace.annotations, trace.match_of, strict=True) if match is None]
    assert [(one.path, one.line) for one in unmatched] == [("src/b.rs", 1), ("src/b.rs", 4)]
    assert project.requirements == in_memory(FILES).requirements


def test_patterns_that_mean_nothing_are_told_at_their_places() -> None:
    config = CONFIG.replace(b"lib/*.rs", b"lib/***").replace(b"more/**/*", b"more/[")
    problems = in_memory({**FILES, ".duvet/config.toml": config}).trace.problems
    assert [(one.code, one.path, one.place) for one in problems] == [
        ("DUV006", ".duvet/config.toml", Place(4, 24, 9)),
        ("DUV006", ".duvet/config.toml", Place(8, 11, 13)),
    ]


def test_requirement_files_that_cant_be_read(tmp_path: Path) -> None:
    root = written(tmp_path, {**FILES, "more/b.toml/c.toml": b"\xff", "more/d.toml": b"["})
    (root / "more/gone.toml").symlink_to("nothing")
    assert [(one.code, one.path) for one in Project(str(root)).trace.problems] == [
        ("DUV012", "more/b.toml"),
        ("DUV011", "more/b.toml/c.toml"),
        ("DUV030", "more/d.toml"),
        ("DUV010", "more/gone.toml"),
    ]


def test_two_spellings_of_one_specification() -> None:
    project = in_memory({**FILES, "src/b.rs": b"//= ./tea.md#tea\n//# It MAY be blue.\n"})
    message = "./tea.md and tea.md are one text, but count as two specifications"
    hint, warning = "write tea.md everywhere", Severity.WARNING
    assert project.trace.problems == (Problem("DUV044", message, "src/b.rs", Place(1), hint=hint, severity=warning),)
    assert [one.specification.id for one in project.trace.coverages] == ["tea", "tea-2"]


def test_a_wrong_configuration_is_raised_with_all_that_is_wrong() -> None:
    project = in_memory({".duvet/config.toml": b"'$schema' = 'x'\ncolour = 1\n"})
    for ask in (lambda: project.trace, lambda: project.requirements, project.finished, lambda: project.downloads):
        with pytest.raises(ProblemsError) as caught:
            ask()
        assert [(one.code, one.place.line) for one in caught.value.problems] == [("DUV005", 1), ("DUV002", 2)]


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("no.toml", "no.toml: No such file or directory (os error 2)"),
        (".duvet", ".duvet: Is a directory (os error 21)"),
        ("", ".: Is a directory (os error 21)"),
    ],
)
def test_a_configuration_that_cant_be_read(tmp_path: Path, named: str, message: str) -> None:
    trees: list[Tree | None] = [None, MemoryTree(FILES)]
    for tree in trees:
        project = Project(str(written(tmp_path)), Options(config_path=named), tree=tree)
        with pytest.raises(UnreadableError) as caught:
            _ = project.trace
        assert str(caught.value) == message


def test_a_configuration_behind_a_dead_link(tmp_path: Path) -> None:
    (tmp_path / ".duvet").mkdir()
    (tmp_path / ".duvet/config.toml").symlink_to("nothing")
    with pytest.raises(UnreadableError):
        _ = Project(str(tmp_path)).trace


URL = "https://host.example/tea.md"


def test_specifications_in_memory_are_not_downloaded() -> None:
    config = PLAIN + f"specification = [{{ source = '{URL}' }}]\n".encode()
    files = {".duvet/config.toml": config, "a.rs": f"//= {URL}#tea\n//# It MAY be\n".encode()}
    (problem,) = in_memory(files).trace.problems
    hint = "put its text into .duvet/specifications/host.example/tea.txt"
    message = f"{URL} has not been downloaded"
    place, label = Place(3, 29, 29), "configured here"
    assert problem == Problem("DUV045", message, ".duvet/config.toml", place, label, hint)
    there = in_memory({**files, ".duvet/specifications/host.example/tea.txt": TEA})
    assert [one.text for one in there.requirements] == [
        "The pot MUST be warm.",
        "It MAY be blue.",
        "A cup SHOULD be ☕.",
    ]


def test_downloads_are_kept_where_the_options_say(tmp_path: Path) -> None:
    class Steps(Progress):
        def begin(self, step: str) -> None:
            steps.append(step)

    steps: list[str] = []
    options = Options(spec_path="kept", policy=Policy(offline=True))
    project = Project(str(tmp_path), options, progress=Steps())
    assert (project.downloads, in_memory({}).downloads) == ("kept/specs", "specs")
    with pytest.raises(FetchError, match="downloads are off") as caught:
        project.library.load(locate(URL))
    assert caught.value.hint == f"put its text into {tmp_path}/kept/specs/host.example/tea.txt"
    assert (steps, list(tmp_path.iterdir())) == ([f"Downloading {URL}"], [])


def test_a_download_is_kept_for_the_next_run(tmp_path: Path, server: Server) -> None:
    url = f"{server.url}/text"
    config = PLAIN + f"specification = [{{ source = '{url}' }}]\n".encode()
    written(tmp_path, {".duvet/config.toml": config, "a.rs": f"//= {url}#1\n//# The pot\n".encode()})
    first = Project(str(tmp_path), Options(policy=Policy(allow_http=True)))
    assert ([one.text for one in first.requirements], first.trace.problems) == (["The pot MUST be warm."], ())
    assert (tmp_path / ".duvet/specifications/127.0.0.1/text.txt").read_bytes() == TEXT
    assert Project(str(tmp_path), Options(policy=Policy(offline=True))).trace == first.trace


def test_links_given_win_over_the_configuration() -> None:
    project = in_memory(FILES)
    links = [(one.blob_link, one.issue_link) for one in (project.finished(), project.finished("b", ""))]
    assert links == [("https://html", "https://issues"), ("b", "")]


def test_progress_is_told_step_by_step() -> None:
    class Steps(Progress):
        def end(self, outcome: str) -> None:
            steps.append(outcome)

    steps: list[str] = []
    Project(tree=MemoryTree(FILES), progress=Steps()).finished()
    assert steps == [
        "Extracted requirements from 1 specifications",
        "Scanned 6 sources",
        "Parsed 7 annotations",
        "Loaded 1 specifications",
        "Mapped 2 sections",
        "Matched 8 references",
        "Sorted 8 references",
    ]
