"""Where templates come from"""

from __future__ import annotations

import pytest
from jinja2 import UndefinedError

from duvet.templates import environment


@pytest.mark.parametrize(
    ("name", "escaped"), [("a.html.j2", True), ("a.toml.j2", False), ("a.1.j2", False), (None, True)]
)
def test_what_is_escaped(name: str | None, escaped: bool) -> None:
    autoescape = environment().autoescape
    assert callable(autoescape)
    assert autoescape(name) is escaped


def test_a_missing_value_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        environment().from_string("{{ nothing }}").render()
