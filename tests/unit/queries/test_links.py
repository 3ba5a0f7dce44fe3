"""Where the page links to"""

from __future__ import annotations

import pytest

from duvet.queries.records import make_blob_url, make_fragment_link, make_issue_url, make_published_url

RFC = "https://www.rfc-editor.org/rfc/rfc9114"


@pytest.mark.parametrize(
    ("base", "path", "url"),
    [
        ("https://x/blob/main", "src/a.rs", "https://x/blob/main/src/a.rs"),
        ("HTTP://x/blob/main//", "a b/#c?%d\\é.rs", "HTTP://x/blob/main/a%20b/%23c%3F%25d%5C%C3%A9.rs"),
        ("https://x", "\udc80.rs", "https://x/%3F.rs"),
        ("javascript:alert(1)//", "a.rs", ""),
        ("", "a.rs", ""),
        (None, "a.rs", ""),
    ],
)
def test_sources(base: str | None, path: str, url: str) -> None:
    ##= man/spec/page.md#safety
    ##% The report MUST NOT load anything from elsewhere, and MUST link only to itself and the web.
    assert make_blob_url(base, path) == url


@pytest.mark.parametrize(
    ("base", "id", "url"),
    [
        ("https://x/issues/", "7", "https://x/issues/7"),
        ("https://x/issues", "#7", "https://x/issues/7"),
        ("https://x/issues", "https://y/8", "https://y/8"),
        ("https://x/issues", 'javascript:"', "https://x/issues/javascript%3A%22"),
        (None, "7", ""),
    ],
)
def test_issues(base: str | None, id: str, url: str) -> None:
    assert make_issue_url(base, id) == url


@pytest.mark.parametrize(
    ("url", "page", "section"),
    [
        (f"{RFC}.txt", RFC, f"{RFC}#s"),
        ("https://x/spec.md", "https://x/spec.md", "https://x/spec.md#s"),
        ("https://x/spec.txt", "https://x/spec.txt", ""),
        ("specs/a.md", "", ""),
        ("file:///etc/passwd", "", ""),
    ],
)
def test_specifications(url: str, page: str, section: str) -> None:
    assert (make_published_url(url), make_published_url(url, "s")) == (page, section)


def test_places_on_the_page() -> None:
    assert make_fragment_link('rfc9000/section-8.1/a"<é') == "#rfc9000/section-8.1/a%22%3C%C3%A9"
