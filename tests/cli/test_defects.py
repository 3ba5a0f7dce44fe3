"""Inputs that make awslabs duvet panic, or write what it then refuses to read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.made import CONFIG, make
from tests.cli.running import Done, Run, files

PLAIN = """\
'$schema' = "https://awslabs.github.io/duvet/config/v0.4.json"
[[source]]
pattern = "src/*.rs"
[report.html]
enabled = false
"""
CITED = "//= {target}\n//# {quote}\n"


@pytest.fixture
def plain(kettle: Path) -> Path:
    """The project without configured specifications, which writes no page."""
    return make(kettle, {".duvet/config.toml": PLAIN})


def shown(done: Done) -> tuple[int, list[str]]:
    """The exit code, and each problem with its place."""
    lines = [line.strip() for line in done.err.splitlines() if line.startswith("error: ") or "--> " in line]
    return done.code, lines


def test_problems_of_one_file_hide_none_of_another(kettle: Path, duvet: Run) -> None:
    make(
        kettle,
        {"src/a.rs": CITED.format(target="spec.md#heating", quote="It MUST sing."), "src/b.rs": "//= type=todo\n"},
    )
    assert shown(duvet("report")) == (
        1,
        [
            'error: could not find text in section "heating" of spec.md [DUV050]',
            "--> src/a.rs:2:5",
            "error: comment is missing source specification [DUV025]",
            "--> src/b.rs:1:10",
        ],
    )


def test_targets_that_are_missing(plain: Path, duvet: Run) -> None:
    cited = [CITED.format(target=f"{name}.md#part", quote="x") for name in ("first", "second")]
    make(plain, {"src/a.rs": "\n".join(cited)})
    assert shown(duvet("report")) == (
        1,
        [
            'error: Could not resolve file "first.md" [DUV040]',
            "--> src/a.rs:1:5",
            'error: Could not resolve file "second.md" [DUV040]',
            "--> src/a.rs:4:5",
        ],
    )


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("file:///spec.md#heating", 'file URLs are not supported: "file:///spec.md"'),
        ("odd:///spec.md#heating", 'the URL "odd:///spec.md" has no host'),
        ("https://#heating", '"https://" is not a valid URL'),
    ],
)
def test_urls_that_name_nothing(target: str, message: str, plain: Path, duvet: Run) -> None:
    make(plain, {"src/a.rs": CITED.format(target=target, quote="x")})
    assert shown(duvet("report")) == (1, [f"error: {message} [DUV041]", "--> src/a.rs:1:5"])


def test_a_section_without_text(plain: Path, duvet: Run) -> None:
    make(plain, {"spec.md": "# Kettle\n\n## Heating\n\n## Pouring\n\nSlowly.\n", "src/a.rs": "//= spec.md#heating\n"})
    assert duvet("-q", "report") == Done(0, "", "")
    make(plain, {"src/a.rs": CITED.format(target="spec.md#heating", quote="Slowly.")})
    assert duvet("-q", "report") == Done(
        1,
        "",
        'error: could not find text in section "heating" of spec.md [DUV050]\n'
        " --> src/a.rs:2:5\n"
        "  |\n"
        "2 | //# Slowly.\n"
        "  |     ^^^^^^^ section is empty\n"
        "  = help: quote nothing to refer to its title\n\n"
        "encountered 1 errors\n",
    )


@pytest.mark.parametrize("pattern", ["(*=)c/*.c", "(*=,*#c/*.c", "(*=", "("])
def test_styles_that_are_not_complete(pattern: str, kettle: Path, duvet: Run) -> None:
    before = files(kettle)
    assert duvet("report", "--source-pattern", pattern) == Done(
        1,
        "",
        f"error: the comment style of the source pattern `{pattern}` is not complete\n"
        "  = help: write it as (META,CONTENT)GLOB, for example '(*=,*#)src/**/*.c'\n\n"
        "encountered 1 errors\n",
    )
    assert files(kettle) == before


TEXTS = {
    "a dot before a quotation mark": ("spec.md", "# Tea\n\nShe wrote “tea MUST steep.” and left.\n", 1),
    "three single quotation marks": ("spec.md", "# Tea\n\nSay '''MUST''' aloud. Or you MAY whisper.\n", 2),
    "three quotation marks": ("spec.md", "# Tea\n\nSay \"\"\"MUST\"\"\" and '''SHOULD''' aloud.\n", 1),
    "a title over two lines": ("spec.md", "# Tea\n\nLeaves\nand water\n---------\n\nTea MUST steep.\n", 1),
    "a paragraph for a title": ("spec.md", f"# Tea\n\n{'leaf ' * 80}\n---\n\nTea MUST steep.\n", 1),
    "a form feed": ("spec.txt", "1.  Tea\n\n   Tea MUST steep.\n\f   Cups MUST be warm.\n", 2),
    "control characters": ("spec.txt", "1.  Tea\n\n   \x01\x7f\x1b[2J\n\n   Tea MUST \x02steep\x08.\n", 1),
    "a backslash": ("spec.md", "# Tea\n\nA `\\` MUST be '''\\n''' here.\n", 1),
    "a carriage return inside": ("spec.txt", "1.  Tea\n\n   Tea MUST\rsteep.\n", 1),
}


@pytest.mark.parametrize("what", TEXTS)
def test_what_is_extracted_can_be_read(what: str, kettle: Path, duvet: Run) -> None:
    name, text, count = TEXTS[what]
    make(kettle, {name: text, "src/a.rs": "", ".duvet/config.toml": CONFIG.replace("spec.md", name)})
    first = duvet("report")
    assert (first.code, f"Parsed {count} annotations" in first.err) == (0, True)
    before = files(kettle)
    # Without the specification in the configuration its files are read as people's own.
    make(kettle, {".duvet/config.toml": PLAIN + "[report.json]\nenabled = true\n"})
    assert duvet("-q", "report") == Done(0, "", "")
    after = files(kettle)
    assert after[".duvet/reports/report.json"] == before[".duvet/reports/report.json"]


def test_extract_with_a_configuration(kettle: Path, duvet: Run) -> None:
    make(kettle, {".duvet/specifications/host.example/tea.txt": "1.  Tea\n\n   Tea MUST steep.\n"})
    before = files(kettle)
    assert duvet("-q", "extract", "https://host.example/tea.html") == Done(0, "", "")
    assert files(kettle).keys() - before.keys() == {"host.example/tea/section-1.toml"}


def test_a_specification_can_not_end_the_page(kettle: Path, duvet: Run) -> None:
    evil = "The </script></pre></body><!-- <b onclick=x> tag MUST stay text."
    make(kettle, {"spec.md": f"# Kettle\n\n## Heating\n\n{evil}\n"})
    make(kettle, {"src/a.rs": CITED.format(target="spec.md#heating", quote=evil)})
    assert duvet("-q", "report") == Done(0, "", "")
    page = (kettle / ".duvet/reports/report.html").read_text()
    assert page.count("</body>") == page.count("</html>") == 1
    assert "<b onclick" not in page and "<!-- <b" not in page and "&lt;/script&gt;" in page


def test_lcov_of_short_ids(plain: Path, duvet: Run) -> None:
    make(plain, {"spec.txt": "1.  Tea\n\n   Tea MUST steep.\n"})
    written = []
    for section in ("1", "section-1"):
        make(plain, {"src/a.rs": CITED.format(target=f"spec.txt#{section}", quote="Tea MUST steep.")})
        assert duvet("-q", "report", "--lcov", section) == Done(0, "", "")
        written.append(files(plain / section))
    assert written[0] == written[1]
    assert list(written[0]) == ["compliance.0.lcov"]


def test_two_formats_of_one_file(kettle: Path, duvet: Run) -> None:
    cited = CITED.format(target="spec.md#heating", quote="The kettle MUST boil water.")
    make(kettle, {"src/a.rs": f"{cited}\n{cited.replace('//#', '//= format=markdown' + chr(10) + '//#')}"})
    done = duvet("-q", "report", "--json", "-")

    def keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
        assert len(pairs) == len(dict(pairs))
        return dict(pairs)

    assert (done.code, done.err) == (0, "")
    assert len(json.loads(done.out, object_pairs_hook=keys)["specifications"]) == 2
    assert (kettle / ".duvet/snapshot.txt").read_text().count("SPECIFICATION: [Kettle](spec.md)\n") == 2
