import subprocess
import sys
from importlib import import_module
from types import ModuleType

import pytest

import duvet


def loaded_by(statement: str) -> list[str]:
    script = f"import sys\nbefore = set(sys.modules)\n{statement}\nprint(*sorted(set(sys.modules) - before))"
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()


def test_the_package_alone_loads_nothing_and_a_name_what_it_needs() -> None:
    assert loaded_by("import duvet") == ["duvet"]
    loaded = loaded_by("from duvet import Project")
    heavy = ["click", "httpx2", "jinja2", "pyromark", "rapidfuzz", "blake3", "rich"]
    later = ["duvet.specs.markdown", "duvet.specs.ietf", "duvet.specs.download", "threading"]
    assert [name for name in heavy + later if name in loaded] == []
    assert "duvet.project.project" in loaded


def test_all_names_are_listed_and_are_those_of_their_modules() -> None:
    assert dir(duvet) == sorted(duvet.__all__)
    for name in duvet.__all__:
        value = getattr(duvet, name)
        assert not isinstance(value, ModuleType) and value.__doc__
        assert value is getattr(import_module(value.__module__), name)
    with pytest.raises(AttributeError, match="module 'duvet' has no attribute 'projects'"):
        getattr(duvet, "projects")  # noqa: B009 - mypy knows that there is none
