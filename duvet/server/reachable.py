"""The kinds of resources, as the instructions tell of them."""

from __future__ import annotations

from duvet.prompts.system import Reachable

RESOURCES = (
    Reachable("/specifications", "the specifications"),
    Reachable("/specifications/{spec_id}/sections", "its sections; `/{section_id}` has the text"),
    Reachable(".../sections/{section_id}/requirements", "its requirements; `/{req_identifier}` has the status"),
    Reachable(".../requirements/{req_identifier}/citations", "its citations; `/{citation_id}` has the code around"),
    Reachable("/requirements", "all requirements"),
    Reachable("/citations", "all citations"),
)
