"""Which methods a path takes."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from duvet.server.http.answers import Refusal, refuse
from duvet.tools.errors import Code

READING = ("GET", "HEAD")


class MethodGuard:
    """Lets requests through whose method is served."""

    def __init__(self, app: ASGIApp, methods: tuple[str, ...]) -> None:
        self._app = app
        self._methods = methods
        self._refusal = Refusal(
            status=405,
            code=Code.UNSUPPORTED_OPERATION,
            message="This method is not served here",
            headers=(("allow", ", ".join(methods)),),
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] in self._methods:
            await self._app(scope, receive, send)
        else:
            await refuse(scope, send, self._refusal)
