"""Citations in a comment style that duvet does not read."""

from __future__ import annotations

import re
from pathlib import Path

from pytest_snapshot.plugin import Snapshot

from tests.cli.command import play, run, runner
from tests.cli.sample_project import make

CONFIG = """\
'$schema' = 'duvet-cli/config/v1'
[[source]]
pattern = 'src/*.c'
comment-style = { meta = '*=', content = '*#' }
[[source]]
pattern = '**/*.py'
language = 'python'
[[specification]]
source = 'spec.md'
[report.html]
enabled = false
"""
RIGHT = "/*\n *= spec.md#heating\n *# The kettle MUST boil.\n */\nint right;\n"
WRONG = "//= spec.md#heating\n//# The kettle MUST boil.\nint wrong;\n"
TEXTS = {
    ".duvet/config.toml": CONFIG,
    "spec.md": "# Kettle\n\n## Heating\n\nThe kettle MUST boil.\n",
    "src/a.c": RIGHT,
    "a.py": "",
}
NO_SECTION = {"src/b.c": WRONG.replace("#heating", "")}
SEVERAL = {"src/b.c": WRONG * 3 + WRONG.replace("//", "///")}
UPSTREAM = CONFIG.replace("duvet-cli/config/v1", "https://awslabs.github.io/duvet/config/v0.4.0.json")
UPSTREAM = UPSTREAM.replace("language = 'python'", "comment-style = { meta = '##=', content = '##%' }")


def test_a_style_that_the_source_does_not_have(tmp_path: Path, duvet_command: str, gold: Snapshot) -> None:
    ##= man/spec/trace.md#annotations
    ##% With its own schema, duvet MUST warn about citations that it does not read because their `[[source]]` has
    ##% another comment style, and name both styles.
    make(tmp_path, {**TEXTS, "src/b.c": WRONG})
    lines = ("validate", "validate", "report", "validate src/a.c", NO_SECTION, "validate", SEVERAL, "validate")
    told = play(runner(duvet_command, tmp_path), tmp_path, *lines, {".duvet/config.toml": UPSTREAM}, "validate")
    gold.assert_match(told, "warnings.txt")


OTHERS = {
    "src/a1.c": WRONG.replace("spec.md", "other.md"),
    "src/a2.c": "x //= spec.md#heating\na |= spec.md#heating\nint b; //= spec.md#heating\n",
    "src/a3.c": "//= spec.md#heating and more words\n// spec.md#heating\n//= heating\n",
    "src/a4.c": "/*\n *= spec.md#heating\n *= type=todo\n *# //= spec.md#heating\n */\n",
    "a5.py": "x //= 2\ny = 3  # spec.md#heating\nz = 'spec.md#heating'\n",
    "a6.py": f'EXAMPLE = """\n{WRONG}"""\n',
    "a7.py": "##= spec.md#heating\n##% The kettle MUST boil.\n",
    "a8.md": WRONG,
}
SIGNS = ["//", "///", "#", "--", ";;", "%", "(*", "<!--", "/*", " *", "!", "REM "]


def test_citations_with_other_signs_are_reported(tmp_path: Path, duvet_command: str) -> None:
    text = "\t{0}= spec.md#heating\r\n\t{0}% The kettle MUST boil.\r\n"
    make(tmp_path, {**TEXTS, **OTHERS, **{f"b{index:02}.py": text.format(sign) for index, sign in enumerate(SIGNS)}})
    done = run(duvet_command, tmp_path, "validate")
    assert re.findall(r"comment style `\s*(.+)=` \[DUV029\]\n +--> (b\d+\.py):1:", done.err) == [
        (sign.lstrip(), f"b{index:02}.py") for index, sign in enumerate(SIGNS)
    ]
    assert done.err.count("[DUV029]") == len(SIGNS)
