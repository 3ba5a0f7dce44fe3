from collections.abc import Callable

from duvet.model import Level
from duvet.queries.records import format_level, make_blob_url, make_fragment_link, make_issue_url, make_published_url

RFC = "https://www.rfc-editor.org/rfc/rfc9114"


def test_levels_and_links() -> None:
    assert [format_level(level) for level in (Level.MUST, Level.MAY, Level.AUTO)] == ["MUST", "MAY", None]
    cases: list[tuple[Callable[..., str], tuple[str | None, ...], str]] = [
        (make_blob_url, ("https://x/blob/main", "src/a.rs"), "https://x/blob/main/src/a.rs"),
        (make_blob_url, ("HTTP://x/a//", "a b/#c?%d\\é.rs"), "HTTP://x/a/a%20b/%23c%3F%25d%5C%C3%A9.rs"),
        (make_blob_url, ("https://x", "\udc80.rs"), "https://x/%3F.rs"),
        (make_blob_url, ("javascript:alert(1)//", "a.rs"), ""),
        (make_blob_url, ("", "a.rs"), ""),
        (make_blob_url, (None, "a.rs"), ""),
        (make_issue_url, ("https://x/issues/", "7"), "https://x/issues/7"),
        (make_issue_url, ("https://x/issues", "#7"), "https://x/issues/7"),
        (make_issue_url, ("https://x/issues", "https://y/8"), "https://y/8"),
        (make_issue_url, ("https://x/issues", 'javascript:"'), "https://x/issues/javascript%3A%22"),
        (make_issue_url, (None, "7"), ""),
        (make_published_url, (f"{RFC}.txt",), RFC),
        (make_published_url, (f"{RFC}.txt", "s"), f"{RFC}#s"),
        (make_published_url, ("https://x/spec.md",), "https://x/spec.md"),
        (make_published_url, ("https://x/spec.md", "s"), "https://x/spec.md#s"),
        (make_published_url, ("https://x/spec.txt",), "https://x/spec.txt"),
        (make_published_url, ("https://x/spec.txt", "s"), ""),
        (make_published_url, ("specs/a.md",), ""),
        (make_published_url, ("specs/a.md", "s"), ""),
        (make_published_url, ("file:///etc/passwd",), ""),
        (make_published_url, ("file:///etc/passwd", "s"), ""),
        (make_fragment_link, ('rfc9000/section-8.1/a"<é',), "#rfc9000/section-8.1/a%22%3C%C3%A9"),
    ]
    for make, arguments, url in cases:
        assert make(*arguments) == url
