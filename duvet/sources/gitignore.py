"""Finds the paths that git ignores, and the secret files and vendored folders that are skipped by default."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator

from duvet.errors import DuvetError
from duvet.tree.files import Tree
from duvet.tree.git_repository import GitRepository

IgnoreRule = Callable[[str], bool | None]
"""Returns whether a `.gitignore` ignores a path in its folder; None if no line matches. Folders end with a slash."""

_TOKEN = re.compile(rb"(?P<stars>\*+)|(?P<any>\?)|(?P<open>\[[!^]?)|\\(?P<escaped>.)|[^*?\[\\]+", re.DOTALL)
_MEMBER = re.compile(
    rb"\[:(?P<name>[^\]]*):\]|\\?+(?P<low>.)-(?:\\(?P<escaped>.)|(?P<high>[^\]\\]))|\\?+(?P<one>.)", re.DOTALL
)
_NAMED = {
    b"alnum": rb"0-9A-Za-z",
    b"alpha": rb"A-Za-z",
    b"blank": rb" \t",
    b"cntrl": rb"\x00-\x1f\x7f",
    b"digit": rb"0-9",
    b"graph": rb"!-~",
    b"lower": rb"a-z",
    b"print": rb" -~",
    b"punct": rb"!-/:-@\[-`{-~",
    b"space": rb" \t-\r",
    b"upper": rb"A-Z",
    b"xdigit": rb"0-9A-Fa-f",
}


class _NothingError(Exception):
    """Raised for a pattern that can't match anything."""


def parse_gitignore(data: bytes) -> IgnoreRule:
    rules = [rule for rule in map(_parse_rule, reversed(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"))) if rule]
    test = re.compile(b"|".join([b"(%s)" % expression for expression, _ in rules]) or b"(?!)", re.DOTALL).fullmatch
    ignores = [None, *(ignored for _, ignored in rules)]

    def match_path(path: str) -> bool | None:
        found = test(path.encode(errors="surrogateescape"))
        return ignores[found.lastindex or 0] if found else None

    return match_path


def _parse_rule(line: bytes) -> tuple[bytes, bool] | None:
    if line.startswith(b"#"):
        return None
    line = line.removesuffix(b"\r")
    pattern = line.rstrip(b" ")
    # A blank after a backslash stays.
    is_escaped = (len(pattern) - len(pattern.rstrip(b"\\"))) % 2
    pattern = line[: len(pattern) + is_escaped]
    ignored = not pattern.startswith(b"!")
    pattern = pattern.removeprefix(b"!")
    end = rb"(?<!/)/" if pattern.endswith(b"/") else rb"(?<!/)/?"
    pattern = pattern.removesuffix(b"/")
    try:
        if b"/" in pattern:
            return _make_expression(pattern.removeprefix(b"/"), names_folders=True) + end, ignored
        return (rb"(?:.*/)?" + _make_expression(pattern, names_folders=False) + end, ignored) if pattern else None
    except _NothingError:
        return None


def _make_expression(pattern: bytes, *, names_folders: bool) -> bytes:
    parts: list[bytes] = []
    at = 0
    is_plain = True
    while at < len(pattern):
        token = _TOKEN.match(pattern, at)
        if not token:
            raise _NothingError
        before, at = at, token.end()
        if token["stars"]:
            # git compares the text before the first star literally, so `**` after it begins a new pattern.
            is_whole = names_folders and len(token["stars"]) > 1
            is_whole = is_whole and (is_plain or pattern[before - 1 : before] == b"/")
            if is_whole and pattern.startswith(b"/", at):
                expression, at = rb"(?:.*/)?", at + 1
            elif is_whole and (at == len(pattern) or pattern.startswith(rb"\/", at)):
                expression = rb".*"
            else:
                expression = rb"[^/]*"
        elif token["open"]:
            expression, at = _convert_class(pattern, at, negated=len(token["open"]) > 1)
        else:
            expression = rb"[^/]" if token["any"] else re.escape(token["escaped"] or token[0])
        is_plain = is_plain and token.lastgroup is None
        parts.append(expression)
    return b"".join(parts)


def _convert_class(pattern: bytes, at: int, *, negated: bool) -> tuple[bytes, int]:
    members: list[bytes] = []
    while not members or not pattern.startswith(b"]", at):
        member = _MEMBER.match(pattern, at)
        if not member:
            raise _NothingError
        at = member.end()
        if member["name"] is None:
            low = ord(member["one"] or member["low"])
            high = low if member["one"] else ord(member["escaped"] or member["high"])
            members.append(rb"\x%02x-\x%02x" % (low, high) if low < high else rb"\x%02x" % low)
        elif member["name"] in _NAMED:
            members.append(_NAMED[member["name"]])
        else:
            raise _NothingError
    return rb"(?!/)[%s%s]" % (b"^" if negated else b"", b"".join(members)), at + 1


_FOLDER = re.compile(r"(?<=[^/])(?:/|\Z)")


class IgnoredPaths:
    def __init__(self, tree: Tree, root: str) -> None:
        self.tree = tree
        self._repository = GitRepository(tree, root)
        self._files: dict[str, IgnoreRule | None] = {}
        self._folders: dict[str, tuple[bool, str]] = {}  # Whether a folder is ignored, and the top of its repository.
        self._tops: dict[str, str] = {}
        """The git folder of a repository, by the top folder of each working tree; empty without a repository."""

    def hides(self, path: str, is_folder: bool) -> bool:
        whole = posixpath.join(self._repository.start, path)
        if "/." in whole:
            whole = posixpath.normpath(whole)
        folder = whole.rpartition("/")[0]
        known = self._folders.get(folder)
        if known is None:
            start = self._repository.start
            is_inside = f"{folder}/".startswith(start)
            # Outside a repository, the top is the working directory, or `/` for other paths.
            top = self._repository.top(start if is_inside else f"{folder}/") or (start if is_inside else "/")
            above = (whole[: end.end()] for end in _FOLDER.finditer(f"{folder}/"))
            is_hidden = any(self._is_ignored(one, top) for one in above if len(one) > len(top))
            known = self._folders[folder] = is_hidden, top
        return known[0] or self._is_ignored(f"{whole}/" if is_folder else whole, known[1])

    def _is_ignored(self, path: str, top: str) -> bool:
        start = len(path)
        while start > len(top):
            start = path.rfind("/", 0, start - 1) + 1
            if path[start:].rstrip("/") == ".git":
                return True
            verdict = self._decide(f"{path[:start]}.gitignore", path[start:])
            if verdict is not None:
                return verdict
        if top not in self._tops:
            self._tops[top] = self._repository.shared(self._repository.own(top))
        own = self._tops[top]
        return bool(own and self._decide(f"{own}/info/exclude", path[len(top) :]))

    def _decide(self, file: str, path: str) -> bool | None:
        if file not in self._files:
            try:
                self._files[file] = parse_gitignore(self.tree.read(self._repository.spelt(file)))
            except DuvetError:
                self._files[file] = None
        decide = self._files[file]
        return decide(path) if decide else None


_SECRETS = re.compile(
    r"\.env(?!\.example\Z).*|.*\.(?:pem|key|p12|pfx)|id_(?:rsa|dsa|ecdsa|ed25519).*|\.(?:netrc|npmrc|pypirc|git-credentials|ssh)",
    re.DOTALL,
)
_SECRET_FILES = re.compile(r"credentials(?:\.json|\.csv)?|\.?secrets\.(?:ya?ml|json|toml|env)")
_VENDORED_FOLDERS = ("node_modules", "__pycache__")
VIRTUAL_ENVIRONMENT = "pyvenv.cfg"


class DefaultExcludes:
    def __init__(self, include: Iterable[str]) -> None:
        self._included = frozenset(map(posixpath.normpath, include))
        self.folders_with_included = {folder for path in self._included for folder in _parents(path)}

    def excludes_folder(self, folder: str, names: Iterable[str]) -> bool:
        return bool(folder) and folder not in self._included and VIRTUAL_ENVIRONMENT in names

    def excludes(self, path: str, name: str, *, is_folder: bool, is_inside: bool) -> bool:
        ##= man/spec/knowledge.md#files
        ##% `duvet ingest` MUST skip secret files and vendored folders unless `ingest.include` names their exact path.
        if path in self._included:
            return False
        low = name.casefold()
        is_named = low in _VENDORED_FOLDERS if is_folder else bool(_SECRET_FILES.fullmatch(low))
        return is_inside or is_named or bool(_SECRETS.fullmatch(low))


def _parents(path: str) -> Iterator[str]:
    while path := path.rpartition("/")[0]:
        yield path


def is_excluded_by_default(root: str, path: str) -> bool:
    excludes = DefaultExcludes(())
    for folder in _parents(path):
        environment = os.path.join(root, folder, VIRTUAL_ENVIRONMENT)
        if excludes.excludes(folder, posixpath.basename(folder), is_folder=True, is_inside=False):
            return True
        if os.path.lexists(environment):
            return True
    return excludes.excludes(path, posixpath.basename(path), is_folder=False, is_inside=False)
