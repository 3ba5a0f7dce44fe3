"""`duvet explain` and `duvet rules`"""

from __future__ import annotations

import click

from duvet.console import command, explanations, markdown, options, streams
from duvet.reports.tables import Column, Listing
from duvet.text import quote_text

_TOPIC_COLUMNS = (
    Column("topic", lambda topic: topic.name),
    Column("kind", lambda topic: topic.kind),
    Column("summary", lambda topic: topic.summary, wraps=True),
)
_RULE_COLUMNS = (
    Column("code", lambda row: row.code),
    Column("name", lambda row: row.name),
    Column("severity", lambda row: row.severity),
    Column("summary", lambda row: row.summary, wraps=True),
)


@click.command(cls=command.Subcommand)
@click.argument(
    "topic",
    nargs=-1,
    type=options.TEXT_TYPE,
    metavar="[CODE|STATE|LEVEL|KEY]",
    shell_complete=command.complete_values("topics"),
)
@click.option("--rules", is_flag=True, help="List all rules; `duvet rules` does the same.")
@options.add_list_format
def explain(topic: tuple[str, ...], rules: bool, format: str | None) -> None:
    """CODE is the code or name of a rule, such as DUV050. STATE is a requirement state, such as "needs tests". LEVEL
    is MUST, SHOULD or MAY. KEY is a key of .duvet/config.toml or of the service configuration; the last part of its
    path is enough if it is unambiguous. Without an argument, duvet lists everything that it can explain.

    \b
    Examples:
      duvet explain DUV050
      duvet explain "needs tests"
      duvet explain report.html.path
      duvet explain --rules
    """
    if topic and (rules or format):
        raise click.UsageError(f"--rules and --format print a list; leave out {quote_text(' '.join(topic))}")
    if topic:
        markdown.print_markdown(explanations.explain_topic(" ".join(topic)))
    elif rules:
        streams.print_list(Listing(_RULE_COLUMNS, explanations.list_rule_rows()), format)
    else:
        streams.print_list(Listing(_TOPIC_COLUMNS, explanations.list_topics()), format)


@click.command(cls=command.Subcommand)
@click.argument(
    "code",
    required=False,
    type=options.TEXT_TYPE,
    metavar="[CODE]",
    shell_complete=command.complete_values("rule_codes"),
)
@options.add_list_format
def rules(code: str | None, format: str | None) -> None:
    """List the rules, or explain one.

    CODE is the code or name of a rule, such as DUV050. Without CODE, duvet lists every kind of problem that it reports.

    \b
    Examples:
      duvet rules
      duvet rules DUV050
      duvet rules --format json
    """
    if code is None:
        streams.print_list(Listing(_RULE_COLUMNS, explanations.list_rule_rows()), format)
        return
    if format:
        raise click.UsageError("--format only applies to the list of rules; leave out CODE")
    markdown.print_markdown(explanations.explain_topic(code))
