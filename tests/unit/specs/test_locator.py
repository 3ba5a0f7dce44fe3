# Letters that look like others are what is tested.
# ruff: noqa: RUF001
import can_ada
import pytest
from hypothesis import given, strategies as st
from pytest_snapshot.plugin import Snapshot

from duvet.errors import ProblemsError
from duvet.model import Format, Locator, Section, Specification
from duvet.specs import locator, section_names
from duvet.specs.section_names import make_anchor
from duvet.tree.files import MemoryTree

AUTO = Format.AUTO
IN_ORDER = [
    Locator(name, "://" in name, format)
    for name in ("https://b/", "https://b/x", "/z/s.md", "./z.md", "../a.md", "a/b.md", "a-b.md", "a.md")
    for format in (Format.AUTO, Format.MARKDOWN)
]
TREE = MemoryTree({path: b"" for path in ("spec.md", "./dot.md", "docs/a.md", "reqs/near.md", "/top/far.md")})
PIECES = "a B example.com xn-- 1 . .. / - _ %2e %41 ~ @ : 443 ? é '"


def test_targets_are_resolved() -> None:
    for spec, base, name in [
        ("spec.md", "/top/w/v", "spec.md"),
        ("./dot.md", "/top/w/v", "./dot.md"),
        ("docs//a.md", "docs/x.toml", "docs/a.md"),
        ("far.md", "/top/w/v", "/top/far.md"),
        ("near.md", "reqs/sub/r.toml", "reqs/near.md"),
        ("docs/../spec.md", "/top/w/v", "docs/../spec.md"),
        ("/not/there.md", "/top", "/not/there.md"),
        *((spec, "/top/w", None) for spec in ("", "nope.md", "docs", "near.md", "spec.md\0")),
    ]:
        tree = MemoryTree({**TREE.files, "docs//a.md": b""})
        url = locator.resolve_specification("https://EXAMPLE.com", Format.IETF, base, tree)
        assert url == Locator("https://example.com/", True, Format.IETF)
        if name is not None:
            assert locator.resolve_specification(spec, AUTO, base, tree) == Locator(name)
        else:
            with pytest.raises(ProblemsError) as caught:
                locator.resolve_specification(spec, AUTO, base, TREE)
            message = f'DUV040 Could not resolve file "{spec}"'.replace("\0", "\\0")
            assert [f"{one.code} {one.message}" for one in caught.value.problems] == [message]


@given(st.permutations(IN_ORDER))
def test_locators_are_ordered(locators: list[Locator]) -> None:
    assert sorted(locators, key=locator.locator_key) == IN_ORDER


def test_locate_takes_a_path_as_it_is_and_shows_it_relative_to_the_project() -> None:
    names = {
        "a/./b//c.md": "a/b/c.md",
        "./a": "./a",
        "../a": "../a",
        "/a/": "/a",
        "": "",
        "other://Host": "other://Host",
    }
    assert {name: locator.locate_specification(name).name for name in names} == names
    with pytest.raises(ProblemsError, match=r'Could not resolve file "a.0b"'):
        locator.locate_specification("a\0b")
    locators = [Locator("/w/a.md"), Locator("/worse/a.md"), Locator("a.md"), Locator("https://w/", True)]
    assert [locator.format_locator(one, "/w") for one in locators] == ["a.md", "/worse/a.md", "a.md", "https://w/"]
    assert [locator.format_locator(Locator("/w/a.md"), cwd) for cwd in ("", "/")] == ["/w/a.md", "w/a.md"]


@given(st.sampled_from(["https", "http"]), st.lists(st.sampled_from(PIECES.split()), max_size=8))
def test_a_url_taken_as_normal_is_normal(scheme: str, pieces: list[str]) -> None:
    text = f"{scheme}://h{''.join(pieces)}"
    expected = parsed(text)
    if expected is None:
        with pytest.raises(ProblemsError):
            locator.normalise_url(text)
    else:
        assert locator.normalise_url(text) == locator.normalise_url(expected) == expected


def parsed(text: str) -> str | None:
    try:
        url = can_ada.parse(text)
    except ValueError:
        return None
    return None if url.hostname in (".", "..") else url.href


def refusal(text: str) -> str:
    with pytest.raises(ProblemsError) as caught:
        locator.normalise_url(text)
    return " ".join(f"{one.code} {one.message}" for one in caught.value.problems)


URLS = [
    *("https://www.rfc-editor.org/rfc/rfc2324", "HTTPS://EXAMPLE.com", "https://example.com:443/s.md"),
    *("http://example.com:8080/s.md", "https://user@example.com/s.md", "https://example.com/a/./b/../c"),
    *("https://example.com/a b/ü?q=é", "https://bücher.example/", "ftp://example.com/s.md", "other://Host/S"),
]
NO_URLS = [
    *("file:///spec.md", "other:///spec.md", "https://../spec.md", "https://a b/", "https://a/\ud800"),
    "see http//x://y",
]
RFC_URLS = [
    *("https://www.rfc-editor.org/rfc/rfc9000", "http://www.rfc-editor.org/rfc/rfc9000.html/"),
    *("https://tools.ietf.org/rfc/rfc9000.txt", "http://tools.ietf.org/rfc/rfc9000.txt.txt"),
    "https://datatracker.ietf.org/doc/html/rfc9000.xml//",
    "https://datatracker.ietf.org/doc/html/rfc9000.pdf.xml.html.txt",
    # Extensions are taken off in one order only.
    *("https://tools.ietf.org/rfc/rfc9000.txt.html", "https://tools.ietf.org/html/rfc9000"),
    *("https://example.com/rfc/rfc9000.html", "https://www.rfc-editor.org/info/rfc9000"),
]
DOWNLOADS = [
    *("https://tools.ietf.org/rfc/rfc2324.html", "https://example.com/a/spec.md", "https://example.com/spec.v1.2"),
    *("https://example.com:8080/a/", "https://example.com/", "https://example.com/a//.b?c/d.e"),
    *("https://user:word@example.com/a%20b", "https://[::1]:8080/a", "other://Host"),
]


def test_urls_and_paths_of_downloads(snapshot: Snapshot) -> None:
    lines: list[str] = []
    for name, urls, change in (
        ("normalised", URLS, locator.normalise_url),
        ("refused", NO_URLS, refusal),
        ("canonical", RFC_URLS, locator.canonical_url),
        ("downloads", DOWNLOADS, lambda url: locator.cache_path(url, "d")),
    ):
        lines += [f"# {name}", *(f"{url!r}: {change(url)}" for url in urls), ""]
    snapshot.assert_match("\n".join(lines), "specs/urls.txt")
    assert [section_names.is_url(text) for text in ("https://x/", "a/b.md", "x:/y", "")] == [True, False, False, False]
    paths = ["a.b/c.d.md", "a.b/c", "a/.md", "c.", ""]
    assert [locator.strip_extension(path) for path in paths] == ["a.b/c.d", "a.b/c", "a/.md", "c", ""]


def specification(format: Format, titles: dict[str, str]) -> Specification:
    sections = tuple(Section(id, title, (0, 0), title, (), ()) for id, title in titles.items())
    return Specification("s", "S", Locator("s"), "s", "s", format, "", "", b"", sections)


TITLES = {"section-1": "Introduction", "section-2": "Body", "section-2.1": "Head of the Body", "appendix-A": "Tail"}
RFC = specification(Format.IETF, {**TITLES, "name-references": "References"})
PAGE = specification(Format.MARKDOWN, {"spec": "Spec", "sub-part": "Sub Part", "": ""})


def test_ids_of_ietf_text_may_lack_their_prefix() -> None:
    for wanted, id in [
        *((name, "section-2.1") for name in ("section-2.1", "2.1", "appendix-2.1", "section-section-2.1")),
        *((name, "appendix-A") for name in ("A", "section-A", "section-appendix-A")),
        ("name-references", "name-references"),
        *((name, None) for name in ("", "section-", "a", "references", "name-introduction", "2.1.")),
        ("appendix-section-1", None),
    ]:
        index = section_names.find_section_index(RFC, wanted)
        assert (None if index is None else RFC.sections[index].id) == id


def test_nearest_sections() -> None:
    for wanted, near in [
        ("section-2.11", ["section-2.1"]),
        ("name-introduction", ["section-1"]),
        ("introductoin", ["section-1"]),
        ("section-7", []),
        ("", []),
    ]:
        assert section_names.SectionNames(RFC.sections).find_nearest(wanted) == near
    for wanted, near in [
        ("認証", ["ren-zheng"]),
        ("認證", ["ren-zheng-1"]),
        ("überblick-a", ["uberblick-a"]),
        ("Überblik", ["uberblick-a"]),
    ]:
        titles = {"ren-zheng": "認証", "ren-zheng-1": "認證", "uberblick-a": "Überblick A"}
        assert section_names.SectionNames(specification(Format.MARKDOWN, titles).sections).find_nearest(wanted) == near
    names = ["sub-part", "", "section-sub-part", "Sub-Part"]
    assert [section_names.find_section_index(PAGE, id) for id in names] == [1, 2, None, None]
    assert section_names.SectionNames(PAGE.sections).find_nearest("Sub-Parts") == ["sub-part"]
    assert section_names.SectionNames(()).find_nearest("x") == []
    many = specification(Format.MARKDOWN, {f"pot-{number}": "Cups" for number in (3, 1, 4, 2)})
    assert section_names.SectionNames(many.sections).find_nearest("pot-9") == ["pot-3", "pot-1", "pot-4"]
    assert section_names.SectionNames(many.sections).find_nearest("pot-2") == ["pot-2", "pot-3", "pot-1"]


TITLES_OF_SECTIONS = [
    *("Getting Started", "2.1. It's_a & (b)  -- C", "--- ", "", "Élan Über uns", "Ærø Straße", "“Don’t” — a…b"),
    *("a → b ⇒ c ↓", "§ 5 ©2024 3×4", "no\u00a0break\u200bspace\u00ad", "Привет, мир: Эй, ёж и объект", "Φιλοσοφία"),
    *("Łódź ﬁn", "日", "北亰city", "影師嗎", "げんまい茶", "つづく", "한국어 문서", "✅ Correct", "❌ Incorrect"),
    *("SymbolTree ⏏", "🦄☣", "a🚀b", "⚠️ Note", "👍🏽 ok", "★ Stars ✓ ① ❓"),
]


def test_titles_have_anchors(snapshot: Snapshot) -> None:
    lines = "".join(f"{title!r}: {make_anchor(title) or '-'}\n" for title in TITLES_OF_SECTIONS)
    snapshot.assert_match(lines, "specs/anchors.txt")


@given(st.text())
def test_any_title_makes_an_anchor(title: str) -> None:
    anchor = make_anchor(title)
    assert all(word.isalnum() and word.isascii() and word == word.lower() for word in anchor.split("-") if anchor)
