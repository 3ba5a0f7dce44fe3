"""Fixes for quotes of reworded requirements."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import pytest

from duvet.model import Kind
from duvet.project.project import Project
from duvet.project.validation import fix_project, overlay_project, validate
from duvet.trace.nearest import describe_changed_meaning
from duvet.tree.files import MemoryTree
from tests.conftest import ROOT

CONFIG = "'$schema' = '{schema}'\n[[source]]\n{style}pattern = 'src/*.py'\n[[specification]]\nsource = 'spec.md'\n"
OURS = CONFIG.format(schema="duvet-cli/config/v1", style="language = 'python'\n")
UPSTREAM = CONFIG.format(
    schema="https://awslabs.github.io/duvet/config/v0.4.0.json",
    style="comment-style = {meta = '##=', content = '##%'}\n",
)
BOILS = "The kettle MUST stop heating when the water boils."
BEEP = "The kettle SHOULD beep twice."
CITED = "##= spec.md#heating\n##% "


def kettle(specification: str, *quotes: str, config: str = OURS) -> Project:
    source = "".join(f"{CITED}{quote}\ndef step_{number}(): ...\n" for number, quote in enumerate(quotes))
    texts = {
        ".duvet/config.toml": config,
        "spec.md": f"# Kettle\n\n## Heating\n\n{specification}\n",
        "src/a.py": source,
    }
    return Project(tree=MemoryTree({path: text.encode() for path, text in texts.items()}))


def codes(project: Project) -> list[str]:
    return [one.problem.code for one in validate(project).found]


def fix_quotes(project: Project) -> list[str]:
    fixed = overlay_project(project, fix_project(project, lambda findings: findings.files, lambda *_: True).after)
    return [one.quote for one in fixed.trace.annotations if one.kind is not Kind.SPEC]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # The sentence goes on where the quote ended.
        (BOILS, "The kettle MUST stop heating when the water boils and MUST then beep."),
        (BOILS, "The kettle MUST stop heating when the water boils over."),
        (BOILS, "The kettle MUST stop heating when the water boils, within 2 seconds."),
        (
            BOILS,
            "The kettle MUST stop heating when the water boils; it MUST then beep and wait for somebody to lift it.",
        ),
        # It begins earlier, or with other words, and something else changed.
        (BOILS, "If the lid is open, the kettle MUST stop heating when the water boils."),
        ("`boil` MUST stop when the water boils.", "With `--fast`, `boil` MUST stop before the water boils."),
        ("`boil` MUST stop when the water is hot.", "`boil` every one of MUST stop when the water is hot."),
        # It became shorter; the next requirement is not added to the quote.
        ("The kettle MUST stop heating when the water boils and MUST then beep.", BOILS),
        # Most words changed, but no other requirement is like it.
        (BOILS, "The kettle MUST switch off the heating as soon as any water boils."),
    ],
)
def test_a_reworded_requirement_is_quoted_as_a_whole(old: str, new: str) -> None:
    assert codes(kettle(f"{old} {BEEP}", old)) == []
    assert fix_quotes(kettle(f"{new} {BEEP}", old)) == [new]


THEN, SHUT = "The kettle MUST then beep until somebody lifts it.", "The lid MUST remain shut."
CACHE = "duvet MUST neither read nor write the cache."
JOINED = BOILS.replace("boils.", "boils and MUST then beep until somebody lifts it.")


@pytest.mark.parametrize(
    ("old", "new", "note"),
    [
        (JOINED, [BOILS, THEN], "2 requirements replaced the quoted text"),
        (
            JOINED.replace("lifts it.", "lifts it and MUST count the empty cups."),
            [BOILS, THEN, "It MUST count the empty cups."],
            "3 requirements replaced the quoted text",
        ),
        # One of two sentences was reworded, or moved and reworded.
        (f"{BOILS.replace('boils', 'is hot')} {SHUT}", [BOILS, SHUT], ""),
        (f"{BOILS} {SHUT}", [BOILS, SHUT.replace("remain shut", "stay closed")], ""),
        ("The kettle MUST stop if it is empty.", ["If it is empty, the kettle MUST stop."], ""),
    ],
)
def test_a_fix_quotes_all_requirements_that_replaced_the_quote(old: str, new: list[str], note: str) -> None:
    changed = kettle(" ".join([*new, BEEP]), old)
    assert fix_quotes(changed) == [" ".join(new)]
    (problem,) = [one.problem for one in validate(changed).found]
    assert problem.fix and ("replaced" in problem.hint, "replaced" in problem.fix.change) == (bool(note), bool(note))
    assert f"note: {note}" in problem.hint


def test_an_added_requirement_that_is_cited_is_not_quoted() -> None:
    old, then = BOILS.replace("boils.", "boils and then beep."), "It MUST then beep."
    assert fix_quotes(kettle(f"{BOILS} {then} {BEEP}", old)) == [f"{BOILS} {then}"]
    assert fix_quotes(kettle(f"{BOILS} {then} {BEEP}", old, then)) == [BOILS, then]
    # With the schema of awslabs duvet, a fix quotes the nearest sentence.
    assert fix_quotes(kettle(f"{BOILS} {then} {BEEP}", old, config=UPSTREAM)) == [BOILS]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("duvet MUST NOT fail because it cannot write the cache.", CACHE),
        ("duvet MUST NOT fail because it cannot write the cache.", f"With `--no-cache`, {CACHE}"),
        ("Dogs have never eaten anything of this kind in a kitchen.", BOILS),
    ],
)
def test_text_with_few_common_words_is_not_similar(old: str, new: str) -> None:
    (problem,) = [one.problem for one in validate(kettle(f"{new} {BEEP}", old)).found]
    hint = "no text in this section is similar; quote one of its requirements, or remove the citation"
    assert (problem.hint, problem.fix) == (hint, None)


def test_a_part_of_a_requirement_remains_a_part() -> None:
    assert fix_quotes(kettle(BOILS, "The kettle MUST stop boiling")) == ["The kettle MUST stop heating"]
    for bullet in ("", "- "):
        new = "The kettle MUST switch off the heating as soon as any water boils."
        assert fix_quotes(kettle(f"- {new}\n- {BEEP}", bullet + BOILS)) == [new]
    # Without a full stop, the requirement tells nothing about the end of the quote.
    item = "- The kettle MUST stop heating when the water boils"
    assert fix_quotes(kettle(f"{item} over", item[2:].replace("water", "watr"))) == [f"{item[2:]} over"]


def test_a_cited_requirement_is_not_proposed() -> None:
    new = "The kettle MUST switch off the heating as soon as any water boils."
    assert fix_quotes(kettle(f"{new} {BEEP}", BOILS, BOILS)) == [new, new]
    assert fix_quotes(kettle(f"{new} {BEEP}", BOILS, new)) == [BOILS, new]
    other = new.replace("water", "milk")
    assert fix_quotes(kettle(f"{new} {other}", BOILS)) == [BOILS]


@pytest.mark.parametrize(
    ("specification", "quote", "is_cut"),
    [
        ("boils and MUST then beep.", "boils.", True),
        ("boils, within 2 seconds.", "boils.", True),
        ("boils over.", "boils.", True),
        ("boils (at 100 degrees).", "boils.", True),
        ("boils over.", "boilz", True),
        ("boils.", "boil.", True),
        ("boils!", "boils.", False),
        ("boils", "boils.", False),
        ("boils\n- The kettle SHOULD beep.", "boils.", False),
        ("boils\n\nThen wait.", "boils.", False),
        ("boils.", "boils..", False),
        ("boils.", "boilz.", True),
        ("boils.", "Boils.", False),
    ],
)
def test_a_wrong_character_where_the_sentence_goes_on(specification: str, quote: str, is_cut: bool) -> None:
    ##= man/spec/trace.md#targets-and-quotes
    ##% With its own schema, duvet MUST NOT accept a quote that differs from its section in a word or a number.
    text = "The kettle MUST stop heating when the water "
    for config, refused in ((OURS, is_cut), (UPSTREAM, False)):
        assert codes(kettle(text + specification, text + quote, config=config)) == ["DUV050" if refused else "DUV051"]


def test_no_fix_lowers_a_state() -> None:
    ##= man/spec/validate.md#fixes
    ##% A fix MUST NOT lower the state of a requirement.
    for config in (OURS, UPSTREAM):
        for quote in (BOILS.replace("water", "watr"), BOILS.replace(".", ","), BOILS.removesuffix(".") + "?"):
            assert fix_quotes(kettle(f"{BOILS} {BEEP}", quote, config=config)) == [BOILS]
        longer = BOILS.replace("boils.", "boils and then waits.")
        assert fix_quotes(kettle(f"{longer} {BEEP}", BOILS, config=config)) == [longer]


@pytest.mark.parametrize(
    ("old", "new", "note"),
    [
        ("It MUST stop.", "It MUST NOT stop.", "the keyword differs; check the code"),
        ("It MUST stop.", "It SHOULD stop.", "the keyword differs; check the code"),
        ("It MUST stop if hot.", "It MUST stop if not hot.", "a negation differs; check the code"),
        ("It MUST wait 2.5 s.", "It MUST wait 3 s.", "a number differs; check the code"),
        ("It MUST wait 2 s.", "It MAY wait 3 s.", "the keyword and a number differ; check the code"),
        ("It MUST stop.", "It MUST halt.", ""),
        ("It **MUST** _not_ stop.", "It MUST stop.", "a negation differs; check the code"),
        ("It _MUST_ stop.", "It MUST halt.", ""),
        ("It MUST read no_proxy2.", "It MUST read it.", "a negation and a number differ; check the code"),
    ],
)
def test_notes_on_changed_meaning(old: str, new: str, note: str) -> None:
    assert describe_changed_meaning(old, new) == note


Way = Callable[[list[str], random.Random], list[str]]
_ENDINGS = ("and MUST then stop.", "within 2 seconds.", "unless it is empty.", "over.")


def lengthen(words: list[str], choice: random.Random) -> list[str]:
    return [*words[:-1], words[-1].rstrip(".") + choice.choice(("", ",")), *choice.choice(_ENDINGS).split()]


def shorten(words: list[str], choice: random.Random) -> list[str]:
    kept = words[: -choice.randint(2, max(2, len(words) // 3))]
    return [*kept[:-1], kept[-1].rstrip(".,;:") + "."]


def replace_words(words: list[str], choice: random.Random) -> list[str]:
    changed = {choice.randrange(len(words) - 1) for _ in range(max(1, len(words) // 6))}
    return ["kettle" if place in changed else word for place, word in enumerate(words)]


def insert_words(words: list[str], choice: random.Random) -> list[str]:
    at = choice.randrange(1, len(words))
    return [*words[:at], *choice.choice(("also", "every one of", "3")).split(), *words[at:]]


@pytest.mark.parametrize("seed", range(3))
def test_fixes_of_our_own_requirements_cut_no_quote(seed: int) -> None:
    """A fix quotes the whole new sentence, or there is no fix."""
    choice = random.Random(seed)
    text = (ROOT / "man/spec/validate.md").read_text(encoding="utf-8")
    files = {".duvet/config.toml": OURS.encode(), "spec.md": text.encode()}
    stated = Project(tree=MemoryTree(files)).requirements
    source, right = "", {}
    for requirement in choice.sample(stated, 12):
        plain = requirement.section.plain
        assert plain
        ((low, high),) = next(one.ranges for one in plain.statements if one.text == requirement.text)
        old = plain.quote(low, high)
        source += f"##= spec.md#{requirement.section.id}\n##% {old}\npass\n"
        way: Way = choice.choice((lengthen, shorten, replace_words, insert_words))
        # A code span is one word, so that it stays one.
        new = " ".join(way(re.findall(r"\S*`[^`]*`\S*|\S+", old), choice))
        lines = text.split("\n\n")
        place = next(index for index, part in enumerate(lines) if old in " ".join(part.split()))
        lines[place] = " ".join(lines[place].split()).replace(old, new)
        text, right[old] = "\n\n".join(lines), new
    changed = Project(tree=MemoryTree({**files, "spec.md": text.encode(), "src/a.py": source.encode()}))
    fixed = fix_quotes(changed)
    outcomes = [quote in (old, new) for quote, (old, new) in zip(fixed, right.items(), strict=True)]
    assert all(outcomes), [pair for pair, good in zip(right.items(), outcomes, strict=True) if not good]
    assert sum(quote == new for quote, new in zip(fixed, right.values(), strict=True)) >= 10
