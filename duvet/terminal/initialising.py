"""One run of `duvet init`."""

from __future__ import annotations

import os

from duvet.config.languages import STARTERS
from duvet.config.starting import GITIGNORE, detected, starting_config
from duvet.terminal.outputs import write_file
from duvet.terminal.progress import Lines
from duvet.terminal.settings import settings


def run_init(specifications: tuple[str, ...], languages: tuple[str, ...], *, extended: bool) -> None:
    """Write the files that a new project needs and does not have."""
    starters = tuple(one for one in STARTERS if one.language.value in languages) or detected(os.path.exists)
    config = starting_config(starters, specifications, extended=extended)
    progress = Lines(settings())
    for path, data in ((".duvet/config.toml", config), (".duvet/.gitignore", GITIGNORE)):
        progress.begin(f"Writing {path}")
        ##= man/spec/trace.md#setting-up
        ##% `duvet init` MUST leave alone a file that is there already.
        if os.path.lexists(path):
            progress.end(f"Skipping {path} - already exists")
        else:
            write_file(path, data)
            progress.end(f"Wrote {path}")
