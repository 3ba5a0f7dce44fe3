"""Files that are handed in to be known: copied from elsewhere, or written down."""

from __future__ import annotations

import os

from msgspec import Struct

from duvet.config.upload import UploadRule
from duvet.errors import DuvetError, NotRegularError, QueryError, TakenError, UnreadableError
from duvet.knowledge.upkeep.destinations import check_not_own, destination
from duvet.knowledge.upkeep.places import Places, is_backup
from duvet.outputs import streamed
from duvet.sources.ignored import Ignored
from duvet.text import plural, quoted, shortened
from duvet.tree.disk import DiskTree
from duvet.tree.inside import leads_inside


class Stored(Struct, frozen=True):
    """A file that is there now."""

    path: str
    relative_path: str
    """From the content root."""
    overwritten: bool = False


class Content:
    """The folder that all of these files stay in."""

    def __init__(self, places: Places, rule: UploadRule) -> None:
        self.root = os.path.join(places.root, rule.root) if rule.root else places.root
        self._places = places
        self._rule = rule

    def read(self, source: str, *, only_inside: bool) -> bytes:
        """The bytes of a file that is to be handed in; QueryError where they can't be."""
        ##= man/spec/gateway.md#maintenance
        ##% `km-upload` MUST read any file that the server can for a caller on its own machine, and for one that comes over HTTP
        ##% only those below the content root that are neither hidden, nor ignored by git, nor kept there by duvet itself: what
        ##% is handed in can be searched, and a token is no leave to read the machine.
        at = os.path.join(self.root if only_inside else self._places.root, source)
        if only_inside and not self._is_shown(at):
            raise QueryError(
                f"{quoted(shortened(source))} is no file below the content root that may be read",
                hint="over HTTP, files are taken from there alone, and none that are hidden or ignored; km-storetext takes "
                "text from anywhere",
            )
        try:
            if os.stat(at).st_size > self._rule.max_bytes:
                raise self._too_large(source)
            data = DiskTree().read(at)
        except (OSError, ValueError, UnreadableError, NotRegularError) as error:
            hint = "give the path of a file that the server can read"
            raise QueryError(f"{quoted(shortened(source))} can't be read", hint=hint) from error
        if len(data) > self._rule.max_bytes:
            raise self._too_large(source)
        return data

    def _is_shown(self, at: str) -> bool:
        if "\0" in at:
            return False
        real, root = os.path.realpath(at), os.path.realpath(self.root)
        if not leads_inside(root, real):
            return False
        if any(leads_inside(one, real) for one in self._places.own) or is_backup(os.path.basename(real)):
            return False
        path = os.path.relpath(real, root).replace(os.sep, "/")
        if any(part.startswith(".") for part in path.split("/")):
            return False
        return not Ignored(DiskTree(root), root).hides(path, is_folder=False)

    def store(self, data: bytes, given: str | None, name: str, *, overwrite: bool | None) -> Stored:
        """Write a file; QueryError where it can't be called so."""
        if not os.path.isdir(self.root):
            raise DuvetError("the content root is no folder that is there", hint="see what KM_CONTENT_ROOT says")
        if len(data) > self._rule.max_bytes:
            raise self._too_large(name)
        relative = destination(self.root, self._rule.docs_subdir, given, name)
        whole = os.path.join(self.root, relative)
        check_not_own(self._places, whole)
        replaces = self._rule.overwrite if overwrite is None else overwrite
        was_there = os.path.lexists(whole)
        ##= man/spec/gateway.md#maintenance
        ##% A file that is handed in MUST be stored whole or not at all, and MUST replace another one only where `overwrite`
        ##% says so.
        try:
            with streamed(whole, replaces=replaces) as file:
                file.write(data)
        except TakenError as error:
            hint = "give overwrite=true to replace it, or another destination"
            raise QueryError(f"{quoted(relative)} is there already", hint=hint) from error
        return Stored(os.path.realpath(whole), relative, was_there)

    def ingests(self, wanted: bool | None) -> bool:
        """Whether what was stored is to be taken in at once."""
        return self._rule.ingest if wanted is None else wanted

    def _too_large(self, name: str) -> QueryError:
        most = plural(self._rule.max_bytes, "byte")
        return QueryError(
            f"{quoted(shortened(name))} has more than {most}",
            hint="uploads.maxBytes of the configuration says how many",
        )
