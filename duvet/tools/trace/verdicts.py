"""What is wrong with a citation, in the few phrases that agents are told to expect."""

from __future__ import annotations

import re

from duvet import rules
from duvet.model import Problem
from duvet.tools.unread import UNREAD

URL_NOT_FOUND = "URL not found"
SPECIFICATION_NOT_FOUND = "Specification not found"
SECTION_NOT_FOUND = "Section not found"
REQUIREMENT_NOT_FOUND = "Requirement not found"

_PHRASES = {
    rules.TARGET_UNRESOLVED.code: SPECIFICATION_NOT_FOUND,
    rules.SPECIFICATION_UNFETCHED.code: SPECIFICATION_NOT_FOUND,
    rules.FILE_UNREADABLE.code: SPECIFICATION_NOT_FOUND,
    rules.FILE_NOT_UTF8.code: SPECIFICATION_NOT_FOUND,
    rules.FILE_NOT_REGULAR.code: SPECIFICATION_NOT_FOUND,
    rules.TARGET_NO_SECTION.code: SECTION_NOT_FOUND,
    rules.TARGET_UNKNOWN_SECTION.code: SECTION_NOT_FOUND,
    rules.QUOTE_NOT_FOUND.code: REQUIREMENT_NOT_FOUND,
    rules.TARGET_BAD_URL.code: URL_NOT_FOUND,
    **dict.fromkeys(UNREAD, URL_NOT_FOUND),
}
_NAME = re.compile(r".*(?:[#/]|\.[A-Za-z]+\Z)", re.DOTALL)


def error_of(problem: Problem, target: str) -> str:
    """What is wrong with a citation of this target: one of the phrases, and why; for other problems why alone."""
    ##= man/spec/mcp.md#tools
    ##% The error of a citation that is invalid MUST begin with `URL not found`, `Specification not found`, `Section not
    ##% found` or `Requirement not found`.
    phrase = _PHRASES.get(problem.code, "")
    if problem.code == rules.TARGET_UNRESOLVED.code and not _NAME.match(target):
        phrase = URL_NOT_FOUND
    message = as_written(problem.message, target)
    return f"{phrase}: {message}" if phrase else message


def as_written(message: str, target: str) -> str:
    """The message with a specification that stands above the project as the target names it."""
    name = target.partition("#")[0]
    return re.sub(rf"(?<!\S)/.*/{re.escape(name)}", lambda _: name, message) if name else message
