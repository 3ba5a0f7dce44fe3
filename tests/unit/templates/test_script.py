import pytest
from pytest_snapshot.plugin import Snapshot

from tests.conftest import ROOT

PAGE = ROOT / "templates" / "page"
MADE = "script.min.js"
MODULES = (
    *("elements", "places", "views", "routes", "rows", "subject", "comment", "toml", "clipboard", "issue", "panel"),
    *("steps", "copying", "lists", "requirements", "sources", "keys", "theme", "print", "start"),
)
"""In the order in which they need one another."""


def made_script() -> str:
    minify = pytest.importorskip("minify", reason="tdewolff-minify is not installed")
    # Only inside a function may the names that they share be shortened.
    modules = "".join((PAGE / f"{name}.js").read_text(encoding="utf-8") for name in MODULES)
    made: str = minify.string("application/javascript", f"(() => {{\n{modules}}})()")
    return made + "\n"


def test_the_script_is_as_made(snapshot: Snapshot) -> None:
    snapshot.snapshot_dir = PAGE
    snapshot.assert_match(made_script(), MADE)


def test_every_module_is_in_it_and_no_control_character() -> None:
    assert {path.name for path in PAGE.glob("*.js")} == {f"{name}.js" for name in MODULES} | {"early.js", MADE}
    made = (PAGE / MADE).read_text(encoding="utf-8")
    assert "</script" not in made
    assert all(char.isprintable() or char == "\n" for char in made)
