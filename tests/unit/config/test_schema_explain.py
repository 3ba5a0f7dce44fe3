"""The effective settings and their origins."""

from __future__ import annotations

import pytest

from duvet.config.project_file import CONFIG_PATH
from duvet.config.schema import Setting, SettingOrigin, explain_file
from duvet.config.settings import ServerRule
from duvet.errors import UnreadableError
from duvet.tree.files import MemoryTree
from duvet.version import VERSION

TEXT = """\
'$schema' = "duvet-cli/config/v1"
source = [{ language = "go", exclude = "x", blob-link = "https://host/${{ REV || 'main' }}" }]
requirement = [{ pattern = "r" }]
specification = [
  { source = "s" },
]
not-applicable = [{ target = "s", reason = "no", expiry = 2030-01-31 }]
report.html = { title = "Tea", snippet-lines = 3, enabled = false, issue-link = "${{ HOST }}/${{ REV }}" }
server = { title = "Teas", protocol-version = "2025-06-18", page-size = 0 }
"""
ENVIRON = {"REV": "abc", "HOST": "https://host"}


def explained(text: str) -> list[str]:
    """Return each setting as `key value origin, line and variables`."""
    return [
        format_setting(setting) for setting in explain_file(MemoryTree({CONFIG_PATH: text.encode()}), None, ENVIRON)
    ]


def format_setting(setting: Setting) -> str:
    details = [str(setting.line) if setting.line else "", *setting.variables, setting.option]
    return " ".join([setting.key, str(setting.value), setting.origin, *filter(None, details)])


def test_every_setting_is_explained_with_its_origin() -> None:
    ##= man/spec/trace.md#configuration
    ##% `duvet config` MUST show the value of each key and where the value comes from.
    assert explained(TEXT) == [
        "config-path .duvet/config.toml default",
        "$schema duvet-cli/config/v1 file 1",
        "source[0].pattern ('**/*.go',) default",
        "source[0].type implementation default",
        "source[0].blob-link https://host/abc file 2 REV",
        "source[0].exclude x file 2",
        "source[0].gitignore False default",
        "source[0].language go file 2",
        "source[0].comment-style.meta //= default",
        "source[0].comment-style.content //# default",
        "requirement[0].pattern r file 3",
        "report.html.enabled False file 8",
        "report.html.path .duvet/reports/report.html default",
        "report.html.blob-link None default",
        "report.html.issue-link https://host/abc file 8 HOST REV",
        "report.html.title Tea file 8",
        "report.html.logo None default",
        "report.html.spec-text cited default",
        "report.html.snippet-lines 3 file 8",
        "report.html.embed-json False default",
        "report.json.enabled False default",
        "report.json.path .duvet/reports/report.json default",
        "report.snapshot.enabled False default",
        "report.snapshot.path .duvet/snapshot.txt default",
        "report.requirements.enabled False default",
        "specification[0].source s file 5",
        "specification[0].format None default",
        "specification[0].keywords None default",
        "specification[0].requirements keywords default",
        "specification[0].ids  default",
        "not-applicable[0].target s file 7",
        "not-applicable[0].quote None default",
        "not-applicable[0].reason no file 7",
        "not-applicable[0].owner None default",
        "not-applicable[0].expiry 2030-01-31 file 7",
        "server.name duvet default",
        "server.title Teas file 9",
        f"server.version {VERSION} default",
        f"server.description {ServerRule().description} default",
        "server.protocol-version 2025-06-18 file 9",
        "server.page-size 0 file 9",
        "server.packs ('trace',) default",
        *(f"requirement .duvet/{name}/**/*.toml built in" for name in ("requirements", "todos", "exceptions")),
    ]


def test_the_explained_file_is_named() -> None:
    settings = explain_file(MemoryTree({"other.toml": TEXT.encode()}), "other.toml", ENVIRON)
    assert settings[:2] == (
        Setting("config-path", "other.toml", SettingOrigin.COMMAND_LINE, option="--config-path"),
        Setting("$schema", "duvet-cli/config/v1", SettingOrigin.FILE, "other.toml", 1),
    )
    settings = explain_file(MemoryTree({CONFIG_PATH: TEXT.encode()}), None, ENVIRON)
    assert settings[0] == Setting("config-path", CONFIG_PATH, SettingOrigin.DEFAULT)
    with pytest.raises(UnreadableError) as error:
        explain_file(MemoryTree({}), None, {})
    message = ".duvet/config.toml: no configuration in this folder or above it"
    assert (str(error.value), error.value.hint) == (message, "create one with `duvet init`")
