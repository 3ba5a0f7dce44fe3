"""`uploads`: where files go that are handed in, and what becomes of them."""

# Without `from __future__ import annotations`: msgspec would compile the text of each annotation at every start.

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta

from duvet.config.service.ingest import said
from duvet.config.service.section import END, Section, Text
from duvet.config.upload import UploadRule
from duvet.tree.names import SPECIAL, fault

ROOT, OVERWRITE, INGEST = "KM_CONTENT_ROOT", "KM_UPLOAD_DEFAULT_OVERWRITE", "KM_UPLOAD_DEFAULT_INGEST"
"""The variables that count where the file says nothing."""

_DEFAULT = UploadRule()
_PART = rf"(?:\.|[^./{SPECIAL}\s][^/{SPECIAL}]*)"
"""A name in a path, as far as a pattern tells what every system can have."""


class UploadsSection(Section, frozen=True, kw_only=True):
    """Files that are handed in."""

    root: Annotated[
        Text | None,
        Meta(
            description="The folder that files which are handed in stay in; by default the project, and what is elsewhere is not taken in"
        ),
    ] = None
    ##= man/spec/gateway.md#maintenance
    ##% An `uploads.docsSubdir` that would be refused as a destination for its names MUST be an error in the configuration.
    docs_subdir: Annotated[
        str,
        Meta(
            description="The folder in it for those that nobody says a place for",
            pattern=rf"^{_PART}(?:/+{_PART})*/*{END}",
            extra={
                "expands": True,
                "fault": fault,
                "wanted": "a folder below the content root, without hidden names and .., which every system can have",
            },
        ),
    ] = _DEFAULT.docs_subdir
    overwrite: Annotated[
        bool | None, Meta(description="Whether one replaces another where the call doesn't say; false by default")
    ] = None
    ingest: Annotated[
        bool | None, Meta(description="Whether one is taken in at once where the call doesn't say; false by default")
    ] = None
    max_bytes: Annotated[int, Meta(ge=1, le=1 << 30, description="Larger ones are refused")] = _DEFAULT.max_bytes

    def rule(self, environ: Mapping[str, str]) -> UploadRule:
        """The rule that this table stands for, with the variables beside it."""
        ##= man/spec/gateway.md#maintenance
        ##% Where the configuration says nothing of it below `uploads`, `KM_CONTENT_ROOT`, `KM_UPLOAD_DEFAULT_OVERWRITE` and
        ##% `KM_UPLOAD_DEFAULT_INGEST` MUST count.
        root = self.root or environ.get(ROOT, "").strip()
        return UploadRule(
            root=root,
            root_said_by=root and ("uploads.root" if self.root else ROOT),
            docs_subdir=self.docs_subdir,
            overwrite=bool(said(environ, OVERWRITE) if self.overwrite is None else self.overwrite),
            ingest=bool(said(environ, INGEST) if self.ingest is None else self.ingest),
            max_bytes=self.max_bytes,
        )
