"""From the specification that a target names to the one that is meant."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from duvet import rules
from duvet.model import Format, Locator, ProblemsError
from duvet.specs.urls import is_url, normalise_url
from duvet.text import path_key, path_parts, quoted
from duvet.tree.protocol import Tree


def locate(name: str, format: Format = Format.AUTO) -> Locator:
    """The specification that a configuration or a command line names: a URL, or a path taken as it is."""
    if is_url(name):
        return Locator(normalise_url(name), True, format)
    if "\0" in name:
        raise _unresolved(name, "a path can't hold a NUL")
    return Locator(_tidy(name), False, format)


def resolve(spec: str, format: Format, base: str, tree: Tree) -> Locator:
    """The specification that a target names.

    A path that leads to no file is tried below the base and each folder above it. The base of a comment is the
    working directory, that of a requirement file the file itself.
    """
    if is_url(spec) or spec.startswith("/"):
        return locate(spec, format)
    ##= man/spec/trace.md#targets
    ##% A path that is not found MUST be looked for in the folders above.
    found = next(filter(tree.is_file, _candidates(spec, base)), None)
    if found is None:
        raise _unresolved(spec, f"paths start at the working directory or at a folder above {base or 'it'}")
    return Locator(_tidy(found), False, format)


def _candidates(spec: str, base: str) -> Iterator[str]:
    yield spec
    above = None
    while base and base != above:
        yield posixpath.join(base, spec)
        base, above = posixpath.dirname(base), base


def _tidy(path: str) -> str:
    parts = path_parts(path)
    return "/" + "/".join(parts[1:]) if parts[:1] == ["/"] else "/".join(parts)


def _unresolved(spec: str, hint: str) -> ProblemsError:
    return ProblemsError((rules.TARGET_UNRESOLVED.problem(f"Could not resolve file {quoted(spec)}", hint=hint),))


def locator_key(locator: Locator) -> tuple[bool, str, Format]:
    """A key that sorts specifications: URLs, then paths part by part, then by format."""
    if locator.is_url:
        return (False, locator.name, locator.format)
    return (True, path_key(locator.name), locator.format)


def displayed(locator: Locator, cwd: str) -> str:
    """The name to show: a path in the working directory without that directory."""
    if locator.is_url or not cwd:
        return locator.name
    return locator.name.removeprefix(cwd.rstrip("/") + "/")
