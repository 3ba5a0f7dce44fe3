"""The settings of a configuration as a table and as JSON."""

from __future__ import annotations

from duvet.commands.config import render_settings_table
from duvet.config.schema import Setting, SettingOrigin
from duvet.reports.tables import encode_json

SETTINGS = (
    Setting("config-path", "a.toml", SettingOrigin.COMMAND_LINE, option="--config-path"),
    Setting("source[0].pattern", ("ä/*", "b/*"), SettingOrigin.FILE, "a.toml", 3),
    Setting("source[0].exclude", (), SettingOrigin.DEFAULT),
    Setting("source[0].gitignore", False, SettingOrigin.DEFAULT),
    Setting("report.html.blob-link", "x/y", SettingOrigin.FILE, "a.toml", 9, ("X", "Y")),
    Setting("report.html.issue-link", None, SettingOrigin.DEFAULT),
    Setting("requirement", "c/*", SettingOrigin.BUILT_IN),
)

TABLE = """\
config-path             a.toml    --config-path
source[0].pattern       ä/*, b/*  a.toml:3
source[0].exclude       -         default
source[0].gitignore     false     default
report.html.blob-link   x/y       a.toml:9 $X $Y
report.html.issue-link  -         default
requirement             c/*       built in
"""

JSON = """\
[
  {
    "key": "source[0].pattern",
    "value": [
      "ä/*",
      "b/*"
    ],
    "origin": "file",
    "path": "a.toml",
    "line": 3
  },
  {
    "key": "report.html.blob-link",
    "value": "x/y",
    "origin": "file",
    "path": "a.toml",
    "line": 9,
    "variables": [
      "X",
      "Y"
    ]
  },
  {
    "key": "report.html.issue-link",
    "value": null,
    "origin": "default"
  }
]
"""


def rendered(format: str, settings: tuple[Setting, ...]) -> str:
    return (render_settings_table(settings) if format == "table" else encode_json(list(settings))).decode()


def test_a_table() -> None:
    assert rendered("table", SETTINGS) == TABLE


def test_a_table_of_nothing() -> None:
    assert rendered("table", ()) == ""


def test_json() -> None:
    assert rendered("json", (SETTINGS[1], *SETTINGS[4:6])) == JSON


def test_a_schema() -> None:
    assert encode_json({"type": "object"}) == b'{\n  "type": "object"\n}\n'
