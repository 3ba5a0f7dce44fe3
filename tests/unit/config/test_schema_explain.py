import pytest
from pytest_snapshot.plugin import Snapshot

from duvet.config.schema import Setting, SettingOrigin, explain_file
from duvet.config.settings import CONFIG_PATH
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


def test_every_setting_is_explained_with_its_origin(snapshot: Snapshot) -> None:
    ##= man/spec/trace.md#configuration
    ##% `duvet config` MUST show the value of each key and where the value comes from.
    lines = [
        " ".join([one.key, str(one.value), one.origin, str(one.line or "-"), *one.variables])
        for one in explain_file(MemoryTree({CONFIG_PATH: TEXT.encode()}), None, ENVIRON)
    ]
    snapshot.assert_match("\n".join(lines).replace(VERSION, "VERSION"), "config/explained.txt")


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
