from collections.abc import Callable

from pytest_snapshot.plugin import Snapshot

from duvet.model import Level
from duvet.queries.records import format_level, make_blob_url, make_fragment_link, make_issue_url, make_published_url

RFC = "https://www.rfc-editor.org/rfc/rfc9114"


def test_levels_and_links(snapshot: Snapshot) -> None:
    assert [format_level(level) for level in (Level.MUST, Level.MAY, Level.AUTO)] == ["MUST", "MAY", None]
    cases: dict[Callable[..., str], list[tuple[str | None, ...]]] = {
        make_blob_url: [
            *(("https://x/blob/main", "src/a.rs"), ("HTTP://x/a//", "a b/#c?%d\\é.rs"), ("https://x", "\udc80.rs")),
            *(("javascript:alert(1)//", "a.rs"), ("", "a.rs"), (None, "a.rs")),
        ],
        make_issue_url: [
            *(("https://x/issues/", "7"), ("https://x/issues", "#7"), ("https://x/issues", "https://y/8")),
            *(("https://x/issues", 'javascript:"'), (None, "7")),
        ],
        make_published_url: [
            (url, *section)
            for url in (f"{RFC}.txt", "https://x/spec.md", "https://x/spec.txt", "specs/a.md", "file:///etc/passwd")
            for section in ((), ("s",))
        ],
        make_fragment_link: [('rfc9000/section-8.1/a"<é',)],
    }
    lines = (f"{make.__name__}{given}: {make(*given) or '-'}\n" for make, several in cases.items() for given in several)
    snapshot.assert_match("".join(lines), "html/urls.txt")
