"""Shell completion scripts and answers."""

from __future__ import annotations

from contextlib import suppress

import click
from click.shell_completion import BashComplete, CompletionItem, FishComplete, ShellComplete, ZshComplete

from duvet.console.streams import write_stdout
from duvet.errors import DuvetError

COMPLETION_VARIABLE = "_DUVET_COMPLETE"
"""Set by the scripts of shells to what they ask for."""
_PROGRAM = "duvet"

CompletionItems = list[CompletionItem[str]]


class _Completion(ShellComplete):
    """What all shells have in common."""

    def get_completions(self, args: list[str], incomplete: str) -> CompletionItems:
        # `duvet help COMMAND` is `duvet COMMAND --help`.
        return super().get_completions(args[args[:1] == ["help"] :], incomplete)


class BashCompletion(_Completion, BashComplete):
    """Bash shows names alone, and takes what stands behind `=` for a word of its own."""

    def source(self) -> str:
        # The bash on the path says nothing about the one that will run the script.
        return ShellComplete.source(self)

    def get_completions(self, args: list[str], incomplete: str) -> CompletionItems:
        if incomplete == "=" and args[-1:] and args[-1][:2] != "--":
            args, incomplete = [*args, "="], ""
        words = [word for before, word in zip(["", *args], args, strict=False) if word != "=" or before[:2] != "--"]
        if words[-1:] == ["="]:
            # `--arg NAME=VALUE` is four words; what is shown stands in the place of the last one.
            begun = f"{words[-2]}="
            found = super().get_completions(words[:-2], begun + incomplete)
            return [CompletionItem(item.value.removeprefix(begun), item.type) for item in found]
        return super().get_completions(words, incomplete)


class _Described(_Completion):
    """A shell that shows descriptions, and completes `--option=value` as one word."""

    def get_completions(self, args: list[str], incomplete: str) -> CompletionItems:
        found = super().get_completions(args, incomplete)
        name, sign, _ = incomplete.partition("=")
        for item in found:
            if sign and name[:2] == "--" and item.type == "plain":
                item.value = f"{name}={item.value}"
        return found


class ZshCompletion(_Described, ZshComplete):
    """Zsh."""


class FishCompletion(_Described, FishComplete):
    """Fish; a comma of a description doesn't end it."""

    source_template = FishComplete.source_template.replace('string split ","', 'string split -m 1 ","')


_SHELLS: dict[str, type[_Completion]] = {"bash": BashCompletion, "zsh": ZshCompletion, "fish": FishCompletion}


def make_completion_script(shell: str, program: click.Command) -> str:
    """What makes that shell ask."""
    ##= man/spec/completion.md#completing
    ##% `duvet completion` MUST print a script with which bash, zsh or fish completes subcommands, options and their
    ##% values.
    return _SHELLS[shell](program, {}, _PROGRAM, COMPLETION_VARIABLE).source()


def answer_shell(program: click.Command, instruction: str) -> None:
    """Answer a shell; whatever is wrong, the line that somebody is typing is not disturbed."""
    shell = _SHELLS.get(instruction.removesuffix("_complete"))
    ##= man/spec/completion.md#completing
    ##% Completion MUST take the names of a project from the cache alone, and print nothing, not even an error, when it
    ##% has no answer.
    with suppress(click.ClickException, click.exceptions.Exit, DuvetError, OSError, LookupError, ValueError):
        answer = shell(program, {}, _PROGRAM, COMPLETION_VARIABLE).complete() if shell else ""
        write_stdout(f"{answer}\n".encode(errors="replace") if answer else b"")
