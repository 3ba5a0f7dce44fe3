"""Locators of specifications: URLs and paths."""

from __future__ import annotations

import os
import posixpath
import re
from functools import lru_cache

from duvet import rules
from duvet.errors import ProblemsError
from duvet.model import Format, Locator
from duvet.specs.section_names import is_url
from duvet.text import path_key, path_parts, quote_text
from duvet.tree.files import Tree

_LABEL = r"(?!xn--)[a-z0-9-]+"
_SEGMENT = r"(?!\.{1,2}(?:/|\Z))[\w.~!$&()*+,;=:@-]*"
# URLs that are known to be normal, so that the parser is not needed.
_NORMAL = rf"(?a)https?://(?:{_LABEL}\.)*(?!xn--)[a-z][a-z0-9-]*(?:/{_SEGMENT})+"
_RFC = (
    r"https?://(?:www\.rfc-editor\.org/rfc|tools\.ietf\.org/rfc|datatracker\.ietf\.org/doc/html)/rfc"
    r"(.*?)(?:\.pdf)*(?:\.xml)*(?:\.html)*(?:\.txt)*/*"
)
_PARTS = r"[^:]*://(?:[^/?#@]*@)?(\[[^\]]*\]|[^/?#:]*)[^/?#]*([^?#]*)"
_EXTENSION = re.compile(r"(?<=[^/])\.[^./]*\Z")
_SLASHES = re.compile(r"(?<=[^/])(?:/\.?)+\Z")


@lru_cache(maxsize=4096)
def normalise_url(text: str) -> str:
    if re.fullmatch(_NORMAL, text):
        return text
    from can_ada import parse

    try:
        url = parse(text)
    # Lone surrogates raise a TypeError.
    except (ValueError, TypeError) as error:
        raise _make_url_error(f"{quote_text(text)} is not a valid URL") from error
    if url.protocol == "file:":
        raise _make_url_error(f"file URLs are not supported: {quote_text(text)}", "use the path of the file")
    # The host is also the name of a folder of downloads.
    if url.hostname in ("", ".", ".."):
        raise _make_url_error(f"the URL {quote_text(text)} has no host")
    return url.href


def _make_url_error(message: str, hint: str = "write it as https://HOST/PATH") -> ProblemsError:
    return ProblemsError((rules.TARGET_BAD_URL.problem(message, hint=hint),))


def canonical_url(url: str) -> str:
    found = re.fullmatch(_RFC, url)
    return f"https://www.rfc-editor.org/rfc/rfc{found[1]}.txt" if found else url


def cache_path(url: str, folder: str) -> str:
    """Return where the text of a normalised URL is stored; the URL's port, query and fragment are ignored."""
    found = re.match(_PARTS, canonical_url(url))
    host, path = found.groups() if found else ("", "")
    return strip_extension(posixpath.join(folder, host, *path.split("/")).rstrip("/")) + ".txt"


def strip_extension(path: str) -> str:
    """Return the path without its extension; a leading dot does not begin an extension."""
    return _EXTENSION.sub("", path)


def locate_specification(name: str, format: Format = Format.AUTO) -> Locator:
    if is_url(name):
        return Locator(normalise_url(name), True, format)
    if "\0" in name:
        raise _make_unresolved_error(name, "remove the NUL character from the path")
    return _locate_path(name, format)


def _locate_path(path: str, format: Format) -> Locator:
    parts = path_parts(path)
    tidy = "/" + "/".join(parts[1:]) if parts[:1] == ["/"] else "/".join(parts)
    # A file's path does not end with a slash, even if a slash is written.
    written = _SLASHES.sub("", path)
    return Locator(tidy, False, format, "" if written == tidy else written)


def resolve_specification(spec: str, format: Format, base: str, tree: Tree) -> Locator:
    if is_url(spec) or spec.startswith("/"):
        return locate_specification(spec, format)
    candidate, folder, below = spec, base, None
    while not tree.is_file(candidate):
        if not folder or folder == below:
            places = "the project's folder"
            if os.path.isabs(base):
                places += " and the folders above it"
            elif base:
                places = f"the folder of this file and the folders above it, up to {places}"
            raise _make_unresolved_error(spec, f"correct the path; duvet looks in {places}")
        candidate = posixpath.join(folder, spec)
        folder, below = posixpath.dirname(folder), folder
    return _locate_path(candidate, format)


def _make_unresolved_error(spec: str, hint: str) -> ProblemsError:
    return ProblemsError((rules.TARGET_UNRESOLVED.problem(f"Could not resolve file {quote_text(spec)}", hint=hint),))


def locator_key(locator: Locator) -> tuple[bool, str, Format]:
    if locator.is_url:
        return (False, locator.name, locator.format)
    return (True, path_key(locator.name), locator.format)


def format_locator(locator: Locator, cwd: str) -> str:
    name = locator.written or locator.name
    if locator.is_url or not cwd:
        return name
    return name.removeprefix(cwd.rstrip("/") + "/")
