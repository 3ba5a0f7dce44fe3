"""The rules: each kind of problem that duvet reports, with a stable code."""

from __future__ import annotations

from functools import cache, partial

from msgspec import Struct

from duvet.errors import ConfigAbsentError, DuvetError, FetchError, MarkdownError, NotRegularError, OutputError
from duvet.model import Fix, Note, Place, Problem, Severity


class Rule(Struct, frozen=True):
    code: str
    name: str
    severity: Severity = Severity.ERROR

    def problem(
        self,
        message: str,
        path: str = "",
        place: Place = Place(),  # noqa: B008 - frozen
        *,
        label: str = "",
        hint: str = "",
        notes: tuple[Note, ...] = (),
        fix: Fix | None = None,
    ) -> Problem:
        return Problem(self.code, message, path, place, label, hint, self.severity, notes, fix)


_warning = partial(Rule, severity=Severity.WARNING)

# Configuration
CONFIG_SYNTAX = Rule("DUV001", "config-syntax")
CONFIG_UNKNOWN_KEY = Rule("DUV002", "config-unknown-key")
CONFIG_MISSING_KEY = Rule("DUV003", "config-missing-key")
CONFIG_WRONG_TYPE = Rule("DUV004", "config-wrong-type")
CONFIG_BAD_VALUE = Rule("DUV005", "config-bad-value")
CONFIG_BAD_PATTERN = Rule("DUV006", "config-bad-pattern")
CONFIG_BAD_TEMPLATE = Rule("DUV007", "config-bad-template")
CONFIG_ABSENT = _warning("DUV008", "config-absent")
PATTERN_UNMATCHED = _warning("DUV009", "pattern-unmatched")

# Reading files
FILE_UNREADABLE = Rule("DUV010", "file-unreadable")
FILE_NOT_UTF8 = Rule("DUV011", "file-not-utf8")
FILE_NOT_REGULAR = Rule("DUV012", "file-not-regular")
LINK_LOOP = _warning("DUV013", "link-loop")
FILE_ODD_NAME = _warning("DUV014", "file-odd-name")

# Writing files
FILE_UNWRITABLE = Rule("DUV015", "file-unwritable")

# Parsing files
MARKDOWN_UNPARSED = Rule("DUV016", "markdown-unparsed")

# Annotations in comments
COMMENT_UNKNOWN_KEY = Rule("DUV020", "comment-unknown-key")
COMMENT_REPEATED_KEY = Rule("DUV021", "comment-repeated-key")
COMMENT_BAD_TYPE = Rule("DUV022", "comment-bad-type")
COMMENT_BAD_LEVEL = Rule("DUV023", "comment-bad-level")
COMMENT_BAD_FORMAT = Rule("DUV024", "comment-bad-format")
COMMENT_NO_TARGET = Rule("DUV025", "comment-no-target")
COMMENT_KEY_NOT_ALLOWED = Rule("DUV026", "comment-key-not-allowed")
COMMENT_STRAY_CONTENT = _warning("DUV027", "comment-stray-content")
COMMENT_CUT = _warning("DUV028", "comment-cut")
COMMENT_STYLE_UNREAD = _warning("DUV029", "comment-style-unread")

# Requirement files
REQUIREMENT_SYNTAX = Rule("DUV030", "requirement-syntax")
REQUIREMENT_UNKNOWN_KEY = Rule("DUV031", "requirement-unknown-key")
REQUIREMENT_MISSING_KEY = Rule("DUV032", "requirement-missing-key")
REQUIREMENT_WRONG_TYPE = Rule("DUV033", "requirement-wrong-type")
REQUIREMENT_BAD_VALUE = Rule("DUV034", "requirement-bad-value")
REQUIREMENT_REPEATED_KEY = Rule("DUV035", "requirement-repeated-key")
REQUIREMENT_STALE = _warning("DUV036", "requirement-stale")
REQUIREMENT_CLASH = _warning("DUV037", "requirement-clash")
SENTENCE_LOST = _warning("DUV039", "sentence-lost")

# Targets
TARGET_UNRESOLVED = Rule("DUV040", "target-unresolved")
TARGET_BAD_URL = Rule("DUV041", "target-bad-url")
TARGET_NO_SECTION = Rule("DUV042", "target-no-section")
TARGET_UNKNOWN_SECTION = Rule("DUV043", "target-unknown-section")
TARGET_TWO_SPELLINGS = _warning("DUV044", "target-two-spellings")
SPECIFICATION_UNFETCHED = Rule("DUV045", "specification-unfetched")
SPECIFICATION_UNCONFIGURED = _warning("DUV046", "specification-unconfigured")
TARGET_AMBIGUOUS = Rule("DUV047", "target-ambiguous")
KEYWORDS_LOWER_CASE = _warning("DUV048", "keywords-lower-case")

# Quotes
QUOTE_NOT_FOUND = Rule("DUV050", "quote-not-found")
QUOTE_ONE_EDIT = _warning("DUV051", "quote-one-edit")

# Gates
SNAPSHOT_MISSING = Rule("DUV060", "snapshot-missing")
SNAPSHOT_DIFFERS = Rule("DUV061", "snapshot-differs")
GATE_NOT_CITED = Rule("DUV062", "gate-not-cited")
GATE_NOT_TESTED = Rule("DUV063", "gate-not-tested")
GATE_UNKNOWN_TARGET = Rule("DUV064", "gate-unknown-target")
NO_SPECIFICATION = _warning("DUV065", "no-specification")
NO_REQUIREMENTS = _warning("DUV066", "no-requirements")
COVERAGE_LOST = Rule("DUV067", "coverage-lost")
CITATION_STALE = Rule("DUV068", "citation-stale")
REQUIREMENT_UNCITED = Rule("DUV069", "requirement-uncited")

# Merging reports
REPORT_UNREADABLE = Rule("DUV070", "report-unreadable")
MERGE_CONFLICT = Rule("DUV071", "merge-conflict")
MERGE_DRIFT = _warning("DUV072", "merge-drift")

# Requirements that are not applicable
NOT_APPLICABLE_EXPIRED = Rule("DUV080", "not-applicable-expired")
NOT_APPLICABLE_UNKNOWN = Rule("DUV081", "not-applicable-unknown")
NOT_APPLICABLE_NOTHING = Rule("DUV082", "not-applicable-nothing")

# Only for `duvet validate`: awslabs duvet accepts these
EXCEPTION_NO_REASON = Rule("DUV090", "exception-no-reason")
CITATION_REPEATED = _warning("DUV091", "citation-repeated")
CITATION_IN_STRING = _warning("DUV092", "citation-in-string")
CITATION_EXCEPTED = _warning("DUV093", "citation-excepted")
QUOTE_PARTIAL = _warning("DUV094", "quote-partial")
QUOTE_NOT_NORMATIVE = _warning("DUV095", "quote-not-normative")

# Pages
PAGE_SLUG_CLASH = Rule("DUV100", "page-slug-clash")
PAGE_BAD_SLUG = Rule("DUV101", "page-bad-slug")
PAGE_FRONT_MATTER = _warning("DUV102", "page-front-matter")
PAGE_LINK_DANGLING = _warning("DUV103", "page-link-dangling")
PAGE_UNREAD = _warning("DUV104", "page-unread")

# Ids that specifications give their requirements
NAME_REPEATED = _warning("DUV110", "name-repeated")
NAME_UNKNOWN = _warning("DUV111", "name-unknown")
NAME_GAP = _warning("DUV112", "name-gap")
NAME_AMBIGUOUS = Rule("DUV113", "name-ambiguous")
NAME_UNQUOTED = _warning("DUV114", "name-unquoted")

# Commands
NOT_FOUND = Rule("DUV120", "not-found")
MODEL_UNAVAILABLE = Rule("DUV121", "model-unavailable")
COMMAND_FAILED = Rule("DUV122", "command-failed")
INDEX_UNUSABLE = Rule("DUV123", "index-unusable")

SETUP_CODES = frozenset(rule.code for rule in (CONFIG_ABSENT, PATTERN_UNMATCHED, NO_SPECIFICATION, NO_REQUIREMENTS))
"""Warnings that a gate turns into errors, because the gate would have nothing to check."""


@cache
def list_rules() -> dict[str, Rule]:
    return dict(sorted((rule.code, rule) for rule in globals().values() if isinstance(rule, Rule)))


def find_rule_name(code: str) -> str:
    rule = list_rules().get(code)
    return rule.name if rule else ""


def format_rule_title(code: str) -> str:
    return f"{code} {find_rule_name(code)}".strip() or "duvet"


def find_broken_rule(error: DuvetError) -> Rule:
    kinds = {
        ConfigAbsentError: CONFIG_ABSENT,
        FetchError: SPECIFICATION_UNFETCHED,
        MarkdownError: MARKDOWN_UNPARSED,
        OutputError: FILE_UNWRITABLE,
        NotRegularError: FILE_NOT_REGULAR,
    }
    for kind, rule in kinds.items():
        if isinstance(error, kind):
            return rule
    # Only an error in a file's content has a line.
    return FILE_NOT_UTF8 if error.line else FILE_UNREADABLE
