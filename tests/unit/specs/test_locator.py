# Letters that look like others are what is tested.
# ruff: noqa: RUF001
import can_ada
import pytest
from hypothesis import given, strategies as st

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
RFC9000 = "https://www.rfc-editor.org/rfc/rfc9000.txt"


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


def test_urls_are_normalised_or_refused() -> None:
    for text, normal in [
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
    ]:
        assert locator.normalise_url(text) == normal
    for text, message in [
        ("file:///spec.md", 'file URLs are not supported: "file:///spec.md"'),
        ("other:///spec.md", 'the URL "other:///spec.md" has no host'),
        ("https://../spec.md", 'the URL "https://../spec.md" has no host'),
        ("https://a b/", '"https://a b/" is not a valid URL'),
        ("https://a/\ud800", '"https://a/\\u{d800}" is not a valid URL'),
        ("see http//x://y", '"see http//x://y" is not a valid URL'),
    ]:
        with pytest.raises(ProblemsError) as caught:
            locator.normalise_url(text)
        assert [(problem.code, problem.message) for problem in caught.value.problems] == [("DUV041", message)]


def test_every_address_of_an_rfc_is_one() -> None:
    for url, canonical in [
        ("https://www.rfc-editor.org/rfc/rfc9000", RFC9000),
        ("http://www.rfc-editor.org/rfc/rfc9000.html/", RFC9000),
        ("https://tools.ietf.org/rfc/rfc9000.txt", RFC9000),
        ("http://tools.ietf.org/rfc/rfc9000.txt.txt", RFC9000),
        ("https://datatracker.ietf.org/doc/html/rfc9000.xml//", RFC9000),
        ("https://datatracker.ietf.org/doc/html/rfc9000.pdf.xml.html.txt", RFC9000),
        # Extensions are taken off in one order only.
        ("https://tools.ietf.org/rfc/rfc9000.txt.html", f"{RFC9000}.txt"),
        ("https://tools.ietf.org/html/rfc9000", "https://tools.ietf.org/html/rfc9000"),
        ("https://example.com/rfc/rfc9000.html", "https://example.com/rfc/rfc9000.html"),
        ("https://www.rfc-editor.org/info/rfc9000", "https://www.rfc-editor.org/info/rfc9000"),
    ]:
        assert locator.canonical_url(url) == canonical


def test_paths_of_downloads_and_their_extensions() -> None:
    for url, path in [
        ("https://tools.ietf.org/rfc/rfc2324.html", "d/www.rfc-editor.org/rfc/rfc2324.txt"),
        ("https://example.com/a/spec.md", "d/example.com/a/spec.txt"),
        ("https://example.com/spec.v1.2", "d/example.com/spec.v1.txt"),
        ("https://example.com:8080/a/", "d/example.com/a.txt"),
        ("https://example.com/", "d/example.txt"),
        ("https://example.com/a//.b?c/d.e", "d/example.com/a/.b.txt"),
        ("https://user:word@example.com/a%20b", "d/example.com/a%20b.txt"),
        ("https://[::1]:8080/a", "d/[::1]/a.txt"),
        ("other://Host", "d/Host.txt"),
    ]:
        assert locator.cache_path(url, "d") == path
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


def test_titles_have_anchors() -> None:
    for title, anchor in [
        ("Getting Started", "getting-started"),
        ("2.1. It's_a & (b)  -- C", "2-1-it-s-a-b-c"),
        ("--- ", ""),
        ("", ""),
        # Other letters and signs
        ("Élan Über uns", "elan-uber-uns"),
        ("Ærø Straße", "aero-strasse"),
        ("“Don’t” — a…b", "don-t-a-b"),
        ("a → b ⇒ c ↓", "a-b-c"),
        ("§ 5 ©2024 3×4", "ss-5-c-2024-3x4"),
        ("no\u00a0break\u200bspace\u00ad", "no-break-space"),
        ("Привет, мир: Эй, ёж и объект", "privet-mir-ei-iozh-i-obekt"),
        ("Φιλοσοφία", "philosophia"),
        ("Łódź ﬁn", "lodz-fin"),
        # East Asia
        ("日", "ri"),
        ("北亰city", "bei-jing-city"),
        ("影師嗎", "ying-shi-ma"),
        ("げんまい茶", "genmaicha"),
        ("つづく", "tuduku"),
        ("한국어 문서", "hangugeo-munseo"),
        # Emoji
        ("✅ Correct", "white-check-mark-correct"),
        ("❌ Incorrect", "x-incorrect"),
        ("SymbolTree ⏏", "symboltree-eject"),
        ("🦄☣", "unicorn-biohazard"),
        ("a🚀b", "arocket-b"),
        ("⚠️ Note", "warning-note"),
        ("👍🏽 ok", "1-ok"),
        ("★ Stars ✓ ① ❓", "stars"),
    ]:
        assert make_anchor(title) == anchor


@given(st.text())
def test_any_title_makes_an_anchor(title: str) -> None:
    anchor = make_anchor(title)
    assert all(word.isalnum() and word.isascii() and word == word.lower() for word in anchor.split("-") if anchor)
