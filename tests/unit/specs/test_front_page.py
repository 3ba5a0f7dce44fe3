"""Titles on first pages."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duvet.specs.ietf import find_front_title

HEADER = """
Network Working Group                                           J. Doe
Request for Comments: 99999                                 Pot Makers
Category: Informational                                   January 2031

"""


WIDE = "A Title That Is as Wide as the Page, to the Last Column: Tea and Pots of"


@pytest.mark.parametrize(
    ("page", "title"),
    [
        (f"{HEADER}\n{'Refilling Teapots':^72}\n\nAbstract\n", "Refilling Teapots"),
        (f"\ufeff{HEADER}{'Refilling Much':^72}\n{'Larger  Pots':^72}\n", "Refilling Much Larger Pots"),
        (f"{HEADER}{'Teapots':^72}\n\nIntro\n".replace("\n", "\r\n"), "Teapots"),
        (f"{HEADER}{'Teapots':^60}\n", "Teapots"),
        (f"{HEADER}Obsoletes: 99998\n\n{'Teapots':^72}\n", "Teapots"),
        (f"{HEADER}{'J. Roe':>72}\n{'Cup Makers':>72}\n\n{'Teapots':^72}\n", "Teapots"),
        (f"{HEADER}{WIDE}\n{'Porcelain':^72}\n\nAbstract\n", f"{WIDE} Porcelain"),
        (f"\n\n{'RFC 99999':^72}\n\n\n{'Teapots':^72}\n\n{'J. Doe':^72}\n", "Teapots"),
        (f"Internet-Draft\n\n{'Teapots':^72}\n{'draft-doe-teapots-03':^72}\n", "Teapots"),
    ],
)
def test_titles(page: str, title: str) -> None:
    assert find_front_title(page) == title


WIDE_LINE = f"{WIDE}\n"


@pytest.mark.parametrize(
    "page",
    [
        "",
        "1. Intro\n\n                     Centred Text\n",
        HEADER,
        f"{HEADER}Abstract\n\n                     Centred Text\n",
        f"{HEADER}   This memo begins with its text, which fills each line of the page\n   and stops.\n",
        f"{HEADER}{WIDE_LINE * 7}",
        f"{HEADER}\f\n                     Next Page\n",
    ],
)
def test_no_title(page: str) -> None:
    assert find_front_title(page) == ""


@given(st.text())
def test_any_text_has_a_title_of_one_line_or_none(text: str) -> None:
    assert "\n" not in find_front_title(HEADER + text)


TITLES = {
    869: "A Host Monitoring Protocol",
    959: "FILE TRANSFER PROTOCOL (FTP)",
    1035: "DOMAIN NAMES - IMPLEMENTATION AND SPECIFICATION",
    2351: "Mapping of Airline Reservation, Ticketing, and Messaging Traffic over IP",
    3216: "SMIng Objectives",
    7079: "The Pseudowire (PW) and Virtual Circuit Connectivity Verification (VCCV) Implementation Survey Results",
    7945: "Information-Centric Networking: Evaluation and Security Considerations",
    8446: "The Transport Layer Security (TLS) Protocol Version 1.3",
    9090: "Concise Binary Object Representation (CBOR) Tags for Object Identifiers",
    9293: "Transmission Control Protocol (TCP)",
}


def test_titles_of_real_pages(shared: Path) -> None:
    files = {number: shared / "rfc" / f"rfc{number}.txt" for number in TITLES}
    assert {number: find_front_title(file.read_text("utf-8")) for number, file in files.items()} == TITLES


def test_every_real_page_has_a_title(shared: Path) -> None:
    files = sorted((shared / "rfc").glob("rfc*.txt"))
    assert files
    assert [file.name for file in files if not find_front_title(file.read_text("utf-8"))] == []
