"""The configuration that a new project begins with."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from duvet import templates
from duvet.config.languages import SLASHES, STARTERS, Starter
from duvet.config.toml_text import one_line_string

GITIGNORE = b"reports/\n"


def detected(exists: Callable[[str], bool]) -> tuple[Starter, ...]:
    """The languages whose files stand in a folder."""
    ##= man/spec/trace.md#setting-up
    ##% `duvet init` without a language MUST take the languages whose files stand in the folder.
    return tuple(one for one in STARTERS if any(map(exists, one.signs)))


def starting_config(starters: Iterable[Starter], specifications: Iterable[str], *, extended: bool) -> bytes:
    """The text of the configuration file."""
    ##= man/spec/trace.md#setting-up
    ##% A configuration that `duvet init` writes MUST be one that duvet reads.
    engine = templates.environment()
    engine.filters["toml"] = one_line_string
    text = engine.get_template("init_config.toml.j2").render(
        starters=tuple(starters),
        specifications=tuple(specifications),
        extended=extended,
        default_style=SLASHES,
    )
    return text.encode()
