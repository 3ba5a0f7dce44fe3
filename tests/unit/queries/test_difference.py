from collections.abc import Mapping

from msgspec.structs import replace
from pytest_snapshot.plugin import Snapshot

from duvet.queries import difference as changes
from duvet.queries.records import RequirementRow
from duvet.trace.catalogue import Catalogue, State
from tests.sample_project import read_files
from tests.unit.queries.query_projects import PROJECTS, make_catalogue

FILES = read_files(PROJECTS / "changing")
CONFIG, SOURCE, SPECIFICATION = FILES.values()
WARM = "The pot MUST be warm."
PARTS = [name for name in changes.Difference.__struct_fields__ if name not in ("then", "now")]


def state(files: Mapping[str, str]) -> Catalogue:
    return make_catalogue({**FILES, **files})


def cites(text: str, kind: str = "citation", section: str = "pot") -> str:
    return f"//= tea.md#{section}\n//= type={kind}\n//# {text}\n\n"


def summary(difference: changes.Difference) -> dict[str, list[object]]:
    parts = {name: [_shorten(one) for one in getattr(difference, name)] for name in PARTS}
    return {name: found for name, found in parts.items() if found}


def _shorten(one: object) -> object:
    match one:
        case RequirementRow():
            return f"{one.target}: {one.text}"
        case changes.CoverageChange():
            return (one.then.status, one.now.status, one.lost, one.gained)
        case changes.CitationChange():
            return (one.kind, one.text, one.places)
        case changes.StaleCitation():
            return (f"{one.file_path}:{one.line_number}", one.kind, one.quote, one.message)
    assert isinstance(one, changes.RequirementChange)
    return (_shorten(one.then), _shorten(one.now))


BLUE = "The pot SHOULD be blue."
CHIPPED = "The cup MAY be chipped."
TWO_SPECIFICATIONS = {
    ".duvet/config.toml": CONFIG + '[[specification]]\nsource = "water.md"\n',
    "tea.md": "# A\n\n## One\n\nIt MUST be.\n",
    "water.md": "# A\n\n## One\n\nIt MUST be.\n",
    "pot.rs": "",
}
LOST: dict[str, list[object]] = {"coverage_lost": [("done", "uncited", ("implementation", "tests"), ())]}
STALE = 'could not find text in section "pot" of tea.md'
BOTH = cites(WARM) + cites(CHIPPED, section="cup")
BREAKABLE = SPECIFICATION.replace("The cup MAY", "Cups break. The cup MAY")
CHANGES: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "nothing": ({}, {}),
    "a renamed source": ({}, {"pot.rs": "", "other.rs": SOURCE}),
    "a shifted source": ({}, {"pot.rs": "# more\n\n\n" + SOURCE}),
    "a split source": ({}, {"pot.rs": SOURCE.partition("\n\n")[2], "other.rs": SOURCE.partition("\n\n")[0]}),
    "a wrapped quote": ({}, {"pot.rs": SOURCE.replace("MUST be", "MUST\n//# be")}),
    "a wrapped specification": ({}, {"tea.md": SPECIFICATION.replace("\n", "\n\n").replace("MUST be", "MUST\nbe")}),
    "a sentence that moves": ({}, {"tea.md": SPECIFICATION.replace(f"{BLUE}\n", "") + f"{BLUE}\n"}),
    "a cited sentence that moves": ({}, {"tea.md": SPECIFICATION.replace(f"{WARM}\n", "") + f"{WARM}\n"}),
    "a move within one specification, not from another": (
        TWO_SPECIFICATIONS,
        TWO_SPECIFICATIONS | {"tea.md": "# A\n", "water.md": "# A\n\n## Two\n\nIt MUST be.\n"},
    ),
    "a renamed section": ({}, {"tea.md": SPECIFICATION.replace("## Cup", "## Mug")}),
    "a reworded sentence": ({}, {"tea.md": SPECIFICATION.replace("SHOULD be blue", "MUST be blue or green")}),
    "a reworded sentence with its citations": (
        {},
        {"tea.md": SPECIFICATION.replace("be warm", "be hot"), "pot.rs": SOURCE.replace("be warm", "be hot")},
    ),
    "a reworded sentence in a renamed section loses its coverage": (
        {},
        {"tea.md": SPECIFICATION.replace("## Pot", "## Can").replace("MUST be warm", "MUST be as warm"), "pot.rs": ""},
    ),
    # Sections that nothing else has moved to are known by their names.
    "a reworded sentence in a renamed specification": (
        {},
        {
            ".duvet/config.toml": CONFIG.replace("tea.md", "mug.md"),
            "mug.md": SPECIFICATION.replace("MAY be chipped", "MAY be a little chipped"),
            "pot.rs": SOURCE.replace("tea.md", "mug.md"),
        },
    ),
    "a specification that still exists has no successor": (
        {"pot.rs": ""},
        {
            ".duvet/config.toml": CONFIG + CONFIG[CONFIG.index("[[specification]]") :].replace("tea.md", "mug.md"),
            "tea.md": f"# Tea\n\n## Pot\n\n{WARM}\n",
            "mug.md": f"# Mug\n\n## Pot\n\n{BLUE}\n\n## Cup\n\nThe cup MAY be a little chipped.\n",
            "pot.rs": SOURCE,
        },
    ),
    "one citation of several": ({"a.rs": SOURCE, "b.rs": SOURCE}, {"b.rs": SOURCE, "c.rs": cites(WARM, "todo")}),
    "citations of text that is no requirement": (
        {"tea.md": BREAKABLE, "a.rs": "//= tea.md#cup\n\n"},
        {"tea.md": BREAKABLE, "a.rs": cites("Cups break.", section="cup")},
    ),
    "each reason why a citation went stale": (
        {"pot.rs": BOTH},
        {"pot.rs": BOTH, "tea.md": SPECIFICATION.replace("be warm", "be hot").replace("## Cup", "## Mug")},
    ),
}


def test_changes_between_two_traces_are_listed(snapshot: Snapshot) -> None:
    ##= man/spec/diff.md#differences
    ##% `duvet diff` MUST NOT list a citation as changed because its file was renamed or its line moved.
    ##= man/spec/diff.md#differences
    ##% `duvet diff` MUST list the requirements that were added, removed, reworded, or moved to another section.
    shown: list[str] = []
    for name, (then, now) in CHANGES.items():
        found = summary(changes.compare_catalogues(state(then), state(now)))
        shown += [f"# {name}", *(f"{part}: {one}" for part, rows in found.items() for one in rows), ""]
    snapshot.assert_match("\n".join(shown), "difference/changes.txt")


def test_added_requirements_are_counted_and_listed_while_only_todos_cite_them() -> None:
    lines = "Every saucer SHALL match.\nIt MUST NOT leak tea.\nSugar MUST be there."
    sources = cites("It MUST NOT leak tea.", section="cup") + cites("Sugar MUST be there.", "todo", "cup")
    now = state({"tea.md": SPECIFICATION.replace(CHIPPED, lines), "a.rs": sources})
    difference = changes.compare_catalogues(state({}), now)
    assert [row.text for row in difference.uncited] == ["Every saucer SHALL match.", "Sugar MUST be there."]
    assert summary(difference) | {"citations_added": []} == {
        "requirements_added": [f"tea.md#cup: {line}" for line in lines.splitlines()],
        "requirements_removed": [f"tea.md#cup: {CHIPPED}"],
        "citations_added": [],
    }
    assert (difference.then.requirements, difference.now.requirements) == (3, 5)


def test_similar_sentences_are_the_same_and_may_get_another_level() -> None:
    was = "# Tea\n\n" + "".join(f"Part {n} of the pot MUST be number {n}.\n" for n in (1, 2, 3))
    now = "# Tea\n\n" + "".join(f"Part {n} of the pot MUST be at number {n}.\n" for n in (3, 1, 2))
    difference = changes.compare_catalogues(state({"tea.md": was, "pot.rs": ""}), state({"tea.md": now, "pot.rs": ""}))
    found = [(one.then.text[5], one.now.text[5]) for one in difference.requirements_changed]
    assert found == [("3", "3"), ("1", "1"), ("2", "2")]
    stated = cites(CHIPPED, "spec", "cup")
    weaker, stronger = (stated.replace("//#", f"//= level={level}\n//#") for level in ("SHOULD", "MUST"))
    difference = changes.compare_catalogues(state({"more.rs": weaker}), state({"more.rs": stronger}))
    assert [(one.then.level, one.now.level) for one in difference.requirements_changed] == [("SHOULD", "MUST")]
    assert list(summary(difference)) == ["requirements_changed"]
    was = "# Tea\n\n" + "".join(f"The part {n} of every pot MUST be warm at {n}.\n" for n in range(600))
    before, after = (state({"tea.md": text, "pot.rs": ""}) for text in (was, was.replace("warm", "very hot")))
    assert len(changes.compare_catalogues(before, after).requirements_changed) == 600


def test_a_citation_that_was_valid_goes_stale() -> None:
    ##= man/spec/diff.md#differences
    ##% `duvet diff` MUST list each citation that was added or removed, and each unedited citation that became invalid.
    known = cites("The pot MUST sing.")
    now = {"tea.md": SPECIFICATION.replace("be warm", "be hot"), "old.rs": f"\n{known}", "new.rs": known}
    difference = changes.compare_catalogues(state({"old.rs": known}), state(now))
    assert summary(difference) == {
        **LOST,
        "citations_stale": [("pot.rs:1", "citation", WARM, STALE), ("pot.rs:4", "test", WARM, STALE)],
        "requirements_changed": [(f"tea.md#pot: {WARM}", "tea.md#pot: The pot MUST be hot.")],
    }
    assert difference.losses == "1 requirement lost coverage, 2 citations went stale"


def test_citations_of_a_specification_that_is_no_longer_configured_stay_as_they_are() -> None:
    without = state({".duvet/config.toml": CONFIG[: CONFIG.index("[[specification]]")]})
    rows = [f"tea.md#pot: {WARM}", f"tea.md#pot: {BLUE}", f"tea.md#cup: {CHIPPED}"]
    assert summary(changes.compare_catalogues(state({}), without)) == {"requirements_removed": rows}
    assert summary(changes.compare_catalogues(without, state({}))) == {"requirements_added": rows}


def test_the_last_of_equal_citations_is_the_new_one() -> None:
    for one, two in [(1, 2), (1, 3), (2, 3)]:
        few, many = (state({"pot.rs": "", "more.rs": cites(WARM) * count}) for count in (one, two))
        places = tuple(f"more.rs:{1 + 4 * number}" for number in range(one, two))
        assert summary(changes.compare_catalogues(few, many)) == {"citations_added": [("citation", WARM, places)]}
        assert summary(changes.compare_catalogues(many, few)) == {"citations_removed": [("citation", WARM, places)]}


def _cited_by(kinds: str) -> Catalogue:
    comments = [cites(WARM, kind) for kind in kinds.split()]
    return state({"pot.rs": "".join(comments).replace("type=exception", "type=exception\n//= reason=too dear")})


def test_coverage_is_lost_or_gained() -> None:
    ##= man/spec/diff.md#differences
    ##% `duvet diff` MUST report that an applicable requirement lost coverage if its state is worse than before, or if
    ##% all of its code or all of its tests were removed. `duvet diff` MUST report that an applicable requirement
    ##% gained coverage if its state is better than before, or if its first implementation or its first test was added,
    ##% unless it also lost coverage.
    for was, now, status_then, status_now, lost, gained in [
        ("citation test", "citation", "done", "needs tests", "tests", ""),
        ("citation test", "test", "done", "needs code", "implementation", ""),
        ("citation test", "", "done", "uncited", "implementation tests", ""),
        ("citation", "todo", "needs tests", "to do", "implementation", ""),
        ("citation test implication", "implication", "done", "done", "tests", ""),
        ("citation test", "exception", "done", "excepted", "implementation tests", ""),
        ("exception", "", "excepted", "uncited", "", ""),
        ("", "citation", "uncited", "needs tests", "", "implementation"),
        ("citation", "citation test", "needs tests", "done", "", "tests"),
        ("todo", "exception", "to do", "excepted", "", ""),
        ("implication", "implication test", "done", "done", "", "tests"),
    ]:
        difference = changes.compare_catalogues(_cited_by(was), _cited_by(now))
        is_loss = bool(lost) or was == "exception"
        change = (status_then, status_now, tuple(lost.split()), tuple(gained.split()))
        found = {name: change for name, change in summary(difference).items() if name.startswith("coverage")}
        assert found == {"coverage_lost" if is_loss else "coverage_gained": [change]}
        assert difference.losses == ("1 requirement lost coverage" if is_loss else "")
    bare = state({"pot.rs": ""})
    cards = tuple(replace(card, state=State.NOT_APPLICABLE, citations=()) for card in bare.requirements)
    excused = replace(bare, requirements=cards)
    ##= man/spec/diff.md#differences
    ##% A change between `uncited` and `to do` MUST NOT count as lost or gained coverage.
    planned = _cited_by("todo")
    for pair in ((state({}), excused), (excused, bare), (_cited_by(""), planned), (planned, _cited_by(""))):
        difference = changes.compare_catalogues(*pair)
        assert not difference.coverage_lost and not difference.coverage_gained
