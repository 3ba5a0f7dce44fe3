"""Text as TOML can hold it, which has no room for control characters."""

from __future__ import annotations

_CONTROLS = bytes({*range(32), 127} - {ord("\t"), ord("\n")})
_DROPPED = dict.fromkeys(_CONTROLS)
_ESCAPED = {**{code: f"\\u{code:04X}" for code in _CONTROLS}, ord("\\"): "\\\\"}
_ESCAPED_LINE = {**_ESCAPED, ord('"'): '\\"', ord("\n"): "\\n"}


def has_controls(data: bytes) -> bool:
    """Whether there are control characters other than tabs and line feeds; a carriage return is one."""
    return len(data.translate(None, _CONTROLS)) != len(data)


def without_controls(text: str) -> str:
    """The text with those left out."""
    return text.translate(_DROPPED)


def one_line_string(text: str) -> str:
    """The text in double quotes."""
    plain = text.isprintable() and '"' not in text and "\\" not in text
    return f'"{text if plain else text.translate(_ESCAPED_LINE)}"'


def multi_line_string(text: str) -> str:
    """The text, each line on a line of its own, with a line end after the last; as it stands wherever it can be."""
    if "'''" not in text and not has_controls(text.encode()):
        return f"'''\n{text}\n'''"
    escaped = text.translate(_ESCAPED).replace('"""', '""\\"')
    return f'"""\n{escaped}\n"""'
