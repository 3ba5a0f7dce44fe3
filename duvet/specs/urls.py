"""URLs of specifications: one spelling for each, where its text comes from and where it is kept."""

from __future__ import annotations

import posixpath
import re
from functools import lru_cache

from duvet import rules
from duvet.model import ProblemsError
from duvet.text import quoted

_LABEL = r"(?!xn--)[a-z0-9-]+"
_SEGMENT = r"(?!\.{1,2}(?:/|\Z))[\w.~!$&()*+,;=:@-]*"
# What a URL parser would only give back; all that is not sure to be normal is left to the parser.
_NORMAL = re.compile(rf"https?://(?:{_LABEL}\.)*(?!xn--)[a-z][a-z0-9-]*(?:/{_SEGMENT})+", re.ASCII)
_RFC = re.compile(
    r"https?://(?:www\.rfc-editor\.org/rfc|tools\.ietf\.org/rfc|datatracker\.ietf\.org/doc/html)/rfc"
    r"(.*?)(?:\.pdf)*(?:\.xml)*(?:\.html)*(?:\.txt)*/*"
)
_PARTS = re.compile(r"[^:]*://(?:[^/?#@]*@)?(\[[^\]]*\]|[^/?#:]*)[^/?#]*([^?#]*)")
_EXTENSION = re.compile(r"(?<=[^/])\.[^./]*\Z")


def is_url(text: str) -> bool:
    """Whether a specification is named by a URL and not by a path."""
    return "://" in text


@lru_cache(maxsize=4096)
def normalise_url(text: str) -> str:
    """The URL as the WHATWG writes it, which is its identity; an error where it names no host."""
    return text if _NORMAL.fullmatch(text) else _parsed(text)


def _parsed(text: str) -> str:
    from can_ada import parse

    try:
        url = parse(text)
    # A TypeError is what lone surrogates give.
    except (ValueError, TypeError) as error:
        raise _bad(f"{quoted(text)} is not a valid URL") from error
    if url.protocol == "file:":
        raise _bad(f"file URLs are not supported: {quoted(text)}", "name the file by its path")
    # A host is also the name of a folder of downloads.
    if url.hostname in ("", ".", ".."):
        raise _bad(f"the URL {quoted(text)} has no host")
    return url.href


def _bad(message: str, hint: str = "write it as https://HOST/PATH") -> ProblemsError:
    return ProblemsError((rules.TARGET_BAD_URL.problem(message, hint=hint),))


def canonical_url(url: str) -> str:
    """Where the text of a normalised URL is fetched: every address of an RFC leads to the RFC Editor's text."""
    ##= man/spec/trace.md#specifications
    ##% The spellings of an RFC's URL MUST lead to one downloaded file.
    found = _RFC.fullmatch(url)
    return f"https://www.rfc-editor.org/rfc/rfc{found[1]}.txt" if found else url


def cache_path(url: str, folder: str) -> str:
    """The file below the folder of downloads that holds the text of a normalised URL.

    Port, query and fragment are left out, and whatever extension there is becomes `.txt`.
    """
    found = _PARTS.match(canonical_url(url))
    host, path = found.groups() if found else ("", "")
    return without_extension(posixpath.join(folder, host, *path.split("/")).rstrip("/")) + ".txt"


def without_extension(path: str) -> str:
    """The path without the extension of its last part; a leading dot begins none."""
    return _EXTENSION.sub("", path)
