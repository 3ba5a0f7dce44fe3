"""`duvet validate --fix` in projects with a history: safe fixes, unsafe fixes, and prompts."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.command import Done, Run, refuses, run, runner
from tests.cli.terminals import answered
from tests.histories import commit, git, history

OURS = "'$schema' = 'duvet-cli/config/v1'\n[[source]]\nlanguage = 'python'\npattern = 'src/*.py'\n"
REST = "[[specification]]\nsource = 'spec.md'\n[report.html]\nenabled = false\n"
CONFIG = ".duvet/config.toml"
BOIL = "The kettle MUST boil water within two minutes."
STOP = "The kettle MUST stop heating when the water boils."
BEFORE = STOP.replace("when", "before")
BEEP = "A kettle SHOULD beep twice."
SPEC = f"# Kettle\n\n## Heating\n\n{BOIL}\n{STOP}\n{BEEP}\n\n## Cleaning\n\nThe kettle MUST be clean.\n"
TEXTS = {CONFIG: OURS + REST, "spec.md": SPEC, ".gitignore": ".duvet/cache\n"}
OK = "checked 1 annotation in 1 file: no problems\n"
LISTED = "src/a.py:2: update the quote\n    "
FIXED = "fixed 1 citation in 1 file\n"
UNSAFE = "1 fix is unsafe: use --unsafe-fixes, or --interactive to decide on each\n"
WRONG = "checked 1 annotation in 1 file: 1 error\n"
STEP = "check the code, then use `--unsafe-fixes` or `--interactive`"


def cite(*quotes: str, section: str = "heating") -> str:
    return "".join(
        f"##= spec.md#{section}\n##% {quote}\ndef step_{number}(): ...\n\n" for number, quote in enumerate(quotes)
    )


def quoted(folder: Path) -> list[str]:
    lines = (folder / "src/a.py").read_text(encoding="utf-8").splitlines()
    return [line.removeprefix("##% ") for line in lines if line.startswith("##% ")]


def drifted(quote: str, change: str, note: str) -> str:
    return (
        'error: could not find text in section "heating" of spec.md [DUV050]\n --> src/a.py:2:5\n  |\n'
        f"2 | ##% {quote}\n  |     {'^' * len(quote)} not in this section\n"
        f"  = help: the nearest text in this section is:\n          {change}\n          note: {note}\n\n"
    )


@pytest.mark.parametrize(
    ("quote", "fixed", "change"),
    [
        (BOIL.replace("two", "tow"), BOIL, "The kettle MUST boil water within [-tow-]{+two+} minutes."),
        (f"a{BEEP[1:]}", BEEP, "[-a-]{+A+} kettle SHOULD beep twice."),
    ],
)
def test_a_typo_is_fixed(quote: str, fixed: str, change: str, tmp_path: Path, duvet_command: str) -> None:
    ##= man/spec/validate.md#safe-fixes
    ##% A fix MUST be safe if it changes only the target of a quote that moved, or only white space, markup or the case
    ##% of the first letter.
    ##= man/spec/validate.md#safe-fixes
    ##% A fix that adds, removes or replaces words MUST be safe only if git or the snapshot shows that the
    ##% specification has not changed since the citation was written.
    folder = history(tmp_path, {**TEXTS, "src/a.py": cite(quote)})
    assert run(duvet_command, folder, "validate", "--fix") == Done(0, "", f"{LISTED}{change}\n{FIXED}{OK}")
    assert quoted(folder) == [fixed]


def test_a_removed_requirement(tmp_path: Path, duvet_command: str) -> None:
    ##= man/spec/validate.md#checks
    ##% If the most similar text is too different for a fix, and an earlier version of the specification contained the
    ##% quote, `duvet validate` MUST say which commit or snapshot contained it.
    folder = history(tmp_path, {**TEXTS, "src/a.py": cite(STOP)})
    (folder / "spec.md").write_text(SPEC.replace(STOP, ""), encoding="utf-8")
    _, _, note = run(duvet_command, folder, "validate", "--fix").err.partition(
        "note: the specification had the quoted words "
    )
    assert re.match("in commit [0-9a-f]{12}; if the requirement was removed, remove the citation\n", note)
    (folder / "src/a.py").write_text(cite("The kettle MUST play a tune to whoever listens."), encoding="utf-8")
    assert "the specification had" not in run(duvet_command, folder, "validate").err


def test_a_changed_requirement(tmp_path: Path, duvet_command: str) -> None:
    ##= man/spec/validate.md#safe-fixes
    ##% With duvet's own schema, `duvet validate --fix` MUST apply only safe fixes, and report why any other fix is
    ##% unsafe.
    folder = history(tmp_path, {**TEXTS, "src/a.py": cite(STOP)})
    duvet = runner(duvet_command, folder)
    assert duvet("validate") == Done(0, "", OK)
    commit(folder)
    (folder / "spec.md").write_text(SPEC.replace(STOP, BEFORE), encoding="utf-8")
    change = "The kettle MUST stop heating [-when-]{+before+} the water boils."
    # The commit that had the words is the one that wrote them.
    note = f"the specification had the quoted words in commit {run_git_log(folder)[:12]}; {STEP}"
    said = drifted(STOP, change, note)
    for _ in range(2):
        assert duvet("validate", "--fix") == Done(1, "", f"{said}{UNSAFE}{WRONG}")
        assert quoted(folder) == [STOP]
        commit(folder)
    problem = json.loads(duvet("validate", "--format", "json").out)["problems"][0]
    assert problem["fix"]["applicability"] == "unsafe"
    sarif = json.loads(duvet("validate", "--format", "sarif").out)["runs"][0]["results"][0]
    assert sarif["fixes"][0]["properties"] == {"applicability": "unsafe"}
    ##= man/spec/validate.md#safe-fixes
    ##% With `--unsafe-fixes`, `duvet validate` MUST apply all fixes.
    assert duvet("validate", "--unsafe-fixes") == Done(0, "", f"{LISTED}{change}\n{FIXED}{OK}")
    assert quoted(folder) == [BEFORE]


def run_git_log(folder: Path) -> str:
    return git(folder, "log", "--format=%H", "--", "spec.md").splitlines()[-1]


@pytest.mark.parametrize(
    ("quote", "noun", "change"),
    [
        (BEEP.replace("SHOULD", "MUST"), "the keyword", "A kettle [-MUST-]{+SHOULD+} beep twice."),
        (STOP.replace("MUST", "MUST NOT"), "the keyword", "The kettle MUST [-NOT-] stop heating when the water boils."),
        (BOIL.replace("two", "2"), "a number", "The kettle MUST boil water within [-2-]{+two+} minutes."),
        (STOP.replace("the", "no"), "a negation", "The kettle MUST stop heating when [-no-]{+the+} water boils."),
        (
            STOP.replace("MUST", "MUST _not_"),
            "a negation",
            "The kettle MUST [-not-] stop heating when the water boils.",
        ),
    ],
)
def test_words_that_change_the_meaning(quote: str, noun: str, change: str, tmp_path: Path, duvet_command: str) -> None:
    """These fixes are unsafe even if the specification never changed, because the code follows the old words."""
    ##= man/spec/validate.md#safe-fixes
    ##% A fix that changes a keyword, a negation or a number MUST be unsafe.
    folder = history(tmp_path, {**TEXTS, "src/a.py": cite(quote)})
    done = run(duvet_command, folder, "validate", "--fix")
    assert done == Done(1, "", f"{drifted(quote, change, f'{noun} differs; {STEP}')}{UNSAFE}{WRONG}")
    assert quoted(folder) == [quote]


TYPO = STOP.replace("heating", "haeting")


def test_a_typo_in_a_quote_of_older_words(tmp_path: Path, duvet_command: str) -> None:
    folder = history(tmp_path, {**TEXTS, "src/a.py": cite(TYPO)})
    (folder / "spec.md").write_text(SPEC.replace(STOP, BEFORE), encoding="utf-8")
    commit(folder)
    duvet = runner(duvet_command, folder)
    change = "The kettle MUST stop [-haeting when-]{+heating before+} the water boils."
    # Only the words differ by more than a typo.
    done = duvet("validate", "--fix")
    assert (done.code, change in done.err, quoted(folder)) == (1, True, [TYPO])


def test_a_typo_after_the_specification_changed(tmp_path: Path, duvet_command: str) -> None:
    """The commit that last changed the citation shows which words it was written for."""
    folder = history(tmp_path, {**TEXTS, "src/a.py": cite(STOP.replace("heating", "heatin"))})
    duvet = runner(duvet_command, folder)
    changed = STOP.replace("heating", "heating up")
    (folder / "spec.md").write_text(SPEC.replace(STOP, changed), encoding="utf-8")
    commit(folder)
    note = f"the specification may have changed since the citation was written; {STEP}"
    change = "The kettle MUST stop [-heatin-]{+heating up+} when the water boils."
    said = drifted(STOP.replace("heating", "heatin"), change, note)
    assert duvet("validate", "--fix") == Done(1, "", f"{said}{UNSAFE}{WRONG}")
    (folder / "src/a.py").write_text(cite(changed.replace("stop", "stpo")), encoding="utf-8")
    change = "The kettle MUST [-stpo-]{+stop+} heating up when the water boils."
    assert duvet("validate", "--fix") == Done(0, "", f"{LISTED}{change}\n{FIXED}{OK}")


def test_a_specification_that_git_does_not_know_yet(tmp_path: Path, duvet_command: str) -> None:
    folder = history(tmp_path, {**TEXTS, "src/a.py": cite(BOIL)})
    new = "The kettle MUST whistle when the lid is open."
    (folder / "spec.md").write_text(SPEC.replace(STOP, new), encoding="utf-8")
    quote = new.replace("whistle", "whisper")
    (folder / "src/a.py").write_text(cite(quote), encoding="utf-8")
    change = "The kettle MUST [-whisper-]{+whistle+} when the lid is open."
    said = drifted(quote, change, f"the specification has uncommitted changes; {STEP}")
    assert run(duvet_command, folder, "validate", "--fix") == Done(1, "", f"{said}{UNSAFE}{WRONG}")


@pytest.mark.parametrize("renames", [False, True])
def test_a_specification_that_was_renamed(renames: bool, tmp_path: Path, duvet_command: str) -> None:
    """Renames are followed, and a citation of the old name gets the new one."""
    folder = history(tmp_path, {**TEXTS, "src/a.py": cite(BOIL, BOIL.replace("two", "tow"))})
    (folder / "spec.md").rename(folder / "kettles.md")
    (folder / CONFIG).write_text((OURS + REST).replace("spec.md", "kettles.md"), encoding="utf-8")
    if renames:
        commit(folder)
    done = run(duvet_command, folder, "validate", "--fix", "--diff")
    assert done.out.startswith(
        "--- a/src/a.py\n+++ b/src/a.py\n@@ -1,4 +1,4 @@\n-##= spec.md#heating\n+##= kettles.md#heating\n"
    )


def test_a_quote_that_moved_to_another_section_is_fixed(tmp_path: Path, duvet_command: str) -> None:
    folder = history(tmp_path, {**TEXTS, "src/a.py": cite(BOIL)})
    (folder / "spec.md").write_text(f"{SPEC.replace(BOIL, '')}\n{BOIL}\n", encoding="utf-8")
    said = f"src/a.py:2: change the target to spec.md#cleaning\n{FIXED}{OK}"
    assert run(duvet_command, folder, "validate", "--fix") == Done(0, "", said)


def test_a_quote_of_which_another_section_has_the_old_words(tmp_path: Path, duvet_command: str) -> None:
    """The requirement was reworded, although another section contains the old sentence."""
    spec = f"{SPEC}{STOP}\n"
    folder = history(tmp_path, {**TEXTS, "spec.md": spec, "src/a.py": cite(STOP)})
    (folder / "spec.md").write_text(spec.replace(STOP, STOP.replace("when", "soon after"), 1), encoding="utf-8")
    done = run(duvet_command, folder, "validate", "--fix")
    note = f"the quote is in #cleaning\n          note: the cited section contains similar text; {STEP}\n"
    assert (done.code, note in done.err, done.err.endswith(f"{UNSAFE}{WRONG}")) == (1, True, True)


def test_two_quotes_for_one_requirement(tmp_path: Path, duvet_command: str) -> None:
    frame = "A frame of type {} MUST be ignored by the kettle."
    one, other, new = map(frame.format, ("one", "other", "new"))
    spec = f"# Kettle\n\n## Heating\n\n{one}\n{other}\n"
    folder = history(tmp_path, {**TEXTS, "spec.md": spec, "src/a.py": cite(one, other)})
    (folder / "spec.md").write_text(spec.replace(f"{one}\n{other}", new), encoding="utf-8")
    done = run(duvet_command, folder, "validate", "--unsafe-fixes")
    note = "note: a citation with a different quote is also similar to this text; correct both quotes by hand\n"
    assert (done.code, done.err.count(note), "fixed" in done.err) == (1, 2, False)


def test_a_snapshot_without_git(tmp_path: Path, duvet_command: str) -> None:
    texts = {**TEXTS, CONFIG: f"{OURS}{REST}[report.snapshot]\nenabled = true\n"}
    for path, text in {**texts, "src/a.py": cite(BOIL)}.items():
        (tmp_path / path).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    duvet = runner(duvet_command, tmp_path)
    assert duvet("report").code == 0
    quote = BOIL.replace("two", "tow")
    (tmp_path / "src/a.py").write_text(cite(quote), encoding="utf-8")
    change = "The kettle MUST boil water within [-tow-]{+two+} minutes."
    assert duvet("validate", "--fix") == Done(0, "", f"{LISTED}{change}\n{FIXED}{OK}")
    (tmp_path / "spec.md").write_text(SPEC.replace("two minutes", "two hours"), encoding="utf-8")
    change = "The kettle MUST boil water within two [-minutes.-]{+hours.+}"
    said = drifted(BOIL, change, f"the specification had the quoted words when the snapshot was written; {STEP}")
    assert duvet("validate", "--fix") == Done(1, "", f"{said}{UNSAFE}{WRONG}")
    (tmp_path / ".duvet/snapshot.txt").unlink()
    said = drifted(BOIL, change, f"no earlier version of the specification is available; {STEP}")
    assert duvet("validate", "--fix") == Done(1, "", f"{said}{UNSAFE}{WRONG}")


def test_the_schema_of_awslabs_duvet(tmp_path: Path, duvet_command: str) -> None:
    schema = "https://awslabs.github.io/duvet/config/v0.4.0.json"
    style = "comment-style = { meta = '##=', content = '##%' }"
    config = (OURS + REST).replace("duvet-cli/config/v1", schema).replace("language = 'python'", style)
    folder = history(tmp_path, {**TEXTS, CONFIG: config, "src/a.py": cite(STOP.replace("MUST", "SHOULD"))})
    done = run(duvet_command, folder, "validate", "--fix")
    change = "The kettle [-SHOULD-]{+MUST+} stop heating when the water boils.\n    note: the keyword differs; check the code"
    assert done == Done(0, "", f"{LISTED}{change}\n{FIXED}{OK}")


@pytest.fixture
def reworded(tmp_path: Path) -> Path:
    folder = history(tmp_path, {**TEXTS, "src/a.py": cite(BOIL, STOP, BEEP)})
    new = SPEC.replace("two minutes", "two hours").replace("when the", "before the").replace("beep", "chirp")
    (folder / "spec.md").write_text(new, encoding="utf-8")
    return folder


ASKED = """
src/a.py:2: update the quote
    The kettle MUST boil water within two [-minutes.-]{+hours.+}
    note: the specification had the quoted words in commit COMMIT; check the code

 1 | ##= spec.md#heating
 2 | ##% The kettle MUST boil water within two minutes.
 3 | def step_0(): ...
 4 |
 5 | ##= spec.md#heating
 6 | ##% The kettle MUST stop heating when the water boils.
 7 | def step_1(): ...
 8 |
 9 | ##= spec.md#heating
10 | ##% A kettle SHOULD beep twice.

Apply this fix? (y)es, (n)o, (s)kip this file, (q)uit: """


def test_fixes_are_confirmed_interactively(reworded: Path, duvet_command: str) -> None:
    ##= man/spec/validate.md#safe-fixes
    ##% `duvet validate --interactive` MUST ask about each unsafe fix, and show the changed words and the code around
    ##% the citation.
    code, said = answered(duvet_command, reworded, "y\nmaybe\nno\nY\n", "validate", "--interactive")
    assert said.startswith(ASKED.replace("COMMIT", run_git_log(reworded)[:12]))
    assert said.count("Apply this fix?") == 4
    assert quoted(reworded) == [BOIL.replace("minutes", "hours"), STOP, BEEP.replace("beep", "chirp")]
    assert code == 1 and "fixed 2 citations in 1 file\n" in said


@pytest.mark.parametrize(("answers", "asked", "fixed"), [("s\n", 1, 0), ("y\nq\n", 2, 1), ("\x04", 1, 0)])
def test_leaving_the_dialog_keeps_earlier_fixes(
    answers: str, asked: int, fixed: int, reworded: Path, duvet_command: str
) -> None:
    code, said = answered(duvet_command, reworded, answers, "validate", "--interactive")
    assert (code, said.count("Apply this fix?")) == (1, asked)
    assert ["minutes" not in quoted(reworded)[0], quoted(reworded)[1:]] == [bool(fixed), [STOP, BEEP]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("", "--interactive requires a terminal; use --diff, then --unsafe-fixes"),
        ("--diff", "--interactive and --diff can't be used together"),
        ("--unsafe-fixes", "--interactive and --unsafe-fixes can't be used together"),
    ],
)
def test_interactive_fixes_need_a_terminal(options: str, message: str, duvet: Run) -> None:
    refuses(duvet, f"validate --interactive {options}", 2, f"Error: {message}\n")


def test_history_is_read_for_changed_words_only(tmp_path: Path, duvet_command: str) -> None:
    """Validation runs git only if words of a similar text differ."""
    marker = tmp_path / "called"
    program = tmp_path / "bin/git"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ntouch {marker}\nexit 1\n", encoding="utf-8")
    program.chmod(0o755)
    folder = history(tmp_path / "kettle", {**TEXTS, "src/a.py": cite(f"a{BEEP[1:]}", "Nothing like this at all.")})
    environ = {"PATH": f"{program.parent}:/usr/bin:/bin"}
    run(duvet_command, folder, "validate", environ=environ)
    assert not marker.exists()
    (folder / "src/a.py").write_text(cite(BOIL.replace("two", "tow")), encoding="utf-8")
    done = run(duvet_command, folder, "validate", environ=environ)
    assert (marker.exists(), f"no earlier version of the specification is available; {STEP}" in done.err) == (
        True,
        True,
    )
