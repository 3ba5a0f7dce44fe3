"""`duvet search`"""

from __future__ import annotations

from typing import Any

import click

from duvet.terminal.command import Subcommand
from duvet.terminal.filters import kind_option, level_option, section_option, spec_option, status_option, without_filter
from duvet.terminal.listings import limit, list_format
from duvet.terminal.options import trace_options


@click.command(cls=Subcommand)
@click.argument("words", metavar="QUERY...", nargs=-1, required=True)
@spec_option
@section_option
@level_option
@status_option
@kind_option
@click.option("--raw", is_flag=True, help="QUERY is an expression of sqlite's FTS5.")
@click.option("--semantic", is_flag=True, help="Find what means the same in other words, too.")
@limit(20)
@list_format
@trace_options
@click.pass_context
def search(
    ctx: click.Context,
    /,
    words: tuple[str, ...],
    raw: bool,
    semantic: bool,
    limit: int,
    format: str | None,
    **options: Any,
) -> None:
    """QUERY is looked for in sentences, in the titles of their sections and in the names of their specifications, in
    whatever form the words stand there. All words have to be found, or, where nothing has them all, any of them. What
    stands in double quotes is found as a phrase; words joined by hyphens, dots and the like are one, too.

    A QUERY may also be the beginning of an id, file:line, a file, a specification, a section, or spec#section. What it
    names comes first.

    With --raw, words, "phrases", AND, OR, NOT, NEAR(…) and prefix* mean what they mean to sqlite's FTS5, and so do the
    columns text, title and specification.

    With --semantic, any of the words is enough, and requirements that have none of them are found by what they mean.
    What is first by words and by meaning comes first. This needs the extra: pip install 'duvet-cli[semantic]'. Nothing
    is sent to anybody.

    Rows of JSON say how well the words match, as "score", which is null for what is only named, and where they stand
    in "text", as "marks": pairs of a first character and the one after the last.

    Exits with 1 when nothing is found.

    \b
    Examples:
      duvet search retry token
      duvet search '"connection error"' --level must --status not-started
      duvet search src/server.rs:3
      duvet search --semantic "how long may a client wait"
      duvet search --raw 'title : validation NOT text : token' --format json
    """
    from duvet.search.search import Search
    from duvet.terminal.searching import run_search

    wanted, where = without_filter(options)
    if raw and semantic:
        ##= man/spec/search.md#meaning
        ##% `--raw` and `--semantic` together MUST be refused.
        raise click.UsageError("--raw and --semantic can't go together: an expression has no meaning of its own")
    ctx.exit(run_search(Search(" ".join(words), wanted, raw, limit), format, where, semantic))
