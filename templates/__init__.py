"""Loads the Jinja templates and the pages of the guide."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from jinja2 import BytecodeCache, Environment

_FOLDER = os.path.dirname(os.path.abspath(__file__))
ASK_TEMPLATE = "prompts/ask.j2"  # The template of a question to a model; it is not a prompt.
PAGES_TEMPLATE = "pages.md.j2"  # The instructions of a server that serves only pages.
KNOWLEDGE_TEMPLATE = "knowledge.md.j2"  # The template of `km-help`.
_PROMPTS, _RECIPES = os.path.join(_FOLDER, "prompts"), os.path.join(_FOLDER, "recipes")
_GUIDE = os.path.join(_FOLDER, "guide")  # In the repository, a link to man/guide.
_FIRST_TOPICS = ("tutorial", "concepts", "configuration")


@cache
def environment() -> Environment:
    """Return the Jinja environment: HTML is escaped automatically, and missing values are errors."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=lambda name: name is None or name.endswith(".html.j2"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
        bytecode_cache=_make_bytecode_cache(),
    )


def prompt_names() -> tuple[str, ...]:
    return tuple(sorted(name.removesuffix(".md") for name in os.listdir(_PROMPTS) if name.endswith(".md")))


def prompt_template(name: str) -> str:
    return f"prompts/{name}.md"


def prompt_text(name: str) -> str:
    return _read(prompt_template(name))


def recipe_names() -> tuple[str, ...]:
    return tuple(sorted(name.removesuffix(".yaml") for name in os.listdir(_RECIPES) if name.endswith(".yaml")))


def recipe_file(name: str) -> bytes:
    with open(os.path.join(_RECIPES, f"{name}.yaml"), "rb") as file:
        return file.read()


@cache
def guide_topics() -> dict[str, str]:
    """Return the titles of the guide's topics by name, topics for beginners first."""
    names = sorted(name.removesuffix(".md") for name in os.listdir(_GUIDE) if name.endswith(".md"))
    names.sort(key=lambda name: _FIRST_TOPICS.index(name) if name in _FIRST_TOPICS else len(_FIRST_TOPICS))
    return {name: guide_text(name).partition("\n")[0].removeprefix("# ") for name in names if name != "index"}


@cache
def guide_parts() -> dict[str, str]:
    concepts = {text.split(maxsplit=2)[1].lower(): text for text in _split_sections("concepts")}
    return {**concepts, "reference": next(text for text in _split_sections("index") if text.startswith("# Reference"))}


def find_topic(name: str) -> str:
    """Return the text of a topic or part of the guide, ignoring case; empty if neither has this name."""
    name = name.lower()
    return guide_text(name) if name in guide_topics() else guide_parts().get(name, "")


def _split_sections(page: str) -> list[str]:
    return [f"# {section.strip()}\n" for section in guide_text(page).split("\n## ")[1:]]


def guide_text(topic: str) -> str:
    return _read("guide", f"{topic}.md")


def page_file(name: str) -> str:
    return _read("page", name)


class RulePage(Struct, frozen=True):
    title: str  # The code and the name.
    severity: str
    summary: str  # What is wrong, in a sentence.
    why: str
    text: str


@cache
def load_rule_page(code: str) -> RulePage:
    text = _read("rules", f"{code}.md")
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
    pages = [f"# {page.strip()}\n" for page in f"\n{_read(name)}".split("\n# ")[1:]]
    return {page.partition("\n")[0].removeprefix("# "): page for page in pages}


def example_specification() -> str:
    return _read("kettle.md")


def _read(*parts: str) -> str:
    with open(os.path.join(_FOLDER, *parts), encoding="utf-8") as file:
        return file.read()


def _line(paragraph: str) -> str:
    return " ".join(paragraph.split())


def _make_bytecode_cache() -> BytecodeCache | None:
    # Compiling the templates takes as long as importing Jinja.
    folder = os.path.join(_FOLDER, "__pycache__")
    if sys.dont_write_bytecode or not os.access(folder, os.W_OK):
        return None
    from jinja2.bccache import Bucket, FileSystemBytecodeCache

    class Compiled(FileSystemBytecodeCache):
        def load_bytecode(self, bucket: Bucket) -> None:
            # Whatever is wrong with the file, the template can be compiled again.
            with suppress(Exception):
                super().load_bytecode(bucket)

        def dump_bytecode(self, bucket: Bucket) -> None:
            with suppress(OSError):
                super().dump_bytecode(bucket)

    return Compiled(folder, f"%s.{sys.implementation.cache_tag}.jinja")
