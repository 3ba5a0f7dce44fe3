"""What tells results of the same kind apart."""

from __future__ import annotations

from duvet.tree.seen import digest


def key(*parts: object) -> str:
    """All that a result depends on besides the tree, as one word."""
    # Names of files that are not UTF-8 have a representation too.
    return digest(repr(parts).encode()).hex()
