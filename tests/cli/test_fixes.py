import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.command import play, run, runner
from tests.cli.sample_project import make
from tests.cli.terminals import answered
from tests.histories import git, history

OURS = "'$schema' = 'duvet-cli/config/v1'\n[[source]]\nlanguage = 'python'\npattern = 'src/*.py'\n"
REST = "[[specification]]\nsource = 'spec.md'\n[report.html]\nenabled = false\n"
CONFIG, CODE = ".duvet/config.toml", "src/a.py"
UPSTREAM = OURS.replace("duvet-cli/config/v1", "https://awslabs.github.io/duvet/config/v0.4.0.json")
UPSTREAM = UPSTREAM.replace("language = 'python'", "comment-style = { meta = '##=', content = '##%' }") + REST
BOIL = "The kettle MUST boil water within two minutes."
STOP = "The kettle MUST stop heating when the water boils."
BEEP = "A kettle SHOULD beep twice."
SPEC = f"# Kettle\n\n## Heating\n\n{BOIL}\n{STOP}\n{BEEP}\n\n## Cleaning\n\nThe kettle MUST be clean.\n"
FIX, SHOW = "validate --fix", f"cat {CODE}"
TYPO = BOIL.replace("two", "tow")
Step = str | Mapping[str, str]


def cite(*quotes: str) -> dict[str, str]:
    parts = [f"##= spec.md#heating\n##% {quote}\ndef step_{number}(): ...\n\n" for number, quote in enumerate(quotes)]
    return {CODE: "".join(parts)}


def specify(old: str, new: str, spec: str = SPEC) -> dict[str, str]:
    return {"spec.md": spec.replace(old, new, 1)}


FRAME = "A frame of type {} MUST be ignored by the kettle."
FRAMES = f"# Kettle\n\n## Heating\n\n{FRAME.format('one')}\n{FRAME.format('other')}\n"
TWICE = f"{SPEC}{STOP}\n"
BEFORE = specify("when the", "before the")
SCENARIOS: dict[str, tuple[Mapping[str, str], tuple[Step, ...]]] = {
    "typos": (cite(TYPO, f"a{BEEP[1:]}"), (FIX, SHOW)),
    "removed requirement": (cite(STOP), (specify(STOP, ""), FIX, cite("The kettle MUST play a tune to you."), FIX)),
    "changed requirement": (
        cite(STOP),
        ("validate", "git commit", BEFORE, FIX, "git commit", FIX, "git commit", "validate --unsafe-fixes", SHOW),
    ),
    # The code follows the old words, even if the specification never changed.
    "changed meaning": (
        cite(BEEP.replace("SHOULD", "MUST")),
        (
            *(FIX, cite(STOP.replace("MUST", "MUST NOT")), FIX, cite(BOIL.replace("two", "2")), FIX),
            *(cite(STOP.replace("the", "no")), FIX, cite(STOP.replace("MUST", "MUST _not_")), FIX, SHOW),
        ),
    ),
    "typo in older words": (cite(STOP.replace("heating", "haeting")), (BEFORE, "git commit", FIX)),
    # The commit that last changed the citation shows which words it was written for.
    "typo after a change": (
        cite(STOP.replace("heating", "heatin")),
        (
            *(specify("stop heating", "stop heating up"), "git commit", FIX),
            *(cite(STOP.replace("stop heating", "stpo heating up")), FIX),
        ),
    ),
    "uncommitted specification": (
        cite(BOIL),
        (specify(STOP, "The kettle MUST whistle when open."), cite("The kettle MUST whisper when open."), FIX),
    ),
    "moved requirement": (cite(BOIL), ({"spec.md": f"{SPEC.replace(BOIL, '')}\n{BOIL}\n"}, FIX)),
    # The requirement was reworded, although another section contains the old sentence.
    "old words in another section": (
        {**cite(STOP), "spec.md": TWICE},
        (specify(STOP, STOP.replace("when", "soon after"), TWICE), FIX),
    ),
    "two quotes for one requirement": (
        {**cite(FRAME.format("one"), FRAME.format("other")), "spec.md": FRAMES},
        ({"spec.md": f"# Kettle\n\n## Heating\n\n{FRAME.format('new')}\n"}, "validate --unsafe-fixes"),
    ),
    "schema of awslabs duvet": ({CONFIG: UPSTREAM, **cite(STOP.replace("MUST", "SHOULD"))}, (FIX,)),
}


@pytest.fixture
def texts() -> dict[str, str]:
    return {CONFIG: OURS + REST, "spec.md": SPEC, ".gitignore": ".duvet/cache\n"}


@pytest.mark.parametrize("name", SCENARIOS)
def test_fixes_after_changes(
    name: str, texts: dict[str, str], tmp_path: Path, duvet_command: str, gold: Snapshot
) -> None:
    ##= man/spec/validate.md#safe-fixes
    ##% With duvet's own schema, `duvet validate --fix` MUST apply only safe fixes, and report why any other fix is
    ##% unsafe.
    ##= man/spec/validate.md#safe-fixes
    ##% With `--unsafe-fixes`, `duvet validate` MUST apply all fixes.
    ##= man/spec/validate.md#safe-fixes
    ##% A fix that adds, removes or replaces words MUST be unsafe unless git or the snapshot shows that
    ##% the specification has not changed since the citation was written.
    ##= man/spec/validate.md#safe-fixes
    ##% A fix that changes a keyword, a negation or a number MUST be unsafe.
    ##= man/spec/validate.md#checks
    ##% If the most similar text is too different for a fix, and an earlier version of the specification contained the
    ##% quote, `duvet validate` MUST say which commit or snapshot contained it.
    started, steps = SCENARIOS[name]
    folder = history(tmp_path, {**texts, **started})
    first = git(folder, "rev-parse", "HEAD")[:12]
    told = play(runner(duvet_command, folder), folder, *steps)
    # The commit that had the words is the one that wrote them.
    assert set(re.findall(r"in commit (\w+)", told)) <= {first}
    gold.assert_match(told.replace(first, "COMMIT"), f"{name.replace(' ', '_')}.txt")


def test_a_snapshot_without_git(texts: dict[str, str], tmp_path: Path, duvet_command: str, gold: Snapshot) -> None:
    ##= man/spec/validate.md#safe-fixes
    ##% A fix MUST be safe if it changes only the target of a quote that moved, or only white space, markup or the case
    ##% of the first letter.
    make(tmp_path, {**texts, CONFIG: f"{OURS}{REST}[report.snapshot]\nenabled = true\n", **cite(BOIL)})
    duvet = runner(duvet_command, tmp_path)
    told = play(duvet, tmp_path, "-q report", cite(TYPO), FIX, specify("two minutes", "two hours"), FIX)
    (tmp_path / ".duvet/snapshot.txt").unlink()
    moved = {"spec.md": f"{SPEC.replace(STOP, '')}\n{STOP}\n"}
    told += play(duvet, tmp_path, FIX, moved, cite(f"a{BEEP[1:]}", STOP), FIX, SHOW)
    gold.assert_match(told, "without_git.txt")


@pytest.mark.parametrize("format", ["json", "sarif"])
def test_programs_learn_that_a_fix_is_unsafe(
    format: str, texts: dict[str, str], tmp_path: Path, duvet_command: str
) -> None:
    make(tmp_path, {**texts, **BEFORE, **cite(STOP)})
    found = json.loads(run(duvet_command, tmp_path, "validate", "--format", format).out)
    if format == "json":
        assert found["problems"][0]["fix"]["applicability"] == "unsafe"
    else:
        assert found["runs"][0]["results"][0]["fixes"][0]["properties"] == {"applicability": "unsafe"}


@pytest.mark.parametrize("renames", [False, True])
def test_a_specification_that_was_renamed(
    renames: bool, texts: dict[str, str], tmp_path: Path, duvet_command: str
) -> None:
    """Renames are followed, and a citation of the old name gets the new one."""
    folder = history(tmp_path, {**texts, **cite(BOIL, TYPO)})
    (folder / "spec.md").rename(folder / "kettles.md")
    config = {CONFIG: (OURS + REST).replace("spec.md", "kettles.md")}
    told = play(runner(duvet_command, folder), folder, config, *["git commit"] * renames, f"{FIX} --diff")
    start = "\n--- a/src/a.py\n+++ b/src/a.py\n@@ -1,4 +1,4 @@\n-##= spec.md#heating\n+##= kettles.md#heating\n"
    assert told.startswith(f"$ duvet validate --fix --diff{start}")


@pytest.fixture
def reworded(texts: dict[str, str], tmp_path: Path) -> Path:
    folder = history(tmp_path, {**texts, **cite(BOIL, STOP, BEEP)})
    new = SPEC.replace("two minutes", "two hours").replace("when the", "before the").replace("beep", "chirp")
    return make(folder, {"spec.md": new})


def quoted(folder: Path) -> list[str]:
    return [line[4:] for line in (folder / CODE).read_text().splitlines() if line.startswith("##% ")]


@pytest.mark.parametrize(
    ("answers", "asked", "fixed"), [("y\nmaybe\nno\nY\n", 4, 2), ("s\n", 1, 0), ("y\nq\n", 2, 1), ("\x04", 1, 0)]
)
def test_fixes_are_confirmed_interactively(
    answers: str, asked: int, fixed: int, reworded: Path, duvet_command: str, gold: Snapshot
) -> None:
    ##= man/spec/validate.md#safe-fixes
    ##% `duvet validate --interactive` MUST ask about each unsafe fix, and show the changed words and the code around
    ##% the citation.
    code, said = answered(duvet_command, reworded, answers, "validate", "--interactive")
    assert (code, said.count("Apply this fix?")) == (1, asked)
    assert "to decide on each" not in said
    words = [quoted(reworded)[number].split()[place] for number, place in ((0, -1), (1, 5), (2, 3))]
    now = ["hours." if fixed else "minutes.", "when", "chirp" if fixed == 2 else "beep"]
    assert words == now
    if asked == 4:
        first = git(reworded, "rev-parse", "HEAD")[:12]
        gold.assert_match(said.replace(first, "COMMIT"), "interactive.txt")


def test_history_is_read_for_changed_words_only(texts: dict[str, str], tmp_path: Path, duvet_command: str) -> None:
    """Validation runs git only if words of a similar text differ."""
    marker = tmp_path / "called"
    program = make(tmp_path, {"bin/git": f"#!/bin/sh\ntouch {marker}\nexit 1\n"}) / "bin/git"
    program.chmod(0o755)
    folder = history(tmp_path / "kettle", {**texts, **cite(f"a{BEEP[1:]}", "Nothing like this at all.")})
    environ = {"PATH": f"{program.parent}:/usr/bin:/bin"}
    run(duvet_command, folder, "validate", environ=environ)
    assert not marker.exists()
    make(folder, cite(TYPO))
    done = run(duvet_command, folder, "validate", environ=environ)
    assert marker.exists() and "note: no earlier version of the specification is available; " in done.err
