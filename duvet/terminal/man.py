"""Manual pages of commands, from the help that click has anyway."""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import dedent

import click
from msgspec import Struct

from duvet.terminal.roff import bold, escape, italic, prose, render

SPELLING = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
EXAMPLES = "Examples:"


class Block(Struct, frozen=True):
    """A paragraph, or lines that keep their ends."""

    text: str
    verbatim: bool = False


class Entry(Struct, frozen=True):
    """Something with a name and what it does: an option or a command."""

    term: str
    text: str


def command_pages(group: click.Group, version: str) -> dict[str, str]:
    """The pages of section 1 by file name: the program's own, and one for each command."""
    top = click.Context(group, info_name="duvet", **group.context_settings)
    commands = {name: group.get_command(top, name) for name in group.list_commands(top)}
    visible = {name: command for name, command in commands.items() if command is not None and not command.hidden}
    entries = [Entry(escape(name), prose(_first_sentence(command))) for name, command in visible.items()]
    pages = {"duvet.1": render("man_duvet.1.j2", **_facts(top), version=escape(version), commands=entries)}
    for name, command in visible.items():
        context = click.Context(command, info_name=name, parent=top)
        pages[f"duvet-{name}.1"] = render("man_command.1.j2", **_facts(context), version=escape(version))
    return pages


def _facts(context: click.Context) -> dict[str, object]:
    command = context.command
    name = context.command_path.replace(" ", "-")
    blocks = [*_blocks(command.help or ""), *_blocks(command.epilog or "")]
    examples = [block for block in blocks if block.text.startswith(EXAMPLES)]
    return {
        "name": escape(name),
        "title": escape(name.upper()),
        "summary": _summary(command),
        "usage": escape(context.command_path),
        "pieces": [escape(piece) for piece in command.collect_usage_pieces(context)],
        "description": [block for block in blocks if block not in examples],
        "options": list(_options(context)),
        "examples": [dedent(block.text.removeprefix(EXAMPLES).strip("\n")) for block in examples],
    }


def _first_sentence(command: click.Command) -> str:
    return command.get_short_help_str(limit=1000)


def _summary(command: click.Command) -> str:
    """The first sentence as the NAME line has it: neither a capital nor a full stop."""
    sentence = _first_sentence(command).rstrip(".")
    return prose(sentence[:1].lower() + sentence[1:] if sentence[1:2].islower() else sentence)


def _blocks(text: str) -> Iterator[Block]:
    """The paragraphs as click sees them: one that begins with `\\b` keeps its lines, `\\f` ends the help."""
    for paragraph in re.split(r"\n\s*\n", text.partition("\f")[0].strip()):
        mark, _, lines = paragraph.partition("\n")
        if mark.strip() == "\b":
            yield Block(escape(dedent(lines)), verbatim=True)
        elif paragraph:
            yield Block(prose(paragraph))


def _options(context: click.Context) -> Iterator[Entry]:
    for parameter in context.command.get_params(context):
        record = parameter.get_help_record(context)
        if record and record[1]:
            yield Entry(_term(record[0]), prose(record[1]))


def _term(spelled: str) -> str:
    """`-f, --format FORMAT` with the option bold and its value in italics."""
    parts, last = [], 0
    for found in SPELLING.finditer(spelled):
        parts += [_value(spelled[last : found.start()]), bold(found[0])]
        last = found.end()
    return "".join([*parts, _value(spelled[last:])]).strip()


def _value(text: str) -> str:
    return f" {italic(text.strip())}" if re.search(r"\w", text) else escape(text)
