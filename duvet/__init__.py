"""duvet links specifications to the code that implements and tests them."""

# Type checkers recognise this name; importing `typing` for it would cost more than everything else here.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from duvet.config.settings import Config as Config, SourceRule as SourceRule
    from duvet.errors import (
        DuvetError as DuvetError,
        FetchError as FetchError,
        ProblemsError as ProblemsError,
        UnreadableError as UnreadableError,
    )
    from duvet.model import (
        Annotation as Annotation,
        Applicability as Applicability,
        Edit as Edit,
        Fix as Fix,
        Format as Format,
        Kind as Kind,
        Level as Level,
        Locator as Locator,
        Note as Note,
        Place as Place,
        Problem as Problem,
        Section as Section,
        Severity as Severity,
        Source as Source,
        Specification as Specification,
    )
    from duvet.progress import Downloads as Downloads, Progress as Progress
    from duvet.project.findings import Checked as Checked, Finding as Finding, Findings as Findings
    from duvet.project.project import Options as Options, Project as Project
    from duvet.project.validation import validate as validate
    from duvet.specs.library import Policy as Policy
    from duvet.tools.plugin_runner import PackContext as PackContext
    from duvet.tools.toolkit import prompt as prompt, resource as resource, tool as tool
    from duvet.trace.catalogue import NotApplicable as NotApplicable, State as State
    from duvet.trace.records import (
        Coverage as Coverage,
        Failure as Failure,
        Finished as Finished,
        Fit as Fit,
        Match as Match,
        Piece as Piece,
        Requirement as Requirement,
        Segment as Segment,
        Tally as Tally,
        Trace as Trace,
    )
    from duvet.tree.files import DiskTree as DiskTree, MemoryTree as MemoryTree, Tree as Tree
else:

    def __getattr__(name):
        """Import a public name on first use, so that `import duvet` stays fast."""
        from importlib import import_module

        for module, names in _HOMES.items():
            if name in names.split():
                value = globals()[name] = getattr(import_module(f"duvet.{module}"), name)
                return value
        raise AttributeError(f"module 'duvet' has no attribute {name!r}")


_HOMES = {
    "config.settings": "Config SourceRule",
    "errors": "DuvetError FetchError ProblemsError UnreadableError",
    "model": "Annotation Applicability Edit Fix Format Kind Level Locator Note Place Problem Section Severity Source Specification",
    "progress": "Downloads Progress",
    "project.project": "Options Project",
    "tree.files": "DiskTree MemoryTree Tree",
    "specs.library": "Policy",
    "tools.plugin_runner": "PackContext",
    "tools.toolkit": "prompt resource tool",
    "trace.catalogue": "NotApplicable State",
    "trace.records": "Coverage Failure Finished Fit Match Piece Requirement Segment Tally Trace",
    "project.findings": "Checked Finding Findings",
    "project.validation": "validate",
}
__all__ = " ".join(_HOMES.values()).split()  # noqa: PLE0605


def __dir__() -> list[str]:
    return __all__
