"""The browser of this machine."""

from __future__ import annotations

from pathlib import Path

from duvet.errors import DuvetError
from duvet.terminal.failures import as_problems, report


def open_page(path: str) -> bool:
    """Show a file that has been written; whether that has worked, and otherwise why not is said."""
    try:
        _open(path)
    except DuvetError as error:
        report(as_problems(error))
        return False
    return True


def _open(path: str) -> None:
    ##= man/spec/page.md#opening
    ##% Where no page is written, `--open` MUST fail and say how to have one.
    if not path:
        hint = "name a file with `--html FILE`, or set `enabled = true` in `[report.html]` of the configuration"
        raise DuvetError("there is no page to open", hint=hint)
    if not _is_shown(Path(path).resolve().as_uri()):
        hint = "open the file yourself, or name a browser in the environment variable BROWSER"
        raise DuvetError("no browser was found", path=path, hint=hint)


def _is_shown(url: str) -> bool:
    import webbrowser

    try:
        return webbrowser.open(url)
    except ValueError:
        # BROWSER is no command, such as one with a quote that does not end.
        return False
