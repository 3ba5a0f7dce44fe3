"""The table of languages."""

from __future__ import annotations

import pytest

from duvet.config.languages import HASHES, SLASHES, STARS, STARTERS, Language, Starter


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
