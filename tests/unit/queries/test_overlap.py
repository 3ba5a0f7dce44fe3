import pytest
from hypothesis import given, settings, strategies as st

from duvet.model import Kind, Section
from duvet.project.project import Project
from duvet.queries.overlap import QuotedSections, SectionText, TracedPool, UnfoundQuotesError, WrittenPool
from duvet.text import normalise
from duvet.tree.files import MemoryTree

SPECIFICATION = """\
# S

## A

The kettle MUST stop,  and
it MUST whistle. A cup MUST be
washed. A pot MUST be washed.
\u00e9tude MUST be fun.

## B

The kettle MUST stop.
"""
CONFIG = """\
'$schema' = "https://awslabs.github.io/duvet/config/v0.4.json"
[[source]]
pattern = "*.rs"
"""


def pool_of(*quotes: str, target: str = "s.md#a", config: str = CONFIG) -> tuple[QuotedSections, WrittenPool]:
    lines = [f"//= {one.partition('|')[0] if '|' in one else target}\n//# {one.rpartition('|')[2]}\n" for one in quotes]
    files = {"s.md": SPECIFICATION, ".duvet/config.toml": config, "a.rs": "\n".join(lines)}
    sections = QuotedSections(Project(tree=MemoryTree({path: text.encode() for path, text in files.items()})).trace)
    ids = [id for id, one in enumerate(sections.annotations) if one.kind is Kind.CITATION]
    assert len(ids) == len(quotes)
    return sections, WrittenPool(sections, ids)


def test_an_annotation_is_covered_by_overlapping_ones() -> None:
    ##= man/spec/query.md#checks
    ##% With awslabs duvet's schema, `duvet query` MUST reach the same verdicts as awslabs duvet.
    for quote, others, ids, is_full in [
        ("it MUST whistle.", [], [], False),
        ("it MUST whistle.", ["it MUST whistle."], [1], True),
        ("it MUST whistle.", ["it  MUST whistle ."], [1], True),
        ("it MUST whistle.", ["it MUST whistle"], [1], False),
        ("it MUST whistle.", ["it MUST", "whistle."], [1, 2], False),
        ("it MUST whistle.", ["it MUST", "MUST whistle."], [1, 2], True),
        ("The kettle MUST stop, and", ["and", "The kettle MUST stop,"], [1, 2], True),
        ("it MUST whistle.", ["stop, and it MUST whistle. A cup"], [1], True),
        ("it MUST whistle.", ["The kettle", "A cup MUST", ""], [], False),
        ("it MUST whistle.", ["./s.md#a|it MUST whistle.", "s.md#b|stop."], [], False),
        ("A cup MUST be washed.", ["MUST be washed.", "A cup"], [1, 2], False),
        ("A pot MUST be washed.", ["A pot MUST be", "be washed."], [1, 2], True),
        ("A cup MUST be washed. A pot MUST be washed.", ["washed.", "washed. A pot"], [1, 2], False),
        ("\u00e9tude MUST", ["tude MUST", "\u00e9tude"], [1, 2], True),
        ("", ["", "it"], [], True),
    ]:
        sections, pool = pool_of(quote, *others)
        found = pool.cover(0)
        assert found is not None
        assert ([*found.ids], found.first, found.is_full) == (ids, ids[0] if ids else None, is_full)
        sections.check()
    sections, pool = pool_of("it MUST whistle.", "it MUST whistl.", "The kettle MUST stop", "s.md#b|The ketle")
    covers = [pool.cover(id) for id in range(4)]
    assert [one and [*one.ids] for one in covers] == [[], None, [], None]
    with pytest.raises(UnfoundQuotesError) as raised:
        sections.check()
    assert raised.value.ids == (1, 1, 1, 3)


OURS = """\
'$schema' = "duvet-cli/config/v1"
[[source]]
pattern = "*.rs"
[[specification]]
source = "s.md"
"""


def test_overlap_is_counted_in_bytes_of_the_specification() -> None:
    ##= man/spec/query.md#checks
    ##% With duvet's own schema, `duvet query` MUST compare annotations by the text that they cite, even if their
    ##% targets or quotes are spelled differently.
    for quote, others, ids, is_full in [
        ("it MUST whistle.", [], [], False),
        ("it MUST whistle.", ["it MUST  whistle.", "./s.md#a|it MUST whistle."], [1], True),
        ("it MUST whistle.", ["it MUST", "MUST whistle.", "it MUST"], [1, 2, 3], True),
        ("it MUST whistle.", ["it MUST whistle"], [1], False),
        ("The kettle MUST stop, and it MUST whistle.", ["The kettle MUST stop, and", "it MUST whistle."], [1, 2], True),
        ("it MUST whistle.", ["s.md#b|The kettle MUST stop."], [], False),
        ("", ["", "it"], [], True),
    ]:
        sections, written = pool_of(quote, *others, config=OURS)
        found = TracedPool(sections, written.ids).cover(written.ids[0])
        assert found is not None
        assert ([*found.ids], found.is_full) == ([written.ids[id] for id in ids], is_full)
        sections.check()


TEXT = "The kettle MUST stop, and it MUST whistle. A cup MUST be washed. A pot MUST be washed."


@st.composite
def quotes(draw: st.DrawFn) -> str:
    words = TEXT.split()
    low = draw(st.integers(0, len(words) - 1))
    return " ".join(words[low : draw(st.integers(low + 1, len(words)))])


@settings(max_examples=150, deadline=None)
@given(st.lists(quotes(), min_size=1, max_size=6))
def test_covered_bytes_equal_the_plain_rules(found: list[str]) -> None:
    sections, pool = pool_of(*found)
    assert isinstance(pool, WrittenPool)
    view = normalise(TEXT + " \u00e9tude MUST be fun.").encode()
    for id, quote in enumerate(found):
        part = normalise(quote).encode()
        start = view.index(part)
        end = start + len(part)
        covered: set[int] = set()
        coverers = []
        for other, candidate in enumerate(found):
            if other == id:
                continue
            one = normalise(candidate).encode()
            places, at = [], view.find(one)
            while at >= 0:
                places.append(range(max(at, start), min(at + len(one), end)))
                at = view.find(one, at + len(one))
            best = max(places, key=len)
            if best:
                coverers.append(other)
                covered |= set(best)
        covering = pool.cover(id)
        assert covering is not None
        assert ([*covering.ids], covering.is_full) == (coverers, covered == set(range(start, end)))
    sections.check()


def test_many_quotes_are_compared_and_do_not_overlap_themselves() -> None:
    words = [f"w{number}" for number in range(2000)]
    text = f"# S\n\n## A\n\n{' '.join(words)}\n"
    quotes = [" ".join(words[at : at + 3]) for at in range(1998)]
    lines = "\n".join(f"//= s.md#a\n//# {quote}\n" for quote in quotes)
    files = {"s.md": text, ".duvet/config.toml": CONFIG, "a.rs": lines}
    sections = QuotedSections(Project(tree=MemoryTree({path: one.encode() for path, one in files.items()})).trace)
    pool = WrittenPool(sections, range(len(quotes)))
    found = [pool.cover(id) for id in range(len(quotes))]
    first = [one and ([*one.ids], one.is_full) for one in found[:3]]
    assert first == [([1, 2], False), ([0, 2, 3], True), ([0, 1, 3, 4], True)]
    assert sum(bool(one and one.is_full) for one in found) == len(quotes) - 2
    section = SectionText(Section("a", "A", (0, 0), "A", ("aa aa aa aa",), (0,)))
    assert section.find_all("aa aa") == ([0, 6], 5)
    assert section.find_all("aa  aa aa") == ([0], 8)
    assert section.find_all("b") == ([], 1)
