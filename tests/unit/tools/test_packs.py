"""The tables of built-in packs have the right names, so that tools are found without loading others."""

from duvet.tools.packs import BUILT_IN_PACKS
from duvet.tools.tool import EnabledPack, ToolTable


def test_tables_name_each_tool_once_and_by_its_own_name() -> None:
    tables = [pack.tools for pack in BUILT_IN_PACKS.values()]
    names = [name for table in tables if isinstance(table, ToolTable) for name in table]
    assert [(tool.name, *tool.aliases) for pack in BUILT_IN_PACKS.values() for tool in EnabledPack(pack).tools()] == [
        (name,) for name in names
    ]
    assert len(names) == len(set(names)) == 34
