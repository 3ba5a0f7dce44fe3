"""`duvet pack`"""

from __future__ import annotations

import os
import re

import click

from duvet.config.service import find_service_file
from duvet.console import command, options, streams
from duvet.errors import OutputExistsError
from duvet.templates import environment
from duvet.text import quote_text
from duvet.tools.packs import BUILT_IN_PACKS, WORKFLOWS_PACK
from duvet.tree.files import DiskTree
from duvet.tree.outputs import store_together

_FOLDER = "packs"
_CONFIGURATION = "duvet.config.yaml"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")


@click.group(cls=command.CommandGroup)
def pack() -> None:
    """A pack is a Python file of the project. Its functions with duvet's decorators become tools, resources and
    prompts. `duvet help packs` explains how to write one.

    \b
    Examples:
      duvet pack new notes
    """


@pack.command("new", cls=command.Subcommand)
@click.argument("name", type=options.TEXT_TYPE, metavar="NAME")
def new_pack(name: str) -> None:
    """Write packs/NAME.py with examples, and a test for it. Without a service configuration, duvet also writes one that
    enables the pack.

    \b
    Examples:
      duvet pack new notes
    """
    if not _NAME.fullmatch(name):
        hint = "use up to 32 lower-case letters, digits and `_`, and begin with a letter"
        raise click.BadParameter(f"{quote_text(name)} is not a valid pack name: {hint}", param_hint="NAME")
    if name in (*BUILT_IN_PACKS, WORKFLOWS_PACK):
        raise click.BadParameter(f"{name} is a built-in pack; choose another name", param_hint="NAME")
    path, test = f"{_FOLDER}/{name}.py", f"{_FOLDER}/test_{name}.py"
    values = {"name": name, "words": name.replace("_", " ")}
    texts = {
        path: environment().get_template("pack/pack.py.j2").render(values),
        test: environment().get_template("pack/test_pack.py.j2").render(values),
    }
    terminal = command.current_settings()
    service = find_service_file(DiskTree(), terminal.environ, folder=terminal.folder).path
    if not service:
        texts[_CONFIGURATION] = f"toolPacks:\n  {name}:\n    path: {path}\n"
    ##= man/spec/service.md#packs
    ##% `duvet pack new` MUST write a pack and a test that passes, and MUST NOT overwrite files.
    for one in texts:
        if os.path.lexists(one):
            raise OutputExistsError("the file already exists", path=one, hint="choose another name, or remove the file")
    os.makedirs(_FOLDER, exist_ok=True)
    with store_together() as write:
        for one, text in texts.items():
            write(one, text.encode())
    for one in texts:
        streams.print_remark(f"Wrote {one}")
    if service:
        is_toml = service.endswith(".toml")
        entry = f'{name} = {{ path = "{path}" }}' if is_toml else f'"{name}": {{"path": "{path}"}}'
        streams.print_remark(f"add this to `toolPacks` in {service}: {entry}")
    streams.print_remark(f"next: duvet call {name}_count_words --text 'one two three'; pytest {_FOLDER}")
