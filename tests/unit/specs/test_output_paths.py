"""Where extracted requirements go."""

from __future__ import annotations

import pytest

from duvet.specs.extraction import requirements_file, requirements_folder

DOWNLOADS = ".duvet/specifications"


@pytest.mark.parametrize(
    ("source", "out", "downloads", "folder"),
    [
        (f"{DOWNLOADS}/h/rfc/rfc1.txt", ".duvet/requirements", DOWNLOADS, ".duvet/requirements/h/rfc/rfc1"),
        (f"{DOWNLOADS}/h/rfc/rfc1.txt", ".", DOWNLOADS, "./h/rfc/rfc1"),
        (f"{DOWNLOADS}/h/rfc/rfc1.txt", ".duvet", DOWNLOADS, ".duvet/h/rfc/rfc1"),
        ("my-spec.md", ".duvet/requirements", DOWNLOADS, ".duvet/requirements/my-spec"),
        ("../out/spec.md", ".duvet/requirements", DOWNLOADS, ".duvet/requirements/out/spec"),
        ("./dot.md", ".duvet/requirements", DOWNLOADS, ".duvet/requirements/dot"),
        ("in/a.b.md", ".duvet/requirements", DOWNLOADS, ".duvet/requirements/in/a.b"),
        ("specs/h/rfc/rfc1.txt", "a", "", "a/specs/h/rfc/rfc1"),
        ("./docs/v1.2/deep.spec.md", ".", "", "./docs/v1.2/deep.spec"),
        ("docs/v1.2/../v1.2/deep.spec.md", "out/y", "", "out/y/docs/v1.2/v1.2/deep.spec"),
        ("docs/a/spec.md", "docs", "", "docs/a/spec"),
        ("docs/a/spec.md", "docs/a", "", "docs/a/spec"),
        ("docs-a/spec.md", "docs", "", "docs/docs-a/spec"),
        ("/w/ex/in/req.md", "/w/ex", "", "/w/ex/in/req"),
        ("/w/in/req.md", "ex", "", "ex/w/in/req"),
        ("/w/in/req.md", "", "", "w/in/req"),
    ],
)
def test_requirements_folder(source: str, out: str, downloads: str, folder: str) -> None:
    assert requirements_folder(source, out, downloads) == folder


def test_requirements_file() -> None:
    ##= man/spec/trace.md#requirements
    ##% `duvet extract` MUST write the requirement files that awslabs duvet writes, inside the folder of the
    ##% specification, and leave unchanged ones alone.
    ids = ["section-2.1", "", "../../up"]
    assert [requirements_file("r", id) for id in ids] == ["r/section-2.1.toml", "r/.toml", "r/..%2F..%2Fup.toml"]
    assert requirements_file("r", "a\0\n\x7fb") == "r/a%00%0A%7Fb.toml"
    assert requirements_file("r", "a", "rs") == "r/a.rs"


def test_a_title_that_no_file_name_can_hold() -> None:
    fits, short = "a" * 240, "a" * 50
    names = [requirements_file("r", fits + more) for more in ("", "b", "c")]
    assert names == [f"r/{fits}.toml", f"r/{short}-985453035960.toml", f"r/{short}-a7424959e7c2.toml"]
    assert len(requirements_file("", "é" * 300).encode()) < 255
