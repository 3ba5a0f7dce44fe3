"""The project above that was meant, perhaps, by whoever is in a folder that is none."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from duvet.terminal.streams import STANDARD_INPUT

if TYPE_CHECKING:
    from duvet.model import Problem


def taken_for_another(folder: str, command: str, file: str = "", *options: str) -> Iterator[Problem]:
    """That this folder becomes a project by a command, which may be told a file."""
    from duvet.knowledge.above import project_above
    from duvet.knowledge.ingest.warnings import warning

    ##= man/spec/knowledge.md#runs
    ##% In a folder that is no project, below one that is, `duvet ingest` and the error that nothing was taken in yet MUST
    ##% name that one, and `-C`.
    ##= man/spec/knowledge.md#runs
    ##% `duvet restore` MUST warn in such a folder as `duvet ingest` does, before it changes anything.
    if above := project_above(folder):
        verb = {"ingest": "takes that one in", "restore": "puts it back there"}[command]
        words = ["duvet", "-C", above, command, *options]
        if file:
            words.append(file if os.path.isabs(file) or file == STANDARD_INPUT else os.path.relpath(file, above))
        hint = f"`{shlex.join(words)}` {verb}; this one is forgotten with its folder .duvet"
        yield warning(f"this folder is taken for a project of its own, though the one in {above} holds it", hint=hint)


@contextmanager
def naming_above(command: str) -> Iterator[None]:
    """Where nothing was taken in yet, the error says which project may be meant."""
    from duvet.knowledge.above import project_above
    from duvet.store.errors import MissingError

    try:
        yield
    except MissingError as error:
        ##= man/spec/knowledge.md#runs
        ##% In a folder that is no project, below one that is, `duvet ingest` and the error that nothing was taken in yet
        ##% MUST name that one, and `-C`.
        if above := project_above(os.getcwd()):
            error.hint = f"the project is in {above}, a folder above: `duvet -C {above} {command}` is about that one"
        raise
