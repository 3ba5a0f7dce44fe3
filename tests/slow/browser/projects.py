"""Small projects, by what is special about them."""

from __future__ import annotations

CONFIG = """\
'$schema' = "duvet-cli/config/v1"
source = [{ language = "rust" }]
specification = [{ source = "tea.md" }]
"""
TEA = "# Tea\n\n## Pot\n\nThe pot MUST be warm.\n\nThe lid SHOULD be shut.\n"
CITED = "//= tea.md#pot\n//# The pot MUST be warm.\n"
TESTED = "//= tea.md#pot\n//= type=test\n//# The pot MUST be warm.\n"

PASSING = {".duvet/config.toml": CONFIG, "tea.md": TEA, "src/a.rs": f"{CITED}{TESTED}"}
FAILING = PASSING | {"src/b.rs": "//= tea.md#pot\n//# The pot MUST be cold.\n"}
NO_REQUIREMENTS = PASSING | {"tea.md": "# Tea\n\n## Pot\n\nPots are warm.\n", "src/a.rs": "fn brew() {}\n"}
NO_SPECIFICATION = {".duvet/config.toml": "'$schema' = \"duvet-cli/config/v1\"\n", "src/a.rs": "fn brew() {}\n"}
NO_SECTIONS = PASSING | {"tea.md": "The pot MUST be warm.\n", "src/a.rs": "fn brew() {}\n"}
