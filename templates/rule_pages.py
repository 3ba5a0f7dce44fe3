"""The page of each rule: what is wrong, why it matters, how to mend it, and an example."""

from __future__ import annotations

import os
from functools import cache

from msgspec import Struct

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rules")


class RulePage(Struct, frozen=True):
    title: str  # The code and the name.
    severity: str
    summary: str  # What is wrong, in a sentence.
    why: str
    text: str


@cache
def load_rule_page(code: str) -> RulePage:
    """The page of the rule with this code, which has to be one."""
    with open(os.path.join(_FOLDER, f"{code}.md"), encoding="utf-8") as file:
        text = file.read()
    ##= man/spec/problems.md#rules
    ##% The page of a rule MUST explain the problem, why it matters and how to fix it, with a bad and a good example.
    title, severity, summary, *_ = text.split("\n\n")
    why = text.partition("## Why it matters\n")[2].partition("\n## ")[0]
    return RulePage(title.removeprefix("# "), severity.removeprefix("Severity: "), _line(summary), _line(why), text)


def _line(paragraph: str) -> str:
    return " ".join(paragraph.split())
