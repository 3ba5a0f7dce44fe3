"""Builds the sources of the documentation site: the guide, and the reference made from duvet itself."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import click
from click.testing import CliRunner

from duvet.cli import cli
from duvet.config.schema import json_schema, service_schema
from duvet.rules import list_rules
from duvet.templates.guide_pages import load_rule_page
from duvet.tools.packs import BUILT_IN_PACKS, Registry, enable_packs
from man.build import JsonSchema, describe_values, resolve_schema

GUIDE = Path(__file__).with_name("guide")


def make_site_pages() -> dict[str, str]:
    guide = {}
    for path in sorted(GUIDE.glob("*.md")):
        # The site has neither instructions for tests nor the files that only the repository has.
        text = re.sub(r"(?m)^<!--.*?-->\n+", "", path.read_text(encoding="utf-8"))
        guide[path.name] = re.sub(r"\[([^\]]*)\]\(\.\./[^)]*\)", r"\1", text)
    reference = {
        "reference-commands.md": "\n".join(_describe_commands()),
        "reference-configuration.md": "\n".join(_describe_configuration()),
        "reference-tools.md": "\n".join(_describe_tools()),
        "reference-rules.md": "\n".join(_describe_rules()),
    }
    return {**guide, **reference}


def _describe_commands() -> Iterator[str]:
    yield "# Commands\n\nThis is the help of every command, as `duvet help COMMAND` prints it.\n"
    for words in _list_commands(click.Context(cli, info_name="duvet")):
        yield _quote_output("## " if len(words) == 1 else "### ", f"duvet {' '.join(words)}", ["help", *words])


def _list_commands(ctx: click.Context, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if words:
        yield words
    if isinstance(ctx.command, click.Group):
        for name in ctx.command.list_commands(ctx):
            command = ctx.command.get_command(ctx, name)
            if command is not None and not command.hidden:
                yield from _list_commands(click.Context(command, info_name=name, parent=ctx), (*words, name))


def _describe_tools() -> Iterator[str]:
    yield "# Tools\n\nThese are the tools for agents by pack, as `duvet tools NAME` describes them.\n"
    for pack in BUILT_IN_PACKS.values():
        yield f"## Pack {pack.name}\n"
        for tool in Registry(enable_packs((pack.name,))).list_all():
            yield _quote_output("### ", f"{tool.name}", ["tools", tool.name])


def _quote_output(marks: str, title: str, args: list[str]) -> str:
    done = CliRunner().invoke(cli, args)
    assert done.exit_code == 0, done.output
    return f"{marks}{title}\n\n```text\n{done.stdout.rstrip()}\n```\n"


def _describe_rules() -> Iterator[str]:
    yield "# Rules\n\nEach problem has a code. `duvet explain CODE` shows the same text in the terminal.\n"
    for code in sorted(list_rules()):
        text = re.sub(r"(?m)^## (.*)$", r"**\1**", load_rule_page(code).text)
        text = re.sub(r"(?m)^# ", "## ", text)
        yield re.sub(r"(?m)^```(\w+) (\S+)$", r'```\1 title="\2"', text)


def _describe_configuration() -> Iterator[str]:
    yield "# Configuration keys\n"
    yield "`duvet explain KEY` shows one key in the terminal.\n"
    yield "## .duvet/config.toml\n"
    yield "With `'$schema' = \"duvet-cli/config/v1\"`. awslabs duvet's schema allows fewer keys.\n"
    yield from _list_keys(json_schema(extended=True))
    yield "\n## duvet.config.yaml\n"
    yield "The same keys are read from `duvet.config.json` and `duvet.config.toml`.\n"
    yield from _list_keys(service_schema())


def _list_keys(schema: JsonSchema) -> Iterator[str]:
    for key, value in _find_keys("", schema, schema):
        default = value.get("default")
        shown = str(default).lower() if isinstance(default, bool) else default
        end = "" if default in (None, "", [], {}) else f" Default: `{shown}`."
        description = " ".join(value.get("description", "").split()).rstrip(".")
        yield f"- **`{key}`** ({describe_values(value)}): {description}.{end}"


def _find_keys(path: str, value: JsonSchema, schema: JsonSchema) -> Iterator[tuple[str, JsonSchema]]:
    """Yield each key that is not a table, with its path: `[]` for items of a list, `NAME` for any name."""
    value = resolve_schema(value, schema)
    for table in (value, *value.get("anyOf", [])):
        if table.get("properties"):
            for name, inner in table["properties"].items():
                yield from _find_keys(f"{path}.{name}" if path else name, inner, schema)
            return
        for key, mark in (("items", "[]"), ("additionalProperties", ".NAME")):
            if isinstance(inner := table.get(key), dict):
                resolved = resolve_schema(inner, schema)
                if any(one.get("properties") for one in (resolved, *resolved.get("anyOf", []))):
                    yield from _find_keys(f"{path}{mark}", inner, schema)
                    return
    yield path, value


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    (folder / "pages").mkdir(parents=True)
    shutil.copy(GUIDE.with_name("zensical.toml"), folder)
    for name, text in make_site_pages().items():
        (folder / "pages" / name).write_text(text, encoding="utf-8")
