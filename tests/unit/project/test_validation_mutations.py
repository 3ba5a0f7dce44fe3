import os
import random
from collections import Counter

import pytest

from duvet import rules
from duvet.project.findings import Findings
from duvet.project.project import Project
from duvet.project.validation import fix_project, overlay_project
from duvet.sources.editor import split_words
from tests.cli.sample_project import make
from tests.unit.project.mutations import HOW, Spoiler, Spoilt, around

SEEDS = int(os.environ.get("DUVET_SEEDS", "3"))
RESTORED, OTHER, LEFT = "restored", "other", "left"
CODES = {
    rule.code
    for rule in (rules.QUOTE_NOT_FOUND, rules.QUOTE_ONE_EDIT, rules.TARGET_UNKNOWN_SECTION, rules.TARGET_NO_SECTION)
}
OWN = {
    ".duvet/config.toml": (
        "'$schema' = 'duvet-cli/config/v1'\n"
        "[[source]]\nlanguage = 'c'\npattern = 'src/*.c'\n"
        "[[source]]\nlanguage = 'python'\npattern = 'src/*.py'\n"
        "[[specification]]\nsource = 'mail.md'\n"
    ),
    "mail.md": (
        "# Mail\n\n## Sending\n\nA client MUST send a well-formed greeting before it sends anything else.\n"
        "- The server SHOULD answer each greeting at once, even if it is busy with other\n  long-lived clients.\n"
        "- A client MAY hang up when nobody answers, but it MUST NOT try again within an hour.\n\n"
        "## Storing\n\nEach message MUST be written to a non-volatile medium before it is acknowledged.\n"
        "The medium SHOULD be checked for bit-rot once a week, by a program that reads all of it.\n"
    ),
    "src/a.c": (
        "int send(void) {\r\n    /*\r\n     *= mail.md#sending\r\n     *# A client MUST send a well-formed greeting\r\n"
        "     *#   before it sends anything else.\r\n     */\r\n    return 0;\r\n}\r\n"
        "/*\r\n *= mail.md#storing\r\n *# The medium SHOULD be checked for bit-rot once a week\r\n */"
    ),
    "src/b.py": (
        "\ufeffdef answer():\n\t##= mail.md#sending\n\t##% The server SHOULD answer each greeting at once, even if it is "
        "##% but it MUST NOT try again within an hour.\n"
    ),
}


@pytest.fixture(scope="session")
def own(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project(str(make(tmp_path_factory.mktemp("own"), OWN)))


def list_invalid(findings: Findings) -> set[int]:
    return {one.id for one in findings.found if one.problem.code in CODES}


def check_mutations(project: Project, spoilt: Spoilt) -> Counter[tuple[str, str]]:
    """Check what must be true after any change; count the outcomes for wrong citations."""
    done = fix_project(overlay_project(project, spoilt.files), lambda findings: findings.files, lambda *_: True)
    before, after = list_invalid(done.first), list_invalid(done.findings)
    ##= man/spec/validate.md#checks
    ##% `duvet validate` MUST report every problem that `duvet report` reports for an annotation.
    assert {id for id in spoilt.how if id in before} == {id for id, right in spoilt.right.items() if not right}
    numbers = _numbers(project)
    styles = {path: styles for styles, paths in project.inputs.sources for path in paths}
    for path, data in done.after.items():
        ids = {id for id in before if project.trace.annotations[id].path == path}
        own = {numbers[id] for id in ids}
        old, new = (around(text.decode(), path, styles[path], own) for text in (done.before[path], data))
        assert old == new
    result = overlay_project(project, {**spoilt.files, **done.after})
    assert fix_project(result, lambda findings: findings.files, lambda *_: True).after == {}

    def became(id: int) -> str:
        was, now = (one.trace.annotations[id] for one in (project, result))
        same = (was.target, split_words(was.quote)) == (now.target, split_words(now.quote))
        return LEFT if id in after else RESTORED if same else OTHER

    return Counter((spoilt.how[id], became(id)) for id in before if id in spoilt.how)


def _numbers(project: Project) -> dict[int, int]:
    seen: Counter[str] = Counter()
    found = {}
    for id, annotation in enumerate(project.trace.annotations):
        found[id] = seen[annotation.path]
        seen[annotation.path] += 1
    return found


@pytest.mark.seeded
@pytest.mark.parametrize("seed", range(10 * SEEDS))
def test_mutated_citations_of_a_small_project_are_reported(seed: int, own: Project) -> None:
    counts = check_mutations(own, Spoiler(own).spoil(random.Random(seed)))
    # What goes on after a part of a sentence has no answer, nor has such a part that ends with two other words.
    assert {how for (how, what), count in counts.items() if what == LEFT} <= {"end", "swap"}


def test_every_kind_of_mutation_is_tried(own: Project) -> None:
    drawn = {how for seed in range(10 * SEEDS) for how in Spoiler(own).spoil(random.Random(seed)).how.values()}
    assert drawn == set(HOW)
