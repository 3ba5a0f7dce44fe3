"""Runs the fenced blocks of a Markdown document, in order, in a scratch folder.

`sh` and `python` blocks are run, and have to exit with 0. A `text` block is the end of the output of the one before,
where a line of `...` stands for any lines; a `json` block is a part of that output. Other blocks are saved to a file
and checked by the tool that reads it. A comment right before a block says more:

    <!-- exit: 1 -->          the block exits with 1
    <!-- save: PATH -->       save the block to this file, and check it if it is a configuration
    <!-- skip: REASON -->     don't run it; its duvet commands are parsed
    <!-- project: NAME -->    at the top of a document: begin in the `kettle` of the tour, or in the `repaired kettle`
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click

from duvet.cli import cli
from tests import zygote

BIN = Path(sys.executable).parent
BLOCK = re.compile(r"(?:^<!-- (\w+): ([^\n]*?) -->\n+)?^( *)```(\w*)\n(.*?)^\3```$", re.MULTILINE | re.DOTALL)
SIMPLE = re.compile(r"duvet [^\n|&;<>$`()#*?~\\]*\n?")
"""A command line that needs no shell."""
CHECKS = {
    r"(.*/)?\.duvet/config\.toml": "duvet config >/dev/null",
    r"(.*/)?(duvet|contextive)\.config\.(json|toml|yaml|yml)": "duvet mcp --check >/dev/null",
    r"(.*/)?recipes/.*\.yaml": "duvet recipe check {}",
    r"(.*/)?subsystems\.yaml": "duvet -q ingest --dry-run >/dev/null",
    r"\.pre-commit-config\.yaml": "pre-commit validate-config",
    r"\.github/workflows/.*\.yml": "check-jsonschema --builtin-schema vendor.github-workflows {}",
    r"\.gitlab-ci\.yml": "check-jsonschema --builtin-schema vendor.gitlab-ci {}",
}
"""The command that checks a saved file, by its path."""


class Block(NamedTuple):
    line: int
    language: str
    text: str
    key: str = ""
    value: str = ""


def find_blocks(markdown: str) -> Iterator[Block]:
    for found in BLOCK.finditer(markdown):
        key, value, indent, language, text = found.groups("")
        line = markdown.count("\n", 0, found.start(4)) + 1
        yield Block(line, language, re.sub(rf"(?m)^{indent}", "", text), key, value)


class Session:
    def __init__(self, folder: Path) -> None:
        self.folder, self.home = folder, folder
        self.output = ""

    def run_document(self, markdown: str) -> list[str]:
        """Run all blocks, and return what went wrong, with line numbers."""
        return [
            f"line {block.line}: {problem}" for block in find_blocks(markdown) if (problem := self.run_block(block))
        ]

    def run_block(self, block: Block) -> str:
        if block.key == "skip":
            return "\n".join(parse_commands(block.text))
        if block.key == "save":
            return self.save(block)
        if block.language in ("sh", "python"):
            code = self.execute(block.text, block.language)
            wanted = int(block.value) if block.key == "exit" else 0
            return "" if code == wanted else f"exits with {code}, not {wanted}:\n{self.output}"
        if block.language == "json":
            return "" if block.text in self.output else f"the output is:\n{self.output}"
        if block.language == "text":
            lines = ["(.*\n)*?" if line == "..." else f"{re.escape(line)}\n" for line in block.text.splitlines()]
            found = re.search(rf"^{''.join(lines)}\Z", self.output, re.MULTILINE)
            return "" if found else f"the output is:\n{self.output}"
        return f"a block of {block.language or 'no language'} is neither run nor saved"

    def save(self, block: Block) -> str:
        path = self.folder / block.value
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")
        check = next((check for pattern, check in CHECKS.items() if re.fullmatch(pattern, block.value)), "")
        code = self.execute(check.format(shlex.quote(block.value)), "sh")
        return f"{block.value} is wrong:\n{self.output}" if code else ""

    def execute(self, script: str, language: str) -> int:
        """Run a script where the previous one ended, and store its output."""
        place = self.home / ".place"
        command = ["sh", "-ec", f"trap 'pwd >{shlex.quote(str(place))}' EXIT\n{script}"]
        if language == "python":
            command = [sys.executable, "-c", script]
        environ = {
            "PATH": os.pathsep.join([str(zygote.commands()), str(BIN), os.environ["PATH"]]),
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            **{
                f"GIT_{who}_{what}": "kettle@example.org"
                for who in ("AUTHOR", "COMMITTER")
                for what in ("NAME", "EMAIL")
            },
            "GIT_CONFIG_GLOBAL": os.devnull,
            "DUVET_INTERNAL_CI": "true",
            "COLUMNS": "80",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        }
        if SIMPLE.fullmatch(script) and language == "sh":
            # Without a shell, this takes half the time.
            words = [str(BIN / "duvet"), *shlex.split(script)[1:]]
            ended = zygote.run(
                words, timeout=60, cwd=self.folder, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )  # fmt: skip
            self.output = ended.stdout.decode()
            return ended.returncode
        done = subprocess.run(
            command, cwd=self.folder, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=60, check=False,
        )  # fmt: skip
        self.output = done.stdout
        if language == "sh":
            self.folder = Path(place.read_text().strip())
        return done.returncode


def parse_commands(script: str) -> Iterator[str]:
    for line in re.sub(r"\\\n", " ", script).splitlines():
        words = shlex.split(line, comments=True)
        words = words[next((index for index, word in enumerate(words) if word == "duvet"), len(words)) + 1 :]
        end = next((index for index, word in enumerate(words) if word in ("|", ">", "<", "&", "&&", ";")), len(words))
        if words[:end] not in ([], ["--version"]):
            yield from parse_command(words[:end])


def parse_command(words: list[str]) -> Iterator[str]:
    try:
        ctx: click.Context = cli.make_context("duvet", list(words))
        while isinstance(ctx.command, click.Group):
            rest = [*ctx._protected_args, *ctx.args]
            name, command, rest = ctx.command.resolve_command(ctx, rest)
            if command is None:
                return
            ctx = command.make_context(name, rest, parent=ctx)
    except click.exceptions.Exit:
        return
    except click.UsageError as error:
        yield f"duvet {shlex.join(words)}: {error.format_message()}"


def list_examples(ctx: click.Context) -> Iterator[str]:
    """List the example lines in the help of a command and its subcommands, which man pages also show."""
    text = (ctx.command.help or "").partition("Examples:")[2]
    yield from re.findall(r"(?m)^ *((?:\w+=\S+ |ssh .*\| )*duvet .*)$", text)
    if isinstance(ctx.command, click.Group):
        for name in ctx.command.list_commands(ctx):
            if command := ctx.command.get_command(ctx, name):
                yield from list_examples(click.Context(command, info_name=name, parent=ctx))
