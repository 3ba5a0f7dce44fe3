import json
import re
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from duvet.model import RequirementForm
from duvet.specs.markdown import parse_markdown

KINDS = ("functional", "success", "requirement")


def reduce_text(text: str) -> str:
    text = re.sub(r"[*_`~]", "", unicodedata.normalize("NFKC", text))
    text = re.sub(r"(^|\s)(?:[-+\u2022]|\d+[.)])\s+", " ", text)
    return re.sub(r"\s+", "", text).rstrip(".\u3002;:\uff1b\uff1a").lower()


def texts_of(label: dict[str, Any]) -> set[str]:
    texts = [label["plain"], label.get("plain_head"), *(label.get("alts") or [])]
    return {reduce_text(one) for one in texts if one}


def compare(folder: Path, group: str, form: RequirementForm, *, named: bool) -> tuple[float, float]:
    labels: dict[str, list[dict[str, Any]]] = {}
    for line in (folder / "expected.jsonl").read_text(encoding="utf-8").splitlines():
        label = json.loads(line)
        if label["format"] == group:
            labels.setdefault(label["file"], []).append(label)
    counts: Counter[str] = Counter()
    for file, own in labels.items():
        document = parse_markdown((folder / file).read_bytes(), form)
        stated = [one for section in document.sections if section.plain for one in section.plain.statements]
        found = [(one.name.lower(), reduce_text(one.text)) for one in stated if one.name or not named]
        known = {((one["id"] or "").lower(), text) for one in own for text in texts_of(one)}
        known_texts = {text for one in own if one.get("ambig") for text in texts_of(one)}
        right = [(name, text) in known or text in known_texts for name, text in found]
        counts.update(found=len(found), right=sum(right))
        pairs = {(name, text) for name, text in found}
        for one in own:
            if one["kind"] in KINDS and one["level"] != "none" and not one.get("ambig") and one["id"]:
                counts.update(asked=1, got=any((one["id"].lower(), text) in pairs for text in texts_of(one)))
    return counts["right"] / max(1, counts["found"]), counts["got"] / max(1, counts["asked"])


BY_ID, BY_KEYWORD = RequirementForm(any_case=True, needs_id=True), RequirementForm()


# The labels also count keywords of other languages.
@pytest.mark.parametrize(
    ("group", "form", "least"), [("speckit", BY_ID, 0.98), ("other", BY_ID, 0.98), ("speckit", BY_KEYWORD, 0.95)]
)
def test_labelled_requirements_are_found(group: str, form: RequirementForm, least: float, shared: Path) -> None:
    precision, recall = compare(shared / "sdd", group, form, named=True)
    print(f"{group}: precision {precision:.3f}, recall {recall:.3f}")
    assert precision >= 0.98
    assert recall >= least
