"""Recognises the ids that people put before requirements, such as `FR-001`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_LONGEST = 48  # Maximum length of an id, which limits the time that a pattern can take.
_ID = r"[A-Z][A-Z0-9]{0,15}(?:[-_.][A-Z0-9]{1,15}){0,4}?[-_]?\d{1,6}(?:\.\d{1,4}){0,3}(?:-?[A-Z]{1,3}\d{1,3})?[a-z]?"
_NUMBERED = r"\d{1,4}(?:\.\d{1,4}){1,3}(?:-[A-Z]{1,3}\d{1,3})?"
_USUAL = r"(?:FR|NFR|REQ|AC|SC|US|UR|SR|BR|TR|IR|CR|DR|UC|SRS|SYS|RQ)(?:[-_.][A-Z0-9]+)*[-_]?\d|R\d+\.\d"
"""Ids that need no punctuation after them."""
_STANDARDS = (
    r"(?:UTF|UCS|ISO|IEC|RFC|BCP|STD|SHA|AES|DES|RSA|HMAC|ED|EC|MD|CRC|IEEE|CVE|CWE|PEP|ES|ECMA|HTTP|TLS|SSL|IPV|WCAG|ANSI|"
    r"PKCS|X|H|MP|BASE|UUID|GPT|WIN|CP|OAUTH|HTML|CSS|V|PR|GH)[-_.]?\d"
)
"""Names of standards and products that look like ids."""
_UNITS = r"(?:[kKMGTP]i?[Bb](?:ps|it)?|[kMGT]?Hz|[mk][VAWmg]|USD|EUR|CPU|x)\b|%"
_BEGINNING = r"\s+(?!(?:MUST|SHALL|SHOULD|MAY|REQUIRED|AND|OR)\b)(?:[A-Z`\"\u201c]|(?![\u306f\u304c\u3092\u306e\u306b\u3067\u3068\u3082\u3084])[\u3040-\u9fff\uac00-\ud7a3])"
"""A sentence, as opposed to the rest of a sentence that begins with a reference."""
_AFTER = r"\s*(?:[:\uff1a|]|[\u2014\u2013](?!\d)|-(?=\s)|\.(?=\s))\s*|\s+--\s+"
_QUALIFIER = r"\s*[(\[\uff08][^()\[\]\uff08\uff09]{1,60}[)\]\uff09](?=\s*[:\uff1a\u2014\u2013-])"
_BOXES = r"(?:(?:\d\ufe0f?\u20e3|[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]\ufe0f?|\[[ xX~/*-]\](?=\s))\s*)*"
"""Check boxes, and emoji that show the state of a requirement, such as a green check mark."""
_OPENERS = {"[": "]", "(": ")", "\u3010": "\u3011"}


class RequirementId(NamedTuple):
    name: str
    end: int  # The offset at which the text after the id begins.


class IdPattern:
    """Recognises ids of the usual forms, and ids that match the configured pattern."""

    def __init__(self, pattern: str = "") -> None:
        further = f"(?P<own>{pattern})|" if pattern else ""
        self._id = re.compile(rf"{further}{_ID}(?![A-Za-z0-9_])|{_NUMBERED}(?![A-Za-z0-9_])")

    def split(self, text: str, marked: int = 0, *, has_number: bool = True) -> RequirementId | None:
        """Return the id at the beginning of text, or None.

        If the text begins with markup, `marked` is the offset at which the markup ends.
        """
        ##= man/spec/trace.md#requirements-in-markdown
        ##% An id at the beginning of a list item, paragraph, table row or heading MUST be the name of the requirement
        ##% and not a part of its text.
        first = skip_boxes(text)
        opener = text[first : first + 1]
        is_bracketed = opener in _OPENERS
        first += is_bracketed
        found = self._id.match(text, first, min(len(text), first + _LONGEST))
        if found is None or not found[0]:
            return None
        end = found.end()
        name = found[0]
        is_own = bool(found.re.groupindex) and found["own"] is not None
        if is_bracketed:
            if not text.startswith(_OPENERS[opener], end):
                return None
            end += 1
        return self._check(text, name, end, marked, is_own=is_own, is_bracketed=is_bracketed, has_number=has_number)

    def _check(
        self, text: str, name: str, end: int, marked: int, *, is_own: bool, is_bracketed: bool, has_number: bool
    ) -> RequirementId | None:
        if name[0].isdigit() and not is_own:
            # `1.5 GB` does not begin with an id, but `1.1 The` does.
            words = text[end:].lstrip(" .:\uff1a)")
            is_text = bool(words) and not re.match(_UNITS, words) and (words[0].isupper() or words[0] > "\x7f")
            return RequirementId(name, len(text) - len(words)) if is_text and has_number and not is_bracketed else None
        if not is_own and re.match(_STANDARDS, name):
            return None
        qualifier = re.compile(_QUALIFIER).match(text, end)
        after = re.compile(_AFTER).match(text, qualifier.end() if qualifier else end)
        rest = end if after is None else after.end()
        if after is None:
            is_alone = end >= len(text) or marked in (end, end + 1) or is_bracketed or is_own
            if end < len(text) and not text[end].isspace():
                return None
            if not (is_alone or (re.match(_USUAL, name) and re.compile(_BEGINNING).match(text, end))):
                return None
        while rest < len(text) and text[rest].isspace():
            rest += 1
        # `FR-001 - FR-005: …` and `FR-001, FR-002` refer to requirements.
        further = self._id.match(text, rest, min(len(text), rest + _LONGEST))
        is_range = further is not None and not further[0][0].isdigit() and after is not None and ":" not in after[0]
        return None if is_range else RequirementId(name, rest)

    def is_id(self, text: str) -> bool:
        found = self.split(text, len(text))
        return found is not None and found.end >= len(text)


def skip_boxes(text: str, start: int = 0) -> int:
    """Return the offset after the check boxes and emoji that begin at an offset."""
    boxes = re.compile(_BOXES).match(text, start, start + _LONGEST)
    return boxes.end() if boxes else start


@lru_cache(maxsize=32)
def compile_ids(pattern: str) -> IdPattern:
    return IdPattern(pattern)
