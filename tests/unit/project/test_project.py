import doctest
from collections import Counter
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from msgspec.structs import replace

import duvet
import duvet.project.project
from duvet import Kind, MemoryTree, Options, Project, UnreadableError
from duvet.errors import DuvetError
from duvet.specs.requirement_files import read_requirement_file
from tests.cli.command import files
from tests.cli.sample_project import CONFIG as KETTLE_CONFIG, KETTLE, SOURCE, SPECIFICATION, make
from tests.sample_project import CONFIG, FILES, TEA, in_memory, written


def test_a_project_is_traced(tmp_path: Path) -> None:
    project = Project(str(written(tmp_path)), environ={"COMMIT": "abc"})
    trace = project.trace
    assert Project(str(tmp_path), tree=MemoryTree(FILES), environ={"COMMIT": "abc"}).trace == trace
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
    assert [(one.section.id, one.level, one.text, one.state) for one in project.requirements] == [
        ("tea", duvet.Level.MUST, warm, duvet.State.DONE),
        ("tea", duvet.Level.MAY, blue, duvet.State.EXCEPTED),
        ("cup", duvet.Level.SHOULD, "A cup SHOULD be ☕.", duvet.State.TO_DO),
    ]
    assert (trace.problems, [match is None for match in trace.match_of]) == ((), [False] * 7)
    # The example in the documentation runs, too.
    results = doctest.testmod(duvet.project.project)
    assert (results.failed, results.attempted) == (0, 5)


def test_reading_prints_and_writes_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    make(tmp_path, {**KETTLE, "src/b.rs": "//# stray\n\n//= nothing.md#here\n"})
    before = files(tmp_path)
    project = Project(str(tmp_path))
    assert project.finished().requirements
    assert [(requirement.state.words, requirement.text) for requirement in project.requirements] == [
        ("done", "The kettle MUST boil water."),
        ("uncited", "It SHOULD whistle when done."),
        ("uncited", "The spout MAY drip."),
    ]
    assert [problem.code for problem in project.trace.problems] == ["DUV027", "DUV040"]
    assert (files(tmp_path), capfd.readouterr()) == (before, ("", ""))


PIECES = [*"#[]{}'\"=\n\t\\*\r\0é日\ufeff", "//=", "//#", "type=", " MUST ", "spec.md#heating", "```\n", "    ", "1. "]


def changed(text: str) -> st.SearchStrategy[bytes]:
    cuts = st.tuples(st.integers(0, len(text)), st.integers(0, 30))
    inserted = st.lists(st.sampled_from(PIECES), max_size=6).map("".join) | st.text(max_size=8)
    spliced = st.builds(lambda cut, insert: text[: cut[0]] + insert + text[sum(cut) :], cuts, inserted)
    return spliced.map(lambda text: text.encode(errors="surrogatepass"))


@settings(deadline=None)
@given(
    changed(KETTLE_CONFIG) | st.just(KETTLE_CONFIG.encode()),
    changed(SPECIFICATION) | st.binary(max_size=30),
    changed(SOURCE) | st.binary(max_size=30),
    changed("target = 'spec.md#heating'\n[[todo]]\nquote = 'The kettle'\n") | st.binary(max_size=30),
)
def test_any_input_is_read_or_refused(config: bytes, specification: bytes, source: bytes, requirements: bytes) -> None:
    inputs = (config, specification, source, requirements)
    project = Project("/w", tree=MemoryTree(dict(zip([*KETTLE, ".duvet/todos/a.toml"], inputs, strict=True))))
    try:
        for requirement in project.requirements:
            assert requirement.state.words and requirement.id
        assert list(project.trace.problems) == sorted(project.trace.problems, key=lambda one: one.sort_key)
    except DuvetError as error:
        assert error.message


def test_extraction_equals_what_the_next_run_reads(tmp_path: Path) -> None:
    first = Project(str(written(tmp_path)))
    files = first.extraction.files
    assert {path: read_requirement_file(path, files[path])[0] for path in files} == first.extraction.annotations
    trace = first.trace
    written(tmp_path, first.extraction.files)
    assert Project(str(tmp_path)).trace == trace
    written(tmp_path, {".duvet/config.toml": CONFIG.replace(b'[[specification]]\nsource = "tea.md"\n', b"")})
    again = Project(str(tmp_path))
    coverages = [replace(one, specification=replace(one.specification, is_configured=False)) for one in trace.coverages]
    assert (again.extraction.files, again.trace) == ({}, replace(trace, coverages=tuple(coverages)))


def test_a_trace_with_problems_is_still_a_trace() -> None:
    wrong = b"//= tea.md#tea\n//# no such words\n\n//= tea.md#nowhere\n\n//= level=x\n\n\n\n//# stray\n"
    project = in_memory({**FILES, "src/b.rs": wrong, "src/c.rs": b"\xff", "more/b.toml": b"[[spec]]\n"})
    trace = project.trace
    assert [(one.code, one.path, one.place.line, one.severity) for one in trace.problems] == [
        ("DUV032", "more/b.toml", 1, duvet.Severity.ERROR),
        ("DUV032", "more/b.toml", 1, duvet.Severity.ERROR),
        ("DUV050", "src/b.rs", 2, duvet.Severity.ERROR),
        ("DUV043", "src/b.rs", 4, duvet.Severity.ERROR),
        ("DUV023", "src/b.rs", 6, duvet.Severity.ERROR),
        ("DUV025", "src/b.rs", 6, duvet.Severity.ERROR),
        ("DUV027", "src/b.rs", 10, duvet.Severity.WARNING),
        ("DUV011", "src/c.rs", 1, duvet.Severity.ERROR),
    ]
    unmatched = [one for one, match in zip(trace.annotations, trace.match_of, strict=True) if match is None]
    assert [(one.path, one.line) for one in unmatched] == [("src/b.rs", 1), ("src/b.rs", 4)]
    assert project.requirements == in_memory(FILES).requirements


def test_invalid_patterns_and_unreadable_files_are_reported(tmp_path: Path) -> None:
    config = CONFIG.replace(b"lib/*.rs", b"lib/***").replace(b"more/**/*", b"more/[")
    problems = in_memory({**FILES, ".duvet/config.toml": config}).trace.problems
    assert [(one.code, one.path, one.place) for one in problems] == [
        ("DUV006", ".duvet/config.toml", duvet.Place(4, 24, 9)),
        ("DUV006", ".duvet/config.toml", duvet.Place(8, 11, 13)),
    ]
    root = written(tmp_path, {**FILES, "more/b.toml/c.toml": b"\xff", "more/d.toml": b"["})
    (root / "more/gone.toml").symlink_to("nothing")
    assert [(one.code, one.path) for one in Project(str(root)).trace.problems] == [
        ("DUV012", "more/b.toml"),
        ("DUV011", "more/b.toml/c.toml"),
        ("DUV030", "more/d.toml"),
        ("DUV010", "more/gone.toml"),
    ]


SCHEMA = b"'$schema' = 'duvet-cli/config/v1'\n"


def test_one_configuration_has_one_name(tmp_path: Path) -> None:
    root = written(tmp_path / "project")
    for spelling in ("./{0}", ".//x/../{0}", "{1}/{0}", "../{2}/{0}", "{1}/../{2}/./{0}"):
        path = spelling.format(".duvet/config.toml", root, "project")
        project = Project(str(root), Options(config_path=path))
        assert project.config is not None
        assert (project.config.path, project.downloads) == (".duvet/config.toml", ".duvet/specifications")
        assert project.trace == Project(str(root)).trace


def test_a_configuration_in_another_folder_is_read(tmp_path: Path) -> None:
    root = written(tmp_path / "project")
    (root / ".duvet/config.toml").rename(tmp_path / "other.toml")
    for name in ("../other.toml", f"{tmp_path}/other.toml"):
        project = Project(str(root), Options(config_path=name))
        folder = name.removesuffix("other.toml") + "requirements/tea"
        assert sorted(project.extraction.files) == [f"{folder}/cup.toml", f"{folder}/tea.toml"]
        assert [one.kind for one in project.trace.annotations] == [Kind.EXCEPTION, Kind.TEST, Kind.TODO, Kind.CITATION]
        assert project.trace.problems == ()


def test_the_root_of_all_no_configuration_and_links_that_are_given() -> None:
    project = Project("/", Options(config_path="/p/config.toml"), tree=MemoryTree({"/p/config.toml": SCHEMA}))
    assert (project.root, project.downloads, project.trace.problems) == ("/", "/p/specifications", ())
    project = in_memory({"a.rs": b"//= tea.md#tea\n"})
    assert (project.config, project.trace.annotations, project.requirements) == (None, (), ())
    assert project.finished() == duvet.Finished(project.trace, (), project.root)
    project = in_memory(FILES)
    links = [(one.blob_link, one.issue_link) for one in (project.finished(), project.finished("b", ""))]
    assert links == [("https://html", "https://issues"), ("b", "")]


def test_patterns_are_relative_to_the_configuration() -> None:
    options = Options(sources=(duvet.SourceRule(("other/*.c",), "*=", "*#"),), requirements=("r/*.toml", "r/a.*"))
    files = {
        "tea.md": TEA,
        "other/a.c": b" *= tea.md#tea\n",
        "r/a.toml": b"[[spec]]\ntarget = 'tea.md#cup'\nquote = 'be \xe2\x98\x95.'\n",
    }
    without = in_memory(files, options)
    kinds = [(one.path, one.kind) for one in without.trace.annotations]
    assert kinds == [("other/a.c", Kind.CITATION), ("r/a.toml", Kind.SPEC)]
    both = in_memory({**FILES, **files}, options)
    assert len(both.trace.annotations) == len(in_memory(FILES).trace.annotations) + 2
    assert both.trace.problems == without.trace.problems == ()


def test_a_wrong_configuration_is_raised_with_all_that_is_wrong() -> None:
    project = in_memory({".duvet/config.toml": b"'$schema' = 'x'\ncolour = 1\n"})
    for ask in (lambda: project.trace, lambda: project.requirements, project.finished, lambda: project.downloads):
        with pytest.raises(duvet.ProblemsError) as caught:
            ask()
        assert [(one.code, one.place.line) for one in caught.value.problems] == [("DUV005", 1), ("DUV002", 2)]


def test_an_unreadable_configuration_is_an_error(tmp_path: Path) -> None:
    trees: list[duvet.Tree | None] = [None, MemoryTree(FILES)]
    messages = {
        "no.toml": "no.toml: No such file or directory (os error 2)",
        ".duvet": ".duvet: Is a directory (os error 21)",
        "": ".: Is a directory (os error 21)",
    }
    for tree, (named, message) in product(trees, messages.items()):
        project = Project(str(written(tmp_path)), Options(config_path=named), tree=tree)
        with pytest.raises(UnreadableError) as caught:
            _ = project.trace
        assert str(caught.value) == message
    (tmp_path / ".duvet/config.toml").unlink()
    (tmp_path / ".duvet/config.toml").symlink_to("nothing")
    with pytest.raises(UnreadableError):
        _ = Project(str(tmp_path)).trace
    with pytest.raises(UnreadableError, match=r"nowhere: no such folder$"):
        _ = Project(str(tmp_path / "nowhere")).trace


def test_a_named_folder_stays_when_the_process_goes_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "a", {".duvet/config.toml": SCHEMA})
    monkeypatch.chdir(tmp_path)
    project = Project("a")
    monkeypatch.chdir("/")
    assert project.config is not None
    tree = duvet.DiskTree(str(tmp_path))
    assert Project(tree=tree).disk is tree


LISTED = {
    ".duvet/config.toml": b"""\
'$schema' = "duvet-cli/config/v1"
source = [{ pattern = "src/*.rs" }]
specification = [{ source = "tea.md" }, { source = "https://host/milk" }]
""",
    "tea.md": b"# Tea\n\nThe pot MUST be warm.\n",
    ".duvet/specifications/host/milk.txt": b"1.  Milk\n\n   Milk MAY be added.\n",
    ".duvet/todos/tea.toml": b"target = 'tea.md#tea'\n[[todo]]\nquote = 'The pot MUST be warm.'\n",
    "src/a.rs": b"//= tea.md#tea\n//# The pot MUST be wrm.\n",
}


class Vanishing(MemoryTree):
    def __init__(self, path: str, times: int) -> None:
        super().__init__(LISTED)
        self.left = Counter({path: times})
        self.path = path

    def read(self, path: str) -> bytes:
        if path == self.path:
            self.left[path] -= 1
            if self.left[path] < 0:
                raise UnreadableError("No such file or directory (os error 2)", path=path)
        return super().read(path)


def problems_of(path: str, times: int) -> tuple[duvet.Problem, ...]:
    try:
        return Project(tree=Vanishing(path, times)).trace.problems
    except duvet.ProblemsError as error:
        return error.problems


def test_a_removed_file_is_reported_unless_it_was_read_before() -> None:
    with pytest.raises(UnreadableError, match=r"\.duvet/config\.toml: No such file"):
        problems_of(".duvet/config.toml", 0)
    for path in LISTED:
        after = [(problem.code, problem.path, problem.place.line) for problem in problems_of(path, 1)]
        assert after == [("DUV050", "src/a.rs", 1 if path == "src/a.rs" else 2)]
        if path != ".duvet/config.toml":
            before = [problem for problem in problems_of(path, 0) if problem.code == "DUV010"]
            assert [path in f"{problem.path}: {problem.message}" for problem in before] == [True]
