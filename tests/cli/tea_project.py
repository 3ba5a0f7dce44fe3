"""A small project with requirements in every state and a few invalid citations."""

from __future__ import annotations

CONFIG = """\
'$schema' = "duvet-cli/config/v1"
[[source]]
pattern = "src/**/*.rs"
[[source]]
pattern = "tests/**/*.py"
language = "python"
type = "test"
blob-link = "https://example.org/tests/"
[[specification]]
source = "tea.md"
[[specification]]
source = "rfc7168.txt"
[report.html]
enabled = false
blob-link = "https://example.org/blob/main"
issue-link = "https://example.org/issues"
"""
TEA = """\
# Tea

How tea is made, and by whom.

## Pot

The pot MUST be warm. It SHOULD be round, and nobody MAY drop it.
The lid MUST fit the pot, unless there is none, which is a pity that many a tea party has seen already.

## Cup

A cup MUST NOT leak.
The pot MUST be warm.

## Sugar
"""
RFC = """\
Network Working Group                                          I. Nazar
Request for Comments: 7168                                 1 April 2014


         The Hyper Text Coffee Pot Control Protocol for Tea

1.  Introduction

   Tea is made in pots.

2.  Brewing

   TEA-capable pots MUST announce the teas
   that they can brew.  A pot that

Nazar                        Informational                      [Page 1]

RFC 7168                        HTCPCP-TEA                  1 April 2014

   holds coffee MUST answer with 418.
"""
SOURCE = """\
//! A pot of tea.

//= tea.md#pot
//# The pot MUST be warm.
//= tea.md#pot
//# It SHOULD be round, and nobody MAY drop it.
fn warm(pot: &Pot) {
\tpot.heat("\x1b[31m");
    pot.turn();

    pot.wait();
}

//= tea.md#cup
//= type=exception
//= reason=Our cups are drawn on paper.
//# A cup MUST NOT leak.

//= tea.md#cup
//= type=todo
//= feature=china
//= tracking-issue=7
//# The pot MUST be warm.

//= tea.md#sugar

//= tea.md#milk
//# Milk MUST be cold.

//= tea.md#pot
//# The pot MUST be cold.

//= rfc7168.txt#section-2
//# TEA-capable pots MUST announce the teas,
//# that they can brew.
fn announce() {}
"""
TESTS = """\
def test_warm() -> None:
    @@= tea.md#pot
    @@% The pot MUST be warm.
    assert warm()
""".replace("@@", "##")
EXCEPTIONS = """\
target = "rfc7168.txt#section-2"

[[exception]]
quote = "A pot that holds coffee MUST answer with 418."
reason = "There is no coffee."
"""
TEA_PROJECT = {
    ".duvet/config.toml": CONFIG,
    ".duvet/exceptions/coffee.toml": EXCEPTIONS,
    "tea.md": TEA,
    "rfc7168.txt": RFC,
    "src/pot.rs": SOURCE,
    "tests/test_pot.py": TESTS,
}
