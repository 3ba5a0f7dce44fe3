"""Text as HTML. Jinja's own function costs several times as much, and most of the page is written without it."""

from __future__ import annotations


def escaped(text: str) -> str:
    """The text between tags."""
    ##= man/spec/trace.md#reports
    ##% The page MUST show text from specifications, sources and the configuration as text, whatever it holds.
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def attribute(text: str) -> str:
    """The text between double quotes in a tag."""
    return escaped(text).replace('"', "&quot;")
