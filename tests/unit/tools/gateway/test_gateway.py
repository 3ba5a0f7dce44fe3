"""Where a gateway may be, and what is shown there."""

from __future__ import annotations

import pytest

from duvet.errors import QueryError
from duvet.tools.gateway import Gateway, parse_gateway
from duvet.tools.tool import Scope

WRONG = {
    "not_a_url": "nowhere",
    "another_scheme": "ftp://example.org",
    "no_host": "https://",
    "user_and_password": "https://user:geheim@example.org",
    "user": "https://geheim@example.org",
    "query": "https://example.org/?token=geheim",
    "empty_query": "https://example.org/?",
    "fragment": "https://example.org/#geheim",
    "blank": "https://example.org/geheim x",
    "line": "https://example.org/\ngeheim",
    "backslash": "https://example.org\\@geheim",
    "port": "https://example.org:99999/geheim",
    "brackets": "https://[geheim/",
    "not_ascii": "https://exämple.org/geheim",
    "clear_text": "http://geheim.example.org",
    "all_addresses": "http://0.0.0.0:80/geheim",
}


@pytest.mark.parametrize("url", WRONG.values(), ids=WRONG)
def test_what_can_be_no_gateway(url: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse_gateway(url, None, None)
    assert "KM_GATEWAY_URL is not" in caught.value.message
    assert "geheim" not in f"{caught.value}{caught.value.hint}"


def test_on_this_machine_without_encryption() -> None:
    ##= man/spec/gateway.md#forwarding
    ##= type=test
    ##% duvet MUST reach a gateway over HTTPS with a valid certificate unless it is on the same machine, follow no
    ##% redirects, and refuse a `KM_GATEWAY_URL` with credentials.
    for url in ("http://127.0.0.1:8931/", "http://localhost:8931", "http://[::1]:8931", "https://example.org/@team/"):
        assert not parse_gateway(url, None, None).base.endswith("/")
    with pytest.raises(QueryError, match="KM_GATEWAY_URL is not https"):
        parse_gateway("http://example.org", None, None)


def test_tokens_are_not_shown() -> None:
    found = parse_gateway("https://example.org:444/team", "secret-1", "secret-2")
    assert "secret" not in repr(found)
    assert (found.authority, found.is_local) == ("example.org:444", False)
    assert found.tokens == ("KM_READER_TOKEN", "KM_ADMIN_TOKEN")


def shown(gateway: Gateway) -> list[str | None]:
    found = [gateway.token(scope) for scope in (Scope.READER, Scope.MAINTAINER)]
    return [None if one is None else one.reveal() for one in found]


def test_which_token_for_which_scope() -> None:
    url = "https://example.org"
    assert shown(parse_gateway(url, "r", "a")) == ["r", "a"]
    assert shown(parse_gateway(url, "r", None)) == ["r", None]
    assert shown(parse_gateway(url, None, "a")) == ["a", "a"]
    assert shown(parse_gateway(url, None, None)) == [None, None]
