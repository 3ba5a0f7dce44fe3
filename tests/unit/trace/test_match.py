from collections.abc import Iterable

from hypothesis import example, given, strategies as st

from duvet.model import Section
from duvet.text import WHITESPACE
from duvet.trace import match
from duvet.trace.records import TITLE_LINE, Fit, FoundQuote, Piece
from tests.unit.test_text import plain_normalise
from tests.unit.trace.trace_samples import file_of, section_of

POT = "  The pot MUST be\n\n\twarm ( and\u00a0clean).  \nIt is é日🩸.\n\nx\n"
CHARS = st.sampled_from(["a", "b", ".", "-", " ", "\n", "\n", "\t", "é", "è", "斩", "🩸", "\u00a0", "©"])
TEXTS = st.text(CHARS, max_size=20)
SHORT_TEXTS = st.text(st.sampled_from("ab "), max_size=14) | st.text(st.sampled_from("aé斩🩸"), max_size=5)
FEW_WORDS = st.lists(st.sampled_from(["a", "b", "ab", "ba", "", "é"]), max_size=12).map(" ".join)
LONG = " ".join(["much"] * 90)
ALIKE = [f"The endpoint numbered {number:04} MUST close the connection." for number in range(300)]
SECTION = section_of("  ab \n\n\u00a0\t\ncé\u2003 d\u00a0\n\tx")


def read(text: str, found: FoundQuote | None) -> tuple[list[str], Fit]:
    assert found is not None
    data = file_of(text)
    return [data[piece.start : piece.end].decode() for piece in found[0]], found[1]


def test_quotes_are_found() -> None:
    ##= man/spec/trace.md#targets-and-quotes
    ##% When duvet compares a quote with its section, duvet MUST ignore differences in line breaks and in spaces around
    ##% punctuation.
    for quote, texts, fit in [
        ("The pot MUST be warm", ["The pot MUST be", "warm"], Fit.EXACT),
        ("pot MUST", ["pot MUST"], Fit.EXACT),
        ("pot  MUST", ["pot MUST"], Fit.NORMALISED),
        ("warm (and\u00a0clean)", ["warm ( and\u00a0clean)"], Fit.NORMALISED),
        ("warm ( and\u00a0clean) .", ["warm ( and\u00a0clean)."], Fit.NORMALISED),
        ("The pot MUST bee warm", ["The pot MUST be", "warm"], Fit.ONE_EDIT),
        ("the pot MUST", ["The pot MUST"], Fit.ONE_EDIT),
        ("It is é日🩸.", ["It is é日🩸."], Fit.EXACT),
        ("is è日🩸.", ["is é日🩸."], Fit.ONE_EDIT),
        ("is é日🩹.", ["is é日🩸."], Fit.ONE_EDIT),
        ("日🩸. x", ["日🩸.", ""], Fit.EXACT),
    ]:
        assert read(POT, match.QuoteMatcher(section_of(POT)).find(quote)) == (texts, fit)


def test_quotes_that_are_not_found() -> None:
    for text, quote in [
        *((POT, quote) for quote in ("the pot must be", "THE", "pot MUST warm", "It is é本🩸.")),
        ("The **pot** MUST", "The pot MUST"),
        ("don\u2019t", "don't"),
        *(("", "x"), ("\n \n", "x"), ("", "pot"), ("\u2028", "\u2028a")),
        # One byte of the quote stands in white space, or in a part of a character.
        *(("x \u00a0", "©"), ("a\u00a0b", "©")),
    ]:
        assert match.QuoteMatcher(section_of(text)).find(quote) is None


def section_chars(section: Section) -> list[tuple[str, int, int]]:
    """Return the characters of the view with line and place; line -1 stands for the blank between lines."""
    chars: list[tuple[str, int, int]] = []
    for index, line in enumerate(section.lines):
        place = section.starts[index]
        if line.strip(WHITESPACE):
            chars += [(" ", -1, 0)] if chars else []
            for at, char in enumerate(line):
                before, after = line[: at + 1].strip(WHITESPACE), line[at:].strip(WHITESPACE)
                if before and after:
                    chars.append((char, index, place + len(line[:at].encode())))
    return chars


def plain_kept(text: str) -> list[int]:
    kept: list[int] = []
    waiting: int | None = None
    for at, char in enumerate(text):
        is_blank = waiting is None or text[waiting] in WHITESPACE
        if char in WHITESPACE:
            waiting = at if waiting is None and kept else waiting
        elif char.isalnum():
            kept += [at] if waiting is None else [waiting, at]
            waiting = None
        else:
            kept += [] if is_blank or waiting is None else [waiting]
            waiting = at
    return kept if waiting is None or text[waiting] in WHITESPACE else [*kept, waiting]


def plain_pieces(chars: list[tuple[str, int, int]]) -> tuple[Piece, ...]:
    found: list[Piece] = []
    for line in dict.fromkeys(line for _, line, _ in chars if line >= 0):
        here = [(place, place + len(char.encode())) for char, own, place in chars if own == line]
        start, end = here[0][0], here[-1][1]
        found.append(Piece(line, start, start if end - start == 1 else end))
    return tuple(found)


def best_stretches(quote: bytes, text: bytes) -> list[tuple[int, int, int]]:
    """Return for each end the least number of edits, and the start of the longest range with that number."""
    row = [(0, start) for start in range(len(text) + 1)]
    for taken, wanted in enumerate(quote, 1):
        above, row = row, [(taken, 0)]
        for end, byte in enumerate(text, 1):
            (kept, kept_start), (skipped, skipped_start), (added, added_start) = above[end - 1], above[end], row[-1]
            best = min((kept + (byte != wanted), kept_start), (skipped + 1, skipped_start), (added + 1, added_start))
            row.append(best)
    return [(edits, start, end) for end, (edits, start) in enumerate(row)]


def plain_find(quote: bytes, text: bytes) -> tuple[int, int] | None:
    kept: list[tuple[int, int]] = []
    for edits, start, end in best_stretches(quote, text):
        if edits <= 1:
            if kept and start <= kept[-1][0]:
                kept.pop()
            kept.append((start, end))
    return kept[0] if kept else None


@given(SHORT_TEXTS.filter(bool), SHORT_TEXTS)
@example("é", "🩸")
@example("ab", "bab")
@example("warm", "the waarm pot")
@example("warm", "the wrm pot")
@example("warm", "warp xarm")
@example("warm", "the wram pot")
@example("x", "")
def test_edit_distances_equal_the_textbook_algorithm(quote: str, text: str) -> None:
    if quote not in text:
        wanted, data = quote.encode(), text.encode()
        assert match.find_one_edit(wanted, match.SearchText(data)) == plain_find(wanted, data)


@given(st.text(st.sampled_from("abc def"), min_size=1, max_size=30), st.data())
def test_any_one_edit_is_found(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text) - 1))
    edit = data.draw(st.sampled_from(["", "x", "xx"]))
    quote = text[:at] + edit[:1] + text[at + (len(edit) < 2) :]
    if quote and quote not in text:
        found = match.find_one_edit(quote.encode(), match.SearchText(text.encode()))
        assert found == plain_find(quote.encode(), text.encode()) is not None


def plain_matches(section: Section, quote: str) -> FoundQuote | None:
    """Return where a quote is, for each byte of the section and its place in the file."""
    chars = section_chars(section)
    text = "".join(char for char, _, _ in chars)
    start = text.find(quote)
    if start >= 0:
        return plain_pieces(chars[start : start + len(quote)]), Fit.EXACT
    kept = plain_kept(text)
    normal = "".join(text[at] for at in kept)
    start, wanted, fit = normal.find(plain_normalise(quote)), plain_normalise(quote), Fit.NORMALISED
    end = start + len(wanted)
    if start < 0:
        near = plain_find(wanted.encode(), normal.encode())
        if near is None or not normal:
            return None
        owners = [index for index, char in enumerate(normal) for _ in char.encode()]
        start, end, fit = owners[near[0]], owners[near[1] - 1] + 1, Fit.ONE_EDIT
    found = chars[kept[start] : kept[end - 1] + 1]
    while found and found[-1][0] in WHITESPACE:
        found.pop()
    return (plain_pieces(found), fit) if found else None


@given(TEXTS, TEXTS.map(lambda text: " ".join(text.split())).filter(bool))
@example("a🩸", "é")
@example("斩", "aé")
@example("bc日", "bcx")
@example("日bc", "xbc")
@example("a\u00a0. b", "a.\u00a0b")
def test_equals_the_plain_rules(text: str, quote: str) -> None:
    assert match.QuoteMatcher(section_of(text)).find(quote) == plain_matches(section_of(text), quote)


@given(TEXTS.filter(lambda text: bool(text.strip())), st.data())
def test_a_changed_part_of_the_text_equals_the_plain_rules(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    change = data.draw(st.sampled_from(["", "x", "é", " "]))
    at = data.draw(st.integers(start, end))
    quote = " ".join((text[start:at] + change + text[at + data.draw(st.booleans()) : end]).split())
    if quote:
        assert match.QuoteMatcher(section_of(text)).find(quote) == plain_matches(section_of(text), quote)


@given(FEW_WORDS, FEW_WORDS)
@example(f"{LONG} a {LONG} b", f"{LONG} b")
@example("a " * 600, "a a")
def test_all_places_are_found(text: str, part: str) -> None:
    data, wanted = text.encode(), part.encode()
    plain, ordered = match.SearchText(data), match.OrderedText(data)
    places = [at for at in range(len(data) + 1) if data.startswith(wanted, at)]
    assert list(plain.find_places(wanted)) == list(ordered.find_places(wanted)) == places
    assert plain.find(wanted) == ordered.find(wanted) == data.find(wanted)


@given(FEW_WORDS, st.text(st.sampled_from("ab é"), min_size=1))
@example("a " * 600, "a a b")
def test_an_ordered_text_finds_the_same_edit(text: str, quote: str) -> None:
    data, wanted = text.encode(), quote.encode()
    for kind in (match.SearchText, match.OrderedText):
        assert len(wanted) < 2 or 0 < kind(data).split(wanted) < len(wanted)
    if wanted not in data:
        assert match.find_one_edit(wanted, match.OrderedText(data)) == plain_find(wanted, data)


class Counting(match.OrderedText):
    told = 0

    def find_places(self, part: bytes) -> Iterable[int]:
        for place in super().find_places(part):
            self.told += 1
            yield place


def test_few_places_of_alike_sentences_are_looked_at() -> None:
    text = Counting(" ".join(ALIKE).encode())
    for number, sentence in enumerate(ALIKE):
        for at in range(0, len(sentence), 7):
            quote = f"{sentence[:at]}~{sentence[at + 1 :]}".encode()
            start = (len(sentence) + 1) * number
            assert match.find_one_edit(quote, text) == (start, start + len(sentence))
    assert text.told < 10 * len(ALIKE)


def test_one_matcher_finds_many_quotes() -> None:
    ##= man/spec/trace.md#targets-and-quotes
    ##% duvet MUST read an annotation without a quote as one that quotes the title of its section.
    matcher = match.QuoteMatcher(section_of("one\ntwo"))
    assert matcher.find("") == match.QuoteMatcher(section_of("")).find("") == ((Piece(TITLE_LINE, 2, 3),), Fit.TITLE)
    for quote, texts, fit in (
        ("one  two", ["one", "two"], Fit.NORMALISED),
        ("ona", ["one"], Fit.ONE_EDIT),
        ("two", ["two"], Fit.EXACT),
        ("one   two", ["one", "two"], Fit.NORMALISED),
    ):
        assert read("one\ntwo", matcher.find(quote)) == (texts, fit)
    section = section_of("\n".join(ALIKE[:100]))
    matcher = match.QuoteMatcher(section)
    for number, sentence in enumerate(ALIKE[:100]):
        for quote in (sentence.replace("MUST", "MAST"), sentence.replace(".", " ."), sentence.replace("MUST", "may")):
            assert matcher.find(quote) == match.QuoteMatcher(section).find(quote), number


def test_views_map_back_to_the_text() -> None:
    view = match.make_section_view(SECTION)
    assert view == match.SectionView(SECTION, "ab cé\u2003 d x".encode(), [0, 3, 4], [0, 3, 12, 14])
    empty = section_of("\n \n")
    assert match.make_section_view(empty) == match.SectionView(empty, b"", [], [0])
    assert match.make_section_view(empty).cut(0, 0) == ()
    front, last = Piece(0, 6, 8), Piece(4, 27, 27)
    for (start, end), pieces in {
        (0, 2): [front],
        (0, 3): [front],
        (2, 3): [],
        (5, 5): [],
        (12, 13): [last],
        (4, 9): [Piece(3, 16, 21)],
        (1, 4): [Piece(0, 7, 7), Piece(3, 15, 15)],
        (0, 13): [front, Piece(3, 15, 23), last],
    }.items():
        assert list(view.cut(start, end)) == pieces
