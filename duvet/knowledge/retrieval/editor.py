"""What opens a place in an editor."""

from __future__ import annotations

from collections.abc import Callable
from string import Formatter
from urllib.parse import quote

from duvet.config.schema import EDITOR_FIELDS
from duvet.errors import DuvetError
from duvet.queries.names import nearest_hint
from duvet.store.records import Symbol


def editor_uris(template: str | None, root: str) -> Callable[[str, Symbol], str] | None:
    """From a file and a symbol in it to the URI; DuvetError for a template with other fields."""
    if not template:
        return None
    _check(template)
    base = root.replace("\\", "/").rstrip("/")

    def uri(path: str, symbol: Symbol) -> str:
        ##= man/spec/knowledge.md#search
        ##% Where `KM_EDITOR_URI_TEMPLATE` is set, each symbol MUST have the URI that it describes, quoted for a URL.
        return template.format(
            abs_path=quote(f"{base}/{path}"),
            path=quote(path),
            line_start=symbol.line_start,
            line_end=symbol.line_end,
            name=quote(symbol.qualified_name),
        )

    return uri


def _check(template: str) -> None:
    try:
        parsed = [*Formatter().parse(template)]
    except ValueError as error:
        raise _wrong(template, str(error)) from error
    for _, name, form, conversion in parsed:
        ##= man/spec/knowledge.md#search
        ##% A template with a field that there is not MUST be refused, and one in the configuration when that is read, with
        ##% its line.
        if name is not None and (name not in EDITOR_FIELDS or form or conversion):
            raise _wrong(template, f"no field {{{name}}}", nearest_hint(name, EDITOR_FIELDS))


def _wrong(template: str, reason: str, hint: str = "") -> DuvetError:
    fields = ", ".join(f"{{{name}}}" for name in EDITOR_FIELDS)
    return DuvetError(
        f"the template of editor URIs can't be used: {reason}: {template}", hint=hint or f"its fields are {fields}"
    )
