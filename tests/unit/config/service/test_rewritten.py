"""How to write what stands there in another way, in the format of the file."""

from __future__ import annotations

import pytest

from tests.unit.config.service.made import problems, written

LIST = {
    "toml": "write `[[workflows.w.steps]]`, a table for each",
    "yaml": "write a list, with `- ` before each table",
    "yml": "write a list, with `- ` before each table",
    "json": "write a list, with `[` and `]` around the tables",
}
ONE = {
    "toml": "write `[server]`, one table only",
    "yaml": "write one table only, without `- `",
    "yml": "write one table only, without `- `",
    "json": "write one table only, without `[` and `]`",
}


@pytest.mark.parametrize("ending", LIST)
def test_it_is_told_in_the_format_of_the_file(ending: str) -> None:
    ##= man/spec/service.md#configuration
    ##= type=test
    ##% duvet MUST list all problems of a configuration with line, column and path of the key, and hints in the format
    ##% of the file.
    steps = {"id": "a", "tool": "km-search"}
    data = written({"workflows": {"w": {"description": "x", "steps": steps}}, "server": [{"port": 1}]}, ending)
    found = {problem.message.partition(":")[0]: problem.hint for problem in problems(data, f"duvet.config.{ending}")}
    assert found == {"workflows.w.steps": LIST[ending], "server": ONE[ending]}
