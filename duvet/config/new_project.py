"""The configuration that `duvet init` writes, and the tables that it adds to an existing configuration."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from duvet import templates
from duvet.config.languages import SLASHES, Language
from duvet.config.project_file import read_config
from duvet.config.settings import Config
from duvet.config.toml import format_one_line_string
from duvet.errors import DuvetError, ProblemsError


class Starter(NamedTuple):
    language: Language
    pattern: str
    signs: tuple[str, ...] = ()  # The manifests that indicate the language.


STARTERS = (
    Starter(Language.C, "src/**/*.c", ("CMakeLists.txt",)),
    Starter(Language.CRYPTOVERIF, "**/*.cv"),
    Starter(Language.GO, "src/**/*.go", ("go.mod",)),
    Starter(Language.JAVA, "src/**/*.java", ("pom.xml", "build.gradle", "build.gradle.kts")),
    Starter(Language.JAVASCRIPT, "src/**/*.js", ("package.json",)),
    Starter(Language.PROVERIF, "**/*.pv"),
    Starter(Language.PYTHON, "src/**/*.py", ("requirements.txt", "pyproject.toml", "setup.py")),
    Starter(Language.TYPESCRIPT, "src/**/*.ts", ("tsconfig.json",)),
    Starter(Language.RUBY, "lib/**/*.rb", ("Gemfile",)),
    Starter(Language.RUST, "src/**/*.rs", ("Cargo.toml",)),
)
"""The languages for which `duvet init` has an option, in awslabs duvet's order."""

GITIGNORE = b"reports/\n"


class SourceGroup(Struct, frozen=True):
    language: Language
    patterns: tuple[str, ...]
    count: int = 0
    is_test: bool = False
    exclude: tuple[str, ...] = ()


def detect_languages(exists: Callable[[str], bool]) -> tuple[Starter, ...]:
    return tuple(starter for starter in STARTERS if any(map(exists, starter.signs)))


def render_config(
    groups: Sequence[SourceGroup],
    specifications: Sequence[str],
    suggestions: Sequence[str],
    any_case: Collection[str] = (),
) -> bytes:
    """Write `suggestions` as comments, and set `keywords = "any"` for the specifications in `any_case`."""
    return _render("config", groups=groups, specifications=specifications, suggestions=suggestions, any_case=any_case)


def render_upstream_config(starters: Sequence[Starter], specifications: Sequence[str]) -> bytes:
    return _render("upstream", starters=starters, specifications=specifications, default_style=SLASHES)


def add_to_config(
    data: bytes,
    config: Config,
    groups: Sequence[SourceGroup],
    specifications: Sequence[str],
    environ: Mapping[str, str],
    any_case: Collection[str] = (),
) -> bytes:
    ##= man/spec/init.md#existing-projects
    ##% In an existing project, `duvet init` MUST add only the specifications and languages that the user names or
    ##% accepts, and change nothing else in the configuration.
    end, added, rest = b"\r\n" if b"\r\n" in data else b"\n", data, list(specifications)
    uncommented = b""
    if config.extended:
        for source in specifications:
            name = source if "://" in source else posixpath.normpath(source)
            cases = [name] if source in any_case else ()
            table = _render("tables", groups=(), specifications=[name], any_case=cases).strip()
            before, added = added, _uncomment_table(added, table, end)
            if added != before:
                uncommented += table + b"\n\n"
                rest.remove(source)
        tables = _render("tables", groups=groups, specifications=rest, any_case=any_case)
    else:
        # Upstream's schema has one pattern in each table.
        starters = [Starter(group.language, pattern) for group in groups for pattern in group.patterns]
        tables = _render("upstream_tables", starters=starters, specifications=specifications, default_style=SLASHES)
    if tables := tables.rstrip():
        added += (b"" if data.endswith(b"\n") else end) + end + tables.replace(b"\n", end) + end
    try:
        read_config(added, config.path, environ)
    except ProblemsError as error:
        hint = f"add these lines by hand:\n{(uncommented + tables).decode().rstrip()}"
        raise DuvetError("cannot add tables at the end of this file", path=config.path, hint=hint) from error
    return added


def _uncomment_table(data: bytes, table: bytes, end: bytes) -> bytes:
    ##= man/spec/init.md#existing-projects
    ##% `duvet init` MUST uncomment a specification that it has written as a comment, instead of adding it again.
    lines = [line + end for line in table.splitlines()]
    comment = re.escape(b"".join(b"# " + line for line in lines))
    # Keys below the comment would become keys of the table.
    found = re.search(rb"(?m)^" + comment + rb"(?=(?:[ \t\r]*(?:#.*)?\n)*[ \t\r]*(?:\[|\Z|#.*\Z))", data)
    return data[: found.start()] + b"".join(lines) + data[found.end() :] if found else data


def _render(name: str, **values: Any) -> bytes:
    def format_value(value: str | Sequence[str]) -> str:
        strings = [format_one_line_string(one) for one in ([value] if isinstance(value, str) else value)]
        return strings[0] if len(strings) == 1 else f"[{', '.join(strings)}]"

    engine = templates.environment()
    engine.filters["toml"] = format_value
    return engine.get_template(f"init_{name}.toml.j2").render(values).encode()
