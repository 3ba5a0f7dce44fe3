"""What `from duvet import …` gives."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from types import ModuleType

import pytest

import duvet


def loaded_by(statement: str) -> list[str]:
    """The modules that a statement loads into a new Python."""
    script = f"import sys\nbefore = set(sys.modules)\n{statement}\nprint(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_the_package_alone_loads_nothing_else() -> None:
    assert loaded_by("import duvet") == ["duvet"]


def test_a_name_loads_what_it_needs() -> None:
    loaded = loaded_by("from duvet import Project")
    heavy = ["click", "httpx2", "jinja2", "pyromark", "rapidfuzz", "blake3", "rich"]
    later = ["duvet.specs.markdown", "duvet.specs.ietf", "duvet.specs.download", "threading"]
    assert [name for name in heavy + later if name in loaded] == []
    assert "duvet.project.project" in loaded


@pytest.mark.parametrize("name", duvet.__all__)
def test_each_name_is_that_of_its_module(name: str) -> None:
    value = getattr(duvet, name)
    assert value is getattr(import_module(value.__module__), name)
    assert value.__doc__


def test_all_names_are_listed() -> None:
    assert dir(duvet) == sorted(duvet.__all__)
    assert [name for name in duvet.__all__ if isinstance(getattr(duvet, name), ModuleType)] == []


def test_an_unknown_name() -> None:
    with pytest.raises(AttributeError, match="module 'duvet' has no attribute 'projects'"):
        getattr(duvet, "projects")  # noqa: B009 - mypy knows that there is none
