"""`ingest` and `store`: what is taken in of the project, and where that is kept."""

# Without `from __future__ import annotations`: msgspec would compile the text of each annotation at every start.

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from duvet.config.schema import EDITOR_FIELDS, IngestRule, StoreRule
from duvet.config.service.section import END, Section, Text
from duvet.config.tables import Excluded, Patterns, as_tuple
from duvet.errors import DuvetError

_DEFAULT = IngestRule()

SYMBOLS, EDITOR = "KM_SYMBOLS_ENABLED", "KM_EDITOR_URI_TEMPLATE"
"""The variables that count where the file says nothing."""

_YES, _NO = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


class Auto(StrEnum):
    """Where it can be done."""

    AUTO = "auto"


_Switch = bool | Auto
_FIELDS = ", ".join(f"{{{name}}}" for name in EDITOR_FIELDS)
_TEMPLATE = (
    rf"^(?=.*\S)(?:[^{{}}$]|\$\{{[A-Za-z_][A-Za-z0-9_]*\}}|\$|\{{\{{|\}}\}}|\{{(?:{'|'.join(EDITOR_FIELDS)})\}})*{END}"
)
_URI = f"a template of URIs, whose fields are {_FIELDS}"
Template = Annotated[str, Meta(pattern=_TEMPLATE, extra={"expands": True, "wanted": _URI})]
PROFILE, PROFILE_IN_WORDS = r"[A-Za-z0-9._-]{1,64}", "up to 64 letters, digits, `.`, `-` and `_`"
"""What a run may be called."""
Profile = Annotated[str, Meta(pattern=f"^{PROFILE}{END}", extra={"wanted": f"a name: {PROFILE_IN_WORDS}"})]


class IngestSection(Section, frozen=True, kw_only=True):
    """What `duvet ingest` takes in."""

    include: Annotated[
        Patterns,
        Meta(
            description="Which files, or folders with all that is in them; what git ignores never, and secrets and "
            "dependencies only where their very paths are named"
        ),
    ] = "**"
    exclude: Excluded = ()
    max_file_bytes: Annotated[
        int, Meta(ge=1, le=1 << 26, description="Of files that are larger, nothing but the name is taken in")
    ] = _DEFAULT.max_file_bytes
    symbols: Annotated[
        _Switch,
        Meta(description="Whether to look for classes and functions; `auto` is where the extra `symbols` is installed"),
    ] = Auto.AUTO
    semantic: Annotated[
        _Switch, Meta(description="Whether to make vectors; `auto` is where the extra `semantic` is installed")
    ] = Auto.AUTO
    profile: Annotated[
        Profile | None,
        Meta(
            description="What a run is called that is called nothing else; by default `local`, or `manual` where a tool begins it"
        ),
    ] = None
    stale_days: Annotated[
        int, Meta(ge=0, le=36_500, description="After so many days without a change a document is old")
    ] = _DEFAULT.stale_days
    editor_uri: Annotated[
        Template | None,
        Meta(description=f"What opens a place in an editor, with the fields {_FIELDS}; `{{{{` stands for a brace"),
    ] = None

    def rule(self, environ: Mapping[str, str]) -> IngestRule:
        """The rule that this table stands for, with the variables beside it."""
        ##= man/spec/knowledge.md#files
        ##% Where `ingest.symbols` is `auto`, or `ingest.editorUri` is not said, `KM_SYMBOLS_ENABLED` and
        ##% `KM_EDITOR_URI_TEMPLATE` MUST count.
        return IngestRule(
            include=as_tuple(self.include),
            exclude=as_tuple(self.exclude),
            max_file_bytes=self.max_file_bytes,
            symbols=said(environ, SYMBOLS) if self.symbols is Auto.AUTO else bool(self.symbols),
            semantic=None if self.semantic is Auto.AUTO else bool(self.semantic),
            profile=self.profile or "",
            stale_days=self.stale_days,
            editor_uri=self.editor_uri or environ.get(EDITOR) or None,
        )


class StoreSection(Section, frozen=True, kw_only=True):
    """Where all of that is kept."""

    path: Annotated[Text, Meta(description="The file; sqlite puts others beside it")] = StoreRule().path
    backups: Annotated[
        Text | None, Meta(description="The folder for backups; by default `backups` beside that file")
    ] = None

    def rule(self) -> StoreRule:
        """The rule that this table stands for."""
        return StoreRule(path=self.path, backups=self.backups or "")


def said(environ: Mapping[str, str], name: str) -> bool | None:
    """What a variable says that is true or false; None where it says nothing."""
    word = environ.get(name, "").strip().lower()
    if word and word not in (*_YES, *_NO):
        raise DuvetError(f"the variable `{name}` is neither true nor false", hint="set it to `true` or `false`")
    return word in _YES if word else None
