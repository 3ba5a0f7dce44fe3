from collections.abc import Mapping
from pathlib import Path

CONFIG = """\
'$schema' = "https://awslabs.github.io/duvet/config/v0.4.json"
[[source]]
pattern = "src/**/*.rs"
[[specification]]
source = "spec.md"
[report.json]
enabled = true
[report.snapshot]
enabled = true
"""
SPECIFICATION = """\
# Kettle

## Heating

The kettle MUST boil water. It SHOULD whistle when done.

## Pouring

The spout MAY drip.
"""
SOURCE = """\
//= spec.md#heating
//# The kettle MUST boil water.
fn boil() {}

//= spec.md#heating
//= type=test
//# The kettle MUST boil water.
fn boils() {}
"""
HALF = SOURCE.partition("\n\n")[0]
"""Code without a test."""
WRONG = """\
//= spec.md#nowhere
//# The kettle MUST boil water.

//= spec.md#heating
//# The kettle MUST sing.

//= type=test
//# The kettle MUST boil water.
"""
SUMMARY = """\
specification  MUST  SHOULD  MAY  done       uncited
Kettle          1/1     0/1  0/1   1/3  33%        2

OK: all 2 annotations are valid
coverage: 33 % (1 of 3)
"""
NOTHING_GIVEN = {
    **dict.fromkeys(("config_path", "spec_path")),
    **dict.fromkeys(("source_patterns", "spec_patterns"), ()),
    **dict.fromkeys(("offline", "allow_http"), False),
}
"""The options of a command about its project."""
PROJECTS = Path(__file__).with_name("projects")
KETTLE = {".duvet/config.toml": CONFIG, "spec.md": SPECIFICATION, "src/a.rs": SOURCE}


def make(folder: Path, texts: Mapping[str, str]) -> Path:
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    return folder
