"""What the page brings with it: its styles and its scripts."""

from __future__ import annotations

import re
from base64 import b64encode

from markupsafe import Markup

from duvet.templates import page_file

##= man/spec/page.md#colours
##% Texts MUST have a contrast of at least 4.5 to 1, and lines one of at least 3 to 1, in the light theme and in the dark
##% one.
_STYLES = ("tokens", "layout", "overview", "text", "lists", "panel", "print")
_MODULES = [
    "elements",
    "places",
    "views",
    "routes",
    "rows",
    "subject",
    "comment",
    "toml",
    "clipboard",
    "issue",
    "panel",
    "steps",
    "copying",
    "lists",
    "requirements",
    "sources",
    "keys",
    "theme",
    "print",
    "start",
]
"""In the order in which they need one another; together they are one module."""

# Indentation, comments that cite, comments of scripts and blank lines.
_FOR_WRITERS = re.compile(r"^/\*\n(?:##.*\n)+\*/\n|^ *//.*\n|^\n|^ +", re.MULTILINE)

# In styles, where they tell nothing apart; no text in them holds one.
_SPACES = re.compile(r"(?<=[;:,{]) | (?=[{}])|;(?=\s*})")

# The same in scripts, outside of strings.
_GAPS = re.compile(r"""('[^'\n]*'|"[^"\n]*"|`[^`]*`)| *([-=(){},;:?+<>&|!*]) *""")


def shell() -> dict[str, Markup]:
    """The styles, the script that runs before anything is shown, the others, and the policy that allows them alone."""
    from hashlib import sha256

    early, module = _script("early"), _script(*_MODULES)
    allowed = " ".join(f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in (early, module))
    return {
        "styles": Markup(_SPACES.sub("", _inlined(*(f"{name}.css" for name in _STYLES)))),
        "early": early,
        "module": module,
        ##= man/spec/trace.md#reports
        ##% The page MUST NOT load anything from elsewhere.
        "policy": Markup(
            f"default-src 'none'; style-src 'unsafe-inline'; script-src {allowed}; img-src data:; base-uri 'none'; "
            "form-action 'none'"
        ),
    }


def _script(*names: str) -> Markup:
    return Markup(_GAPS.sub(r"\1\2", _inlined(*(f"{name}.js" for name in names))))


def _inlined(*names: str) -> str:
    """These files as one, without what is there for those who write them alone."""
    return "\n" + _FOR_WRITERS.sub("", "".join(map(page_file, names)))
