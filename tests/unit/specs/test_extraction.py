import re
from collections.abc import Iterator
from typing import SupportsIndex

from hypothesis import given, strategies as st
from pytest_snapshot.plugin import Snapshot

from duvet.config.project_file import read_config
from duvet.model import ExtractedSentence, Level, Place, Problem, Section, Severity
from duvet.specs import extraction
from duvet.specs.extraction import SentenceOpenings, extract_requirements
from duvet.specs.library import Library
from duvet.text import normalise, trim
from duvet.tree.files import MemoryTree

DOWNLOADS = ".duvet/specifications"
LONG, SHORT = "a" * 240, "a" * 50


def test_names_of_folders_and_files_are_those_of_upstream() -> None:
    for source, out, downloads, folder in [
        (f"{DOWNLOADS}/h/rfc/rfc1.txt", ".duvet/requirements", DOWNLOADS, ".duvet/requirements/h/rfc/rfc1"),
        (f"{DOWNLOADS}/h/rfc/rfc1.txt", ".", DOWNLOADS, "./h/rfc/rfc1"),
        (f"{DOWNLOADS}/h/rfc/rfc1.txt", ".duvet", DOWNLOADS, ".duvet/h/rfc/rfc1"),
        ("my-spec.md", ".duvet/requirements", DOWNLOADS, ".duvet/requirements/my-spec"),
        ("../out/spec.md", ".duvet/requirements", DOWNLOADS, ".duvet/requirements/out/spec"),
        ("./dot.md", ".duvet/requirements", DOWNLOADS, ".duvet/requirements/dot"),
        ("in/a.b.md", ".duvet/requirements", DOWNLOADS, ".duvet/requirements/in/a.b"),
        ("specs/h/rfc/rfc1.txt", "a", "", "a/specs/h/rfc/rfc1"),
        ("./docs/v1.2/deep.spec.md", ".", "", "./docs/v1.2/deep.spec"),
        ("docs/v1.2/../v1.2/deep.spec.md", "out/y", "", "out/y/docs/v1.2/v1.2/deep.spec"),
        ("docs/a/spec.md", "docs", "", "docs/a/spec"),
        ("docs/a/spec.md", "docs/a", "", "docs/a/spec"),
        ("docs-a/spec.md", "docs", "", "docs/docs-a/spec"),
        ("/w/ex/in/req.md", "/w/ex", "", "/w/ex/in/req"),
        ("/w/in/req.md", "ex", "", "ex/w/in/req"),
        ("/w/in/req.md", "", "", "w/in/req"),
    ]:
        assert extraction.requirements_folder(source, out, downloads) == folder
    for id, path in [
        ("section-2.1", "r/section-2.1.toml"),
        ("", "r/.toml"),
        ("../../up", "r/..%2F..%2Fup.toml"),
        ("a\0\n\x7fb", "r/a%00%0A%7Fb.toml"),
        # A title that no file name can hold is cut and gets a digest.
        (LONG, f"r/{LONG}.toml"),
        (f"{LONG}b", f"r/{SHORT}-985453035960.toml"),
        (f"{LONG}c", f"r/{SHORT}-a7424959e7c2.toml"),
    ]:
        assert extraction.requirements_file("r", id) == path
        assert extraction.requirements_file("r", "a", "rs") == "r/a.rs"
        assert len(extraction.requirements_file("", "é" * 300).encode()) < 255


CONFIG = b"""'$schema' = "duvet-cli/config/v1"
[[specification]]
source = "tea.md"
[[specification]]
source = "gone.md"
"""
FOLDER = ".duvet/requirements/tea"
OLD = b"target = \"tea.md#cup\"\n\n# Cup\n#\n# It MAY be blue.\n\n[[spec]]\nlevel = \"MAY\"\nquote = '''\nIt MAY be blue.\n'''\n\n"
CUP = f"{FOLDER}/cup.toml"


def extracted(files: dict[str, bytes]) -> tuple[extraction.Extraction, MemoryTree]:
    tree = MemoryTree({"tea.md": b"# Tea\n\n## Pot\n\nIt MUST be warm.\n\n## Cup\n\nIt may be blue.\n", **files})
    library = Library(tree, ".duvet/specifications")
    return extraction.extract_configured(read_config(CONFIG, ".duvet/config.toml", {}), library, ""), tree


def test_each_section_with_requirements_has_a_file() -> None:
    found, _ = extracted({})
    assert list(found.files) == list(found.annotations) == [f"{FOLDER}/pot.toml"]
    (problem,) = found.problems
    assert (problem.code, problem.path, problem.place) == ("DUV010", ".duvet/config.toml", Place(5, 10, 9))


def test_stale_files_are_reported_unless_edited() -> None:
    ##= man/spec/trace.md#requirement-files
    ##% With `--prune`, duvet MUST remove the requirement files that are no longer needed, but no file that a person
    ##% wrote or edited.
    message = "this extracted file is outdated: its section was removed or no longer contains requirements"
    warning = Problem("DUV036", message, CUP, Place(1), hint="remove it with `--prune`", severity=Severity.WARNING)
    assert list(extraction.find_stale_files(*extracted({CUP: OLD, f"{FOLDER}/pot.toml": b""}))) == [warning]
    for path, data in [
        (f"{FOLDER}/own.toml", OLD),
        (f"{FOLDER}/deeper/cup.toml", OLD),
        (f"{FOLDER}/cup.txt", OLD),
        (".duvet/requirements/milk/cup.toml", OLD),
        (CUP, OLD.replace(b"tea.md", b"milk.md")),
        (CUP, OLD.replace(b"[[spec]]", b"[[todo]]")),
        (CUP, OLD + b"# mine\n"),
        (CUP, OLD.replace(b'"MAY"\n', b'"MAY" # mine\n')),
        (CUP, b""),
        (CUP, b"\xff"),
    ]:
        assert list(extraction.find_stale_files(*extracted({path: data}))) == []


def extract(*lines: str, breaks: frozenset[int] = frozenset()) -> list[tuple[str, str]]:
    """Return the requirements of these lines, each with its level and its pieces, separated by bars."""
    section = Section("s", "S", (0, 0), "S", lines, tuple(range(len(lines))), breaks)
    return [(found.level.name, "|".join(found.pieces)) for found in extract_requirements(section)]


def quotes(*lines: str, breaks: frozenset[int] = frozenset()) -> list[str]:
    return [quote for _, quote in extract(*lines, breaks=breaks)]


KEYWORDS_APART = (
    "MUST-NOT|MUST's|'MUST'|(MUST)|MUST NOTE|MUST NOT_|\"MUST|MAY NOT|MUST NOTé|é MUST be|MUST²|“MUST”|日 MUST"
)
NO_KEYWORDS = [
    *("must", "Must", "MUSTY", "AMUST", "MUST_", "_MAY", "MAY2", 'MUST"', 'MUST NOT"', '"OPTIONAL"', "REQUIREDS"),
    *("ÉMUST", "MUSTé", "MUST\u0301", "MUST\u200d", "MUST\u203f", "\u2163MAY", "MUST\u24b6"),
]


def test_keywords_have_levels_and_are_words_of_their_own() -> None:
    section = Section("s", "S", (0, 0), "S", ("  This MUST be  ", "\there. And so on."), (0, 17))
    assert extract_requirements(section) == (ExtractedSentence(Level.MUST, ("This MUST be", "here.")),)
    ##= man/spec/trace.md#requirements
    ##% Each sentence with a keyword of RFC 2119 MUST be a requirement with the level of its strongest keyword, unless a
    ##% documented rule excludes the sentence.
    for keyword, level in [
        *((keyword, "MUST") for keyword in ("MUST", "MUST NOT", "SHALL", "SHALL NOT", "REQUIRED")),
        *((keyword, "SHOULD") for keyword in ("SHOULD", "SHOULD NOT", "RECOMMENDED", "NOT RECOMMENDED")),
        *((keyword, "MAY") for keyword in ("MAY", "OPTIONAL")),
    ]:
        assert extract(f"It {keyword} be.") == [(level, f"It {keyword} be.")]
    for text in [*KEYWORDS_APART.split("|"), *NO_KEYWORDS]:
        assert quotes(text) == ([] if text in NO_KEYWORDS else [text])


SPLIT = [
    *("", "no keyword.", "One. Two MUST be.  Three MAY be. Four."),
    "Nothing. It\n  goes on  \nand MUST\nend\nhere. Not here.",
    # An empty line ends a sentence, and one with blanks doesn't.
    *("before\n\nit MUST\nbe\n\nafter", "\nit MUST\n", "before\n \nit MUST\n\t\nafter"),
    # Only a dot ends a sentence, before a blank or at the end of its line.
    *(f"a{mark} it MUST be{mark} b" for mark in "!?:;,\u3002"),
    *("It MUST be 3.1 now. b", "It MUST be.\tb", "It MUST be.\u00a0b. c", "It MUST be.) b. c"),
    *("It MUST be... b", "It MUST be.. b. c", "It MUST be.” b. c", "It MUST be.\u2028 b. c", "1. It MUST be"),
    # A dot inside a word hides the end of the sentence before it.
    *("See 3.1. It MUST x. Version 1.0 MUST y. End", "a. b..c MUST d", "a. b\nc 1.2 d MUST e", "a..b MUST c"),
    # A dot right before the keyword begins a sentence there.
    *("a.MUST b", "a.NOT RECOMMENDED b", "a.x RECOMMENDED b", "It MUST\nbe. It MUST be. It MUST  be."),
]


def test_sentences_are_split(snapshot: Snapshot) -> None:
    found = ("\n".join([repr(text), *(f"  {one}" for one in quotes(*text.split("\n")))]) for text in SPLIT)
    snapshot.assert_match("\n".join(found) + "\n", "specs/sentences.txt")
    lines = ("They MUST:", "* do this", "* MAY do that", "  also", "and SHOULD rest")
    assert quotes(*lines) == ["They MUST:|* do this|* MAY do that|also|and SHOULD rest"]
    assert quotes(*lines, breaks=frozenset({1, 2, 4})) == ["They MUST:", "* MAY do that|also", "and SHOULD rest"]
    assert quotes("it MUST", "", breaks=frozenset({0, 1, 2})) == ["it MUST"]


def test_sentences_have_levels() -> None:
    for lines, expected in [
        (["It MAY and SHOULD be."], ["SHOULD It MAY and SHOULD be."]),
        (["Others MUST and", "SHOULD be."], ["MUST Others MUST and|SHOULD be."]),
        (["It MUST be , so. It MAY. It MUST be,  so. It MAY."], ["MUST It MUST be , so.", "MAY It MAY."]),
        # Equal sentences have one level, that of the first one with a keyword.
        (['It MUST" and MAY. It MUST " and MAY.'], ['MUST It MUST " and MAY.']),
        (['It MUST" and MAY.', 'It MUST " and MAY.'], ['MUST It MUST" and MAY.']),
        (
            ["a. It MAY x. B 1.0 MUST y. C 1.0 SHOULD z. D 2.0 MAY"],
            [
                *("MAY It MAY x.", "MAY It MAY x. B 1.0 MUST y. C 1.0 SHOULD z. D 2.0 MAY"),
                *("SHOULD It MAY x. B 1.0 MUST y. C 1.0 SHOULD z.", "MUST It MAY x. B 1.0 MUST y."),
            ],
        ),
        (["1.2 MUST", "3.4 x"] * 3000, [f"MUST {'|'.join(['1.2 MUST', '3.4 x'] * 3000)}"]),
    ]:
        assert [f"{level} {quote}" for level, quote in extract(*lines)] == expected


KEYWORDS = [
    (Level.MUST, r'\bMUST( NOT)?\b"?'),
    (Level.MUST, r'\bSHALL( NOT)?\b"?'),
    (Level.MUST, r'\bREQUIRED\b"?'),
    (Level.SHOULD, r'\bSHOULD( NOT)?\b"?'),
    (Level.SHOULD, r'\b(NOT )?RECOMMENDED\b"?'),
    (Level.MAY, r'\bMAY\b"?'),
    (Level.MAY, r'\bOPTIONAL\b"?'),
]
WORDS = st.sampled_from(
    [
        *("MUST", "MUST NOT", "SHALL", "REQUIRED", "SHOULD NOT", "NOT RECOMMENDED", "RECOMMENDED", "MAY", "OPTIONAL"),
        *(".", ".", ". ", ".\t", ".. ", "...", "1.2", " ", " ", "  ", "\t", "\f", "\u00a0", "\r", '"', ",", " , "),
        *("a", "b", "é", "日", "”", "_", "X"),
    ]
)
LINES = st.lists(st.lists(WORDS, max_size=8).map("".join), max_size=8) | st.lists(
    st.text().map(lambda text: text.replace("\n", " "))
)


@st.composite
def sections(draw: st.DrawFn) -> Section:
    lines = draw(LINES)
    breaks = draw(st.frozensets(st.integers(0, len(lines)), max_size=3))
    return Section("s", "S", (0, 0), "S", tuple(lines), tuple(range(len(lines))), breaks)


def closing(text: str) -> int | None:
    at = text.find(".")
    while at >= 0:
        if text[at + 1 : at + 2] in ("", " ", "\t"):
            return at + 1
        at = text.find(".", at + 2)
    return None


def opening(text: str) -> int | None:
    at = text.rfind(".")
    if at < 0:
        return None
    return at + 1 if text[at + 1 : at + 2] in ("", " ", "\t") else closing(text[:at])


def start_of(section: Section, line: int, column: int) -> tuple[int, int]:
    found = opening(section.lines[line][:column])
    while found is None and line > 0 and line not in section.breaks and section.lines[line - 1]:
        line -= 1
        found = opening(section.lines[line])
    return line, found or 0


def end_of(section: Section, line: int, column: int) -> tuple[int, int]:
    found = closing(section.lines[line][column:])
    if found is not None:
        return line, column + found
    while found is None and line + 1 not in section.breaks and "".join(section.lines[line + 1 : line + 2]):
        line += 1
        found = closing(section.lines[line])
    return line, len(section.lines[line]) if found is None else found


def pieces_between(section: Section, start: tuple[int, int], end: tuple[int, int]) -> tuple[str, ...]:
    lines = list(section.lines[start[0] : end[0] + 1])
    lines[-1] = lines[-1][: end[1]]
    lines[0] = lines[0][start[1] :]
    return tuple(piece for piece in map(trim, lines) if piece)


def hits(section: Section) -> Iterator[tuple[tuple[int, int], Level, tuple[str, ...]]]:
    for number, line in enumerate(section.lines):
        for level, pattern in KEYWORDS:
            for match in re.finditer(pattern, line):
                if not match[0].endswith('"'):
                    start = start_of(section, number, match.start())
                    yield start, level, pieces_between(section, start, end_of(section, number, match.end()))


def plain_requirements(section: Section) -> tuple[ExtractedSentence, ...]:
    found: dict[str, tuple[tuple[int, int], Level, tuple[str, ...]]] = {}
    for hit in hits(section):
        start, level, pieces = found.setdefault(normalise("\n".join(hit[2])), hit)
        found[normalise("\n".join(pieces))] = (start, max(level, hit[1]), pieces)
    return tuple(ExtractedSentence(level, pieces) for _, level, pieces in sorted(found.values()))


@given(sections())
def test_equals_the_plain_rules(section: Section) -> None:
    found = extract_requirements(section)
    assert found == plain_requirements(section)
    text = "\n".join(section.lines)
    for requirement in found:
        assert requirement.level > Level.AUTO
        assert all(piece and piece == trim(piece) and piece in text for piece in requirement.pieces)


class Counting(str):
    """Counts the characters that are examined one by one, or passed by a search from the end."""

    read = 0

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        self.read += 1
        return super().__getitem__(key)

    def rfind(self, part: str, start: SupportsIndex | None = None, end: SupportsIndex | None = None, /) -> int:
        found = super().rfind(part, start, end)
        assert isinstance(start, int) and isinstance(end, int)
        self.read += max(0, end - max(found, start))
        return found


def test_a_text_is_not_read_again_for_each_keyword() -> None:
    for text in [
        *("MUST " * 2000, "a.b MUST " * 2000, f"a{'.' * 2000}b {'MUST ' * 2000}", "a.b MUST\n" * 2000),
        *("1.2 MUST\n3.4 x\n" * 2000, f"a.b\n{'MUST ' * 2000}\n" * 3),
    ]:
        counted = Counting(text)
        openings = SentenceOpenings(counted)
        for found in re.finditer("MUST", text):
            openings.find_start(found.start(), 0)
        assert 0 < counted.read < 5 * len(text)
