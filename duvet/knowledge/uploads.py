"""Files and texts that clients upload."""

from __future__ import annotations

import os
import posixpath
import re
import stat
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime
from importlib.machinery import all_suffixes
from typing import Any, BinaryIO

from msgspec import Struct

from duvet.config.service_tables import UploadRule
from duvet.config.settings import RECIPE_FOLDERS
from duvet.errors import DuvetError, NotRegularError, OutputExistsError, QueryError
from duvet.knowledge.ingest.subsystems import SUBSYSTEM_PATHS
from duvet.sources.gitignore import IgnoredPaths, is_excluded_by_default
from duvet.specs.section_names import make_anchor
from duvet.store.location import StorePaths, is_backup
from duvet.text import collapse_whitespace, format_count, quote_text, shorten_text
from duvet.tree.files import DiskTree, find_name_fault, find_path_fault, is_reserved, leads_into_folder
from duvet.tree.outputs import open_output
from duvet.words import fold_name

_CONFIGURATION = re.compile(r"(duvet|contextive)\.config\.[a-z]+", re.IGNORECASE)
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_MAX_SLUG = 100
_MAX_DEPTH = 8
_DEFAULT_TITLE = "note"
_PATH_HINT = "choose another path under the content root, such as docs/notes/tea.md"


class StoredFile(Struct, frozen=True):
    path: str
    relative_path: str  # From the content root.
    overwritten: bool = False


class ContentFolder:
    def __init__(self, places: StorePaths, rule: UploadRule) -> None:
        self.root = os.path.join(places.root, rule.root) if rule.root else places.root
        self._places = places
        self.rule = rule

    def read(self, source: str, *, is_local: bool) -> bytes:
        ##= man/spec/gateway.md#uploads
        ##% `km-upload` MUST read only files of the project and, over HTTP, only files under the content root.
        folder, name = (self._places.root, "the project") if is_local else (self.root, "the content root")
        at = os.path.join(folder, source)
        ##= man/spec/gateway.md#uploads
        ##% `km-upload` MUST NOT read a file that is hidden, ignored by git, secret or vendored.
        try:
            file = open_visible_file(folder, at, self._places.own)
            if file is None:
                message = f"can't upload {quote_text(shorten_text(source))}: {describe_invisible_file(name)}"
                raise QueryError(
                    message, hint=f"pass the path of another file in {name}, or send the text with km-storetext"
                )
            with file:
                data = file.read(self.rule.max_bytes + 1)
        except (OSError, NotRegularError) as error:
            hint = "pass the path of a readable file"
            raise QueryError(f"can't read {quote_text(shorten_text(source))}", hint=hint) from error
        if len(data) > self.rule.max_bytes:
            raise self._make_size_error(source)
        return data

    def store(
        self, data: bytes, destination: str | None, name: str, *, overwrite: bool | None, is_made_up: bool = False
    ) -> StoredFile:
        if not os.path.isdir(self.root):
            origin = self.rule.root_origin
            hint = f"set `{origin}` to an existing folder" if origin else "check the working directory"
            raise DuvetError("the content root is not an existing folder", hint=hint)
        if len(data) > self.rule.max_bytes:
            raise self._make_size_error(name)
        replaces = self.rule.overwrite if overwrite is None else overwrite
        stem, ending = posixpath.splitext(name)
        numbered = (f"{stem}-{number}{ending}" for number in range(2, 1000))
        for candidate in (name, *(numbered if is_made_up else ())):
            relative = resolve_destination(self.root, self.rule.docs_subdir, destination, candidate)
            # The destination may be a file; then its name was not generated.
            is_ours = is_made_up and posixpath.basename(relative) == candidate
            whole = os.path.join(self.root, relative)
            check_not_reserved(self._places, whole)
            was_there = os.path.lexists(whole)
            try:
                ##= man/spec/gateway.md#uploads
                ##% The server MUST write an upload completely or not at all, and MUST NOT overwrite a file unless
                ##% `overwrite` is set.
                with open_output(whole, replaces=replaces and not is_ours) as file:
                    file.write(data)
            except OutputExistsError as error:
                if not is_ours:
                    hint = "pass overwrite=true to replace it, or choose another destination"
                    raise QueryError(f"{quote_text(relative)} already exists", hint=hint) from error
            else:
                return StoredFile(os.path.realpath(whole), relative, was_there)
        raise QueryError("too many texts were stored within one second", hint="pass a title, or try again")

    def _make_size_error(self, name: str) -> QueryError:
        most = format_count(self.rule.max_bytes, "byte")
        hint = "send less data, or increase `uploads.maxBytes` in the service configuration"
        return QueryError(f"{quote_text(shorten_text(name))} is larger than the limit of {most}", hint=hint)


def describe_invisible_file(folder: str) -> str:
    """Return all possible reasons why a file is not visible; the actual one would reveal whether the file exists."""
    return f"it is outside {folder}, hidden, ignored by git or vendored, or may contain secrets"


def open_visible_file(root: str, at: str, own: Sequence[str] = ()) -> BinaryIO | None:
    if "\0" in at:
        return None
    real, real_root = os.path.realpath(at), os.path.realpath(root)
    if not leads_into_folder(real_root, real):
        return None
    if any(leads_into_folder(one, real) for one in own) or is_backup(os.path.basename(real)):
        return None
    path = os.path.relpath(real, real_root).replace(os.sep, "/")
    if any(part.startswith(".") for part in path.split("/")) or is_excluded_by_default(real_root, path):
        return None
    if IgnoredPaths(DiskTree(real_root), real_root).hides(path, is_folder=False):
        return None
    if os.open not in os.supports_dir_fd:
        handle = os.open(real, _READ)
    else:
        # A link that has been put into the path since the checks is not followed.
        handle = os.open(real_root, _READ)
        for name in path.split("/"):
            folder = handle
            try:
                handle = os.open(name, _READ | os.O_NOFOLLOW, dir_fd=folder)
            finally:
                os.close(folder)
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return os.fdopen(handle, "rb")
    os.close(handle)
    raise NotRegularError("not a regular file", path=path)


def resolve_destination(root: str, folder: str, destination: str | None, name: str) -> str:
    wanted = (destination or "").strip() or f"{folder}/"
    # A destination without an extension is a folder.
    is_file = not wanted.endswith("/") and posixpath.splitext(wanted)[1] != ""
    return check_destination(root, wanted if is_file else f"{wanted.rstrip('/')}/{name}")


def check_destination(root: str, path: str) -> str:
    ##= man/spec/gateway.md#uploads
    ##% The server MUST refuse to store a file that is hidden, is a configuration file, or is outside the content root,
    ##% even through `..` or a symbolic link.
    if reason := find_path_fault(path):
        raise _refuse(path, reason)
    if _CONFIGURATION.fullmatch(posixpath.basename(path)):
        raise _refuse(path, "it is a configuration file")
    path = posixpath.normpath(path)
    whole = os.path.join(root, path)
    if not leads_into_folder(root, os.path.dirname(whole)) or os.path.islink(whole):
        raise _refuse(path, "its path contains a symbolic link that duvet does not follow")
    real = os.path.relpath(os.path.realpath(os.path.dirname(whole)), os.path.realpath(root))
    for part in real.split(os.sep):
        if part != "." and (reason := find_name_fault(part)):
            raise _refuse(path, f"a symbolic link in its path leads to an invalid path: {reason}")
    if os.path.isdir(whole):
        raise _refuse(path, "it is a folder")
    folder = os.path.dirname(path)
    while folder:
        if os.path.lexists(os.path.join(root, folder)) and not os.path.isdir(os.path.join(root, folder)):
            raise _refuse(path, f"{quote_text(folder)} is a file")
        folder = os.path.dirname(folder)
    return path


def check_not_reserved(places: StorePaths, whole: str) -> None:
    real = os.path.realpath(whole)
    if any(leads_into_folder(own, real) for own in places.own):
        raise _refuse(os.path.basename(whole), "duvet stores its own files there")
    relative = os.path.relpath(real, os.path.realpath(places.root)).replace(os.sep, "/")
    path = fold_name(relative)
    is_recipe = path.startswith(tuple(f"{folder}/" for folder in RECIPE_FOLDERS)) and path.endswith((".yaml", ".yml"))
    is_named = any(_is_same_file(configuration, real) for configuration in places.configurations)
    if is_named or is_recipe or path in SUBSYSTEM_PATHS:
        raise _refuse(os.path.basename(whole), "it is a configuration file")
    is_code = path.endswith((*all_suffixes(), ".pth")) and any(leads_into_folder(folder, real) for folder in sys.path)
    if is_code or is_excluded_by_default(places.root, relative):
        raise _refuse(os.path.basename(whole), "it may be vendored, contain secrets, or be loaded by duvet as code")


def _is_same_file(path: str, real: str) -> bool:
    if fold_name(os.path.realpath(path)) == fold_name(real):
        return True
    try:
        # Names that differ only in case may refer to the same file.
        return os.path.samefile(path, real)
    except (OSError, ValueError):
        return False


def _refuse(path: str, reason: str) -> QueryError:
    return QueryError(f"can't write to {quote_text(shorten_text(path))}: {reason}", hint=_PATH_HINT)


class StoredText(Struct, frozen=True, kw_only=True):
    content: str
    title: str = ""
    subsystem: str = ""
    tags: Sequence[str] = ()
    metadata: Mapping[str, Any] = {}

    @property
    def is_named(self) -> bool:
        return bool(make_file_slug(self.title))

    def file_name(self, now: datetime) -> str:
        return f"{make_file_slug(self.title) or f'{_DEFAULT_TITLE}-{now:%Y%m%d-%H%M%S}'}.md"

    def document(self) -> str:
        front = {
            "title": collapse_whitespace(self.title),
            "subsystem": collapse_whitespace(self.subsystem),
            "tags": [collapse_whitespace(tag) for tag in self.tags],
            "metadata": _copy_plain(self.metadata),
        }
        front = {name: value for name, value in front.items() if value}
        content = self.content if self.content.endswith("\n") else f"{self.content}\n"
        return f"---\n{_format_yaml(front)}---\n\n{content}" if front else content


def make_file_slug(title: str) -> str:
    found = make_anchor(unicodedata.normalize("NFC", title))[:_MAX_SLUG].strip("-")
    return f"{found}-{_DEFAULT_TITLE}" if is_reserved(found) else found


class _FrontMatter(dict[str, Any]):
    """A table that YAML always writes in block style."""


def _format_yaml(front: Mapping[str, Any]) -> str:
    import yaml

    class Dumper(yaml.SafeDumper):  # type: ignore[misc]
        """Writes each string on a single line, so that no string can end the front matter."""

    Dumper.add_representer(
        str,
        lambda dumper, text: dumper.represent_scalar(
            "tag:yaml.org,2002:str", text, style=None if text.isprintable() else '"'
        ),
    )
    Dumper.add_representer(
        _FrontMatter,
        lambda dumper, top: dumper.represent_mapping("tag:yaml.org,2002:map", top.items(), flow_style=False),
    )
    text: str = yaml.dump(
        _FrontMatter(front), Dumper=Dumper, default_flow_style=None, sort_keys=False, allow_unicode=True, width=1 << 30
    )
    return text


def _copy_plain(value: Any, depth: int = 0) -> Any:
    if depth > _MAX_DEPTH:
        raise QueryError(f"metadata is nested deeper than {_MAX_DEPTH} levels", hint="use flatter metadata")
    if isinstance(value, Mapping):
        return {name: _copy_plain(item, depth + 1) for name, item in value.items()}
    return [_copy_plain(item, depth + 1) for item in value] if isinstance(value, list) else value
