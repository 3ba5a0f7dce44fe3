"""Loads the Jinja templates and other files of this package."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import BytecodeCache, Environment

TEMPLATES_FOLDER = os.path.dirname(os.path.abspath(__file__))
ASK_TEMPLATE = "prompts/ask.j2"  # The template of a question to a model; it is not a prompt.
PAGES_TEMPLATE = "pages.md.j2"  # The instructions of a server that serves only pages.
KNOWLEDGE_TEMPLATE = "knowledge.md.j2"  # The template of `km-help`.
_PROMPTS, _RECIPES = os.path.join(TEMPLATES_FOLDER, "prompts"), os.path.join(TEMPLATES_FOLDER, "recipes")


@cache
def environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(TEMPLATES_FOLDER),
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
    return read_template(prompt_template(name))


def recipe_names() -> tuple[str, ...]:
    return tuple(sorted(name.removesuffix(".yaml") for name in os.listdir(_RECIPES) if name.endswith(".yaml")))


def recipe_file(name: str) -> bytes:
    with open(os.path.join(_RECIPES, f"{name}.yaml"), "rb") as file:
        return file.read()


def page_file(name: str) -> str:
    return read_template("page", name)


def read_template(*parts: str) -> str:
    with open(os.path.join(TEMPLATES_FOLDER, *parts), encoding="utf-8") as file:
        return file.read()


def _make_bytecode_cache() -> BytecodeCache | None:
    # Compiling the templates takes as long as importing Jinja.
    folder = os.path.join(TEMPLATES_FOLDER, "__pycache__")
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
