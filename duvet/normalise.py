"""Text without the spacing that may differ between a quote and what it quotes."""

from __future__ import annotations

import re

from duvet.text import WHITESPACE

# A single separator between two letters or digits stays as it is, so that only longer runs need a look.
_RUN = re.compile(r"[\W_]{2,}")
_SPACE = re.compile(r"[^\S\x1c-\x1f]+")
_SPLITTING = bytes(code for code in range(128) if chr(code).isspace())
_NO_SPACE = str.maketrans("", "", WHITESPACE)


def normalise(text: str) -> str:
    """The text with white space cut to the first of its characters, and none around punctuation."""
    ##= man/spec/trace.md#quotes
    ##% A quote MUST be found if it differs only in white space around punctuation.
    return _RUN.sub(_reduced, text.strip(WHITESPACE))


def unspaced(text: str) -> str:
    """What texts that are equal when normalised have in common, found much faster."""
    if text.isascii():
        return text.encode().translate(None, _SPLITTING).decode()
    return "".join(text.split())


def normalise_with_map(text: str) -> tuple[str, list[int], list[int]]:
    """The normalised text, and where its unbroken stretches begin: in it, and in the text."""
    end = len(text.rstrip(WHITESPACE))
    taken = end - len(text[:end].lstrip(WHITESPACE))
    parts: list[str] = []
    offsets, originals = [0], [taken]
    for run in _RUN.finditer(text, taken, end):
        for low, high in _dropped(run):
            parts.append(text[taken:low])
            offsets.append(offsets[-1] + low - taken)
            originals.append(high)
            taken = high
    parts.append(text[taken:end])
    return "".join(parts), offsets, originals


def _reduced(run: re.Match[str]) -> str:
    return run[0].translate(_NO_SPACE) or run[0][0]


def _dropped(run: re.Match[str]) -> list[tuple[int, int]]:
    start, end = run.span()
    spaces = [space.span() for space in _SPACE.finditer(run.string, start, end)]
    return [(start + 1, end)] if spaces == [(start, end)] else spaces
