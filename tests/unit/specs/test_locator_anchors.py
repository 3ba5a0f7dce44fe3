"""Anchors of titles."""

from __future__ import annotations

# Letters that look like others are what is tested.
# ruff: noqa: RUF001
import pytest
from hypothesis import given, strategies as st

from duvet.specs.locator import make_anchor


@pytest.mark.parametrize(
    ("title", "anchor"),
    [
        ("Getting Started", "getting-started"),
        ("2.1. It's_a & (b)  -- C", "2-1-it-s-a-b-c"),
        ("--- ", ""),
        ("", ""),
        # Other letters and signs
        ("Élan Über uns", "elan-uber-uns"),
        ("Ærø Straße", "aero-strasse"),
        ("“Don’t” — a…b", "don-t-a-b"),
        ("a → b ⇒ c ↓", "a-b-c"),
        ("§ 5 ©2024 3×4", "ss-5-c-2024-3x4"),
        ("no\u00a0break\u200bspace\u00ad", "no-break-space"),
        ("Привет, мир: Эй, ёж и объект", "privet-mir-ei-iozh-i-obekt"),
        ("Φιλοσοφία", "philosophia"),
        ("Łódź ﬁn", "lodz-fin"),
        # East Asia
        ("日", "ri"),
        ("北亰city", "bei-jing-city"),
        ("影師嗎", "ying-shi-ma"),
        ("げんまい茶", "genmaicha"),
        ("つづく", "tuduku"),
        ("한국어 문서", "hangugeo-munseo"),
        # Emoji
        ("✅ Correct", "white-check-mark-correct"),
        ("❌ Incorrect", "x-incorrect"),
        ("SymbolTree ⏏", "symboltree-eject"),
        ("🦄☣", "unicorn-biohazard"),
        ("a🚀b", "arocket-b"),
        ("⚠️ Note", "warning-note"),
        ("👍🏽 ok", "1-ok"),
        ("★ Stars ✓ ① ❓", "stars"),
    ],
)
def test_titles_have_anchors(title: str, anchor: str) -> None:
    assert make_anchor(title) == anchor


@given(st.text())
def test_any_title_makes_an_anchor(title: str) -> None:
    anchor = make_anchor(title)
    assert all(word.isalnum() and word.isascii() and word == word.lower() for word in anchor.split("-") if anchor)
