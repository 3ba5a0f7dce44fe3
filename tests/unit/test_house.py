"""CONTRIBUTING.md draws the house as the imports are, and names modules that exist."""

from __future__ import annotations

import re

from man.house import ROOT, draw_house

CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()


def test_the_diagram_is_that_of_the_imports() -> None:
    assert f"```\n{draw_house()}```\n" in CONTRIBUTING, "put the first part of `make house` there"


def test_each_module_that_is_named_exists() -> None:
    named = {path for path in re.findall(r"`((?:duvet|commands|reports|tests|templates)/[\w/.]+)`", CONTRIBUTING)}
    unknown = [path for path in sorted(named) if "NAME" not in path and "PACK" not in path and "DUVnnn" not in path]
    assert [path for path in unknown if not (ROOT / path).exists()] == []
