from duvet.console.report_run import check_counts
from duvet.progress import Progress
from duvet.specs.census import Census, CensusReason
from duvet.specs.library import Library
from duvet.specs.locator import locate_specification
from duvet.tree.files import MemoryTree
from tests.problems import show_problem


def test_a_sentence_that_is_not_counted_is_a_problem() -> None:
    ##= man/spec/trace.md#requirements
    ##% With duvet's own schema, `duvet report` MUST warn about a sentence with a keyword if duvet neither extracts the
    ##% sentence nor has a documented reason to skip it.
    specification = Library(MemoryTree({"spec.md": b"# Pot\n"}), "d", forms={}).load(locate_specification("spec.md"))
    counted = Census(1, 0, 0, (CensusReason("in code", (1,)),), ())
    lost = Census(3, 1, 0, (), (4, 9))
    problems = list(check_counts(Progress(), [(specification, counted), (specification, lost)]))
    message = "this sentence has a keyword, but duvet neither extracted it nor has a documented reason to skip it"
    hint = "this is a bug in duvet; please report it and include the sentence"
    shown = [f"spec.md:{line} warning DUV039 {message}; {hint}" for line in (4, 9)]
    assert [*map(show_problem, problems)] == shown
