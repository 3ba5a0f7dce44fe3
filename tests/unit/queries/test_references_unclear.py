"""References that mean several things, or nothing"""

from __future__ import annotations

from itertools import pairwise

import pytest

from duvet import MemoryTree, Project
from duvet.errors import NotFoundError
from duvet.queries.references import resolve_reference
from tests.unit.queries.referred import LEAK, PLACES, said


def test_what_could_mean_several_things() -> None:
    ##= man/spec/show.md#references
    ##% `duvet show` MUST list all matches of an ambiguous reference, and similar names for an unknown one.
    sentences = [f"Pot {number} MUST be warm.\n\n" for number in range(600)]
    config = (
        "'$schema' = 'duvet-cli/config/v1'\n[[specification]]\nsource = 'a.md'\n[[specification]]\nsource = 'b.md'\n"
    )
    text = "# All\n\n## Many\n\n" + "".join(sentences)
    files = {".duvet/config.toml": config.encode(), "a.md": text.encode(), "b.md": b"# None\n\n## Many\n"}
    catalogue = Project(tree=MemoryTree(files)).catalogue
    ids = sorted(catalogue.ids)
    prefix = next(one[:4] for one, other in pairwise(ids) if one[:4] == other[:4])
    alike = [index for index, id in enumerate(catalogue.ids) if id.startswith(prefix)]
    lines = [f"{catalogue.ids[index][:12]}  {catalogue.requirements[index].text}" for index in alike]
    with pytest.raises(NotFoundError) as caught:
        resolve_reference(catalogue, prefix)
    assert caught.value.message == f'"{prefix}" could mean {len(alike)} requirements'
    assert caught.value.hint.splitlines() == ["give one of these ids:", *lines]
    with pytest.raises(NotFoundError) as caught:
        resolve_reference(catalogue, "many")
    assert f"{caught.value.message}\n{caught.value.hint}" == (
        '"many" could mean 2 sections\ngive one of these:\na#many\nb#many'
    )


HELP = "give the beginning of an id, spec#section, a specification, file:line or a file"
NOT_IN_POT = (
    f'there is no requirement "{LEAK}" in "pot"\nit is /specifications/tea/sections/cup/requirements/2c79658776d2'
)


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("5bfa", 'there is no requirement "5bfa"\ndid you mean 5bfbf88bbb38?'),
        ("5b", '"5b" is too short for an id\ngive at least 4 digits'),
        ("5bfx", 'nothing is called "5bfx"\ndid you mean 5bfbf88bbb38?'),
        ("5b:f:b", 'nothing is called "5b:f:b"\n' + HELP),
        ("src/pots.rs:3", 'nothing is called "src/pots.rs:3"\ndid you mean src/pot.rs or src/c#.rs or src/1dd6.rs?'),
        ("teas.md#pot", 'there is no specification "teas.md"\ndid you mean tea?'),
        ("rfc7186#2", 'there is no specification "rfc7186"\ndid you mean rfc7168?'),
        ("tea#pots", 'there is no section "pots" in tea.md\ndid you mean pot?'),
        ("/specifications/tea/sections/pots", 'there is no section "pots" in tea.md\ndid you mean pot?'),
        (f"/specifications/tea/sections/pot/requirements/{LEAK}", NOT_IN_POT),
        (
            f"{PLACES[0]}/citations/src/pot.rs:4",
            'there is no citation "src/pot.rs:4" of that requirement\nit is cited at src/pot.rs:3, tests/test_pot.py:2',
        ),
        (
            "/specifications/tea/sections/milk",
            'there is no section "milk" in tea.md\n`duvet show tea` lists the sections',
        ),
        (
            "\x1b[31m",
            'nothing is called "\\u{1b}[31m"\n' + HELP,
        ),
        (
            f"a:{'9' * 5000}",
            f'nothing is called "a:{"9" * 998}…"\n' + HELP,
        ),
    ],
)
def test_what_means_nothing(reference: str, words: str) -> None:
    ##= man/spec/show.md#references
    ##% `duvet show` MUST list all matches of an ambiguous reference, and similar names for an unknown one.
    assert said(reference) == words
