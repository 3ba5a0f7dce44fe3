"""Which files are pages, and what they are called."""

from __future__ import annotations

import pytest

from duvet.knowledge.pages.page import decode_page_body, find_pattern_prefix, find_slug_fault, normalise_slug
from tests.unit.knowledge.pages.made import CONFIG, notes_of, told


def slugs(files: dict[str, str | bytes]) -> list[str]:
    return sorted(page.slug for page in notes_of(files).pages)


def configured(*tables: str) -> dict[str, str | bytes]:
    return {".duvet/config.toml": CONFIG + "".join(f"[[pages]]\n{table}\n" for table in tables)}


FILES: dict[str, str | bytes] = {
    "docs/a.md": "",
    "docs/deep/b.md": "",
    "docs/c.txt": "",
    "notes/d.md": "",
    "notes/old/e.md": "",
    "README.md": "",
}


def test_by_default() -> None:
    ##= man/spec/pages.md#files
    ##= type=test
    ##% Pages MUST be the Markdown files that the configuration names or, by default, those in `docs` that are not
    ##% specifications.
    ##= man/spec/pages.md#files
    ##= type=test
    ##% The slug of a page MUST be that of its front matter, or else its path inside the configured folder without
    ##% `.md`, and be found in every Unicode form.
    assert slugs(FILES) == ["a", "deep/b"]
    assert slugs({}) == []


NAMED = {
    "one pattern": (["pattern = 'notes/**/*.md'"], ["d", "old/e"]),
    "several": (["pattern = ['./notes/*.md', 'README.md']", "pattern = 'docs/deep/*'"], ["README", "b", "d"]),
    "less some": (["pattern = 'notes/**/*.md'\nexclude = 'notes/old'"], ["d"]),
    "specifications, too": (["pattern = 'docs/*.md'"], ["a", "spec"]),
    "none": (["pattern = 'nothing/*.md'"], []),
}


@pytest.mark.parametrize(("tables", "expected"), NAMED.values(), ids=NAMED)
def test_files_that_are_named(tables: list[str], expected: list[str]) -> None:
    ##= man/spec/pages.md#files
    ##= type=test
    ##% Pages MUST be the Markdown files that the configuration names or, by default, those in `docs` that are not
    ##% specifications.
    assert slugs({**FILES, **configured(*tables)}) == expected


def test_a_pattern_that_means_nothing() -> None:
    files = configured("pattern = 'a**'")
    assert told(files) == [
        (
            "DUV006",
            ".duvet/config.toml:7:11",
            "Pattern syntax error near position 0: recursive wildcards must form a single path component",
        )
    ]


@pytest.mark.parametrize(
    ("pattern", "prefix"),
    [("docs/**/*.md", "docs/"), ("*.md", ""), ("./a/b*/c.md", "a/"), ("a/b.md", "a/"), ("README.md", "")],
)
def test_prefixes(pattern: str, prefix: str) -> None:
    assert find_pattern_prefix(pattern) == prefix


def test_titles() -> None:
    ##= man/spec/pages.md#files
    ##= type=test
    ##% The title of a page MUST be that of its front matter, taken as it is written, or else its first heading or its
    ##% slug.
    files: dict[str, str | bytes] = {
        "docs/a.md": "---\ntitle: From the  front\n---\n# Heading\n",
        "docs/b.md": "text\n\n## The `code` of [[a|it]] & *more*\nmore\n\n# Second\n",
        "docs/c.md": "```\n# no heading\n```\n",
        "docs/d.md": "Under\nlined\n===\n",
        "docs/e.md": "---\ntitle: 2026\n---\n",
        "docs/f.md": "#\n\n## Not empty\n",
    }
    assert {page.slug: page.title for page in notes_of(files).pages} == {
        "a": "From the front",
        "b": "The code of it & more",
        "c": "c",
        "d": "Under lined",
        "e": "2026",
        "f": "Not empty",
    }


BAD = {
    "": "it is empty",
    "/etc/passwd": "it is an absolute path",
    "C:/x": "it is an absolute path",
    "../x": "it leads to another folder, or through an empty one",
    "a/../../x": "it leads to another folder, or through an empty one",
    "a//b": "it leads to another folder, or through an empty one",
    ".": "it leads to another folder, or through an empty one",
    "a\0b": "it has the control character U+0000 in it",
    "a\x1b[31m": "it has the control character U+001B in it",
    "a\u202eb": "it has the control character U+202E in it",
    "a\nb": "it has the control character U+000A in it",
    "a\tb": "it has the control character U+0009 in it",
    "a\u2028b": "it has the control character U+2028 in it",
    "a|b": "no link can be written with the `|` in it",
    "a\\b": "no link can be written with the `\\` in it",
    "req:1234": "links to requirements begin with `req:`",
    "x" * 301: "it has more than 300 characters",
}


@pytest.mark.parametrize(("slug", "reason"), BAD.items(), ids=map(ascii, BAD))
def test_slugs_that_are_refused(slug: str, reason: str) -> None:
    assert find_slug_fault(normalise_slug(slug)) == reason


GOOD = ["a", "a/b c", "\u05e9\u05dc\u05d5\u05dd", "\U0001f375", "\U0001f468\u200d\U0001f469", "..a", "a.b", "\u00e9"]


@pytest.mark.parametrize("slug", GOOD, ids=map(ascii, GOOD))
def test_slugs_that_are_fine(slug: str) -> None:
    notes = notes_of({"docs/x.md": f'---\nslug: "{slug}"\n---\n', "docs/y.md": f"[[{slug}]]"})
    page = notes.require(slug)
    assert (page.path, notes.backlinks(page), list(notes.dangling())) == ("docs/x.md", ("y",), [])


def test_pages_with_bad_slugs_are_left_out() -> None:
    ##= man/spec/pages.md#files
    ##= type=test
    ##% duvet MUST skip a page whose slug is empty, absolute, contains control characters or leads out of its folder,
    ##% and report two pages with the same slug.
    files: dict[str, str | bytes] = {
        "docs/a.md": "---\nslug: ../x\n---\n",
        "docs/b.md": "---\nslug: ''\n---\n",
        "docs/[c].md": "",
        "docs/d.md": "",
    }
    assert slugs(files) == ["d"]
    assert [(code, where, message) for code, where, message in told(files)] == [
        ("DUV101", "docs/[c].md:0:0", "'[c]' can't be the slug of a page: no link can be written with the `[` in it"),
        (
            "DUV101",
            "docs/a.md:0:0",
            "'../x' can't be the slug of a page: it leads to another folder, or through an empty one",
        ),
        ("DUV101", "docs/b.md:0:0", "'' can't be the slug of a page: it is empty"),
    ]


def test_one_spelling() -> None:
    ##= man/spec/pages.md#files
    ##= type=test
    ##% The slug of a page MUST be that of its front matter, or else its path inside the configured folder without
    ##% `.md`, and be found in every Unicode form.
    notes = notes_of({"docs/cafe\u0301.md": "", "docs/b.md": "[[caf\u00e9]]"})
    assert notes.require("cafe\u0301") is notes.require("caf\u00e9")
    assert notes.backlinks(notes.require("caf\u00e9")) == ("b",)
    blanks = notes_of(
        {"docs/two  blanks.md": "", "docs/no\u00a0break.md": "", "docs/b.md": "[[two  blanks]] [[no\u00a0break]]"}
    )
    for slug in ("two  blanks", "two blanks", "no\u00a0break", "no break"):
        assert blanks.backlinks(blanks.require(slug)) == ("b",)
    assert list(blanks.dangling()) == []


def test_slugs_that_clash() -> None:
    ##= man/spec/pages.md#files
    ##= type=test
    ##% duvet MUST skip a page whose slug is empty, absolute, contains control characters or leads out of its folder,
    ##% and report two pages with the same slug.
    files: dict[str, str | bytes] = {"docs/a.md": "# First\n", "docs/z.md": "---\nslug: a\n---\n# Second\n"}
    assert told(files) == [
        ("DUV100", "docs/a.md:0:0", "the slug `a` is that of docs/z.md, too"),
        ("DUV100", "docs/z.md:0:0", "the slug `a` is that of docs/a.md, too"),
    ]
    assert [page.title for page in notes_of(files).pages] == ["First"]


TEXTS = {
    "---\n\n[[b]]\n\n---\n": 0,
    "---\n \t\r\nslug: [[b]]\n---\n": 0,
    "---\nSome words on [[b]].\n---\nMore\n": 1,
    "---\n# Heading\n[[b]]\n---\n": 1,
    "---\n- [[b]]\n- b: c\n---\n": 1,
    "---\nhttps://example.org/[[b]]\n---\n": 1,
}


@pytest.mark.parametrize("text", TEXTS)
def test_text_between_rules(text: str) -> None:
    ##= man/spec/pages.md#hostile-input
    ##= type=test
    ##% duvet MUST read at most 4 MiB of a page, skip a file that is not text, and ignore front matter that is invalid
    ##% or too large, each with a warning.
    files: dict[str, str | bytes] = {"docs/a.md": text, "docs/b.md": ""}
    notes = notes_of(files)
    assert notes.outlinks(notes.require("a")) == ("b",)
    assert decode_page_body(text.encode(), "x") == text
    message = "what stands before the second `---` is no table, so it is read as text"
    assert told(files) == [("DUV102", "docs/a.md:1:1", message)] * TEXTS[text]


@pytest.mark.parametrize(
    "front",
    [
        "slug: x",
        "# why\n\nslug: x",
        '"slug" : x',
        "'slug': x",
        "{slug: x}",
        "-a: b\nslug: x",
        "a b:\nslug: x",
        "a:b: c\nslug: x",
    ],
)
def test_front_matter_in_other_spellings(front: str) -> None:
    files: dict[str, str | bytes] = {"docs/a.md": f"---\n{front}\n---\n"}
    assert (slugs(files), told(files)) == (["x"], [])


@pytest.mark.parametrize("line", ["a" + " " * 65_000, " " * 65_000, "a:" * 30_000 + "a", "#\n" * 30_000, "-" * 65_000])
def test_long_lines_between_rules(line: str) -> None:
    text = f"---\n{line}\n---\n"
    assert decode_page_body(text.encode(), "x") == text


def test_numbers_in_front_matter() -> None:
    ##= man/spec/pages.md#files
    ##= type=test
    ##% The title of a page MUST be that of its front matter, taken as it is written, or else its first heading or its
    ##% slug.
    many = "1" * 5000
    text = f"---\nslug: 007\ntitle: 1.10\ntags: [010, 0x1F, 1e3, .inf, &a 1_0, *a]\nmore: {many}\n---\n"
    files: dict[str, str | bytes] = {"docs/a.md": text}
    (page,) = notes_of(files).pages
    assert (page.slug, page.title, page.tags) == ("007", "1.10", ("010", "0x1F", "1e3", ".inf", "1_0"))
    assert told(files) == []
