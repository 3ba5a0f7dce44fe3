"""What is wrong with workflows, where it stands in the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from duvet.config.at import At
from duvet.config.documents.document import Document
from duvet.model import Problem, Severity
from duvet.rules import CONFIG_BAD_VALUE
from duvet.workflows.fault import Fault


def problems_of(document: Document, faults: Mapping[str, list[Fault]]) -> Iterator[Problem]:
    """The faults of each workflow as problems of its file."""
    for name, found in faults.items():
        for fault in found:
            at = At(document, {}, keys=("workflows", name, *fault.keys), is_private=True)
            problem = at.problem(CONFIG_BAD_VALUE, fault.message, fault.hint)
            yield replace(problem, severity=Severity.WARNING) if fault.is_warning else problem
