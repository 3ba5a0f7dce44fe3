"""`duvet merge`"""

from __future__ import annotations

import sys

import click

from duvet.terminal.command import Subcommand
from duvet.terminal.known_names import files


@click.command(cls=Subcommand)
@click.option(
    "--input",
    metavar="FILE",
    shell_complete=files,
    multiple=True,
    required=True,
    help="A report to merge; `-` is standard input.",
)
@click.option(
    "--output", metavar="FILE", shell_complete=files, required=True, help="The file to write; `-` is standard output."
)
def merge(input: tuple[str, ...], output: str) -> None:
    """Sources, requirements and citations are found again by their ids. Reports that say different things of one id are
    refused, with every difference; comments and tags that differ are reconciled, with a warning. Files of several
    packages are told apart by their repositories: give each report a --blob-link.

    \b
    Examples:
      duvet report --json-v2 client.json --blob-link https://git.example/client/blob/main
      duvet merge --input client.json --input server.json --output all.json
    """
    from duvet.reports.merge import merge as merge_reports
    from duvet.reports.v2_codec import encode
    from duvet.reports.v2_read import read_reports
    from duvet.terminal.failures import report
    from duvet.terminal.outputs import write_file
    from duvet.tree.disk import DiskTree
    from duvet.tree.memory import MemoryTree

    tree = MemoryTree({"-": sys.stdin.buffer.read()} if "-" in input and sys.stdin else {}, DiskTree())
    merged, warnings = merge_reports(read_reports(input, tree))
    report(warnings)
    write_file(output, encode(merged))
