"""The server that calls are forwarded to, and what it is shown."""

from __future__ import annotations

from urllib.parse import urlsplit

from msgspec import Struct

from duvet.config.secret import Secret
from duvet.errors import QueryError
from duvet.llm.addresses import is_here, is_safe, parts_of
from duvet.tools.errors import Code
from duvet.tools.tool import Scope, Tool, Withheld

URL = "KM_GATEWAY_URL"
READER_TOKEN, ADMIN_TOKEN = "KM_READER_TOKEN", "KM_ADMIN_TOKEN"
_SHAPE = f"give it as https://HOST[:PORT][/PATH]; secrets are told by {READER_TOKEN} and {ADMIN_TOKEN}"


class Gateway(Struct, frozen=True, kw_only=True):
    """Where it is, and the tokens that there are for it."""

    base: str
    reader: Secret | None = None
    admin: Secret | None = None

    @property
    def authority(self) -> str:
        """Its host and port."""
        return urlsplit(self.base).netloc

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine."""
        return is_here(urlsplit(self.base))

    @property
    def tokens(self) -> tuple[str, ...]:
        """The names of the tokens that there are."""
        named = ((READER_TOKEN, self.reader), (ADMIN_TOKEN, self.admin))
        return tuple(name for name, token in named if token is not None)

    def token(self, scope: Scope) -> Secret | None:
        """What is shown where a tool of this scope is called."""
        ##= man/spec/gateway.md#access
        ##% With `KM_GATEWAY_URL`, a tool for readers MUST be called with the reader's token, or else with the admin's, and
        ##% one for maintainers with the admin's token alone.
        return self.admin if scope is Scope.MAINTAINER else self.reader or self.admin

    def shown(self, scope: Scope) -> str:
        """The name of that token; empty where there is none."""
        token = self.token(scope)
        return "" if token is None else READER_TOKEN if token is self.reader else ADMIN_TOKEN

    def withheld(self, tool: Tool) -> Withheld | None:
        """Why nobody here can have a tool called there."""
        ##= man/spec/gateway.md#access
        ##% With `KM_GATEWAY_URL` and without an admin's token, tools for maintainers MUST NOT be shown, and a call of one
        ##% MUST be refused as `forbidden`, or as `unauthorized` where there is no token at all, and sent nowhere.
        if tool.scope is Scope.READER or self.admin is not None:
            return None
        code = Code.UNAUTHORIZED if self.reader is None else Code.FORBIDDEN
        return Withheld(code, f"{tool.name} needs the scope {tool.scope}", f"set {ADMIN_TOKEN} beside {URL}")


def gateway_at(url: str, reader: str | None, admin: str | None) -> Gateway:
    """The gateway behind a URL; QueryError where it can't be one."""
    base = url.strip().rstrip("/")
    parts = parts_of(base)
    ##= man/spec/gateway.md#access
    ##% A `KM_GATEWAY_URL` that is no URL of the web, or that holds a user, a password, a query or a fragment, MUST be an
    ##% error at the start that doesn't show it.
    if parts is None:
        raise QueryError(f"{URL} is not the address of a server", hint=_SHAPE)
    ##= man/spec/gateway.md#access
    ##% A gateway MUST be reached over HTTPS, with its certificate checked, unless it is on this machine.
    if not is_safe(parts):
        raise QueryError(
            f"{URL} is not https", hint="http:// is for servers on this machine: others would see the tokens"
        )
    return Gateway(base=base, reader=_secret(reader), admin=_secret(admin))


def _secret(token: str | None) -> Secret | None:
    return None if token is None else Secret(token)
