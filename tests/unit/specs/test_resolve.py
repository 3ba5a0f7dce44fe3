"""From what a target names to the specification that is meant."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duvet.errors import ProblemsError
from duvet.model import Format, Locator
from duvet.specs.locator import format_locator, locate_specification, locator_key, resolve_specification
from duvet.tree.files import DiskTree, MemoryTree

AUTO = Format.AUTO
IN_ORDER = [
    Locator(name, "://" in name, format)
    for name in ("https://b/", "https://b/x", "/z/s.md", "./z.md", "../a.md", "a/b.md", "a-b.md", "a.md")
    for format in (Format.AUTO, Format.MARKDOWN)
]
TREE = MemoryTree({path: b"" for path in ("spec.md", "./dot.md", "docs/a.md", "reqs/near.md", "/top/far.md")})


@pytest.mark.parametrize(
    ("spec", "base", "name"),
    [
        ("spec.md", "/top/w/v", "spec.md"),
        ("./dot.md", "/top/w/v", "./dot.md"),
        ("docs//a.md", "docs/x.toml", "docs/a.md"),
        ("far.md", "/top/w/v", "/top/far.md"),
        ("near.md", "reqs/sub/r.toml", "reqs/near.md"),
        ("/not/there.md", "/top", "/not/there.md"),
    ],
)
def test_paths(spec: str, base: str, name: str) -> None:
    ##= man/spec/trace.md#targets-and-quotes
    ##% If a specification is not at its path, duvet MUST look for it in the folders above.
    tree = MemoryTree({**TREE.files, "docs//a.md": b""})
    assert resolve_specification(spec, AUTO, base, tree) == Locator(name)


def test_a_url_is_normalised_and_keeps_its_format() -> None:
    found = resolve_specification("https://EXAMPLE.com", Format.IETF, "/top", TREE)
    assert found == Locator("https://example.com/", True, Format.IETF)


@pytest.mark.parametrize("spec", ["", "nope.md", "docs", "near.md", "spec.md\0"])
def test_what_is_no_file_is_unresolved(spec: str) -> None:
    with pytest.raises(ProblemsError) as caught:
        resolve_specification(spec, AUTO, "/top/w", TREE)
    shown = spec.replace("\0", "\\0")
    assert [(p.code, p.message) for p in caught.value.problems] == [("DUV040", f'Could not resolve file "{shown}"')]


def test_on_disk(tmp_path: Path) -> None:
    ##= man/spec/trace.md#targets-and-quotes
    ##% If a specification is not at its path, duvet MUST look for it in the folders above.
    (tmp_path / "w" / "docs").mkdir(parents=True)
    (tmp_path / "up.md").touch()
    (tmp_path / "w" / "in.md").touch()
    tree = DiskTree(str(tmp_path / "w"))
    found = [
        resolve_specification(spec, AUTO, f"{tmp_path}/w", tree).name for spec in ("in.md", "up.md", "docs/../in.md")
    ]
    assert found == ["in.md", f"{tmp_path}/up.md", "docs/../in.md"]
    with pytest.raises(ProblemsError, match='Could not resolve file "docs"'):
        resolve_specification("docs", AUTO, "", tree)


def test_locate_takes_a_path_as_it_is() -> None:
    names = [locate_specification(name).name for name in ("a/./b//c.md", "./a", "../a", "/a/", "", "other://Host")]
    assert names == ["a/b/c.md", "./a", "../a", "/a", "", "other://Host"]


def test_locate_refuses_a_nul() -> None:
    with pytest.raises(ProblemsError, match=r'Could not resolve file "a.0b"'):
        locate_specification("a\0b")


@given(st.permutations(IN_ORDER))
def test_order(locators: list[Locator]) -> None:
    assert sorted(locators, key=locator_key) == IN_ORDER


def test_displayed() -> None:
    locators = [Locator("/w/a.md"), Locator("/worse/a.md"), Locator("a.md"), Locator("https://w/", True)]
    shown = [format_locator(locator, "/w") for locator in locators]
    assert shown == ["a.md", "/worse/a.md", "a.md", "https://w/"]
    assert [format_locator(Locator("/w/a.md"), cwd) for cwd in ("", "/")] == ["/w/a.md", "w/a.md"]
