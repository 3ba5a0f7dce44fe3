"""Problems as SARIF 2.1.0, for code scanning services and editors."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from blake3 import blake3

from duvet.config.settings import CONFIG_PATH
from duvet.model import Fix, Place, Problem
from duvet.reports.cells import encode_json
from duvet.reports.problems import ProblemContext, is_absolute, make_root_relative
from duvet.rules import list_rules
from duvet.templates.guide_pages import load_rule_page
from duvet.version import VERSION

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "%SRCROOT%"
_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")

JsonObject = dict[str, Any]


def render_sarif(problems: Sequence[Problem], view: ProblemContext) -> bytes:
    ##= man/spec/problems.md#sarif
    ##% A SARIF log MUST be valid against the schema of SARIF 2.1.0, and contain the explanation of each rule that its
    ##% results name.
    codes = sorted({problem.code for problem in problems} & list_rules().keys())
    shown_rules: list[JsonObject] = []
    for code in codes:
        page, rule = load_rule_page(code), list_rules()[code]
        shown_rules.append(
            {
                "id": code,
                "name": rule.name,
                "shortDescription": {"text": page.summary},
                "fullDescription": {"text": f"{page.summary} {page.why}"},
                "help": {"text": page.text, "markdown": page.text},
                "defaultConfiguration": {"level": rule.severity.value},
            }
        )
    driver = {"name": "duvet", "version": VERSION, "rules": shown_rules}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the repository."}}},
        "results": _make_results(problems, codes, view),
    }
    return encode_json({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})


def _make_results(problems: Sequence[Problem], codes: list[str], view: ProblemContext) -> list[JsonObject]:
    seen: Counter[str] = Counter()
    results = []
    for problem in problems:
        shown = problem.place.line and not problem.is_private
        line = view.read_line(problem.path, problem.place.line) if shown else None
        parts = (problem.code, make_root_relative(problem.path, view.folder), (line or "").strip())
        print_ = blake3("\0".join(parts).encode(errors="surrogatepass")).hexdigest(16)
        seen[print_] += 1
        ##= man/spec/problems.md#sarif
        ##% A SARIF result MUST contain the edits that fix its problem, and a fingerprint that does not change when the
        ##% line moves.
        rule = {"ruleIndex": codes.index(problem.code)} if problem.code in codes else {}
        text = f"{problem.message}\n\n{problem.hint}" if problem.hint else problem.message
        result: JsonObject = {
            "ruleId": problem.code or "duvet",
            **rule,
            "level": problem.severity.value,
            "message": {"text": text},
        }
        ##= man/spec/problems.md#sarif
        ##% Each SARIF result MUST have a location, and the path of a file in the repository MUST be relative to the
        ##% root of the repository.
        # GitHub rejects the whole log if one result has no location.
        path = make_root_relative(problem.path or CONFIG_PATH, view.folder)
        if _WINDOWS.match(path):
            slashes = _quote(path.replace("\\", "/"), "/:")
            uri = f"file:{slashes}" if slashes.startswith("//") else f"file:///{slashes}"
        else:
            uri = f"file://{_quote(path)}" if path.startswith("/") else _quote(path)
        artifact = {"uri": uri} if is_absolute(path) else {"uri": uri, "uriBaseId": _ROOT}
        result["locations"] = [_make_location(artifact, problem.place, problem.label)]
        if problem.notes:
            related = [_make_location(artifact, note.place, note.label) for note in problem.notes]
            result["relatedLocations"] = [one for at, one in enumerate(related) if one not in related[:at]]
        if problem.fix:
            result["fixes"] = [_fix(artifact, problem.fix)]
        results.append(result | {"partialFingerprints": {"duvetProblem/v1": f"{print_}:{seen[print_]}"}})
    return results


def _quote(text: str, safe: str = "/") -> str:
    try:
        return quote(text, safe=safe, errors="surrogateescape")
    except UnicodeEncodeError:
        return quote(text, safe=safe, errors="replace")


def _make_location(artifact: JsonObject, place: Place, label: str) -> JsonObject:
    columns = {"startColumn": place.column, "endColumn": place.end_column} if place.line and place.column else {}
    # Without a line, the problem concerns the whole file, but many SARIF readers require a line.
    physical = {"artifactLocation": artifact, "region": {"startLine": place.line or 1, **columns}}
    return {"physicalLocation": physical, **({"message": {"text": label}} if label else {})}


def _fix(artifact: JsonObject, fix: Fix) -> JsonObject:
    replacements = [
        {
            "deletedRegion": {
                "startLine": edit.line,
                "startColumn": edit.column,
                "endLine": edit.end_line,
                "endColumn": edit.end_column,
            },
            "insertedContent": {"text": edit.text},
        }
        for edit in fix.edits
    ]
    changes = [{"artifactLocation": artifact, "replacements": replacements}]
    properties = {"applicability": fix.applicability.value}
    return {"description": {"text": fix.description}, "artifactChanges": changes, "properties": properties}
