"""Loads the pages of the guide, and those that explain rules, states and levels."""

from __future__ import annotations

import os
from functools import cache

from msgspec import Struct

from duvet.templates import TEMPLATES_FOLDER, read_template

_GUIDE = os.path.join(TEMPLATES_FOLDER, "guide")  # In the repository, a link to man/guide.
_FIRST_TOPICS = ("tutorial", "concepts", "configuration")


@cache
def guide_topics() -> dict[str, str]:
    names = sorted(name.removesuffix(".md") for name in os.listdir(_GUIDE) if name.endswith(".md"))
    names.sort(key=lambda name: _FIRST_TOPICS.index(name) if name in _FIRST_TOPICS else len(_FIRST_TOPICS))
    return {name: guide_text(name).partition("\n")[0].removeprefix("# ") for name in names if name != "index"}


@cache
def guide_parts() -> dict[str, str]:
    concepts = {text.split(maxsplit=2)[1].lower(): text for text in _split_sections("concepts")}
    return {**concepts, "reference": next(text for text in _split_sections("index") if text.startswith("# Reference"))}


def find_topic(name: str) -> str:
    name = name.lower()
    return guide_text(name) if name in guide_topics() else guide_parts().get(name, "")


def _split_sections(page: str) -> list[str]:
    return [f"# {section.strip()}\n" for section in guide_text(page).split("\n## ")[1:]]


def guide_text(topic: str) -> str:
    return read_template("guide", f"{topic}.md")


class RulePage(Struct, frozen=True):
    title: str  # The code and the name.
    severity: str
    summary: str  # What is wrong, in a sentence.
    why: str
    text: str


@cache
def load_rule_page(code: str) -> RulePage:
    text = read_template("rules", f"{code}.md")
    title, severity, summary, *_ = text.split("\n\n")
    why = text.partition("## Why it matters\n")[2].partition("\n## ")[0]
    return RulePage(title.removeprefix("# "), severity.removeprefix("Severity: "), _line(summary), _line(why), text)


@cache
def load_state_pages() -> dict[str, str]:
    return _load_pages("states.md")


@cache
def load_level_pages() -> dict[str, str]:
    return _load_pages("levels.md")


def _load_pages(name: str) -> dict[str, str]:
    pages = [f"# {page.strip()}\n" for page in f"\n{read_template(name)}".split("\n# ")[1:]]
    return {page.partition("\n")[0].removeprefix("# "): page for page in pages}


def example_specification() -> str:
    return read_template("kettle.md")


def _line(paragraph: str) -> str:
    return " ".join(paragraph.split())
