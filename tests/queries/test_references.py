"""What references mean"""

from __future__ import annotations

from itertools import pairwise

import pytest

from duvet import MemoryTree, Project
from duvet.errors import NotFoundError
from duvet.queries.catalogue import Catalogue
from duvet.queries.places import Files
from duvet.queries.references import File, Found, Requirements, Spot, Whole, find
from tests.commands.made_tea import TEA_PROJECT

MORE = {
    "cafe.md": "# Place\n\n## Added\n\nA cafe MUST open.\n\n## Tee & Öl\n\n## 5bfb\n",
    "src/1dd6.rs": "//= cafe.md#added\n//# A cafe MUST open.\n",
    "src/c#.rs": "/*\n *= tea.md#sugar\n *\n *= tea.md#cup\n *# A cup MUST NOT leak.\n */\nint cup;\nint two;\n\nint three;\n",
    "src/empty.rs": "",
}
CONFIG = TEA_PROJECT[".duvet/config.toml"] + (
    '[[specification]]\nsource = "cafe.md"\n'
    '[[source]]\npattern = "src/c#.rs"\ncomment-style = { meta = "*=", content = "*#" }\n'
)
FILES = {**TEA_PROJECT, **MORE, ".duvet/config.toml": CONFIG}
TREE = MemoryTree({path: text.encode() for path, text in FILES.items()})
CATALOGUE = Project(tree=TREE).catalogue
ROOT = "/home/me/tea"
WARM, ROUND, LID, LEAK = "1dd64a535306", "a5415b83517f", "5bfbf88bbb38", "2c79658776d2"


def found(reference: str) -> Found:
    return find(CATALOGUE, reference, Files(TREE, ROOT))


def shown(meant: Found, catalogue: Catalogue = CATALOGUE) -> list[str]:
    """What is meant, as people would say it."""
    match meant:
        case Requirements(indexes):
            return [catalogue.full_path_of(catalogue.requirements[index]) for index in indexes]
        case Spot(specification, section):
            return [f"{catalogue.specifications[specification].id}#{section}"]
        case Whole(specification):
            return [catalogue.specifications[specification].id]
        case File(path, indexes):
            return [path, *(str(catalogue.citations[number].line) for number in indexes)]
    return [catalogue.citations[number].id for number in meant.indexes]


def said(reference: str, files: Files | None = None) -> str:
    """What is said where nothing, or too much, is meant."""
    with pytest.raises(NotFoundError) as caught:
        find(CATALOGUE, reference, files)
    return f"{caught.value.message}\n{caught.value.hint}".rstrip()


HELP = "give the beginning of an id, spec#section, a specification, file:line or a file"
PLACES = [f"/specifications/tea/sections/{section}/requirements/{WARM}" for section in ("pot", "cup")]


@pytest.mark.parametrize("reference", ["1dd64a53", "1DD6", CATALOGUE.ids[0], f" {WARM}\n"])
def test_an_id_means_a_requirement_in_all_of_its_places(reference: str) -> None:
    ##= man/spec/show.md#references
    ##% Four or more digits that begin the id of one requirement alone MUST mean that requirement, in every place where
    ##% it stands.
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
    ##% A file MUST be found by its path with the separators of any system, by its absolute path, and percent-encoded in
    ##% the path of a resource.
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
    ##% The specification of an id MUST be meant before one that is only called so, and the one at a URL or a path before
    ##% one at another spelling of it.
    rules = "".join(f'[[specification]]\nsource = "{name}"\n' for name in [*CLASHING, RFC_URL, HTML_URL])
    config = '"$schema" = "duvet-cli/config/v1"\n' + rules
    files = {
        ".duvet/config.toml": config,
        **CLASHING,
        ".duvet/specifications/www.rfc-editor.org/rfc/rfc1.txt": "1. Cup\n",
    }
    catalogue = Project(tree=MemoryTree({path: text.encode() for path, text in files.items()})).catalogue
    assert shown(find(catalogue, reference), catalogue) == [meant]


@pytest.mark.parametrize(
    ("reference", "meant"), [("cafe", ["cafe"]), ("added", ["cafe#added"]), ("5bfb", ["cafe#5bfb"])]
)
def test_names_that_could_be_ids(reference: str, meant: list[str]) -> None:
    ##= man/spec/show.md#references
    ##% A name of a specification, a section or a file MUST be taken for that, though it could be the beginning of an
    ##% id.
    assert shown(found(reference)) == meant
    assert shown(found("5bfbf")) == [f"/specifications/tea/sections/pot/requirements/{LID}"]


@pytest.mark.parametrize(
    "reference",
    [
        "tests/test_pot.py",
        "./tests//test_pot.py",
        "tests\\test_pot.py",
        "src/../tests/test_pot.py",
        f"{ROOT}/tests/test_pot.py",
        "/home\\me\\tea\\tests\\test_pot.py",
    ],
)
def test_files_by_any_path(reference: str) -> None:
    ##= man/spec/show.md#references
    ##% A file MUST be found by its path with the separators of any system, by its absolute path, and percent-encoded in
    ##% the path of a resource.
    assert shown(found(reference)) == ["tests/test_pot.py", "2"]
    assert shown(found(f"{reference}:2")) == ["tests/test_pot.py:2"]


@pytest.mark.parametrize(
    ("reference", "meant"),
    [
        ("src/pot.rs:3", ["src/pot.rs:3"]),
        ("src/pot.rs:6:12", ["src/pot.rs:5"]),
        ("src/pot.rs:7:", ["src/pot.rs:3", "src/pot.rs:5"]),
        ("src/pot.rs:9", ["src/pot.rs:3", "src/pot.rs:5"]),
        ("src/pot.rs:25", ["src/pot.rs:25"]),
        ("src/c#.rs:6", ["src/c#.rs:2", "src/c#.rs:4"]),
        ("src/c#.rs:8", ["src/c#.rs:2", "src/c#.rs:4"]),
        (".duvet/exceptions/coffee.toml:5", [".duvet/exceptions/coffee.toml:3"]),
    ],
)
def test_lines_of_code(reference: str, meant: list[str]) -> None:
    ##= man/spec/show.md#references
    ##% A line of code MUST mean the annotations right above it, up to the next blank line or annotation.
    assert shown(found(reference)) == meant


def test_without_files_the_annotation_that_begins_last_is_meant() -> None:
    assert shown(find(CATALOGUE, "src/pot.rs:12")) == ["src/pot.rs:5"]


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("src/pot.rs:11", "no annotation belongs to src/pot.rs:11\nnear are src/pot.rs:3, src/pot.rs:5, src/pot.rs:14"),
        ("src/pot.rs:9000", "no annotation belongs to src/pot.rs:9000\nnear are src/pot.rs:27, src/pot.rs:30, src/pot.rs:33"),
        ("src/c#.rs:10", "no annotation belongs to src/c#.rs:10\nnear are src/c#.rs:2, src/c#.rs:4"),
        ("src/1dd6.rs:0", "no annotation belongs to src/1dd6.rs:0\nnear are src/1dd6.rs:1"),
        ("src/empty.rs:1", 'there is no annotation in "src/empty.rs"'),
        ("src/empty.rs", 'there is no annotation in "src/empty.rs"'),
    ],
)  # fmt: skip
def test_lines_that_belong_to_no_annotation(reference: str, words: str) -> None:
    ##= man/spec/show.md#references
    ##% A line that belongs to no annotation MUST be answered with the annotations that are nearest to it in its file.
    assert said(reference, Files(TREE, ROOT)) == words


def test_lines_of_a_specification() -> None:
    ##= man/spec/show.md#references
    ##% A line of a specification MUST mean the requirement that begins there.
    assert shown(found("tea.md:13")) == [PLACES[1]]
    assert said("tea.md:9") == "no requirement begins at tea.md:9\nnear are tea.md:7, tea.md:8, tea.md:12"
    assert said("tea.md:7") == (
        '"tea.md:7" could mean 2 requirements\n'
        "give one of these ids:\n"
        f"{WARM}  The pot MUST be warm.\n"
        f"{ROUND}  It SHOULD be round, and nobody MAY drop it."
    )


def test_what_could_mean_several_things() -> None:
    ##= man/spec/show.md#references
    ##% What could mean several requirements or sections MUST be answered with a list of them.
    sentences = [f"Pot {number} MUST be warm.\n\n" for number in range(600)]
    config = (
        "'$schema' = 'duvet-cli/config/v1'\n[[specification]]\nsource = 'a.md'\n[[specification]]\nsource = 'b.md'\n"
    )
    text = "# All\n\n## Many\n\n" + "".join(sentences)
    files = {".duvet/config.toml": config.encode(), "a.md": text.encode(), "b.md": b"# None\n\n## Many\n"}
    catalogue = Project(tree=MemoryTree(files)).catalogue
    ids = sorted(catalogue.ids)
    prefix = next(one[:4] for one, other in pairwise(ids) if one[:4] == other[:4])
    alike = [index for index, id in enumerate(catalogue.ids) if id.startswith(prefix)]
    lines = [f"{catalogue.ids[index][:12]}  {catalogue.requirements[index].text}" for index in alike]
    with pytest.raises(NotFoundError) as caught:
        find(catalogue, prefix)
    assert caught.value.message == f'"{prefix}" could mean {len(alike)} requirements'
    assert caught.value.hint.splitlines() == ["give one of these ids:", *lines]
    with pytest.raises(NotFoundError) as caught:
        find(catalogue, "many")
    assert f"{caught.value.message}\n{caught.value.hint}" == (
        '"many" could mean 2 sections\ngive one of these:\na#many\nb#many'
    )


NOT_IN_POT = (
    f'there is no requirement "{LEAK}" in "pot"\nit is /specifications/tea/sections/cup/requirements/2c79658776d2'
)


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("5bfa", 'there is no requirement "5bfa"\ndid you mean 5bfbf88bbb38?'),
        ("5b", '"5b" is too short for an id\ngive at least 4 digits'),
        ("5bfx", 'nothing is called "5bfx"\ndid you mean 5bfbf88bbb38?'),
        ("5b:f:b", 'nothing is called "5b:f:b"\n' + HELP),
        ("src/pots.rs:3", 'nothing is called "src/pots.rs:3"\ndid you mean src/pot.rs or src/c#.rs or src/1dd6.rs?'),
        ("teas.md#pot", 'there is no specification "teas.md"\ndid you mean tea?'),
        ("rfc7186#2", 'there is no specification "rfc7186"\ndid you mean rfc7168?'),
        ("tea#pots", 'there is no section "pots" in tea.md\ndid you mean pot?'),
        ("/specifications/tea/sections/pots", 'there is no section "pots" in tea.md\ndid you mean pot?'),
        (f"/specifications/tea/sections/pot/requirements/{LEAK}", NOT_IN_POT),
        (
            f"{PLACES[0]}/citations/src/pot.rs:4",
            'there is no citation "src/pot.rs:4" of that requirement\nit is cited at src/pot.rs:3, tests/test_pot.py:2',
        ),
        (
            "/specifications/tea/sections/milk",
            'there is no section "milk" in tea.md\n`duvet show tea` lists the sections',
        ),
        (
            "\x1b[31m",
            'nothing is called "\\u{1b}[31m"\n' + HELP,
        ),
        (
            f"a:{'9' * 5000}",
            f'nothing is called "a:{"9" * 998}…"\n' + HELP,
        ),
    ],
)
def test_what_means_nothing(reference: str, words: str) -> None:
    ##= man/spec/show.md#references
    ##% What means nothing MUST be answered with the names that are most like it.
    assert said(reference) == words
