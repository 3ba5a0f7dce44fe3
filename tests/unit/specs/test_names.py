"""What specifications are called."""

from __future__ import annotations

import pytest

from duvet.model import Format, Locator, Specification
from duvet.specs.library import assign_ids, name_ietf_specification


def specification(path: str, name: str = "") -> Specification:
    return Specification("", name, Locator(path), path, path, Format.IETF, "", "", b"", ())


@pytest.mark.parametrize(
    ("path", "front", "name"),
    [
        ("d/www.rfc-editor.org/rfc/rfc2324.txt", "", "RFC 2324"),
        ("RFC0791", "", "RFC 791"),
        ("coffee.txt", "\nNetwork Working Group      L. Masinter\nRequest for Comments: 2324    1 April\n", "RFC 2324"),
        ("ip.txt", "\n\nRFC:  791\n", "RFC 791"),
        ("monitor.txt", "\n\n      RFC - 869\n", "RFC 869"),
        ("draft-ietf-tea-00.txt", "Internet-Draft\n\nUpdates RFC: none", "draft-ietf-tea-00"),
    ],
)
def test_ietf_name(path: str, front: str, name: str) -> None:
    assert name_ietf_specification(path, front) == name


def test_ids_are_short_and_safe_in_paths() -> None:
    specifications = [
        specification("d/rfc2324.txt", "RFC 2324"),
        specification("My Größe.v1.md"),
        specification("#.md"),
    ]
    assert [(s.locator.name, s.id) for s in assign_ids(specifications)] == [
        ("#.md", "spec"),
        ("My Größe.v1.md", "my-grosse-v1"),
        ("d/rfc2324.txt", "rfc2324"),
    ]


def test_a_clash_gets_a_number_in_sorted_order() -> None:
    paths = ["c/spec.md", "a/spec.md", "b/spec.txt", "spec-2.md"]
    assert [(s.locator.name, s.id) for s in assign_ids(map(specification, paths))] == [
        ("a/spec.md", "spec"),
        ("b/spec.txt", "spec-3"),
        ("c/spec.md", "spec-4"),
        ("spec-2.md", "spec-2"),
    ]
