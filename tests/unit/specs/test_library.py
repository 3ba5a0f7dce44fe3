import os
from pathlib import Path

import pytest

from duvet.errors import DuvetError
from duvet.model import Format, Locator, Specification
from duvet.specs.library import DownloadOutcome, Library, assign_ids, detect_format, name_ietf_specification
from duvet.specs.locator import locate_specification
from duvet.tree.files import DiskTree, MemoryTree

ABOUT = "How to make it, and how to drink it."
PAGE = b"# Tea\n\nHow to make it,\nand how to drink it.\n\n## Pot\n\nThe pot MUST be warm.\n"
TEXT = b"""Network Working Group                                        A. Leaf
Request for Comments: 99901                                    May 2001
Category: Informational

                            The Pot Protocol

1.  Pot

   The pot MUST be warm.
"""
FILES = {"tea.md": PAGE, "./tea.md": PAGE, "d/example.com/tea.txt": PAGE, "pot.txt": TEXT, "bad.md": b"# T\n\nT\xc3("}
FILES |= {"a/plain.md": b"text", "a/plain.txt": b"text", "s.md": b"## Pot\n\n### Lid\n"}


def library() -> Library:
    return Library(MemoryTree(FILES), "d", cwd="/w")


def ids(specification: Specification) -> list[str]:
    return [section.id for section in specification.sections]


def test_names_and_formats() -> None:
    url = locate_specification("https://EXAMPLE.com/tea.md")
    for locator, path, name, title, description, format, sections in [
        (Locator("tea.md"), "tea.md", "Tea", "Tea", ABOUT, Format.MARKDOWN, ["tea", "pot"]),
        (Locator("pot.txt"), "pot.txt", "RFC 99901", "", "The Pot Protocol", Format.IETF, ["section-1"]),
        # A URL has its text in the folder of downloads.
        (url, "d/example.com/tea.txt", "Tea", "Tea", ABOUT, Format.MARKDOWN, ["tea", "pot"]),
        # Without headings the file gives the name, else the first heading.
        (Locator("a/plain.md"), "a/plain.md", "plain", "", "text", Format.MARKDOWN, []),
        (Locator("a/plain.txt"), "a/plain.txt", "plain", "", "", Format.IETF, []),
        (Locator("s.md"), "s.md", "Pot", "", "", Format.MARKDOWN, ["pot", "lid"]),
    ]:
        found = library().load(locator)
        text = title, description, FILES[path], found.sections
        assert found == Specification("", name, locator, locator.name, path, format, *text)
        assert ids(found) == sections


def test_nothing_is_parsed_or_downloaded_twice() -> None:
    shelf = library()
    one, two = shelf.load(Locator("tea.md")), shelf.load(Locator("./tea.md"))
    assert shelf.load(Locator("tea.md")) is one
    assert (one.sections is two.sections, one.data is two.data, two.url) == (True, True, "tea.md")
    assert shelf.load(Locator("tea.md", format=Format.IETF)).sections == ()
    wanted: list[dict[str, str]] = []

    def fetcher(missing: dict[str, str]) -> dict[str, DownloadOutcome]:
        wanted.append(missing)
        return dict.fromkeys(missing, TEXT)

    shelf = Library(MemoryTree({}), "d", fetcher)
    addresses = ["https://tools.ietf.org/rfc/rfc99902.html", "https://www.rfc-editor.org/rfc/rfc99902"]
    first, second = [shelf.load(locate_specification(address)) for address in addresses]
    assert wanted == [{"https://www.rfc-editor.org/rfc/rfc99902.txt": "d/www.rfc-editor.org/rfc/rfc99902.txt"}]
    assert (first.name, first.sections is second.sections) == ("RFC 99902", True)


def test_specifications_that_can_not_be_read(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "bad.md").write_bytes(FILES["bad.md"])
    os.mkfifo(tmp_path / "pipe")
    for name, message in [
        ("folder", "folder: Is a directory (os error 21)"),
        ("pipe", "pipe: not a regular file"),
        ("nope.md", "nope.md: No such file or directory (os error 2)"),
        ("bad.md", "bad.md:3: invalid utf-8 sequence of 1 bytes from index 6"),
        ("https://example.com/cake.md", "https://example.com/cake.md has not been downloaded"),
    ]:
        with pytest.raises(DuvetError) as caught:
            Library(DiskTree(str(tmp_path)), "d").load(locate_specification(name))
        assert str(caught.value) == message
        if "https" in name:
            assert caught.value.hint == "save the specification's text as d/example.com/cake.txt"


def test_the_format_of_a_specification() -> None:
    ##= man/spec/trace.md#specifications
    ##% Unless a format is configured, duvet MUST read a specification as Markdown if its name or the beginning of its
    ##% text looks like Markdown, and otherwise as IETF text.
    for path, text, wanted, format in [
        ("a/spec.md", "plain", Format.AUTO, Format.MARKDOWN),
        ("spec.markdown", "plain", Format.AUTO, Format.MARKDOWN),
        ("spec.txt", "\n\u3000 # Title", Format.AUTO, Format.MARKDOWN),
        ("spec.txt", "[//]: # (licence)", Format.AUTO, Format.MARKDOWN),
        ("spec.txt", "\ufeff# Title", Format.AUTO, Format.IETF),
        ("spec.txt", "1.  Title", Format.AUTO, Format.IETF),
        ("spec.MD", "plain", Format.AUTO, Format.IETF),
        (".md", "plain", Format.AUTO, Format.IETF),
        ("a/.md", "plain", Format.AUTO, Format.IETF),
        ("md", "", Format.AUTO, Format.IETF),
        ("spec.md", "# Title", Format.IETF, Format.IETF),
        ("spec.txt", "1.  Title", Format.MARKDOWN, Format.MARKDOWN),
    ]:
        assert detect_format(path, text, wanted) is format


def specification(path: str, name: str = "") -> Specification:
    return Specification("", name, Locator(path), path, path, Format.IETF, "", "", b"", ())


def test_specifications_have_names_and_short_ids() -> None:
    for path, front, name in [
        ("d/www.rfc-editor.org/rfc/rfc2324.txt", "", "RFC 2324"),
        ("RFC0791", "", "RFC 791"),
        ("coffee.txt", "\nNetwork Working Group      L. Masinter\nRequest for Comments: 2324    1 April\n", "RFC 2324"),
        ("ip.txt", "\n\nRFC:  791\n", "RFC 791"),
        ("monitor.txt", "\n\n      RFC - 869\n", "RFC 869"),
        ("draft-ietf-tea-00.txt", "Internet-Draft\n\nUpdates RFC: none", "draft-ietf-tea-00"),
    ]:
        assert name_ietf_specification(path, front) == name
    for specifications, ids in [
        (
            [specification("d/rfc2324.txt", "RFC 2324"), specification("My Größe.v1.md"), specification("#.md")],
            {"#.md": "spec", "My Größe.v1.md": "my-grosse-v1", "d/rfc2324.txt": "rfc2324"},
        ),
        # Of equal names, those that come later get a number.
        (
            map(specification, ["c/spec.md", "a/spec.md", "b/spec.txt", "spec-2.md"]),
            {"a/spec.md": "spec", "b/spec.txt": "spec-3", "c/spec.md": "spec-4", "spec-2.md": "spec-2"},
        ),
    ]:
        assert [(one.locator.name, one.id) for one in assign_ids(specifications)] == [*ids.items()]
