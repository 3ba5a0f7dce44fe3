from datetime import date

from hypothesis import given
from msgspec.structs import replace

from duvet.model import Annotation, Kind, Place, Problem
from duvet.project.project import Project
from duvet.text import quote_phrase, shorten_text
from duvet.trace.catalogue import State
from duvet.trace.gates import check_gates, find_incomplete, find_not_applicable_annotations
from duvet.trace.records import Requirement, list_requirements
from duvet.tree.files import MemoryTree
from tests.problems import show_problem
from tests.unit.queries.query_projects import NUMBERED_FILES, RFC
from tests.unit.reports.report_projects import NOT_APPLICABLE_DAY, project, with_entries
from tests.unit.trace.trace_samples import cited_texts, citing, trace_of

FRONT, BACK = "The pot", "MUST be warm."
TEXT = f"{FRONT}\n{BACK}"
CODE, TEST = (
    "cite this text of t.md#t in the code that implements it",
    "cite this text of t.md#t in the test that checks it",
)


def stated(*annotations: Annotation) -> tuple[Requirement, ...]:
    return list_requirements(trace_of(TEXT, *annotations).coverages[0], annotations)


def test_every_offender_has_a_place() -> None:
    trace = trace_of(
        TEXT, citing(f"{FRONT} {BACK}", Kind.SPEC), citing(FRONT), citing("be warm.", Kind.TEST), citing("", Kind.TODO)
    )
    assert list(map(show_problem, check_gates(trace, citations=True, tests=True))) == [
        't.md:3 DUV062 no code cites all of "The pot MUST be warm."; cite this text of t.md#t in the code that implements it',
        't.md:3 DUV062 no code cites all of "be warm."; cite this text of t.md#t in the code that implements it',
        't.md:1 DUV062 no code cites all of "T"; cite this text of t.md#t in the code that implements it',
        't.md:2 DUV063 no test cites all of "The pot MUST be warm."; cite this text of t.md#t in the test that checks it',
        't.md:2 DUV063 no test cites all of "The pot"; cite this text of t.md#t in the test that checks it',
    ]
    for citations, tests, codes in ((False, True, ["DUV063"] * 2), (True, False, ["DUV062"] * 3), (False, False, [])):
        assert [one.code for one in check_gates(trace, citations=citations, tests=tests)] == codes
    for kind in (Kind.EXCEPTION, Kind.IMPLICATION):
        assert check_gates(trace_of(TEXT, citing(f"{FRONT} {BACK}", kind)), citations=True, tests=True) == ()


def test_nothing_is_asked_of_what_is_not_applicable() -> None:
    ##= man/spec/gates.md#not-applicable
    ##% duvet MUST NOT count a requirement that `[[not-applicable]]` names, or require code or tests for it, even if
    ##% code cites it.
    annotations = citing(FRONT, Kind.SPEC), citing("be warm.", Kind.SPEC), citing("pot"), citing("warm", Kind.TEST)
    trace = trace_of(TEXT, *annotations)
    front, back = list_requirements(trace.coverages[0], annotations)
    free_front, free_back = (replace(one, state=State.NOT_APPLICABLE) for one in (front, back))
    cited, tested = [("DUV062", 3), ("DUV062", 3)], [("DUV063", 2), ("DUV063", 2)]
    for requirements, expected in (
        ([front, back], cited + tested),
        ([front, free_back], tested),
        ([free_front, back], cited),
        ([free_front, free_back], []),
    ):
        problems = check_gates(trace, citations=True, tests=True, freed=find_not_applicable_annotations(requirements))
        assert [(one.code, one.place.line) for one in problems] == expected
    front, back = stated(citing(FRONT, Kind.SPEC), citing(BACK, Kind.SPEC), citing(TEXT))
    assert find_not_applicable_annotations([replace(front, state=State.NOT_APPLICABLE), back]) == {0}
    freed = [replace(one, state=State.NOT_APPLICABLE) for one in (front, back)]
    assert find_not_applicable_annotations(freed) == {0, 1, 2}


def test_requirements_that_lack_code_or_tests_by_their_states() -> None:
    found = stated(citing(FRONT, Kind.SPEC), citing(BACK, Kind.SPEC), citing("be warm."), citing(FRONT))
    assert [show_problem(one) for tests in (False, True) for one in find_incomplete(found, tests=tests)] == [
        f't.md:3 DUV062 "MUST be warm." is not fully implemented (in progress); {CODE}',
        f't.md:2 DUV063 "The pot" is not fully tested (needs tests); {TEST}',
        f't.md:3 DUV063 "MUST be warm." is not fully tested (in progress); {TEST}',
    ]
    ##= man/spec/gates.md#gates-for-targets
    ##% With `--require-citations TARGET`, `duvet report` MUST list the requirements of the target in the states
    ##% `uncited`, `to do`, `in progress` and `needs code`, and with `--require-tests TARGET`, those in the states
    ##% `uncited`, `to do`, `in progress` and `needs tests`.
    lacking_code = (State.UNCITED, State.TO_DO, State.IN_PROGRESS, State.NEEDS_CODE)
    lacking_tests = (State.UNCITED, State.TO_DO, State.IN_PROGRESS, State.NEEDS_TESTS)
    (requirement,) = stated(citing(FRONT, Kind.SPEC), citing(FRONT, Kind.TEST))
    for state in State:
        one = [replace(requirement, state=state)]
        lacking = [any(find_incomplete(one, tests=tests)) for tests in (False, True)]
        assert lacking == [state in lacking_code, state in lacking_tests]


@given(cited_texts())
def test_equals_the_plain_rules(cited: tuple[str, tuple[Annotation, ...]]) -> None:
    text, annotations = cited
    flat = text.replace("\n", " ")
    starts = {one.quote: flat.find(one.quote) for one in annotations}
    lines_of = {
        quote: [text.count("\n", 0, at) for at in range(start, start + len(quote)) if text[at] != "\n"]
        for quote, start in starts.items()
    }

    def lines(*kinds: Kind) -> set[int]:
        return {line for one in annotations if one.kind in kinds for line in lines_of[one.quote]}

    working = lines(Kind.CITATION, Kind.EXCEPTION, Kind.IMPLICATION)
    gates = [
        ("DUV062", lines(*Kind) - working),
        ("DUV063", working - lines(Kind.TEST, Kind.EXCEPTION, Kind.IMPLICATION)),
    ]
    wanted = [
        (code, min(shut.intersection(own)) + 2, f"cites all of {quote_phrase(shorten_text(quote))}")
        for code, shut in gates
        for quote, own in lines_of.items()
        if shut.intersection(own)
    ]
    problems = check_gates(trace_of(text, *annotations), citations=True, tests=True)
    assert [(one.code, one.place.line, one.message.partition(" ")[2].partition(" ")[2]) for one in problems] == wanted


CONFIG = f"""\
'$schema' = "duvet-cli/config/v1"
specification = [
  {{ source = "tea.md" }},
  {{ source = "{RFC}" }},
  {{ source = "empty.md" }},
  {{ source = "https://host/gone" }},
]
"""
TEA = "# Tea\n\nIt MUST be hot.\n\n## Pot\n\nIt MUST be warm. It MAY be blue.\n\n### Lid\n\nIt MUST close.\n"
FILES = {**NUMBERED_FILES, ".duvet/config.toml": CONFIG, "tea.md": TEA, "empty.md": "# Empty\n"}
SCOPES = Project("/w/inner", tree=MemoryTree({path: text.encode() for path, text in FILES.items()})).scopes
UNSAID = "no requirement of tea.md#pot contains this quote"
SIMILAR = 'did you mean "The pot MUST be warm." or "The lid MUST NOT be lost."?'


def texts(target: str, *, below: bool = True) -> list[str]:
    return [SCOPES.requirements[index].text for index in SCOPES.of(target, below=below)]


def test_targets_mean_specifications_or_sections() -> None:
    for targets, found in [
        ("tea.md ./tea.md tea Tea", "It MUST be hot. It MUST be warm. It MAY be blue. It MUST close."),
        ("tea.md#pot", "It MUST be warm. It MAY be blue."),
        ("tea.md#tea", "It MUST be hot."),
        ("empty.md empty.md#empty", ""),
        (f"{RFC}.txt#10 {RFC}.html#10 HTTPS://WWW.RFC-EDITOR.ORG/rfc/rfc7#10", "Four MUST be."),
    ]:
        assert [" ".join(texts(target)) for target in targets.split()] == [found] * len(targets.split())
    for section, words in (("1", "One Two Three"), ("1.1", "Two Three"), ("Saucer", "Five Six")):
        assert texts(f"{RFC}#{section}") == [f"{word} MUST be." for word in words.split()]
        assert texts(f"RFC 7#{section}", below=False) == [f"{words.split()[0]} MUST be."]
    assert all(map(SCOPES.is_unavailable, ("https://host/gone", "https://host/gone#1", "https://HOST/gone")))
    assert not any(map(SCOPES.is_unavailable, ("https://host/other", "tea.md")))
    files = {"/w/tea.md": TEA, "a.rs": "//= tea.md#pot\n//= type=spec\n//# It MAY be blue.\n"}
    config = "'$schema' = 'duvet-cli/config/v1'\nsource = [{ pattern = 'a.rs' }]\n"
    tree = MemoryTree({path: text.encode() for path, text in {**files, ".duvet/config.toml": config}.items()})
    scopes = Project("/w/inner", tree=tree).scopes
    assert [scopes.requirements[index].text for index in scopes.of("tea.md#pot")] == ["It MAY be blue."]


def entry(target: str, **more: str) -> str:
    lines = {"target": f'"{target}"', "reason": '"no"', **more}
    return "".join(["\n[[not-applicable]]\n", *(f"{key} = {value}\n" for key, value in lines.items())])


def settled(entries: str, today: date | None = NOT_APPLICABLE_DAY) -> Project:
    return project(with_entries(entries), today)


def excluded(found: Project) -> list[str]:
    return [f"{one.section.id}: {one.text}" for one in found.requirements if one.state is State.NOT_APPLICABLE]


def test_an_entry_applies_to_what_it_names_or_quotes() -> None:
    before = project(with_entries("")).requirements
    after = settled(entry("tea.md")).requirements
    assert {one.state for one in before} >= {State.DONE, State.EXCEPTED, State.UNCITED}
    assert [(one.text, one.state) for one in after] == [(one.text, State.NOT_APPLICABLE) for one in before]
    ##= man/spec/gates.md#not-applicable
    ##% A `[[not-applicable]]` entry MUST apply to the requirement that it quotes or, without a quote, to all
    ##% requirements of its section or specification.
    for quote in ["The pot MUST be warm.", "The pot\\n  MUST be warm .", "pot MUST be warm"]:
        found = settled(entry("tea.md#pot", quote=f'"{quote}"'))
        assert (found.trace.problems, excluded(found)) == ((), ["pot: The pot MUST be warm."])
    more = {"more/c.toml": 'target = "tea.md#pot"\n[[spec]]\nquote = "The pot MUST be warm. It SHOULD be\\nround."\n'}
    found = project(with_entries(entry("tea.md#pot", quote='"It SHOULD be round."')) | more, NOT_APPLICABLE_DAY)
    assert (found.trace.problems, excluded(found)) == ((), ["pot: It SHOULD be round."])
    found = settled(entry("tea.md#pot") + entry("tea.md") + entry("tea.md#pot", quote='"Pots come first."'))
    assert [one.requirements for one in found.not_applicable] == [5, 10, 1]
    assert len(excluded(found)) == 10
    # The first entry for a requirement is the one that is shown.
    assert sorted(one.target for one in found.catalogue.excuses.values()) == ["tea.md"] * 5 + ["tea.md#pot"] * 5


def test_an_entry_that_matches_no_requirement() -> None:
    ##= man/spec/gates.md#not-applicable
    ##% duvet MUST report a `[[not-applicable]]` entry that matches no requirement, and suggest the most similar text.
    remove, both = "or remove the entry", "contain this quote"
    for target, quote, length, said in [
        ("tee.md", "", 8, 'DUV081 unknown specification "tee.md"; did you mean tea?'),
        ("tea.md#pott", "", 13, 'DUV081 unknown section "pott" of tea.md; did you mean pot?'),
        ("tea.md#tea-biscuits", "", 21, "DUV082 tea.md#tea-biscuits has no requirements; did you mean tea.md#cup?"),
        ("manners.md", "", 12, f"DUV082 manners.md has no requirements; name a section with requirements, {remove}"),
        ("tea.md#pot", "The pot MUST be hot.", 22, f"DUV082 {UNSAID}; {SIMILAR}"),
        ("tea.md#pot", "xyz", 5, f"DUV082 {UNSAID}; quote one of its requirements, {remove}"),
        ("tea.md#pot", "MUST", 6, f"DUV082 2 requirements of tea.md#pot {both}; quote one whole requirement"),
    ]:
        found = settled(entry(target, **({"quote": f'"{quote}"'} if quote else {})))
        place, (message, hint) = Place(15, 9, length) if quote else Place(13, 10, length), said[7:].split("; ")
        assert found.trace.problems == (Problem(said[:6], message, ".duvet/config.toml", place, hint=hint),)
        assert ([one.requirements for one in found.not_applicable], excluded(found)) == ([0], [])


def test_a_specification_that_could_not_be_loaded_is_reported_once() -> None:
    config = '\n[[specification]]\nsource = "https://host/gone"\n' + entry("https://host/gone#1")
    assert [one.code for one in settled(config).trace.problems] == ["DUV045"]


UNTIL = entry("tea.md#cup", expiry="2030-01-31")


def test_an_entry_applies_until_the_end_of_its_last_day() -> None:
    ##= man/spec/gates.md#not-applicable
    ##% Once the expiry date of a `[[not-applicable]]` entry has passed, duvet MUST report the entry and count its
    ##% requirements again.
    for entries, today, count in [
        *((UNTIL, date(2030, 1, 30), 4), (UNTIL, date(2030, 1, 31), 4), (UNTIL, date(2030, 2, 1), 0)),
        *((UNTIL, date(2031, 1, 1), 0), (UNTIL, None, 4), (UNTIL + entry("tea.md#cup"), date(2030, 2, 1), 4)),
    ]:
        assert len(excluded(settled(entries, today))) == count
    found = settled(UNTIL, date(2030, 2, 1))
    message = "this entry expired on 2030-01-31; its requirements count again"
    hint = "set a later date, or remove the entry"
    assert found.trace.problems == (Problem("DUV080", message, ".duvet/config.toml", Place(15, 10, 10), hint=hint),)
    assert [(one.requirements, one.has_expired) for one in found.not_applicable] == [(4, True)]
    assert found.requirements == project(with_entries("")).requirements
