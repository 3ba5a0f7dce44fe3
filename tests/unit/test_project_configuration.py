"""The configuration of a project: where it stands, what stands beside it, and what happens where it is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from duvet import Finished, Kind, MemoryTree, Options, ProblemsError, Project, SourceRule, Tree, UnreadableError
from tests.made import FILES, TEA, in_memory, written

SCHEMA = b"'$schema' = 'duvet-cli/config/v1'\n"


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


def test_links_given_win_over_the_configuration() -> None:
    project = in_memory(FILES)
    links = [(one.blob_link, one.issue_link) for one in (project.finished(), project.finished("b", ""))]
    assert links == [("https://html", "https://issues"), ("b", "")]
