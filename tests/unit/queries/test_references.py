"""What references mean"""

from __future__ import annotations

import pytest

from duvet import MemoryTree, Project
from duvet.queries.references import resolve_reference
from tests.unit.queries.referred import CATALOGUE, LEAK, LID, PLACES, WARM, found, shown


@pytest.mark.parametrize("reference", ["1dd64a53", "1DD6", CATALOGUE.ids[0], f" {WARM}\n"])
def test_an_id_means_a_requirement_in_all_of_its_places(reference: str) -> None:
    ##= man/spec/show.md#references
    ##% duvet MUST accept any unambiguous prefix of an id with four or more digits.
    ids = {id[:12]: id for id in CATALOGUE.ids}
    assert shown(found(ids[WARM] if len(reference) == 64 else reference)) == PLACES


@pytest.mark.parametrize(
    ("reference", "meant"),
    [
        (PLACES[0], [PLACES[0]]),
        (PLACES[1] + "/", [PLACES[1]]),
        (f"duvet://{PLACES[1][:-6]}", [PLACES[1]]),
        ("duvet:///specifications/tea", ["tea"]),
        ("/specifications/RFC%207168/sections/section%2D2", ["rfc7168#section-2"]),
        (f"{PLACES[0]}/citations/src/pot.rs:3", ["src/pot.rs:3"]),
        (f"/specifications/tea/sections/cup/requirements/{LEAK}/citations/src%2Fc%23.rs%3A4", ["src/c#.rs:4"]),
    ],
)
def test_resources(reference: str, meant: list[str]) -> None:
    ##= man/spec/show.md#references
    ##% duvet MUST find a file by its relative or absolute path, with the separators of any system.
    assert shown(found(reference)) == meant


@pytest.mark.parametrize(
    ("reference", "meant"),
    [
        ("tea", ["tea"]),
        ("Tea", ["tea"]),
        ("./tea.md", ["tea"]),
        ("RFC 7168", ["rfc7168"]),
        ("rfc7168.txt", ["rfc7168"]),
        ("https://www.rfc-editor.org/rfc/rfc7168.html", ["rfc7168"]),
        ("https://datatracker.ietf.org/doc/html/rfc7168#section-2", ["rfc7168#section-2"]),
        ("tea.md#pot", ["tea#pot"]),
        ("tea##pot", ["tea#pot"]),
        ("rfc7168#2", ["rfc7168#section-2"]),
        ("rfc7168#appendix-2", ["rfc7168#section-2"]),
        ("rfc7168#brewing", ["rfc7168#section-2"]),
        ("#cup", ["tea#cup"]),
        ("section-2", ["rfc7168#section-2"]),
        ("Tee & Öl", ["cafe#tee-ol"]),
    ],
)
def test_specifications_and_sections(reference: str, meant: list[str]) -> None:
    assert shown(found(reference)) == meant


CLASHING = {
    "a.md": "# tea\n\n## Cup\n\nA pot MUST be hot.\n",
    "b.md": "# x/tea.md\n",
    "tea.md": "# A\n\n## Cup\n\nA cup MUST hold.\n\nA pot MUST be hot.\n",
    "x/tea.md": "# Tea\n",
}
RFC_URL = "https://www.rfc-editor.org/rfc/rfc1"
HTML_URL = "https://datatracker.ietf.org/doc/html/rfc1"


@pytest.mark.parametrize(
    ("reference", "meant"),
    [
        ("a", "a"),
        ("tea", "tea"),
        ("TEA", "tea"),
        ("tea.md", "tea"),
        ("./x/tea.md", "tea-2"),
        ("/specifications/tea", "tea"),
        ("/specifications/tea/sections/cup", "tea#cup"),
        (HTML_URL, "rfc1"),
        (RFC_URL, "rfc1-2"),
        ("rfc1", "rfc1"),
    ],
)
def test_names_of_several_specifications(reference: str, meant: str) -> None:
    ##= man/spec/show.md#references
    ##% duvet MUST prefer an exact name of a specification, section or file to an id or to another spelling of a name.
    rules = "".join(f'[[specification]]\nsource = "{name}"\n' for name in [*CLASHING, RFC_URL, HTML_URL])
    config = '"$schema" = "duvet-cli/config/v1"\n' + rules
    files = {
        ".duvet/config.toml": config,
        **CLASHING,
        ".duvet/specifications/www.rfc-editor.org/rfc/rfc1.txt": "1. Cup\n",
    }
    catalogue = Project(tree=MemoryTree({path: text.encode() for path, text in files.items()})).catalogue
    assert shown(resolve_reference(catalogue, reference), catalogue) == [meant]


@pytest.mark.parametrize(
    ("reference", "meant"), [("cafe", ["cafe"]), ("added", ["cafe#added"]), ("5bfb", ["cafe#5bfb"])]
)
def test_names_that_could_be_ids(reference: str, meant: list[str]) -> None:
    ##= man/spec/show.md#references
    ##% duvet MUST prefer an exact name of a specification, section or file to an id or to another spelling of a name.
    assert shown(found(reference)) == meant
    assert shown(found("5bfbf")) == [f"/specifications/tea/sections/pot/requirements/{LID}"]
