"""Resolves links to files as Obsidian and Foam do: by path, by the end of a path, by name and by alias."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping

from msgspec import Struct

from duvet.knowledge.pages.links import LinkSyntax, PageLink
from duvet.knowledge.pages.page import normalise_slug
from duvet.words import compose, fold_name

_ENDINGS = ("", ".md", ".markdown")  # What a link may omit of the name of a file.


class LinkTargets(Struct, frozen=True):
    """What links may lead to; all paths are relative to the project."""

    roots: Mapping[str, str]  # The pages, each with the folder that its slug omits.
    others: tuple[str, ...] = ()  # Files that are not pages.
    slugs: Mapping[str, str] = {}  # The pages that set their slug.
    aliases: tuple[tuple[str, str], ...] = ()
    linked: frozenset[str] = frozenset()  # Files that are found by their paths only.


class LinkResolver:
    """Finds the file that a link leads to."""

    def __init__(self, targets: LinkTargets) -> None:
        self.targets = targets
        self._answers: dict[tuple[str, str, LinkSyntax], str | None] = {}
        roots = targets.roots
        self._roots = roots
        self._top_folders = tuple(dict.fromkeys((*roots.values(), "")))
        self._slugs = targets.slugs
        paths = sorted({*roots, *targets.others})
        self._paths = targets.linked.union(paths)
        self._composed: dict[str, str] = {}
        self._folded: dict[str, str] = {}
        self._names: dict[str, list[str]] = {}
        for path in paths:
            self._composed.setdefault(compose(path), path)
            folded = fold_name(path)
            self._folded.setdefault(folded, path)
            self._names.setdefault(folded.rpartition("/")[2], []).append(path)
        self._aliases: dict[str, list[str]] = {}
        for alias, path in targets.aliases:
            self._aliases.setdefault(fold_name(alias), []).append(path)

    def resolve(self, source: str, link: PageLink) -> str | None:
        """Return the file that a link in `source` leads to, or None."""
        ##= man/spec/pages.md#links
        ##% duvet MUST resolve a link by path, by the end of a path, by the name of a file and by an alias, with or
        ##% without `.md`, in any case and in every Unicode normalization.
        if link.syntax is LinkSyntax.EXTERNAL or not link.written:
            return None
        if link.written.startswith("#"):
            return source
        key = (source.rpartition("/")[0], link.written, link.syntax)
        if key not in self._answers:
            is_markdown = link.syntax is LinkSyntax.MARKDOWN
            found = self._find(source, link.path, is_markdown)
            self._answers[key] = self._find_with_sign(source, link) if found is None else found
        return self._answers[key]

    def has_sign(self, source: str, link: PageLink) -> bool:
        """Return whether the `#` in a link is part of a file name."""
        return self._find(source, link.path, False) is None and self._find_with_sign(source, link) is not None

    def _find_with_sign(self, source: str, link: PageLink) -> str | None:
        is_wiki = link.syntax is LinkSyntax.WIKI and link.heading is not None
        return self._find(source, link.written, False) if is_wiki else None

    def _find(self, source: str, target: str, is_markdown: bool) -> str | None:
        if not target:
            return source
        is_folder = target.endswith("/") or target in (".", "..")
        is_relative = target.startswith(("./", "../"))
        if not is_folder and (is_markdown or is_relative) and not target.startswith("/"):
            beside = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
            if not beside.startswith("..") and (found := self._find_path(beside)):
                return found
        if not is_folder and not is_relative:
            plain = posixpath.normpath(target.lstrip("/"))
            slug = self._slugs.get(normalise_slug(target))
            if found := slug or self._find_below_roots(source, plain) or self._find_end(source, plain):
                return found
        ##= man/spec/pages.md#links
        ##% If several files match, the link MUST lead to the file with the fewest folders between them, then with the
        ##% shortest path, then to the first file in alphabetical order.
        alias = fold_name(target)
        return self._pick(source, self._aliases.get(alias) or self._aliases.get(alias.removesuffix(".md")) or ())

    def _find_below_roots(self, source: str, path: str) -> str | None:
        own = self._roots.get(source, "")
        for root in (own, *(root for root in self._top_folders if root != own)):
            if found := self._find_path(root + path):
                return found
        return None

    def _find_path(self, path: str) -> str | None:
        for ending in _ENDINGS:
            if path + ending in self._paths:
                return path + ending
        for known, spelt in ((self._composed, compose(path)), (self._folded, fold_name(path))):
            for ending in _ENDINGS:
                if found := known.get(spelt + ending):
                    return found
        return None

    def _find_end(self, source: str, path: str) -> str | None:
        folded = fold_name(path)
        name = folded.rpartition("/")[2]
        ends = tuple(f"/{folded}{ending}" for ending in _ENDINGS)
        named = [one for ending in _ENDINGS for one in self._names.get(name + ending, ())]
        found = [one for one in named if f"/{fold_name(one)}".endswith(ends)]
        if not found:
            return None
        spelt = tuple(f"/{compose(path)}{ending}" for ending in _ENDINGS)
        return self._pick(source, [one for one in found if f"/{compose(one)}".endswith(spelt)] or found)

    def _pick(self, source: str, paths: Iterable[str]) -> str | None:
        folders = source.split("/")[:-1]

        def rank(path: str) -> tuple[int, int, str]:
            others = path.split("/")[:-1]
            shared = 0
            while shared < min(len(folders), len(others)) and folders[shared] == others[shared]:
                shared += 1
            return len(folders) + len(others) - 2 * shared, len(path), path

        return min(paths, key=rank, default=None)
