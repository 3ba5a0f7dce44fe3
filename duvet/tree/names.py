"""Names of files and folders that every system can have."""

from __future__ import annotations

import re

from duvet.text import quoted, shortened

SPECIAL = r'\x00-\x1f\x7f\\:*?"<>|'
"""Characters that some systems don't take, as a class of a pattern."""
_RESERVED = r"(?i:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)"
_LONGEST, _LONGEST_NAME = 1024, 255


def is_reserved(name: str) -> bool:
    """Whether some systems keep a name for themselves."""
    return re.match(_RESERVED, name) is not None


def fault(path: str) -> str:
    """What is wrong with a path that is to lead to something below a folder; empty where nothing is."""
    if path.startswith("/"):
        return "it is absolute"
    if len(path) > _LONGEST or re.search(f"[{SPECIAL}]", path):
        return "it is too long, or has a character that not every system takes"
    faults = (fault_of_name(part) for part in path.split("/") if part not in ("", "."))
    return next(filter(None, faults), "")


def fault_of_name(part: str) -> str:
    """The same of a name in a path."""
    if part == "..":
        return "it has .. in it"
    if part.startswith("."):
        return f"{quoted(shortened(part))} is a hidden name"
    if part != part.rstrip(". ") or part != part.lstrip() or is_reserved(part):
        return f"{quoted(shortened(part))} is no name on some systems"
    return "a name in it is too long" if len(part.encode()) > _LONGEST_NAME else ""
