"""Citations in a comment style that duvet does not read."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cli.command import Done, run
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
WARNING = """\
warning: duvet does not read this citation: no `[[source]]` of this file has the comment style `//=` [DUV029]
 --> src/b.c:1:1
  |
1 | //= spec.md#heating
  | ^^^^^^^^^^^^^^^^^^^ not read
  = help: write `*=` and `*#`, or add a `[[source]]` with this `comment-style`

"""


def test_a_style_that_the_source_does_not_have(tmp_path: Path, duvet_command: str) -> None:
    ##= man/spec/trace.md#annotations
    ##% With its own schema, duvet MUST warn about citations that it does not read because their `[[source]]` has
    ##% another comment style, and name both styles.
    make(tmp_path, {**TEXTS, "src/b.c": WRONG})
    said = Done(0, "", f"{WARNING}checked 1 annotation in 3 files: 1 warning\n")
    for _ in range(2):
        assert run(duvet_command, tmp_path, "validate") == said
    assert WARNING in run(duvet_command, tmp_path, "report").err
    assert run(duvet_command, tmp_path, "validate", "src/a.c").err == "checked 1 annotation in 1 file: no problems\n"
    (tmp_path / "src/b.c").write_text(WRONG.replace("#heating", ""), encoding="utf-8")
    assert run(duvet_command, tmp_path, "validate").err == said.err.replace("#heating", "").replace(
        "^" * 8 + " not", " not"
    )
    (tmp_path / "src/b.c").write_text(WRONG * 3 + WRONG.replace("//", "///"), encoding="utf-8")
    err = run(duvet_command, tmp_path, "validate").err
    assert [line for line in err.splitlines() if line.startswith("warning: ")] == [
        "warning: duvet does not read 3 citations here: no `[[source]]` of this file has the comment style `//=` [DUV029]",
        "warning: duvet does not read this citation: no `[[source]]` of this file has the comment style `///=` [DUV029]",
    ]


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


def test_the_schema_of_awslabs_duvet_does_not_warn(tmp_path: Path, duvet_command: str) -> None:
    config = CONFIG.replace("duvet-cli/config/v1", "https://awslabs.github.io/duvet/config/v0.4.0.json")
    config = config.replace("language = 'python'", "comment-style = { meta = '##=', content = '##%' }")
    make(tmp_path, {**TEXTS, ".duvet/config.toml": config, "src/b.c": WRONG})
    assert run(duvet_command, tmp_path, "validate") == Done(0, "", "checked 1 annotation in 3 files: no problems\n")
