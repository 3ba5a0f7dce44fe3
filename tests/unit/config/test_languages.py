"""The table of languages, and the configuration of a new project."""

from __future__ import annotations

import pytest

from duvet.config import languages
from duvet.config.project_file import read_config
from duvet.config.settings import Config, SourceRule, SpecificationRule


def test_what_init_starts_with_in_the_order_of_its_blocks() -> None:
    assert [(starter.language.value, starter.pattern, starter.language.style) for starter in languages.STARTERS] == [
        ("c", "src/**/*.c", languages.STARS),
        ("cryptoverif", "**/*.cv", languages.STARS),
        ("go", "src/**/*.go", languages.SLASHES),
        ("java", "src/**/*.java", languages.SLASHES),
        ("javascript", "src/**/*.js", languages.SLASHES),
        ("proverif", "**/*.pv", languages.STARS),
        ("python", "src/**/*.py", languages.HASHES),
        ("typescript", "src/**/*.ts", languages.SLASHES),
        ("ruby", "lib/**/*.rb", languages.HASHES),
        ("rust", "src/**/*.rs", languages.SLASHES),
    ]


def test_the_table_of_languages() -> None:
    patterns = [pattern for language in languages.Language for pattern in language.patterns]
    assert len(set(patterns)) == len(patterns)
    for starter in languages.STARTERS:
        assert "**/" + starter.pattern.rpartition("/")[2] in starter.language.patterns
    # The two prefixes of a style can be told apart.
    for meta, content in (language.style for language in languages.Language):
        assert not meta.startswith(content) and not content.startswith(meta)


ODD = 'a "b"\\c\x7f.md'


def written(starters: tuple[languages.Starter, ...], *specifications: str, extended: bool) -> Config:
    """What duvet reads from the configuration that it writes."""
    return read_config(languages.render_starting_config(starters, specifications, extended=extended), "config.toml", {})


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (set(), []),
        ({"setup.py", "README.md"}, ["python"]),
        ({"Cargo.toml", "build.gradle.kts", "package.json"}, ["java", "javascript", "rust"]),
    ],
)
def test_languages_are_known_by_their_files(files: set[str], expected: list[str]) -> None:
    ##= man/spec/trace.md#configuration
    ##% `duvet init` MUST write a configuration that duvet can read, for the given languages or those found in the
    ##% folder, and MUST NOT change existing files.
    assert [one.language.value for one in languages.detect_languages(files.__contains__)] == expected


@pytest.mark.parametrize("extended", [False, True])
def test_a_new_configuration_can_be_read(extended: bool) -> None:
    config = written(languages.STARTERS, "spec.md", ODD, extended=extended)
    assert [(one.patterns, one.meta, one.content) for one in config.sources] == [
        ((starter.pattern,), *starter.language.style) for starter in languages.STARTERS
    ]
    assert config.specifications == (SpecificationRule("spec.md"), SpecificationRule(ODD))
    assert (config.extended, config.report.snapshot.enabled) == (extended, True)
    empty = written((), extended=extended)
    assert (empty.sources, empty.specifications) == ((), ())


def test_the_extended_schema_leaves_out_the_files_that_git_ignores() -> None:
    (source,) = written(languages.detect_languages({"go.mod"}.__contains__), extended=True).sources
    assert source == SourceRule(("src/**/*.go",), gitignore=True, language="go")
