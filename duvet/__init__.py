"""duvet links specifications to the code that implements and tests them."""

# Type checkers know this name; importing `typing` for it would cost more than all the rest.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from duvet.config.settings import Config as Config
    from duvet.config.settings import SourceRule as SourceRule
    from duvet.errors import DuvetError as DuvetError
    from duvet.errors import FetchError as FetchError
    from duvet.errors import ProblemsError as ProblemsError
    from duvet.errors import UnreadableError as UnreadableError
    from duvet.model import Annotation as Annotation
    from duvet.model import Edit as Edit
    from duvet.model import Fix as Fix
    from duvet.model import Format as Format
    from duvet.model import Kind as Kind
    from duvet.model import Level as Level
    from duvet.model import Locator as Locator
    from duvet.model import Note as Note
    from duvet.model import Place as Place
    from duvet.model import Problem as Problem
    from duvet.model import Section as Section
    from duvet.model import Severity as Severity
    from duvet.model import Source as Source
    from duvet.model import Specification as Specification
    from duvet.progress import Downloads as Downloads
    from duvet.progress import Progress as Progress
    from duvet.project.findings import Checked as Checked
    from duvet.project.findings import Finding as Finding
    from duvet.project.findings import Findings as Findings
    from duvet.project.project import Options as Options
    from duvet.project.project import Project as Project
    from duvet.project.validation import validate as validate
    from duvet.specs.library import Policy as Policy
    from duvet.trace.records import Coverage as Coverage
    from duvet.trace.records import Failure as Failure
    from duvet.trace.records import Finished as Finished
    from duvet.trace.records import Fit as Fit
    from duvet.trace.records import Match as Match
    from duvet.trace.records import NotApplicable as NotApplicable
    from duvet.trace.records import Piece as Piece
    from duvet.trace.records import Requirement as Requirement
    from duvet.trace.records import Segment as Segment
    from duvet.trace.records import State as State
    from duvet.trace.records import Status as Status
    from duvet.trace.records import Tally as Tally
    from duvet.trace.records import Trace as Trace
    from duvet.tree.files import DiskTree as DiskTree
    from duvet.tree.files import MemoryTree as MemoryTree
    from duvet.tree.files import Tree as Tree
else:

    def __getattr__(name):
        """Modules are imported when a name of theirs is first asked for: `import duvet` alone stays fast."""
        from importlib import import_module

        for module, names in _HOMES.items():
            if name in names.split():
                value = globals()[name] = getattr(import_module(f"duvet.{module}"), name)
                return value
        raise AttributeError(f"module 'duvet' has no attribute {name!r}")


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
__all__ = " ".join(_HOMES.values()).split()  # noqa: PLE0605


def __dir__() -> list[str]:
    return __all__
