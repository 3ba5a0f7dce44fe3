import click
from click.testing import CliRunner

from duvet.console import filters
from duvet.model import Kind, Level
from duvet.queries.records import RequirementFilter
from duvet.trace.catalogue import State


def chosen(*args: str) -> tuple[RequirementFilter, dict[str, object]]:
    found: list[tuple[RequirementFilter, dict[str, object]]] = []

    @click.command()
    @filters.add_spec_option
    @filters.add_section_option
    @filters.add_level_option
    @filters.add_status_option
    @filters.add_kind_option
    @click.option("--own")
    def command(**options: object) -> None:
        found.append(filters.split_filter(options))

    done = CliRunner().invoke(command, args)
    assert done.exit_code == 0, done.output
    return found[0]


STATES = ("uncited", "to-do", "IN_PROGRESS", "needs code", "Needs-Tests", "excepted", "done", "not applicable")
OLD = {
    "not started": (State.UNCITED, State.TO_DO),
    "NOT_STARTED": (State.UNCITED, State.TO_DO),
    "not-started": (State.UNCITED, State.TO_DO),
    "todo": (State.TO_DO,),
    "partial": (State.IN_PROGRESS,),
    "missing implementation": (State.NEEDS_CODE,),
    "missing-test": (State.NEEDS_TESTS,),
    "exception": (State.EXCEPTED,),
    "implied": (State.DONE,),
    "Complete": (State.DONE,),
    "partially_implemented": (State.IN_PROGRESS, State.NEEDS_CODE, State.NEEDS_TESTS),
    "fully_implemented": (State.EXCEPTED, State.DONE, State.NOT_APPLICABLE),
}
"""The names of former versions, and those of `get_prioritized_requirements`."""
KINDS = {one.name.lower(): one for one in (Kind.TEST, Kind.CITATION, Kind.EXCEPTION, Kind.TODO, Kind.IMPLICATION)}


def test_filter_options_become_filters() -> None:
    for args, wanted in [
        ((), RequirementFilter()),
        (("--spec", "tea", "--spec", "pot"), RequirementFilter(specifications=("tea", "pot"))),
        (("--section", "tea#brewing"), RequirementFilter(sections=("tea#brewing",))),
        (("--level", "must", "--level", "May"), RequirementFilter(levels=(Level.MUST, Level.MAY))),
        (("--status=Needs tests", "--status=DONE"), RequirementFilter(states=(State.NEEDS_TESTS, State.DONE))),
        (("--type", "implementation"), RequirementFilter(kinds=(Kind.CITATION,))),
        (("--level", "should", "--level", "none"), RequirementFilter(levels=(Level.SHOULD, Level.AUTO))),
        (tuple(f"--status={one}" for one in STATES), RequirementFilter(states=tuple(State))),
        *((("--status", word), RequirementFilter(states=states)) for word, states in OLD.items()),
        *((("--level", word), RequirementFilter(levels=(Level.AUTO,))) for word in ("Unspecified", "other", "AUTO")),
        (tuple(f"--type={one}" for one in KINDS), RequirementFilter(kinds=tuple(KINDS.values()))),
    ]:
        assert chosen(*args) == (wanted, {"own": None})
        assert chosen(*args, "--own", "x") == (wanted, {"own": "x"})
