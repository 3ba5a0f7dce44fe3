"""What is doubtful but not wrong: it is named, and the exit code is 0 unless it is asked for to be strict."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.made import CONFIG, SPECIFICATION, make
from tests.cli.running import Done, Run, files

DOUBTFUL = """\
//# stray text

//= spec.md#heating

//# The kettle MUST boil water.

//= spec.md#heating
//# The kettle MUST boil watr.
"""
WARNINGS = """\
warning: this text has no target, so it is ignored [DUV027]
 --> src/a.rs:1:5
  |
1 | //# stray text
  |     ^^^^^^^^^^ text here
  = help: put a line with the target (spec#section) above it, or use another comment prefix

warning: this text is cut off from its target on line 3, which now quotes nothing [DUV028]
 --> src/a.rs:5:5
  |
5 | //# The kettle MUST boil water.
  |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^ text here
  = help: remove the lines between the target and the text

warning: this quote differs from the specification by one character; it is accepted [DUV051]
 --> src/a.rs:8:5
  |
8 | //# The kettle MUST boil watr.
  |     ^^^^^^^^^^^^^^^^^^^^^^^^^^ text here
  = help: quote the section's words as they stand there

"""
STALE = """\
warning: this file was extracted from an earlier text of the specification; its section asks for nothing any more [DUV036]
 --> .duvet/requirements/spec/pouring.toml:1
  |
1 | target = "spec.md#pouring"
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^
  = help: `--prune` removes it

1 warning
"""
LEFT = """\
warning: this file was extracted from "spec.md", which is not in the configuration [DUV036]
 --> .duvet/requirements/spec/pouring.toml:1
  |
1 | target = "spec.md#pouring"
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^
  = help: `--prune` removes it; a `[[specification]]` would keep it up to date

"""
CLASH = """\
warning: the requirements of spec.md#heating and 1 more section are lost: they have the same requirement files as these [DUV037]
  --> .duvet/config.toml:11:10
   |
11 | source = "spec.markdown"
   |          ^^^^^^^^^^^^^^^ configured here
   = help: give the two specifications names that differ in more than their extensions

1 warning
"""
SPOUT = ".duvet/requirements/spec/pouring.toml"
RFC = """\
1.  Teapots

   A teapot MUST NOT brew coffee.
"""


def problems(err: str) -> str:
    """What is wrong, between the steps and the summary."""
    lines = err.splitlines(keepends=True)
    first = next(index for index, line in enumerate(lines) if line.startswith(("error", "warning")))
    last = next(index for index, line in enumerate(lines) if line.endswith((" warning\n", " warnings\n", " errors\n")))
    return "".join(lines[first : last + 1])


def test_doubts(kettle: Path, duvet: Run) -> None:
    ##= man/spec/trace.md#targets-and-quotes
    ##% duvet MUST find a quote in its section despite different wrapping or white space around punctuation, or one
    ##% wrong byte, which SHOULD cause a warning.
    make(kettle, {"src/a.rs": DOUBTFUL})
    done = duvet("report")
    assert (done.code, done.out, problems(done.err)) == (0, "", f"{WARNINGS}3 warnings\n")
    assert (kettle / ".duvet/snapshot.txt").exists()


def test_doubts_are_errors_where_it_is_strict(reported: Path, duvet: Run) -> None:
    ##= man/spec/gates.md#snapshots-and-coverage
    ##% With `--strict`, `duvet report` and `duvet validate` MUST fail on warnings.
    before = files(make(reported, {"src/a.rs": DOUBTFUL}))
    errors = WARNINGS.replace("warning:", "error:")
    assert duvet("-q", "report", "--strict") == Done(1, "", f"{errors}encountered 3 errors\n")
    after = files(reported)
    assert {name for name in after if after[name] != before.get(name)} == {".duvet/reports/report.html"}


def test_one_rfc_in_two_spellings(kettle: Path, duvet: Run) -> None:
    ##= man/spec/trace.md#targets-and-quotes
    ##% duvet SHOULD warn about two spellings of one specification.
    old, new = "https://tools.ietf.org/rfc/rfc9999", "https://www.rfc-editor.org/rfc/rfc9999"
    quote = "#section-1\n//# A teapot MUST NOT brew coffee.\n"
    sources = {"src/a.rs": f"//= {old}{quote}", "src/b.rs": f"//= {new}{quote}"}
    make(kettle, {**sources, ".duvet/specifications/www.rfc-editor.org/rfc/rfc9999.txt": RFC})
    done = duvet("report", "--offline")
    assert (done.code, done.out) == (0, "")
    assert problems(done.err) == (
        f"warning: {new} and {old} are one text, but count as two specifications [DUV044]\n"
        " --> src/b.rs:1\n"
        "  |\n"
        f"1 | //= {new}#section-1\n"
        f"  | {'^' * len(f'//= {new}#section-1')}\n"
        f"  = help: write {old} everywhere\n\n"
        "1 warning\n"
    )


def test_two_specifications_with_the_same_requirement_files(kettle: Path, duvet: Run) -> None:
    make(kettle, {"spec.markdown": SPECIFICATION.replace("kettle", "pot"), "src/a.rs": ""})
    make(kettle, {".duvet/config.toml": f'{CONFIG}[[specification]]\nsource = "spec.markdown"\n'})
    done = duvet("report")
    assert (done.code, problems(done.err)) == (0, CLASH)


@pytest.fixture
def stale(reported: Path) -> Path:
    """A project with requirements of a section that has none any more; nobody refers to it."""
    return make(reported, {"spec.md": SPECIFICATION.replace("MAY drip", "may drip")})


def test_requirements_that_went_away(stale: Path, duvet: Run) -> None:
    text = (stale / SPOUT).read_text()
    # It still stands in the section, so that nothing but its age is wrong with it.
    make(stale, {SPOUT: text.replace("The spout MAY drip.", "drip.")})
    done = duvet("report")
    assert (done.code, problems(done.err)) == (0, STALE)
    assert (stale / SPOUT).exists()


def test_pruning(stale: Path, duvet: Run) -> None:
    ##= man/spec/trace.md#requirements
    ##% duvet SHOULD warn about requirement files that are no longer needed, and MUST remove these and no others with
    ##% `--prune`.
    before = files(stale)
    done = duvet("report", "--prune")
    assert (done.code, done.out) == (0, "")
    assert f"     Removed {SPOUT} \n" in done.err
    assert files(stale).keys() == before.keys() - {SPOUT}


BY_HAND: dict[str, tuple[str, Callable[[str], str]]] = {
    "another name": ("heating-2.toml", lambda text: text),
    "another target": ("steam.toml", lambda text: text.replace("spec.md#pouring", "spec.md#heating")),
    "another form": ("pouring.toml", lambda text: text.replace("quote = ", "quote  = ")),
    "a comment": ("pouring.toml", lambda text: f"{text}# Ours.\n"),
    "a key more": ("pouring.toml", lambda text: text.replace('level = "MAY"\n', 'level = "MAY"\nformat = "md"\n')),
    "no comment": ("mine.toml", lambda text: '[[spec]]\ntarget = "spec.md#heating"\nquote = "boil water"\n'),
}


@pytest.mark.parametrize("what", BY_HAND)
def test_what_people_wrote_is_not_pruned(what: str, stale: Path, duvet: Run) -> None:
    name, change = BY_HAND[what]
    text = (stale / SPOUT).read_text()
    (stale / SPOUT).unlink()
    make(stale, {f".duvet/requirements/spec/{name}": change(text)})
    before = files(stale)
    duvet("report", "--prune")
    kept = files(stale)
    assert {path: kept[path] for path in kept if "requirements" in path} == {
        path: before[path] for path in before if "requirements" in path
    }


def test_a_specification_without_requirements_left(stale: Path, duvet: Run) -> None:
    make(stale, {"spec.md": "# Kettle\n\n## Heating\n", "src/a.rs": "", ".duvet/config.toml": CONFIG})
    assert duvet("-q", "report", "--prune") == Done(0, "", "")
    assert list((stale / ".duvet/requirements/spec").iterdir()) == []


@pytest.fixture
def left(reported: Path) -> Path:
    """A project that has another specification now, and one file of the first one, which nobody changed."""
    config = CONFIG.replace("spec.md", "tea.md")
    make(reported, {"tea.md": "# Tea\n\nIt MUST be hot.\n", "src/a.rs": "", ".duvet/config.toml": config})
    (reported / ".duvet/requirements/spec/heating.toml").unlink()
    return reported


def test_a_specification_that_is_configured_no_more(left: Path, duvet: Run) -> None:
    ##= man/spec/trace.md#requirements
    ##= type=test
    ##% duvet SHOULD warn about requirement files that are no longer needed, and MUST remove these and no others with
    ##% `--prune`.
    done = duvet("report")
    assert (done.code, problems(done.err)) == (0, LEFT + "1 warning\n")
    before = files(left)
    assert duvet("-q", "report", "--prune") == Done(0, "", "")
    assert files(left).keys() == before.keys() - {SPOUT}
    assert duvet("-q", "report", "--strict") == Done(0, "", "")


ELSEWHERE = ".duvet/requirements/by/hand.toml"


@pytest.mark.parametrize(
    "change",
    [
        {SPOUT: "{}# Ours.\n"},
        {SPOUT: "[[spec]]\ntarget = 'spec.md#pouring'\nquote = 'The spout MAY drip.'\n"},
        {ELSEWHERE: "{}"},
        {".duvet/requirements/spec/other.toml": "{}"},
        {".duvet/exceptions/spec/pouring.toml": "{}"},
        {SPOUT: "{}", ".duvet/config.toml": CONFIG.partition("[[specification]]")[0]},
        {SPOUT: "{}", ".duvet/config.toml": CONFIG.replace('"spec.md"', '"./spec.md"')},
    ],
)
def test_what_people_keep_there_is_not_pruned(change: dict[str, str], left: Path, duvet: Run) -> None:
    text = (left / SPOUT).read_text()
    (left / SPOUT).unlink()
    make(left, {path: content.replace("{}", text) for path, content in change.items()})
    duvet("report", "--prune")
    assert set(change) <= set(files(left))
    assert "DUV036" not in duvet("report").err


def test_what_is_left_stays_while_a_specification_is_missing(left: Path, duvet: Run) -> None:
    (left / "tea.md").unlink()
    done = duvet("report", "--prune")
    assert done.code == 1
    assert "DUV036" not in done.err
    assert (left / SPOUT).exists()
