"""Files and texts that clients upload."""

from __future__ import annotations

import os
import posixpath
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct

from duvet.config.settings import UploadRule
from duvet.errors import DuvetError, NotRegularError, OutputExistsError, QueryError, UnreadableError
from duvet.knowledge.ingest.files import is_excluded_by_default
from duvet.knowledge.settings import StorePaths, is_backup
from duvet.sources.gitignore import IgnoredPaths
from duvet.specs.anchors import make_anchor as ascii_of
from duvet.text import escape_line_ends, format_count, quote_text, shorten_text
from duvet.tree.files import DiskTree, find_name_fault, find_path_fault, is_reserved, leads_into_folder
from duvet.tree.outputs import open_output

_CONFIGURATION = re.compile(r"(duvet|contextive)\.config\.[a-z]+", re.IGNORECASE)
_TRIES = 1000
_HINT = "name a path such as docs/notes/tea.md, which stays below the content root"


def resolve_destination(root: str, folder: str, given: str | None, name: str) -> str:
    """The path of a file below the root; QueryError where it would lead elsewhere.

    What is given with an ending is the file itself, and a folder otherwise; without it, the folder is the usual one.
    """
    wanted = (given or "").strip() or f"{folder}/"
    ##= man/spec/gateway.md#uploads
    ##% `km-upload` and `km-storetext` MUST write to the given file, into the given folder, or else into
    ##% `uploads.docsSubdir`.
    is_file = not wanted.endswith("/") and posixpath.splitext(wanted)[1] != ""
    return check_destination(root, wanted if is_file else f"{wanted.rstrip('/')}/{name}")


def number_names(name: str) -> Iterator[str]:
    """Names to try one after another: this one, and then with numbers."""
    stem, ending = posixpath.splitext(name)
    yield name
    yield from (f"{stem}-{number}{ending}" for number in range(2, _TRIES))


def check_destination(root: str, path: str) -> str:
    """The path of a file below the root, in its shortest form; QueryError where nothing may be written there."""
    path = posixpath.normpath(_named(path))
    _check_links(root, path)
    return path


def _named(path: str) -> str:
    ##= man/spec/gateway.md#uploads
    ##% The server MUST refuse a destination that is absolute, hidden, a configuration, not portable, or outside of the
    ##% content root, also by `..` or through a link.
    if reason := find_path_fault(path):
        raise _refused(path, reason)
    if _CONFIGURATION.fullmatch(posixpath.basename(path)):
        raise _refused(path, "it is a configuration")
    return path


def _check_links(root: str, path: str) -> None:
    whole = os.path.join(root, path)
    if not leads_into_folder(root, os.path.dirname(whole)) or os.path.islink(whole):
        raise _refused(path, "it leads through a link")
    real = os.path.relpath(os.path.realpath(os.path.dirname(whole)), os.path.realpath(root))
    for part in real.split(os.sep):
        if part != "." and (reason := find_name_fault(part)):
            raise _refused(path, f"it leads through a link, and {reason}")
    if os.path.isdir(whole):
        raise _refused(path, "it is a folder")
    folder = os.path.dirname(path)
    while folder:
        if os.path.lexists(os.path.join(root, folder)) and not os.path.isdir(os.path.join(root, folder)):
            raise _refused(path, f"{quote_text(folder)} is a file")
        folder = os.path.dirname(folder)


def check_not_reserved(places: StorePaths, whole: str) -> None:
    """That it is none of the files which duvet keeps for itself, nor one that tells it what to do."""
    real = os.path.realpath(whole)
    if any(leads_into_folder(one, real) for one in places.own):
        raise _refused(os.path.basename(whole), "duvet keeps something of its own there")
    if any(_is_same(one, real) for one in places.configurations):
        raise _refused(os.path.basename(whole), "it is a configuration")


def _is_same(one: str, real: str) -> bool:
    if os.path.realpath(one) == real:
        return True
    try:
        # On some systems a file goes by several names.
        return os.path.samefile(one, real)
    except (OSError, ValueError):
        return False


def _refused(path: str, reason: str) -> QueryError:
    return QueryError(f"nothing can be stored as {quote_text(shorten_text(path))}: {reason}", hint=_HINT)


class StoredFile(Struct, frozen=True):
    """A file that is there now."""

    path: str
    relative_path: str
    """From the content root."""
    overwritten: bool = False


class ContentFolder:
    """The folder that all of these files stay in."""

    def __init__(self, places: StorePaths, rule: UploadRule) -> None:
        self.root = os.path.join(places.root, rule.root) if rule.root else places.root
        self._places = places
        self._rule = rule

    def read(self, source: str, *, only_inside: bool) -> bytes:
        """The bytes of a file that is to be handed in; QueryError where they can't be."""
        ##= man/spec/gateway.md#uploads
        ##% Over HTTP, `km-upload` MUST read only files below the content root that are not hidden, ignored by git,
        ##% secret, vendored or duvet's own.
        at = os.path.join(self.root if only_inside else self._places.root, source)
        if only_inside and not self._is_shown(at):
            raise QueryError(
                f"{quote_text(shorten_text(source))} is no file below the content root that may be read",
                hint="over HTTP, files are taken from there alone, and none that are hidden or ignored, keys or dependencies; "
                "km-storetext takes text from anywhere",
            )
        try:
            if os.stat(at).st_size > self._rule.max_bytes:
                raise self._too_large(source)
            data = DiskTree().read(at)
        except (OSError, ValueError, UnreadableError, NotRegularError) as error:
            hint = "give the path of a file that the server can read"
            raise QueryError(f"{quote_text(shorten_text(source))} can't be read", hint=hint) from error
        if len(data) > self._rule.max_bytes:
            raise self._too_large(source)
        return data

    def _is_shown(self, at: str) -> bool:
        if "\0" in at:
            return False
        real, real_root = os.path.realpath(at), os.path.realpath(self.root)
        if not leads_into_folder(real_root, real):
            return False
        if any(leads_into_folder(one, real) for one in self._places.own) or is_backup(os.path.basename(real)):
            return False
        path = os.path.relpath(real, real_root).replace(os.sep, "/")
        if any(part.startswith(".") for part in path.split("/")) or is_excluded_by_default(real_root, path):
            return False
        return not IgnoredPaths(DiskTree(real_root), real_root).hides(path, is_folder=False)

    def store(
        self, data: bytes, given: str | None, name: str, *, overwrite: bool | None, is_made_up: bool = False
    ) -> StoredFile:
        """Write a file; QueryError where it can't be called so."""
        if not os.path.isdir(self.root):
            hint = f"see what {self._rule.root_said_by or 'the working directory'} says"
            raise DuvetError("the content root is no folder that is there", hint=hint)
        if len(data) > self._rule.max_bytes:
            raise self._too_large(name)
        replaces = self._rule.overwrite if overwrite is None else overwrite
        for one in number_names(name) if is_made_up else (name,):
            relative = resolve_destination(self.root, self._rule.docs_subdir, given, one)
            # What was given may be the file itself.
            is_ours = is_made_up and posixpath.basename(relative) == one
            try:
                return self._stored(data, relative, replaces=replaces and not is_ours)
            except OutputExistsError as error:
                if not is_ours:
                    hint = "give overwrite=true to replace it, or another destination"
                    raise QueryError(f"{quote_text(relative)} is there already", hint=hint) from error
        raise QueryError("there are too many texts of this second", hint="say a title, or try again")

    def _stored(self, data: bytes, relative: str, *, replaces: bool) -> StoredFile:
        whole = os.path.join(self.root, relative)
        check_not_reserved(self._places, whole)
        was_there = os.path.lexists(whole)
        ##= man/spec/gateway.md#uploads
        ##% The server MUST write an upload completely or not at all, and MUST NOT overwrite a file without `overwrite`
        ##% or under a name that duvet has chosen.
        with open_output(whole, replaces=replaces) as file:
            file.write(data)
        return StoredFile(os.path.realpath(whole), relative, was_there)

    def ingests(self, wanted: bool | None) -> bool:
        """Whether what was stored is to be taken in at once."""
        return self._rule.ingest if wanted is None else wanted

    def _too_large(self, name: str) -> QueryError:
        most = format_count(self._rule.max_bytes, "byte")
        return QueryError(
            f"{quote_text(shorten_text(name))} has more than {most}",
            hint="uploads.maxBytes of the configuration says how many",
        )


_LONGEST = 100
_DEEPEST = 8
_FALLBACK = "note"


class StoredText(Struct, frozen=True, kw_only=True):
    """A text, and what is said of it."""

    content: str
    title: str = ""
    subsystem: str = ""
    tags: Sequence[str] = ()
    metadata: Mapping[str, Any] = {}

    @property
    def is_named(self) -> bool:
        """Whether its title is enough to call a file after."""
        return bool(make_file_slug(self.title))

    def file_name(self, now: datetime) -> str:
        return f"{make_file_slug(self.title) or f'{_FALLBACK}-{now:%Y%m%d-%H%M%S}'}.md"

    def document(self) -> str:
        """The file: front matter, where anything is said, and the text with a line end."""
        ##= man/spec/gateway.md#uploads
        ##% `km-storetext` MUST write at most 500,000 bytes, with title, subsystem, tags and metadata as YAML before
        ##% them, to a file named after the title or the time.
        said = {
            "title": escape_line_ends(self.title),
            "subsystem": escape_line_ends(self.subsystem),
            "tags": [escape_line_ends(tag) for tag in self.tags],
            "metadata": _plain(self.metadata),
        }
        said = {name: value for name, value in said.items() if value}
        content = self.content if self.content.endswith("\n") else f"{self.content}\n"
        return f"---\n{_yaml(said)}---\n\n{content}" if said else content


def make_file_slug(title: str) -> str:
    """The title as a name of a file; empty where nothing is left of it."""
    found = ascii_of(unicodedata.normalize("NFC", title))[:_LONGEST].strip("-")
    return f"{found}-{_FALLBACK}" if is_reserved(found) else found


class _Top(dict[str, Any]):
    """What is said, a line for each thing."""


def _yaml(said: Mapping[str, Any]) -> str:
    import yaml

    class Dumper(yaml.SafeDumper):  # type: ignore[misc]
        """Keeps every text on its line: one of another could end what is said."""

    def on_one_line(dumper: Dumper, text: str) -> Any:
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if text.isprintable() else '"')

    def line_by_line(dumper: Dumper, top: _Top) -> Any:
        return dumper.represent_mapping("tag:yaml.org,2002:map", top.items(), flow_style=False)

    Dumper.add_representer(str, on_one_line)
    Dumper.add_representer(_Top, line_by_line)
    text: str = yaml.dump(
        _Top(said), Dumper=Dumper, default_flow_style=None, sort_keys=False, allow_unicode=True, width=1 << 30
    )
    return text


def _plain(value: Any, depth: int = 0) -> Any:
    """The same; QueryError where it is nested too deeply."""
    if depth > _DEEPEST:
        raise QueryError("metadata is nested too deeply", hint=f"{_DEEPEST} levels are enough for anybody")
    if isinstance(value, Mapping):
        return {name: _plain(one, depth + 1) for name, one in value.items()}
    return [_plain(one, depth + 1) for one in value] if isinstance(value, list) else value
