"""`duvet recipe` where recipes can't be run"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.made import make
from tests.cli.recipes import LOOK, duvet, project
from tests.cli.running import Run

__all__ = ["duvet", "project"]  # fixtures, which tests ask for by name


def test_a_pack_that_is_off(duvet: Run, project: Path) -> None:
    for pack in ({"enabled": False}, {"mode": "read-only"}):
        make(project, {"duvet.config.json": json.dumps({"toolPacks": {"knowledge": pack}})})
        done = duvet("recipe", "run", "daily-health")
        assert done.code == 1
        assert "error: the configuration leaves out km-recipe-run\n --> duvet.config.json\n" in done.err
        assert duvet("recipe", "run", "daily-health", "--dry-run").err == done.err
        assert duvet("recipe", "list").code == 0
        done = duvet("recipe", "validate", "look", "release-prep")
        here = "none can be run here: the configuration leaves out km-recipe-run"
        assert (done.code, done.err) == (0, f"2 recipes, no errors\n{here}\n")
    make(project, {"duvet.config.json": json.dumps({"toolPacks": {"knowledge": {"tools": {"km-help": False}}}})})
    assert 'there is no tool "km-help"' in duvet("recipe", "validate", "look").err


AWAY = {"KM_GATEWAY_URL": "http://127.0.0.1:9"}


@pytest.mark.parametrize("token", [{}, {"KM_ADMIN_TOKEN": "sesame"}], ids=["none", "admin"])
def test_with_a_gateway(duvet: Run, token: dict[str, str]) -> None:
    ##= man/spec/gateway.md#forwarding
    ##= type=test
    ##% With `KM_GATEWAY_URL`, the shell and `duvet mcp` over standard input and output MUST enable the pack `knowledge`
    ##% unless it is disabled, forward the calls of its tools except `km-help` to that server, and refuse
    ##% `duvet recipe run`.
    environ = {**AWAY, **token}
    error = "error: with KM_GATEWAY_URL, recipes are run by that server\n"
    for more in ((), ("--dry-run",)):
        done = duvet("recipe", "run", "daily-health", *more, environ=environ)
        assert (done.code, done.out, done.err.startswith(error)) == (1, "", True)
    done = duvet("recipe", "list", environ=environ)
    assert (done.code, done.err.startswith("these are the recipes that are here; with KM_GATEWAY_URL")) == (0, True)
    assert duvet("-q", "recipe", "list", environ=environ).err == ""
    done = duvet("recipe", "validate", "look", "release-prep", environ=environ)
    assert (done.code, done.err) == (0, "2 recipes, no errors\n")
    assert duvet("recipe", "show", "look", environ=environ).out == LOOK
