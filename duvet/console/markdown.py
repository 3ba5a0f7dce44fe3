"""Prints Markdown, rendered on a terminal and as text elsewhere."""

from __future__ import annotations

import re

import click

from duvet.console.streams import detect_table_look, is_on_terminal, write_stdout
from duvet.templates.guide_pages import guide_topics

_COMMENT = re.compile(r"(?m)^<!--.*?-->\n+")  # Comments contain instructions for the tests.
_LINK = re.compile(r"\[([^]]*)\]\((?!\w+:)([^)#\s]*)[^)\s]*\)")


def print_markdown(text: str, *, uses_pager: bool = False) -> None:
    def name_topic(link: re.Match[str]) -> str:
        topic = link[2].removesuffix(".md")
        if topic not in guide_topics():
            return link[1]
        return f"`duvet help {topic}`" if link[1].casefold() == topic else f"{link[1]} (`duvet help {topic}`)"

    text = _LINK.sub(name_topic, _COMMENT.sub("", text))
    if not is_on_terminal():
        write_stdout(text.encode())
        return
    from rich import console, markdown, theme

    # Rendering drops the names of example files.
    text = re.sub(r"(?m)^```(\w+) (\S+)$", r"`\2`:\n\n```\1", text)
    look, style = detect_table_look(), theme.Theme({"markdown.code": "bold cyan"})
    width = min(100, look.width)
    screen = console.Console(width=width, force_terminal=look.colour, no_color=not look.colour, theme=style)
    with screen.capture() as captured:
        screen.print(markdown.Markdown(text, code_theme="ansi_dark", hyperlinks=False))
    lines = "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())
    if uses_pager:
        click.echo_via_pager(lines, color=look.colour)
    else:
        write_stdout(lines.encode(errors="replace"))
