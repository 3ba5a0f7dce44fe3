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

# Indentation, comments that cite, and blank lines.
_FOR_WRITERS = re.compile(r"^/\*\n(?:##.*\n)+\*/\n|^\n|^ +", re.MULTILINE)

# Where they tell nothing apart; no text in them holds one.
_SPACES = re.compile(r"(?<=[;:,{]) | (?=[{}])|;(?=\s*})")


def shell() -> dict[str, Markup]:
    """The styles, the script that runs before anything is shown, the others, and the policy that allows them alone."""
    from hashlib import sha256

    early, module = Markup(page_file("early.js")), Markup(page_file("script.min.js"))
    allowed = " ".join(f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in (early, module))
    return {
        "styles": Markup(_SPACES.sub("", _FOR_WRITERS.sub("", "".join(page_file(f"{name}.css") for name in _STYLES)))),
        "early": early,
        "module": module,
        ##= man/spec/trace.md#reports
        ##% The page MUST NOT load anything from elsewhere.
        "policy": Markup(
            f"default-src 'none'; style-src 'unsafe-inline'; script-src {allowed}; img-src data:; base-uri 'none'; "
            "form-action 'none'"
        ),
    }
