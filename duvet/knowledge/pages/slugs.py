"""What pages are called in links."""

from __future__ import annotations

import re
import unicodedata

_LONGEST = 300
_ENDING = re.compile(r"\.(?:md|markdown)\Z", re.IGNORECASE)
_DRIVE = re.compile(r"[A-Za-z]:")
_NEVER = frozenset("[]|#\\")
"""What no link could be written with, and what other systems take for a path."""
_CONTROLS = {"Cc", "Cs", "Zl", "Zp"}
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""What makes the rest of a line look like something else."""
_BLANKS = re.compile(r"[^\S\x00-\x1f\x7f-\x9f\u2028\u2029]+")
"""Those in links, however many, stand for one; controls are none, for slugs with them are refused."""
_SPECIAL = re.compile(r"[*?\[]")


def plain(text: str) -> str:
    """One spelling for each name."""
    ##= man/spec/pages.md#slugs
    ##% A slug in any script MUST be found however its characters are composed, and however many blanks stand together in
    ##% it.
    return _BLANKS.sub(" ", text if text.isascii() else unicodedata.normalize("NFC", text)).strip()


def slug_of(path: str, prefix: str) -> str:
    """What a file is called whose path begins with what its pattern begins with."""
    ##= man/spec/pages.md#slugs
    ##% Without a slug in its front matter, the slug of a page MUST be its path below the folders that its pattern
    ##% names, without `.md`.
    return plain(_ENDING.sub("", path.removeprefix(prefix)))


def prefix_of(pattern: str) -> str:
    """The folders that a pattern begins with, with a slash at the end."""
    special = _SPECIAL.search(pattern)
    fixed = pattern[: special.start()] if special else pattern
    folder, slash, _ = fixed.removeprefix("./").rpartition("/")
    return folder + slash


def fault_of(slug: str) -> str:
    """Why this can't be a slug; nothing where it can."""
    ##= man/spec/pages.md#slugs
    ##% A slug that is empty, absolute, leads out of its folder or has control characters MUST be refused, and its page
    ##% left out.
    if not slug:
        return "it is empty"
    if len(slug) > _LONGEST:
        return f"it has more than {_LONGEST} characters"
    if slug.startswith("/") or _DRIVE.match(slug):
        return "it is an absolute path"
    if any(part in ("", ".", "..") for part in slug.split("/")):
        return "it leads to another folder, or through an empty one"
    odd = next((one for one in slug if one in _TURNING or unicodedata.category(one) in _CONTROLS), None)
    if odd is not None:
        return f"it has the control character U+{ord(odd):04X} in it"
    wrong = next((one for one in slug if one in _NEVER), None)
    if wrong is not None:
        return f"no link can be written with the `{wrong}` in it"
    return "links to requirements begin with `req:`" if slug.lower().startswith("req:") else ""
