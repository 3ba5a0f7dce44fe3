"""A small project with a requirement in each state, and a specification that is only cited."""

from __future__ import annotations

TEA = """\
# Tea & <biscuits>

How to make tea.

## Pot

Pots come first.

1. The pot MUST be warm. It SHOULD be
   round. It MAY
   be <b>brown</b>.
2. The lid MUST NOT be lost.

## Cup

A cup MUST be clean and
MUST be dry. A saucer MAY be used. A spoon SHOULD be silver ☕.
Sugar is OPTIONAL.

## Milk

The pot MUST be warm.
"""
MANNERS = """\
# Manners

## Hosts

Nobody reads this.

## Guests

Guests say thank you.
Guests leave early.
"""
COMMENTS = """\
//= tea.md#pot
//# The pot MUST be warm.

//= tea.md#pot
//= type=test
//# The pot MUST be warm.

//= tea.md#pot
//# It SHOULD be round.

//= tea.md#pot
//= type=test
//# It MAY be <b>brown</b>.

//= tea.md#pot
//= type=implication
//# The lid MUST NOT be lost.

//= tea.md#cup
//# A cup MUST be clean

//= tea.md#cup
//= type=exception
//= reason=saucers are out of fashion
//# A saucer MAY be used.

//= tea.md#cup
//= type=todo
//= feature=cutlery
//= tracking-issue=7
//# A spoon SHOULD be silver ☕.

//= manners.md#guests
//# Guests say thank you.

//= manners.md#guests
//= type=exception
"""
MORE = """\
target = "tea.md#pot"

[[spec]]
level = "MAY"
quote = "Pots come first."

[[exception]]
target = "tea.md#cup"
quote = "A saucer MAY be used."
reason = "we have none"

[[todo]]
quote = "Pots come first."
feature = "later"
tags = ["order", "style"]
tracking-issue = "https://git.example/42"
"""
CONFIG = """\
'$schema' = "https://awslabs.github.io/duvet/config/v0.4.0.json"

[[source]]
pattern = "src/**/*.rs"

[[requirement]]
pattern = "more/*.toml"

[[specification]]
source = "tea.md"
"""
FILES = {
    ".duvet/config.toml": CONFIG,
    "tea.md": TEA,
    "manners.md": MANNERS,
    "src/a.rs": COMMENTS,
    "more/b.toml": MORE,
}
