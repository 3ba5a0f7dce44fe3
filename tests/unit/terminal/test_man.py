"""Man pages of a small command line, whole."""

from __future__ import annotations

import click

from man.build import make_command_pages


@click.group(help="Brew coffee.\n\n\b\nExamples:\n  pot brew")
def pot() -> None:
    pass


@pot.command(epilog="\b\nExamples:\n  pot brew -s \\\n    strong")
@click.option("-s", "--strength", metavar="WORD", help="How `strong` it's to be.", default="mild", show_default=True)
@click.option("--milk/--no-milk", help="With or without.")
@click.option("--secret", hidden=True)
@click.argument("cup")
def brew(strength: str, milk: bool, secret: str, cup: str) -> None:
    """Fill a cup.

    \b
    One line
      and the next

    Never spills.\f
    What nobody reads.
    """


BREW = r""".\" Made from the help of the command: `make man`.
.TH DUVET\-BREW 1 "" "duvet 1.2" "duvet"
.SH NAME
duvet\-brew \- fill a cup
.SH SYNOPSIS
.B duvet brew
.I [OPTIONS]
.I CUP
.SH DESCRIPTION
Fill a cup.
.PP
.RS 4
.EX
One line
  and the next
.EE
.RE
.PP
Never spills.
.SH OPTIONS
.TP
\fB\-s\fR, \fB\-\-strength\fR \fIWORD\fR
How \fBstrong\fR it\(aqs to be. [default: mild]
.TP
\fB\-\-milk\fR / \fB\-\-no\-milk\fR
With or without.
.TP
\fB\-\-help\fR
Show this message and exit.
.SH EXAMPLES
.EX
pot brew \-s \e
  strong
.EE
.SH EXIT STATUS
0 when all is well, 1 when the answer is no or it could not be done, 2 for wrong usage, 3 for a mistake in duvet itself.
See
.BR duvet (1).
.SH SEE ALSO
.BR duvet (1),
.BR duvet\-config.toml (5),
.BR duvet (7)
"""


def test_page_of_a_command() -> None:
    assert make_command_pages(pot, "1.2")["duvet-brew.1"] == BREW


def test_page_of_the_program_names_its_commands() -> None:
    pages = make_command_pages(pot, "1.2")
    assert list(pages) == ["duvet.1", "duvet-brew.1"]
    assert ".SH COMMANDS\n.TP\n.BR duvet\\-brew (1)\nFill a cup.\n.SH OPTIONS\n" in pages["duvet.1"]
