"""Which tokens there are, and whose."""

from __future__ import annotations

import pytest

from duvet.errors import QueryError
from duvet.server.http.tokens import ADMIN_HOLDER, READER_HOLDER, read_tokens
from duvet.tools.tool import Scope

WRONG = {
    "empty": ({"DUVET_READER_TOKEN": ""}, "DUVET_READER_TOKEN is empty"),
    "the other name is empty": ({"DUVET_READER_TOKEN": "a", "KM_READER_TOKEN": ""}, "KM_READER_TOKEN is empty"),
    "a space": ({"KM_ADMIN_TOKEN": "a b"}, "KM_ADMIN_TOKEN holds what a header can't"),
    "a line": ({"KM_ADMIN_TOKEN": "a\n"}, "KM_ADMIN_TOKEN holds what a header can't"),
    "not ASCII": ({"DUVET_ADMIN_TOKEN": "é"}, "DUVET_ADMIN_TOKEN holds what a header can't"),
    "different": (
        {"DUVET_ADMIN_TOKEN": "a", "KM_ADMIN_TOKEN": "b"},
        "DUVET_ADMIN_TOKEN and KM_ADMIN_TOKEN differ",
    ),
    "the same for all": (
        {"DUVET_ADMIN_TOKEN": "a", "KM_READER_TOKEN": "a"},
        "DUVET_READER_TOKEN and DUVET_ADMIN_TOKEN are the same",
    ),
}


@pytest.mark.parametrize(
    "names", [("DUVET_READER_TOKEN",), ("KM_READER_TOKEN",), ("DUVET_READER_TOKEN", "KM_READER_TOKEN")]
)
def test_one_setting_has_two_names(names: tuple[str, ...]) -> None:
    found = read_tokens(dict.fromkeys(names, "secret"))
    assert (found.holder("secret"), found.holder("other"), found.holder("")) == (READER_HOLDER, None, None)


def test_admins_may_do_everything() -> None:
    found = read_tokens({"DUVET_ADMIN_TOKEN": "a", "DUVET_READER_TOKEN": "b"})
    assert found.holder("a") == ADMIN_HOLDER
    assert ADMIN_HOLDER.scopes == {Scope.READER, Scope.MAINTAINER}
    assert READER_HOLDER.scopes == {Scope.READER}


def test_none() -> None:
    assert not read_tokens({"PATH": "/bin"})


##= man/spec/mcp.md#http
##= type=test
##% duvet MUST refuse to start with a token that is empty, does not fit into a header, or differs between its two names.
@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_meant(case: str) -> None:
    environ, message = WRONG[case]
    with pytest.raises(QueryError) as caught:
        read_tokens(environ)
    assert str(caught.value) == message


def test_a_token_is_not_shown() -> None:
    assert "secret" not in repr(read_tokens({"DUVET_ADMIN_TOKEN": "secret"}))
