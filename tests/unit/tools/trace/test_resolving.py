"""`resolve_spec_id`"""

from __future__ import annotations

from pathlib import Path

import pytest

from duvet.tools.context import ProjectSnapshot
from tests.cli.made import make
from tests.unit.tools.made import FILES, answer, context_in, value

SPELLINGS = [
    "https://www.rfc-editor.org/rfc/rfc2324",
    "http://www.rfc-editor.org/rfc/rfc2324",
    "https://rfc-editor.org/rfc/rfc2324.txt",
    "https://www.rfc-editor.org/rfc/rfc2324.html",
    "https://www.rfc-editor.org/rfc/rfc2324.pdf",
    "https://www.rfc-editor.org/info/rfc2324",
    "https://www.rfc-editor.org/rfc/rfc2324.html#section-2.1.1",
    "https://www.rfc-editor.org:443/rfc/rfc2324/",
    "HTTPS://WWW.RFC-EDITOR.ORG/RFC/RFC2324.TXT",
    "www.rfc-editor.org/rfc/rfc2324",
    "https://tools.ietf.org/html/rfc2324#section-2",
    "https://tools.ietf.org/rfc/rfc2324.txt",
    "https://datatracker.ietf.org/doc/html/rfc2324",
    "https://datatracker.ietf.org/doc/html/rfc2324#section-2.1",
    "https://datatracker.ietf.org/doc/rfc2324/",
    "https://datatracker.ietf.org/doc/rfc2324/?include_text=1",
    "https://www.ietf.org/rfc/rfc2324.txt",
    "https://doi.org/10.17487/RFC2324",
    "doi:10.17487/RFC2324",
    "urn:ietf:rfc:2324",
    "RFC 2324",
    "rfc2324",
    "RFC-2324",
    " rfc 2324#section-2 ",
    "/specifications/rfc2324",
    "duvet:///specifications/rfc2324/sections/section-2.1",
]


@pytest.mark.parametrize("url", SPELLINGS)
def test_every_spelling_can_be_given_for_a_specification(context: ProjectSnapshot, url: str) -> None:
    ##= man/spec/queries.md#filters
    ##= type=test
    ##% duvet MUST recognise a specification by every spelling of its URL, as a URN, and by the path of its resource.
    for tool, more in {
        "list_uncited_requirements": {},
        "get_prioritized_requirements": {},
        "coverage_summary": {},
        "search_requirements": {"query": "coffee"},
    }.items():
        assert value(context, tool, spec=url, **more) == value(context, tool, spec="rfc2324", **more) != []
    if "/specifications/" not in url:
        name = url.partition("#")[0].strip()
        assert value(context, "get_section", reference=f"{name}#section-2.1")["id"] == "section-2.1"


@pytest.mark.parametrize("url", SPELLINGS)
def test_every_spelling_of_an_rfc(context: ProjectSnapshot, url: str) -> None:
    ##= man/spec/mcp.md#tools
    ##= type=test
    ##% `resolve_spec_id` MUST resolve every spelling of an RFC's URL to the same specification, and answer for an
    ##% unknown URL with an `error` and the nearest names.
    assert answer(context, "resolve_spec_id", url=url) == ({"spec_id": "rfc2324"}, "")


def test_every_spelling_of_a_path(tmp_path: Path) -> None:
    context = context_in(make(tmp_path, FILES))
    root = tmp_path.as_posix()
    spellings = ["docs/pot.md", "./docs/pot.md", "docs/pot.md#lid", "docs\\pot.md", "docs/../docs/pot.md", "Pot", "pot"]
    for url in [*spellings, f"{root}/docs/pot.md", f"file://{root}/docs/pot.md#lid"]:
        assert value(context, "resolve_spec_id", url=url) == {"spec_id": "pot"}


@pytest.mark.parametrize(
    ("url", "near"),
    [
        ("https://www.rfc-editor.org/rfc/rfc2325", "Did you mean rfc2324?"),
        ("docs/pod.md", "Did you mean pot?"),
        ("/etc/passwd", "There are rfc2324, pot"),
        ("", "There are rfc2324, pot"),
    ],
)
def test_what_is_not_known_is_answered(context: ProjectSnapshot, url: str, near: str) -> None:
    ##= man/spec/mcp.md#tools
    ##= type=test
    ##% `resolve_spec_id` MUST resolve every spelling of an RFC's URL to the same specification, and answer for an
    ##% unknown URL with an `error` and the nearest names.
    assert answer(context, "resolve_spec_id", url=url) == ({"error": "Specification not found"}, near)
