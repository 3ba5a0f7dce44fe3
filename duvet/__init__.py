"""duvet links specifications to the code that implements and tests them."""

# Type checkers know this name; importing `typing` for it would cost more than all the rest.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from duvet.config.settings import Config, SourceRule
    from duvet.errors import DuvetError, FetchError, ProblemsError, UnreadableError
    from duvet.model import (
        Annotation,
        Edit,
        Fix,
        Format,
        Kind,
        Level,
        Locator,
        Note,
        Place,
        Problem,
        Section,
        Severity,
        Source,
        Specification,
    )
    from duvet.progress import Downloads, Progress
    from duvet.project.findings import Checked, Finding, Findings
    from duvet.project.project import Options, Project
    from duvet.project.validation import validate
    from duvet.specs.library import Policy
    from duvet.trace.records import (
        Coverage,
        Failure,
        Finished,
        Fit,
        Match,
        NotApplicable,
        Piece,
        Requirement,
        Segment,
        State,
        Status,
        Tally,
        Trace,
    )
    from duvet.tree.files import DiskTree, MemoryTree, Tree
else:

    def __getattr__(name):
        """Modules are imported when a name of theirs is first asked for: `import duvet` alone stays fast."""
        from importlib import import_module

        for module, names in _HOMES.items():
            if name in names.split():
                value = globals()[name] = getattr(import_module(f"duvet.{module}"), name)
                return value
        raise AttributeError(f"module 'duvet' has no attribute {name!r}")


__all__ = [
    "Annotation",
    "Checked",
    "Config",
    "Coverage",
    "DiskTree",
    "Downloads",
    "DuvetError",
    "Edit",
    "Failure",
    "FetchError",
    "Finding",
    "Findings",
    "Finished",
    "Fit",
    "Fix",
    "Format",
    "Kind",
    "Level",
    "Locator",
    "Match",
    "MemoryTree",
    "NotApplicable",
    "Note",
    "Options",
    "Piece",
    "Place",
    "Policy",
    "Problem",
    "ProblemsError",
    "Progress",
    "Project",
    "Requirement",
    "Section",
    "Segment",
    "Severity",
    "Source",
    "SourceRule",
    "Specification",
    "State",
    "Status",
    "Tally",
    "Trace",
    "Tree",
    "UnreadableError",
    "validate",
]

_HOMES = {
    "config.settings": "Config SourceRule",
    "errors": "DuvetError FetchError ProblemsError UnreadableError",
    "model": "Annotation Edit Fix Format Kind Level Locator Note Place Problem Section Severity Source Specification",
    "progress": "Downloads Progress",
    "project.project": "Options Project",
    "tree.files": "DiskTree MemoryTree Tree",
    "specs.library": "Policy",
    "trace.records": "Coverage Failure Finished Fit Match NotApplicable Piece Requirement Segment State Status Tally Trace",
    "project.findings": "Checked Finding Findings",
    "project.validation": "validate",
}


def __dir__() -> list[str]:
    return __all__
