"""What has changed between two texts, word by word."""

from __future__ import annotations

from collections.abc import Iterator

from duvet.sources.wrapping import words


def word_diff(old: str, new: str) -> str:
    """The new text with what is gone as `[-old-]` and what has come as `{+new+}`."""
    return " ".join(_marked(words(old), words(new)))


def _marked(old: list[str], new: list[str]) -> Iterator[str]:
    from difflib import SequenceMatcher

    for tag, low, high, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from new[first:last]
            continue
        gone, come = " ".join(old[low:high]), " ".join(new[first:last])
        yield (f"[-{gone}-]" if gone else "") + (f"{{+{come}+}}" if come else "")
