"""How a tool says that it can't do what was asked."""

from __future__ import annotations

import os
from enum import StrEnum

from duvet.errors import DuvetError, FetchError, NotFoundError, QueryError
from duvet.queries.names import NoSectionError


class Code(StrEnum):
    """What kind of failure it is."""

    INVALID_REQUEST = "invalid_request"
    NOT_FOUND = "not_found"
    INVALID_IDENTIFIER = "invalid_identifier"
    """A name of a node in the graph that can't be one."""
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    UPSTREAM_ERROR = "upstream_error"
    """What the answer would be taken from is wrong or out of reach, such as the configuration of the project."""
    UNSUPPORTED_OPERATION = "unsupported_operation"
    TOOL_FAILED = "tool_failed"
    """A step of a workflow has called a tool that failed."""
    MODEL_FAILED = "model_failed"
    ASSERT_FAILED = "assert_failed"
    """Something doesn't hold that a workflow expects."""
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    RECIPE_NOT_FOUND = "recipe_not_found"


class ToolError(Exception):
    """A failure that whoever called can do something about."""

    def __init__(self, code: Code, message: str, hint: str = "", details: object = None) -> None:
        """The details are for programs: a plain value."""
        super().__init__(message)
        self.details = details
        self.code = code
        self.message = message
        self.hint = hint


class PendingError(Exception):
    """The caller has to do something first, and to call again then."""


class MissingArgumentError(ToolError):
    """An argument is missing that a tool needs."""

    def __init__(self, argument: str, hint: str) -> None:
        super().__init__(Code.INVALID_REQUEST, f"{argument} is missing", hint)
        self.argument = argument


def tool_error(error: DuvetError) -> ToolError:
    """The same failure as a tool tells it."""
    match error:
        case NotFoundError():
            code = Code.NOT_FOUND
        case QueryError():
            code = Code.INVALID_REQUEST
        case _:
            code = Code.UPSTREAM_ERROR
    ##= man/spec/mcp.md#errors
    ##% An error MUST NOT name the folders of the machine that a file of the project stands in.
    folder = os.path.dirname(error.path) if os.path.isabs(error.path) else ""
    return ToolError(code, str(error).replace(f"{folder}/", "") if folder else str(error), hint_of(error))


def hint_of(error: DuvetError) -> str:
    """What whoever asks a server can do about it."""
    if isinstance(error, NoSectionError):
        ##= man/spec/mcp.md#errors
        ##% A hint MUST NOT name a command.
        return f"/specifications/{error.specification or '{spec_id}'}/sections lists the sections"
    ##= man/spec/mcp.md#errors
    ##% A project that can't be read MUST be answered with a hint that it is read again once it is put right.
    again = "put that right and ask again: what is on disk then is read"
    return error.hint or (again if _is_of_project(error) else "")


def _is_of_project(error: DuvetError) -> bool:
    """Whether files are wrong or out of reach."""
    ##= man/spec/mcp.md#errors
    ##% That hint MUST NOT be given for what goes wrong with anything else, such as a model.
    is_asked_wrong = isinstance(error, (NotFoundError, QueryError))
    return not is_asked_wrong and (bool(error.path) or isinstance(error, FetchError))
