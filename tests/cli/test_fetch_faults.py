"""Specifications that can't be fetched: one problem for each, and what was written before stays."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.cli.made import CONFIG, make
from tests.cli.running import Run, files


@pytest.fixture
def url() -> str:
    """A specification at a place on this machine where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"https://127.0.0.1:{server.getsockname()[1]}/spec"


def cited(url: str, folder: Path) -> Path:
    """The project with a source that cites the specification twice, and another that does it once."""
    citation = f"//= {url}#heating\n//# The kettle MUST boil water.\n"
    return make(folder, {"src/a.rs": f"{citation}\n{citation}", "src/b.rs": citation})


@pytest.mark.parametrize(("option", "reason"), [("--offline", "downloads are off"), ("--strict", "Connection refused")])
def test_configured(option: str, reason: str, url: str, reported: Path, duvet: Run) -> None:
    make(cited(url, reported), {".duvet/config.toml": CONFIG.replace('"spec.md"', f'"{url}"')})
    before = files(reported)
    done = duvet("-q", "report", option)
    assert (done.code, done.out, done.err.count(reason), done.err.count("error:")) == (1, "", 1, 1)
    assert "\n --> .duvet/config.toml:5:10\n" in done.err
    assert "  = help: put its text into .duvet/specifications/127.0.0.1/spec.txt\n" in done.err
    after = files(reported)
    assert {name for name in after if after[name] != before.get(name)} == {".duvet/reports/report.html"}


@pytest.mark.parametrize(("option", "reason"), [("--offline", "downloads are off"), ("--strict", "Connection refused")])
def test_cited_alone(option: str, reason: str, url: str, kettle: Path, duvet: Run) -> None:
    cited(url, kettle)
    done = duvet("-q", "report", option)
    assert (done.code, done.out, done.err.count(reason), done.err.count("error:")) == (1, "", 1, 1)
    assert "\n --> src/a.rs:1:5\n" in done.err
