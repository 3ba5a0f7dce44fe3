"""The table of languages, and the configuration of a new project."""

from __future__ import annotations

import pytest

from duvet.config.languages import (
    HASHES,
    SLASHES,
    STARS,
    STARTERS,
    Language,
    Starter,
    detect_languages,
    render_starting_config,
)
from duvet.config.project_file import read_config
from duvet.config.settings import Config, SourceRule, SpecificationRule


def test_what_init_starts_with_in_the_order_of_its_blocks() -> None:
    assert [(starter.language.value, starter.pattern, starter.language.style) for starter in STARTERS] == [
        ("c", "src/**/*.c", STARS),
        ("cryptoverif", "**/*.cv", STARS),
        ("go", "src/**/*.go", SLASHES),
        ("java", "src/**/*.java", SLASHES),
        ("javascript", "src/**/*.js", SLASHES),
        ("proverif", "**/*.pv", STARS),
        ("python", "src/**/*.py", HASHES),
        ("typescript", "src/**/*.ts", SLASHES),
        ("ruby", "lib/**/*.rb", HASHES),
        ("rust", "src/**/*.rs", SLASHES),
    ]


@pytest.mark.parametrize("starter", STARTERS)
def test_a_starter_looks_for_files_of_its_language(starter: Starter) -> None:
    assert "**/" + starter.pattern.rpartition("/")[2] in starter.language.patterns


def test_no_two_languages_share_files() -> None:
    patterns = [pattern for language in Language for pattern in language.patterns]
    assert len(set(patterns)) == len(patterns)


@pytest.mark.parametrize("language", Language)
def test_the_two_prefixes_of_a_style_can_be_told_apart(language: Language) -> None:
    meta, content = language.style
    assert not meta.startswith(content)
    assert not content.startswith(meta)


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
