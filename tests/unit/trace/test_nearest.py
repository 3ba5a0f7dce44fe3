from duvet.project.project import Project
from duvet.specs.locator import locate_specification
from duvet.trace.nearest import Neighbourhood, TextStretch, TextWords, make_word_diff
from duvet.tree.files import MemoryTree

PARAGRAPH = (
    "This section is about tea. The water MUST boil before the leaves are put into the pot. The leaves MUST be dry, "
    "and they MUST NOT be old. Milk (of a cow) MAY be added. * The cup SHOULD be warm and clean at all times."
)
WATER = "The water MUST boil before the leaves are put into the pot."
FRAMES = "# Frames\n\n" + "".join(
    f"## {name}\n\nA frame of type {name} MUST be ignored by servers.\n\n" for name in "AB"
)


def find_nearest(quote: str, text: str = PARAGRAPH) -> str | None:
    found = TextWords(text.split()).find_nearest(quote.split())
    return found.text if found and found.is_clear else None


def test_a_quote_keeps_its_extent() -> None:
    for quote, found in [
        # A word in the middle, at either end, more or fewer of them.
        ("The water MUST cook before the leaves are put into the pot.", WATER),
        ("The water MUST before the leaves are put into the pot.", WATER),
        ("The water MUST really boil before the leaves are put into the pot.", WATER),
        ("Hot water MUST boil before the leaves are put into the pot.", WATER),
        ("The water MUST boil before the leaves are put into the kettle.", WATER),
        ("The water MUST boil before the leaves get put into the hot pot.", WATER),
        # A part of a sentence stays a part, with its punctuation.
        ("water MUST boil before a leaf is put", "water MUST boil before the leaves are put"),
        ("The leaves MUST all be dry", "The leaves MUST be dry"),
        ("The leaves MUST all be dry,", "The leaves MUST be dry,"),
        ("Milk (of a goat) MAY be added", "Milk (of a cow) MAY be added"),
        ("Milk (of a cow) MAY be put", "Milk (of a cow) MAY be added."),
        # A bullet that the text lacks, contains, or spells differently.
        ("* The water MUST cook before the leaves are put into the pot.", WATER),
        ("- The cup SHOULD be hot and clean at all times.", "* The cup SHOULD be warm and clean at all times."),
        # If the first or last word of a sentence differs, the whole sentence is meant.
        ("This section tells of tea.", "This section is about tea."),
        # Two words in the wrong order.
        ("water The MUST boil before the leaves are put into the pot.", WATER),
        ("The water MUST boil before the leaves are put into pot. the", WATER),
        # Unknown words after or before a sentence are removed.
        (f"{WATER} and so on", WATER),
        (f"See also: {WATER}", WATER),
        (f"{WATER} This is all.", WATER),
    ]:
        assert find_nearest(quote) == found


def test_one_text_in_two_places_is_one_answer_and_a_known_sentence_is_whole() -> None:
    text = f"{PARAGRAPH} The leaves MUST be dry"
    assert find_nearest("The leaves MUST be quite dry", text) == "The leaves MUST be dry"
    assert find_nearest("The water in the pot MUST boil now.", "The water MUST boil now.") == "The water MUST boil now."
    text = "Hosts have rules - the host MUST smile at every guest who comes - the host MUST wait for all who come late"
    quote, sentence = "Any host MUST smile at every guest who came.", "the host MUST smile at every guest who comes"
    plain, known = (TextWords(text.split(), given).find_nearest(quote.split()) for given in ((), [sentence]))
    assert plain and plain.text == sentence and not plain.is_clear
    assert known and known.text == sentence and known.is_clear


def test_an_unclear_result_has_no_answer() -> None:
    for quote in [
        # In the middle of a sentence it ends, or begins, with words that stand nowhere near.
        "The water MUST boil before the leaves and so on",
        "now and then before the leaves are put into the pot.",
        # Nothing is similar, the quote is too short, or two texts are similar.
        "Nobody has ever written down anything of this kind.",
        "boil the",
        "*",
        "A frame of type F MUST be ignored by all servers.",
    ]:
        frames = "A frame of type A MUST be ignored by all servers. A frame of type B MUST be ignored by all servers."
        assert find_nearest(quote, f"{TEXT} {frames}") is None
        assert find_nearest(quote, "") is None
        assert find_nearest("- aa MUST warm", "é The * be") is None


def test_clear_results_are_recognised() -> None:
    clear, unclear = ((75, 0), (80, 60), (99, 94), (100, 95)), ((74, 0), (80, 61), (99, 95))
    for scores in (*clear, *unclear):
        assert TextStretch("", *scores).is_clear is (scores in clear)
        assert not TextStretch("", *scores, is_whole=False).is_clear


TEXT = """\
# Tea

## Brewing

The water MUST boil before the leaves are put into the pot.

## Serving

Everybody SHOULD wait until the host has poured
the last cup of tea.

## Washing

The pot MUST be rinsed with water,   and MUST NOT be washed with soap.
The water MUST boil before the pot is rinsed.

## Again

Everybody SHOULD wait until the host has poured the last cup of tea.
"""


def make_neighbourhood(text: str = TEXT) -> Neighbourhood:
    project = Project(tree=MemoryTree({"tea.md": text.encode()}))
    return Neighbourhood(project.library.load(locate_specification("tea.md")))


def test_sections_that_contain_a_quote() -> None:
    for quote, sections in [
        ("The leaves", []),
        # Wrapping does not matter, but every letter does.
        ("Everybody SHOULD wait until the host has  poured the last cup", ["serving", "again"]),
        ("rinsed with water , and MUST NOT", ["washing"]),
        ("rinsed with waters, and MUST NOT", []),
        ("", []),
        ("The water MUST boil", ["brewing", "washing"]),
        ("The waters MUST boil", []),
    ]:
        one = make_neighbourhood()
        assert [one.section_name(index) for index in one.find_containing_sections(quote)] == sections
        held = [one.section_name(index) for index in range(5) if one.contains(index, quote)]
        assert held == (sections or [] if quote else ["tea", "brewing", "serving", "washing", "again"])


def test_the_most_similar_section_is_found_by_rare_words() -> None:
    wait, ignored = "SHOULD wait until the {} has poured the last cup of tea.", "MUST be ignored by servers."
    for text, quote, found in [
        (TEXT, "The water MUST boil before the leaves get put into the pot.", ("brewing", WATER, True)),
        (TEXT, "Nobody has ever seen anything of that kind.", None),
        ("", "The water MUST boil.", None),
        # One text in two sections is one answer, two texts are two.
        (TEXT, f"Everybody {wait.format('guest')}", ("again", f"Everybody {wait.format('host')}", True)),
        (FRAMES, f"A frame of type F {ignored}", ("b", f"A frame of type B {ignored}", False)),
    ]:
        one = make_neighbourhood(text)
        best = one.find_anywhere(quote)
        assert (best and (one.section_name(best[0]), best[1].text, best[1].is_clear)) == found
    one = make_neighbourhood()
    assert one.section_name(one.find_likely("The pot MUST be filled with soap")[0][1]) == "washing"
    assert one.find_likely("nothing known") == []


def test_a_word_diff_marks_changes() -> None:
    for old, new, shown in [
        *(("a b c", "a b c", "a b c"), ("a b c", "a x y c", "a [-b-]{+x y+} c"), ("a b c", "b c", "[-a-] b c")),
        *(("a b", "a\n b  c", "a b {+c+}"), ("", "", "")),
    ]:
        assert make_word_diff(old, new) == shown
