"""The page of a rule, by what people call it."""

from __future__ import annotations

from duvet.errors import NotFoundError
from duvet.queries.names import nearest_hint
from duvet.rules import rules
from duvet.templates.rule_pages import rule_page
from duvet.text import quoted


def page_named(name: str) -> str:
    """The page of the rule of this code or name, or an error with those that are most like it."""
    ##= man/spec/problems.md#rules
    ##% A page MUST be found by the code and by the name of its rule, and where there is none, those that are most like
    ##% it MUST be named.
    wanted = name.strip().casefold()
    for rule in rules().values():
        if wanted in (rule.code.casefold(), rule.name):
            return rule_page(rule.code).text
    known = [known for rule in rules().values() for known in (rule.code, rule.name)]
    raise NotFoundError(f"there is no rule {quoted(name)}", hint=nearest_hint(name, known))
