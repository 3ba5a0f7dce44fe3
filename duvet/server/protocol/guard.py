"""What a client hears of a failure, and what it doesn't."""

from __future__ import annotations

import logging

from mcp.server.context import CallNext, HandlerResult
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS
from pydantic import ValidationError

from duvet.errors import DuvetError
from duvet.server.protocol.parts import Request
from duvet.tools.errors import Code, ToolError, tool_error

LOG = logging.getLogger("duvet.server")
"""Hears what clients don't: the system of logging writes it on standard error."""

_ASKED_WRONG = (Code.INVALID_REQUEST, Code.NOT_FOUND)


async def guard(ctx: Request, call_next: CallNext) -> HandlerResult:
    """Answer, or fail in words that were meant for the client."""
    try:
        return await call_next(ctx)
    except (MCPError, ValidationError):
        # The SDK says of parameters that do not fit their types only that they don't.
        raise
    except ToolError as error:
        raise _protocol_error(error) from error
    except DuvetError as error:
        raise _protocol_error(tool_error(error)) from error
    except Exception as error:
        ##= man/spec/mcp.md#errors
        ##% What a client is told of a failure that nobody foresaw MUST be `Internal error` with the code -32603, and
        ##% nothing else.
        LOG.exception("%s failed", ctx.method)
        raise MCPError(code=INTERNAL_ERROR, message="Internal error") from error


def _protocol_error(error: ToolError) -> MCPError:
    number = INVALID_PARAMS if error.code in _ASKED_WRONG else INTERNAL_ERROR
    data = {"code": error.code.value, **({"hint": error.hint} if error.hint else {})}
    return MCPError(code=number, message=error.message, data=data)
