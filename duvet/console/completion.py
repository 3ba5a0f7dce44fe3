"""Shell completion: the scripts that shells load, and the completions that these scripts request."""

from __future__ import annotations

from contextlib import suppress

import click
from click.shell_completion import BashComplete, CompletionItem, FishComplete, ShellComplete, ZshComplete

from duvet.console.streams import write_stdout
from duvet.errors import DuvetError

COMPLETION_VARIABLE = "_DUVET_COMPLETE"  # The shell and the action; the scripts of shells set it.
PROGRAM = "duvet"

CompletionItems = list[CompletionItem[str]]


class _Completion(ShellComplete):
    def get_completions(self, args: list[str], incomplete: str) -> CompletionItems:
        # `duvet help COMMAND` is `duvet COMMAND --help`.
        return super().get_completions(args[args[:1] == ["help"] :], incomplete)


class BashCompletion(_Completion, BashComplete):
    def source(self) -> str:
        # Click would check the bash on the path, but another one may run the script.
        return ShellComplete.source(self)

    def get_completions(self, args: list[str], incomplete: str) -> CompletionItems:
        if incomplete == "=" and args[-1:] and args[-1][:2] != "--":
            args, incomplete = [*args, "="], ""
        words = [word for before, word in zip(["", *args], args, strict=False) if word != "=" or before[:2] != "--"]
        if words[-1:] == ["="]:
            # `--arg NAME=VALUE` is four words, and only the last one is replaced.
            prefix = f"{words[-2]}="
            found = super().get_completions(words[:-2], prefix + incomplete)
            return [CompletionItem(item.value.removeprefix(prefix), item.type) for item in found]
        return super().get_completions(words, incomplete)


class _WordCompletion(_Completion):
    def get_completions(self, args: list[str], incomplete: str) -> CompletionItems:
        found = super().get_completions(args, incomplete)
        name, sign, _ = incomplete.partition("=")
        for item in found:
            if sign and name[:2] == "--" and item.type == "plain":
                item.value = f"{name}={item.value}"
        return found


class ZshCompletion(_WordCompletion, ZshComplete):
    pass


class FishCompletion(_WordCompletion, FishComplete):
    # Only the first comma separates the value from its description.
    source_template = FishComplete.source_template.replace('string split ","', 'string split -m 1 ","')


SHELLS: dict[str, type[_Completion]] = {"bash": BashCompletion, "zsh": ZshCompletion, "fish": FishCompletion}


def answer_shell(program: click.Command, instruction: str) -> None:
    shell = SHELLS.get(instruction.removesuffix("_complete"))
    # Messages would garble the user's command line.
    with suppress(click.ClickException, click.exceptions.Exit, DuvetError, OSError, LookupError, ValueError):
        answer = shell(program, {}, PROGRAM, COMPLETION_VARIABLE).complete() if shell else ""
        write_stdout(f"{answer}\n".encode(errors="replace") if answer else b"")
