"""The project above that was meant, perhaps, by whoever is in a folder that is none."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duvet.model import Problem


def taken_for_another(folder: str, command: str) -> Iterator[Problem]:
    """That this folder becomes a project by a command."""
    from duvet.knowledge.above import project_above
    from duvet.knowledge.ingest.warnings import warning

    ##= man/spec/knowledge.md#runs
    ##% In a folder that is no project, below one that is, `duvet ingest` and the error that nothing was taken in yet MUST
    ##% name that one, and `-C`.
    ##= man/spec/knowledge.md#runs
    ##% `duvet restore` MUST warn in such a folder as `duvet ingest` does.
    if above := project_above(folder):
        verb = {"ingest": "takes that one in", "restore": "puts it back there"}[command]
        hint = f"`duvet -C {above} {command}` {verb}; this one is forgotten with its folder .duvet"
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
