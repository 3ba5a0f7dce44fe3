import os
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from duvet.model import Kind, Place, Problem
from duvet.project.project import Project
from duvet.project.validation import FixResult, fix_project, overlay_project, validate, write_fixes
from duvet.trace.nearest import describe_changed_meaning
from duvet.tree.files import MemoryTree
from tests.cli.command import files
from tests.cli.sample_project import make
from tests.conftest import ROOT
from tests.unit.project.faulty_project import BROKEN, FILES, FIXED

TOML = ".duvet/exceptions/cleaning.toml"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make(tmp_path / "tea", FILES)


def fix_all(folder: Path) -> tuple[Project, FixResult]:
    project = Project(str(folder))
    return project, fix_project(project, lambda findings: findings.files, lambda *_: True)


def fix(folder: Path) -> tuple[Problem, ...]:
    return write_fixes(*fix_all(folder))


FORMS: dict[str, Callable[[str], str]] = {
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "BOM": lambda text: f"\ufeff// Tea\n{text}",
    "no final newline": lambda text: text.removesuffix("\n"),
    "quote at the end": lambda text: text.rstrip("}").removesuffix("\nfn spell() {}\n"),
    "tabs": lambda text: text.replace("    ", "\t"),
    "odd characters": lambda text: text.replace("brew()", "brëw(\u2028\x0c)"),
}


def test_the_form_of_a_file_is_kept(folder: Path) -> None:
    ##= man/spec/validate.md#fixes
    ##% A fix MUST make its annotation valid, and MUST NOT change anything else in the file.
    for name, change in FORMS.items():
        (folder / "src/broken.rs").write_bytes(change(BROKEN).encode())
        assert fix(folder) == ()
        assert (folder / "src/broken.rs").read_bytes() == change(FIXED).encode(), name


def test_permissions_and_links_are_kept(folder: Path, tmp_path: Path) -> None:
    ##= man/spec/validate.md#fixes
    ##% `duvet validate --fix` MUST write all fixed files completely or none of them, and keep their permissions and
    ##% symbolic links.
    path, real = folder / "src/broken.rs", tmp_path / "real.rs"
    path.rename(real)
    real.chmod(0o755)
    path.symlink_to(real)
    (folder / "src/again.rs").symlink_to(real)
    assert fix(folder) == ()
    assert path.is_symlink() and real.read_text() == FIXED
    assert real.stat().st_mode & 0o777 == 0o755
    assert sorted(one.name for one in tmp_path.iterdir()) == ["real.rs", "tea"]


def test_nothing_is_written_if_a_file_is_read_only(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ##= man/spec/validate.md#fixes
    ##% If a file to fix is read-only or has changed since duvet read it, `duvet validate --fix` MUST report the file
    ##% and write nothing.
    (folder / "src/other.rs").write_text(BROKEN)
    before = files(folder)
    # Root may write to every file, so its permissions would not do.
    monkeypatch.setattr(os, "access", lambda path, mode: not path.endswith("other.rs"))
    expected = Problem("DUV015", "this file is read-only, so it was not fixed", "src/other.rs", Place())
    assert (fix(folder), files(folder)) == ((expected,), before)


def test_nothing_is_written_if_a_file_has_changed(folder: Path) -> None:
    other = folder / "src/other.rs"
    other.write_text(BROKEN)
    project, found = fix_all(folder)
    other.write_text("fn other() {}\n")
    before = files(folder)
    message = "this file changed while it was checked, so it was not fixed"
    expected = Problem("DUV015", message, "src/other.rs", Place(), hint="run the same command again")
    assert write_fixes(project, found) == (expected,)
    other.unlink()
    assert write_fixes(project, found) == (expected,)
    del before["src/other.rs"]
    assert files(folder) == before


AND, SERVING = "and MUST NOT be washed with soap.", "'tea.md#serving'"


@pytest.mark.parametrize(
    ("before", "old", "new"),
    [
        ('quote = "The pot MUST be washed with water"', "washed", "rinsed"),
        ("quote = 'The pot MUST be washed with water' # so", "washed", "rinsed"),
        (f"quote = '''\nThe pot MUST be\n  washed with water,\n{AND}\n'''", "washed", "rinsed"),
        (f'quote = """The pot MUST be washed\r\n with water,\r\n {AND}"""', "washed", "rinsed"),
        ("quote = '''\n\nThe pot MUST be\nwith water,\n\nand MUST NOT be washed\n'''", " be\n", " be rinsed\n"),
        (f"target = {SERVING}\nquote = 'The pot MUST be rinsed with water'", SERVING, '"tea.md#cleaning"'),
    ],
)
def test_requirement_files_are_fixed(before: str, old: str, new: str, folder: Path) -> None:
    for kind, more in (("exception", "reason = 'so'\n"), ("todo", ""), ("spec", "level = 'MUST'\n")):
        text = f"target = 'tea.md#cleaning'\n\n[[{kind}]]\n{more}{{}}\n\n[[{kind}]]\nquote = 'MUST be rinsed'\n{more}"
        (folder / TOML).write_bytes(text.format(before).encode())
        (folder / "src/broken.rs").unlink(missing_ok=True)
        assert fix(folder) == ()
        assert (folder / TOML).read_bytes().decode() == text.format(before.replace(old, new, 1))


def test_entries_that_are_left_alone(folder: Path) -> None:
    for text in (
        # What is escaped is not looked through, and a target that others share stays.
        'target = "tea.md#brewing"\n[[todo]]\nquote = "Say \\"The pot MUST be rinsed with vinegar\\" to all"\n',
        "target = 'tea.md#serving'\n[[todo]]\nquote = 'The pot MUST be rinsed'\n[[todo]]\nquote = 'Everybody'\n",
    ):
        (folder / TOML).write_text(text)
        assert (fix(folder), (folder / TOML).read_text()) == ((), text)


CONFIG = "'$schema' = '{schema}'\n[[source]]\n{style}pattern = 'src/*.py'\n[[specification]]\nsource = 'spec.md'\n"
OURS = CONFIG.format(schema="duvet-cli/config/v1", style="language = 'python'\n")
STYLE = "comment-style = {meta = '##=', content = '##%'}\n"
UPSTREAM = CONFIG.format(schema="https://awslabs.github.io/duvet/config/v0.4.0.json", style=STYLE)
BOILS = "The kettle MUST stop heating when the water boils."
BEEP = "The kettle SHOULD beep twice."
CITED = "##= spec.md#heating\n##% "


def kettle(specification: str, *quotes: str, config: str = OURS) -> Project:
    source = "".join(f"{CITED}{quote}\ndef step_{number}(): ...\n" for number, quote in enumerate(quotes))
    text = f"# Kettle\n\n## Heating\n\n{specification}\n"
    texts = {".duvet/config.toml": config, "spec.md": text, "src/a.py": source}
    return Project(tree=MemoryTree({path: text.encode() for path, text in texts.items()}))


def codes(project: Project) -> list[str]:
    return [one.problem.code for one in validate(project).found]


def fix_quotes(project: Project) -> list[str]:
    fixed = overlay_project(project, fix_project(project, lambda findings: findings.files, lambda *_: True).after)
    return [one.quote for one in fixed.trace.annotations if one.kind is not Kind.SPEC]


def test_a_reworded_requirement_is_quoted_as_a_whole() -> None:
    for old, new in [
        # The sentence goes on where the quote ended.
        (BOILS, "The kettle MUST stop heating when the water boils and MUST then beep."),
        (BOILS, "The kettle MUST stop heating when the water boils over."),
        (BOILS, "The kettle MUST stop heating when the water boils, within 2 seconds."),
        (BOILS, "The kettle MUST stop heating when the water boils; it MUST then wait for somebody to lift it."),
        # It begins earlier, or with other words, and something else changed.
        (BOILS, "If the lid is open, the kettle MUST stop heating when the water boils."),
        ("`boil` MUST stop when the water boils.", "With `--fast`, `boil` MUST stop before the water boils."),
        ("`boil` MUST stop when the water is hot.", "`boil` every one of MUST stop when the water is hot."),
        # It became shorter; the next requirement is not added to the quote.
        ("The kettle MUST stop heating when the water boils and MUST then beep.", BOILS),
        # Most words changed, but no other requirement is like it.
        (BOILS, "The kettle MUST switch off the heating as soon as any water boils."),
    ]:
        assert codes(kettle(f"{old} {BEEP}", old)) == []
        assert fix_quotes(kettle(f"{new} {BEEP}", old)) == [new]


THEN, SHUT = "The kettle MUST then beep until somebody lifts it.", "The lid MUST remain shut."
CACHE = "duvet MUST neither read nor write the cache."
JOINED = BOILS.replace("boils.", "boils and MUST then beep until somebody lifts it.")


def test_a_fix_quotes_all_requirements_that_replaced_the_quote() -> None:
    three = [BOILS, THEN, "It MUST count."]
    for old, new, note in [
        (JOINED, [BOILS, THEN], "2 requirements replaced the quoted text"),
        (JOINED.replace("lifts it.", "lifts it and MUST count."), three, "3 requirements replaced the quoted text"),
        # One of two sentences was reworded, or moved and reworded.
        (f"{BOILS.replace('boils', 'is hot')} {SHUT}", [BOILS, SHUT], ""),
        (f"{BOILS} {SHUT}", [BOILS, SHUT.replace("remain shut", "stay closed")], ""),
        ("The kettle MUST stop if it is empty.", ["If it is empty, the kettle MUST stop."], ""),
    ]:
        changed = kettle(" ".join([*new, BEEP]), old)
        assert fix_quotes(changed) == [" ".join(new)]
        (problem,) = [one.problem for one in validate(changed).found]
        assert problem.fix
        assert [("replaced" in text) for text in (problem.hint, problem.fix.change)] == [bool(note)] * 2
        assert f"note: {note}" in problem.hint


def test_an_added_requirement_that_is_cited_is_not_quoted() -> None:
    old, then = BOILS.replace("boils.", "boils and then beep."), "It MUST then beep."
    assert fix_quotes(kettle(f"{BOILS} {then} {BEEP}", old)) == [f"{BOILS} {then}"]
    assert fix_quotes(kettle(f"{BOILS} {then} {BEEP}", old, then)) == [BOILS, then]
    # With the schema of awslabs duvet, a fix quotes the nearest sentence.
    assert fix_quotes(kettle(f"{BOILS} {then} {BEEP}", old, config=UPSTREAM)) == [BOILS]


def test_a_part_of_a_requirement_remains_a_part() -> None:
    assert fix_quotes(kettle(BOILS, "The kettle MUST stop boiling")) == ["The kettle MUST stop heating"]
    for bullet in ("", "- "):
        new = "The kettle MUST switch off the heating as soon as any water boils."
        assert fix_quotes(kettle(f"- {new}\n- {BEEP}", bullet + BOILS)) == [new]
    # Without a full stop, the requirement tells nothing about the end of the quote.
    item = "- The kettle MUST stop heating when the water boils"
    assert fix_quotes(kettle(f"{item} over", item[2:].replace("water", "watr"))) == [f"{item[2:]} over"]


def test_text_with_few_common_words_is_not_similar_and_cited_requirements_are_not_proposed() -> None:
    for old, new in [
        ("duvet MUST NOT fail because it cannot write the cache.", CACHE),
        ("duvet MUST NOT fail because it cannot write the cache.", f"With `--no-cache`, {CACHE}"),
        ("Dogs have never eaten anything of this kind in a kitchen.", BOILS),
    ]:
        (problem,) = [one.problem for one in validate(kettle(f"{new} {BEEP}", old)).found]
        hint = "no text in this section is similar; quote one of its requirements, or remove the citation"
        assert (problem.hint, problem.fix) == (hint, None)
    off = "The kettle MUST switch off the heating as soon as any water boils."
    assert fix_quotes(kettle(f"{off} {BEEP}", BOILS, BOILS)) == [off, off]
    assert fix_quotes(kettle(f"{off} {BEEP}", BOILS, off)) == [BOILS, off]
    assert fix_quotes(kettle(f"{off} {off.replace('water', 'milk')}", BOILS)) == [BOILS]


def test_a_wrong_character_where_the_sentence_goes_on() -> None:
    for specification, quote, is_cut in [
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
    ]:
        text = "The kettle MUST stop heating when the water "
        for config, refused in ((OURS, is_cut), (UPSTREAM, False)):
            code = "DUV050" if refused else "DUV051"
            assert codes(kettle(text + specification, text + quote, config=config)) == [code]


def test_no_fix_lowers_a_state() -> None:
    ##= man/spec/validate.md#fixes
    ##% A fix MUST NOT lower the state of a requirement.
    for config in (OURS, UPSTREAM):
        for quote in (BOILS.replace("water", "watr"), BOILS.replace(".", ","), BOILS.removesuffix(".") + "?"):
            assert fix_quotes(kettle(f"{BOILS} {BEEP}", quote, config=config)) == [BOILS]
        longer = BOILS.replace("boils.", "boils and then waits.")
        assert fix_quotes(kettle(f"{longer} {BEEP}", BOILS, config=config)) == [longer]


def test_notes_on_changed_meaning() -> None:
    for old, new, note in [
        ("It MUST stop.", "It MUST NOT stop.", "the keyword differs; check the code"),
        ("It MUST stop.", "It SHOULD stop.", "the keyword differs; check the code"),
        ("It MUST stop if hot.", "It MUST stop if not hot.", "a negation differs; check the code"),
        ("It MUST wait 2.5 s.", "It MUST wait 3 s.", "a number differs; check the code"),
        ("It MUST wait 2 s.", "It MAY wait 3 s.", "the keyword and a number differ; check the code"),
        ("It MUST stop.", "It MUST halt.", ""),
        ("It **MUST** _not_ stop.", "It MUST stop.", "a negation differs; check the code"),
        ("It _MUST_ stop.", "It MUST halt.", ""),
        ("It MUST read no_proxy2.", "It MUST read it.", "a negation and a number differ; check the code"),
    ]:
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
    fixed = fix_quotes(Project(tree=MemoryTree({**files, "spec.md": text.encode(), "src/a.py": source.encode()})))
    outcomes = [quote in (old, new) for quote, (old, new) in zip(fixed, right.items(), strict=True)]
    assert all(outcomes), [pair for pair, good in zip(right.items(), outcomes, strict=True) if not good]
    assert sum(quote == new for quote, new in zip(fixed, right.values(), strict=True)) >= 10
