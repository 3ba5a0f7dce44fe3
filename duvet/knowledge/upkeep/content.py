"""Files that are handed in to be known: copied from elsewhere, or written down."""

from __future__ import annotations

import os
import posixpath

from msgspec import Struct

from duvet.config.upload import UploadRule
from duvet.errors import DuvetError, NotRegularError, QueryError, TakenError, UnreadableError
from duvet.knowledge.ingest.unasked import is_unasked
from duvet.knowledge.upkeep.destinations import check_not_own, destination, numbered
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
        ##% only those below the content root that are neither hidden, nor ignored by git, nor kept there by duvet itself, nor
        ##% what may hold secrets or others have written: what is handed in can be searched, and a token is no leave to read
        ##% the machine.
        at = os.path.join(self.root if only_inside else self._places.root, source)
        if only_inside and not self._is_shown(at):
            raise QueryError(
                f"{quoted(shortened(source))} is no file below the content root that may be read",
                hint="over HTTP, files are taken from there alone, and none that are hidden or ignored, keys or dependencies; "
                "km-storetext takes text from anywhere",
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
        real, real_root = os.path.realpath(at), os.path.realpath(self.root)
        if not leads_inside(real_root, real):
            return False
        if any(leads_inside(one, real) for one in self._places.own) or is_backup(os.path.basename(real)):
            return False
        path = os.path.relpath(real, real_root).replace(os.sep, "/")
        if any(part.startswith(".") for part in path.split("/")) or is_unasked(real_root, path):
            return False
        return not Ignored(DiskTree(real_root), real_root).hides(path, is_folder=False)

    def store(
        self, data: bytes, given: str | None, name: str, *, overwrite: bool | None, is_made_up: bool = False
    ) -> Stored:
        """Write a file; QueryError where it can't be called so."""
        if not os.path.isdir(self.root):
            hint = f"see what {self._rule.root_said_by or 'the working directory'} says"
            raise DuvetError("the content root is no folder that is there", hint=hint)
        if len(data) > self._rule.max_bytes:
            raise self._too_large(name)
        replaces = self._rule.overwrite if overwrite is None else overwrite
        ##= man/spec/gateway.md#maintenance
        ##% A file whose name duvet makes up MUST NOT replace another one, whatever `overwrite` says: it MUST get a number.
        for one in numbered(name) if is_made_up else (name,):
            relative = destination(self.root, self._rule.docs_subdir, given, one)
            # What was given may be the file itself.
            is_ours = is_made_up and posixpath.basename(relative) == one
            try:
                return self._stored(data, relative, replaces=replaces and not is_ours)
            except TakenError as error:
                if not is_ours:
                    hint = "give overwrite=true to replace it, or another destination"
                    raise QueryError(f"{quoted(relative)} is there already", hint=hint) from error
        raise QueryError("there are too many texts of this second", hint="say a title, or try again")

    def _stored(self, data: bytes, relative: str, *, replaces: bool) -> Stored:
        whole = os.path.join(self.root, relative)
        check_not_own(self._places, whole)
        was_there = os.path.lexists(whole)
        ##= man/spec/gateway.md#maintenance
        ##% A file that is handed in MUST be stored whole or not at all, and MUST replace another one only where `overwrite`
        ##% says so.
        with streamed(whole, replaces=replaces) as file:
            file.write(data)
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
