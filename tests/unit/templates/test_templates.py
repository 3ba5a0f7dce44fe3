import re
from datetime import date
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from duvet.console.problems import list_error_problems
from duvet.errors import DuvetError
from duvet.project.project import Project
from duvet.project.validation import validate
from duvet.rules import list_rules
from duvet.templates import environment
from duvet.templates.guide_pages import load_rule_page
from duvet.tree.files import MemoryTree
from tests.cli.sample_project import KETTLE
from tests.conftest import ROOT

BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples(code: str) -> tuple[dict[str, str], dict[str, str]]:
    bad, _, good = load_rule_page(code).text.partition("## Bad\n")[2].partition("## Good\n")
    found = [{path: text for _, path, text in BLOCK.findall(part) if path} for part in (bad, good)]
    return found[0], found[1]


OURS = KETTLE[".duvet/config.toml"].replace("https://awslabs.github.io/duvet/config/v0.4.json", "duvet-cli/config/v1")
"""Some problems are found with our own schema only."""
VALIDATED = ("DUV094", "DUV095")
"""Rules of `duvet validate` alone whose examples can be run."""
RUNNABLE = [code for code in list_rules() if any(examples(code))]


def codes_of(files: dict[str, str], config: str = KETTLE[".duvet/config.toml"]) -> set[str]:
    tree = MemoryTree({path: text.encode() for path, text in {**KETTLE, ".duvet/config.toml": config, **files}.items()})
    try:
        project = Project(tree=tree, today=date(2030, 1, 1))
        found = validate(project)
        only_checked = {one.code for one in found.of(found.files).problems if one.code in VALIDATED}
        return only_checked | {problem.code for problem in project.trace.problems}
    except DuvetError as error:
        return {problem.code for problem in list_error_problems(error)}


def test_rules_have_pages_and_codes_of_their_own() -> None:
    assert sorted(path.name for path in (ROOT / "templates/rules").iterdir()) == [f"{code}.md" for code in list_rules()]
    names = [rule.name for rule in list_rules().values()]
    assert len(set(names)) == len(names)
    assert sorted(re.findall(r'"(DUV\d+)"', Path(ROOT / "duvet/rules.py").read_text())) == list(list_rules())


def test_a_page_says_what_the_rule_is() -> None:
    for code, rule in list_rules().items():
        page = load_rule_page(code)
        assert (page.title, page.severity) == (f"{code} {rule.name}", rule.severity.value)
        assert re.fullmatch(r"[A-Z`][^\n]+\.", page.summary)
        assert re.findall(r"^## (.*)$", page.text, re.MULTILINE) == ["Why it matters", "How to fix it", "Bad", "Good"]
        bad, _, good = page.text.partition("## Bad\n")[2].partition("## Good\n")
        assert BLOCK.search(bad) and BLOCK.search(good)
        assert all(len(line) <= 120 for line in page.text.splitlines())


@pytest.mark.parametrize("code", RUNNABLE)
def test_examples_are_what_they_claim(code: str) -> None:
    bad, good = examples(code)
    config = OURS if code.startswith(("DUV029", "DUV11", *VALIDATED)) else KETTLE[".duvet/config.toml"]
    assert (codes_of(bad, config), codes_of(good, config)) == ({code}, set())


def test_examples_of_comments_targets_and_quotes_can_be_run() -> None:
    # Nothing is downloaded in a test.
    expected = {code for code in list_rules() if code[:5] in ("DUV02", "DUV04", "DUV05")} - {"DUV045", "DUV046"}
    assert expected <= set(RUNNABLE)


def test_html_is_escaped_and_a_missing_value_is_an_error() -> None:
    autoescape = environment().autoescape
    assert callable(autoescape)
    names = {"a.html.j2": True, "a.toml.j2": False, "a.1.j2": False, None: True}
    assert {name: autoescape(name) for name in names} == names
    with pytest.raises(UndefinedError):
        environment().from_string("{{ nothing }}").render()
