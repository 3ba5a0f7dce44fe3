"""`duvet merge`"""

from __future__ import annotations

import sys

import click

from duvet.console import command, problems, streams
from duvet.tree.files import DiskTree, MemoryTree


@click.command(cls=command.Subcommand)
@command.path_option(
    "--input", multiple=True, required=True, help="A report to merge, or `-` for standard input; repeatable."
)
@command.path_option("--output", required=True, help="The file to write; `-` is standard output.")
def merge(input: tuple[str, ...], output: str) -> None:
    """duvet merges sources, requirements and citations by id. It refuses reports that contradict each other, and lists
    the contradictions. If the tags or texts of a citation (comment, feature, issue) differ, it keeps all tags and one of
    the texts, with a warning. If packages contain files of the same name, create each report with its own --blob-link.

    \b
    Examples:
      duvet report --json-v2 client.json --blob-link https://git.example/client
      duvet merge --input client.json --input server.json --output all.json
    """
    from duvet.reports.json_v2 import encode_v2_report, merge_reports, read_reports

    tree = MemoryTree({"-": sys.stdin.buffer.read()} if "-" in input and sys.stdin else {}, DiskTree())
    merged, warnings = merge_reports(read_reports(input, tree))
    data = encode_v2_report(merged)
    problems.print_problems(warnings)
    streams.write_output(output, data)
