"""URLs: one spelling, the address of the text, the place of the text."""

from __future__ import annotations

import can_ada
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duvet.errors import ProblemsError
from duvet.specs.locator import cache_path, canonical_url, is_url, normalise_url, strip_extension

PIECES = [
    "a",
    "B",
    "example.com",
    "xn--",
    "1",
    ".",
    "..",
    "/",
    "-",
    "_",
    "%2e",
    "%41",
    "~",
    "@",
    ":",
    "443",
    "?",
    "é",
    "'",
]


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("https://www.rfc-editor.org/rfc/rfc2324", "https://www.rfc-editor.org/rfc/rfc2324"),
        ("HTTPS://EXAMPLE.com", "https://example.com/"),
        ("https://example.com:443/s.md", "https://example.com/s.md"),
        ("http://example.com:8080/s.md", "http://example.com:8080/s.md"),
        ("https://user@example.com/s.md", "https://user@example.com/s.md"),
        ("https://example.com/a/./b/../c", "https://example.com/a/c"),
        ("https://example.com/a b/ü?q=é", "https://example.com/a%20b/%C3%BC?q=%C3%A9"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("ftp://example.com/s.md", "ftp://example.com/s.md"),
        ("other://Host/S", "other://Host/S"),
    ],
)
def test_normalise_url(text: str, normal: str) -> None:
    assert normalise_url(text) == normal


@given(st.sampled_from(["https", "http"]), st.lists(st.sampled_from(PIECES), max_size=8))
def test_a_url_taken_as_normal_is_normal(scheme: str, pieces: list[str]) -> None:
    text = f"{scheme}://h{''.join(pieces)}"
    expected = parsed(text)
    if expected is None:
        with pytest.raises(ProblemsError):
            normalise_url(text)
    else:
        assert normalise_url(text) == normalise_url(expected) == expected


def parsed(text: str) -> str | None:
    try:
        url = can_ada.parse(text)
    except ValueError:
        return None
    return None if url.hostname in (".", "..") else url.href


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("file:///spec.md", 'file URLs are not supported: "file:///spec.md"'),
        ("other:///spec.md", 'the URL "other:///spec.md" has no host'),
        ("https://../spec.md", 'the URL "https://../spec.md" has no host'),
        ("https://a b/", '"https://a b/" is not a valid URL'),
        ("https://a/\ud800", '"https://a/\\u{d800}" is not a valid URL'),
        ("see http//x://y", '"see http//x://y" is not a valid URL'),
    ],
)
def test_a_url_without_a_host_is_named(text: str, message: str) -> None:
    with pytest.raises(ProblemsError) as caught:
        normalise_url(text)
    assert [(problem.code, problem.message) for problem in caught.value.problems] == [("DUV041", message)]


@pytest.mark.parametrize(
    "url",
    [
        "https://www.rfc-editor.org/rfc/rfc9000",
        "http://www.rfc-editor.org/rfc/rfc9000.html/",
        "https://tools.ietf.org/rfc/rfc9000.txt",
        "http://tools.ietf.org/rfc/rfc9000.txt.txt",
        "https://datatracker.ietf.org/doc/html/rfc9000.xml//",
        "https://datatracker.ietf.org/doc/html/rfc9000.pdf.xml.html.txt",
    ],
)
def test_every_address_of_an_rfc_is_one(url: str) -> None:
    ##= man/spec/trace.md#specifications
    ##% duvet MUST download a specification at most once, however an RFC's URL is spelled, and then read it from disk.
    assert canonical_url(url) == "https://www.rfc-editor.org/rfc/rfc9000.txt"


@pytest.mark.parametrize(
    "url",
    [
        "https://tools.ietf.org/html/rfc9000",
        "https://example.com/rfc/rfc9000.html",
        "https://www.rfc-editor.org/info/rfc9000",
    ],
)
def test_other_addresses_stay(url: str) -> None:
    assert canonical_url(url) == url


def test_extensions_are_taken_off_in_one_order_only() -> None:
    url = "https://tools.ietf.org/rfc/rfc9000.txt.html"
    assert canonical_url(url) == "https://www.rfc-editor.org/rfc/rfc9000.txt.txt"


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("https://tools.ietf.org/rfc/rfc2324.html", "d/www.rfc-editor.org/rfc/rfc2324.txt"),
        ("https://example.com/a/spec.md", "d/example.com/a/spec.txt"),
        ("https://example.com/spec.v1.2", "d/example.com/spec.v1.txt"),
        ("https://example.com:8080/a/", "d/example.com/a.txt"),
        ("https://example.com/", "d/example.txt"),
        ("https://example.com/a//.b?c/d.e", "d/example.com/a/.b.txt"),
        ("https://user:word@example.com/a%20b", "d/example.com/a%20b.txt"),
        ("https://[::1]:8080/a", "d/[::1]/a.txt"),
        ("other://Host", "d/Host.txt"),
    ],
)
def test_cache_path(url: str, path: str) -> None:
    assert cache_path(url, "d") == path


def test_is_url() -> None:
    assert [is_url(text) for text in ("https://x/", "a/b.md", "x:/y", "")] == [True, False, False, False]


def test_without_extension() -> None:
    paths = ["a.b/c.d.md", "a.b/c", "a/.md", "c.", ""]
    assert [strip_extension(path) for path in paths] == ["a.b/c.d", "a.b/c", "a/.md", "c", ""]
