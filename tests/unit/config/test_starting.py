"""The configuration of a new project."""

from __future__ import annotations

import pytest

from duvet.config.languages import STARTERS, Starter, detect_languages, render_starting_config
from duvet.config.project_file import read_config
from duvet.config.settings import Config, SourceRule, SpecificationRule

ODD = 'a "b"\\c\x7f.md'


def written(starters: tuple[Starter, ...], *specifications: str, extended: bool) -> Config:
    """What duvet reads from the configuration that it writes."""
    return read_config(render_starting_config(starters, specifications, extended=extended), "config.toml", {})


@pytest.mark.parametrize(
    ("files", "languages"),
    [
        (set(), []),
        ({"setup.py", "README.md"}, ["python"]),
        ({"Cargo.toml", "build.gradle.kts", "package.json"}, ["java", "javascript", "rust"]),
    ],
)
def test_languages_are_known_by_their_files(files: set[str], languages: list[str]) -> None:
    ##= man/spec/trace.md#configuration
    ##% `duvet init` MUST write a configuration that duvet can read, for the given languages or those found in the
    ##% folder, and MUST NOT change existing files.
    assert [one.language.value for one in detect_languages(files.__contains__)] == languages


@pytest.mark.parametrize("extended", [False, True])
def test_what_is_written_can_be_read(extended: bool) -> None:
    config = written(STARTERS, "spec.md", ODD, extended=extended)
    assert [(one.patterns, one.meta, one.content) for one in config.sources] == [
        ((starter.pattern,), *starter.language.style) for starter in STARTERS
    ]
    assert config.specifications == (SpecificationRule("spec.md"), SpecificationRule(ODD))
    assert (config.extended, config.report.snapshot.enabled) == (extended, True)


def test_our_schema_leaves_out_what_git_ignores() -> None:
    (source,) = written(detect_languages({"go.mod"}.__contains__), extended=True).sources
    assert source == SourceRule(("src/**/*.go",), gitignore=True, language="go")


@pytest.mark.parametrize("extended", [False, True])
def test_nothing_known_is_a_configuration_too(extended: bool) -> None:
    config = written((), extended=extended)
    assert (config.sources, config.specifications) == ((), ())
