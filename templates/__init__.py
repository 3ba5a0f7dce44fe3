"""The templates: data that Jinja renders."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import BytecodeCache, Environment

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_PROMPTS, _RECIPES = os.path.join(_FOLDER, "prompts"), os.path.join(_FOLDER, "recipes")


@cache
def environment() -> Environment:
    """Where every template comes from: HTML is escaped by itself, a missing value is an error."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=_is_html,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
        bytecode_cache=_compiled(),
    )


def prompt_names() -> tuple[str, ...]:
    """The names of the prompts, each a file."""
    return tuple(sorted(name.removesuffix(".md") for name in os.listdir(_PROMPTS) if name.endswith(".md")))


def prompt_template(name: str) -> str:
    """What the template of a prompt is called."""
    return f"prompts/{name}.md"


def prompt_text(name: str) -> str:
    """The text of a prompt as it is written."""
    with open(os.path.join(_FOLDER, prompt_template(name)), encoding="utf-8") as file:
        return file.read()


def ask_template() -> str:
    """What the template of a question to a model is called; it is none of the prompts."""
    return "prompts/ask.j2"


def knowledge_template() -> str:
    """What the template of the document about the tools of the pack `knowledge` is called."""
    return "knowledge.md.j2"


def recipe_names() -> tuple[str, ...]:
    """The names of the recipes, each a file."""
    return tuple(sorted(name.removesuffix(".yaml") for name in os.listdir(_RECIPES) if name.endswith(".yaml")))


def recipe_file(name: str) -> bytes:
    """A recipe as it is written."""
    with open(os.path.join(_RECIPES, f"{name}.yaml"), "rb") as file:
        return file.read()


def page_file(name: str) -> str:
    """A style sheet or a script of the page as it is written."""
    with open(os.path.join(_FOLDER, "page", name), encoding="utf-8") as file:
        return file.read()


def _is_html(name: str | None) -> bool:
    return name is None or name.endswith(".html.j2")


def _compiled() -> BytecodeCache | None:
    """Compiled templates, where Python keeps compiled modules: compiling costs as much as importing Jinja does."""
    folder = os.path.join(_FOLDER, "__pycache__")
    if sys.dont_write_bytecode or not os.access(folder, os.W_OK):
        return None
    from jinja2 import FileSystemBytecodeCache
    from jinja2.bccache import Bucket

    class Compiled(FileSystemBytecodeCache):
        def load_bytecode(self, bucket: Bucket) -> None:
            # Whatever is wrong with the file, the template can be compiled again.
            with suppress(Exception):
                super().load_bytecode(bucket)

        def dump_bytecode(self, bucket: Bucket) -> None:
            with suppress(OSError):
                super().dump_bytecode(bucket)

    return Compiled(folder, f"%s.{sys.implementation.cache_tag}.jinja")
