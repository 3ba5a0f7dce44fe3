"""Pages of rules by what people call them"""

from __future__ import annotations

import pytest

from duvet.commands.validate import find_rule_page
from duvet.errors import NotFoundError
from tests.conftest import ROOT


@pytest.mark.parametrize("name", ["DUV050", "duv050", "quote-not-found", " Quote-Not-Found "])
def test_a_page_has_a_code_and_a_name(name: str) -> None:
    ##= man/spec/problems.md#rules
    ##% `duvet validate --explain` MUST print the page of the rule with that code or name, or suggest similar rules.
    assert find_rule_page(name) == (ROOT / "templates/rules/DUV050.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("Quote-not-fond", "did you mean quote-not-found"),
        ("../DUV050", "did you mean DUV050"),
        ("", ""),
    ],
)
def test_there_is_no_such_rule(name: str, hint: str) -> None:
    with pytest.raises(NotFoundError) as raised:
        find_rule_page(name)
    assert raised.value.message == f'there is no rule "{name}"'
    assert raised.value.hint.partition(" or ")[0].rstrip("?") == hint
