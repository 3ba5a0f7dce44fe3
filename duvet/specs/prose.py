"""The text of a Markdown paragraph, without its markup."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Events = Iterator[tuple[Any, Any]]
"""What pyromark yields: an event, which is a word or a dictionary of one key, and its bytes."""

LONGEST = 400


def paragraph_text(events: Events, span: Any) -> tuple[str, Any]:
    """The paragraph that has just begun as one line, and where its last event begins.

    A paragraph of images alone (badges, a logo) says nothing: its text is empty.
    """
    pieces: list[str] = []
    images = 0
    speaks = False
    for event, next_span in events:
        if "End" in event:
            if event["End"] == "Paragraph":
                break
            images -= event["End"] == "Image"
            continue
        span = next_span
        images += "Start" in event and "Image" in event["Start"]
        piece = _text_of(event)
        speaks = speaks or (not images and bool(piece.strip()))
        pieces.append(piece)
    return (shorten(" ".join("".join(pieces).split())) if speaks else ""), span


def _text_of(event: Any) -> str:
    if isinstance(event, str):
        return " "
    text: str = event.get("Text") or event.get("Code") or ""
    return text


def shorten(text: str) -> str:
    """The text, cut between two words where it is too long."""
    if len(text) <= LONGEST:
        return text
    return (text[: LONGEST - 1].rpartition(" ")[0] or text[: LONGEST - 1]) + "…"
