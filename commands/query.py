"""`duvet query`"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import click
from msgspec.structs import replace

from duvet.console import command, problems, report_run, streams
from duvet.console.options import TEXT_TYPE
from duvet.console.progress import LABEL_WIDTH, ProgressLines, format_seconds
from duvet.console.project import open_project
from duvet.model import Severity
from duvet.queries.checks import AnnotationQuery, CheckName, CheckResult, QueryFilter
from duvet.queries.execution import FileModels, ReportLines
from duvet.queries.overlap import UnfoundQuotesError
from duvet.reports.checks import CheckRenderer
from duvet.reports.graphics import Canvas, DrawnFile
from duvet.sources.coverage_report import read_jacoco_xml
from duvet.sources.glob import compile_pattern, expand_pattern
from duvet.text import suggest_nearest
from duvet.trace.records import AnnotationPlaces
from duvet.tree.files import MemoryTree

_STEPS = {
    CheckName.IMPLEMENTATION: "implementation annotation coverage",
    CheckName.TEST: "test annotation coverage",
    CheckName.COVERAGE: "test execution correlation",
    CheckName.EXECUTED_COVERAGE: "test execution correlation",
}
_CHECKS = [name.value for name in CheckName]
_NEED_REPORTS = frozenset({CheckName.COVERAGE, CheckName.EXECUTED_COVERAGE})
_OTHER_NAMES = {"implementations": "implementation", "tests": "test"}
_WIDTH = 80  # The width of diagnostics in a file or a pipe.


class _ChoiceList(click.ParamType[tuple[str, ...]]):
    name = "choice"

    def __init__(self, words: Sequence[str], others: Mapping[str, str], *, splits: bool = True) -> None:
        self.words = words
        self.others = others
        self.splits = splits

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        known = {**dict.fromkeys(self.words), **self.others}
        found = []
        for word in str(value).split(",") if self.splits else [str(value)]:
            if word not in known:
                fault = f"a value is required for '{_name_option(param)}' but none was supplied"
                fault = f"invalid value '{word}' for '{_name_option(param)}'" if word else fault
                hint = suggest_nearest(word, self.words) if word else ""
                values = f"\n  [possible values: {', '.join(self.words)}]"
                raise click.UsageError(fault + values + (f"\n  {hint}" if hint else ""), ctx)
            found.append(self.others.get(word, word))
        return tuple(found)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        before, comma, last = incomplete.rpartition(",") if self.splits else ("", "", incomplete)
        return [CompletionItem(f"{before}{comma}{word}") for word in self.words if word.startswith(last)]


def _name_option(param: click.Parameter | None) -> str:
    return f"{param.opts[-1]} <{param.opts[-1].lstrip('-').upper().replace('-', '_')}>" if param else ""


class QueryCommand(command.Subcommand):
    # `duvet query` has its own `-q` and `-v`.
    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        return [*click.Command.get_params(self, ctx), *(flag for flag in command.HIDDEN_FLAGS if flag.name == "_cache")]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        try:
            _, rest, _ = self.make_parser(ctx).parse_args(list(args))
        except click.NoSuchOption as error:
            raise click.UsageError(f"unexpected argument '{error.option_name}' found", ctx) from error
        except click.BadOptionUsage as error:
            params = (param for param in self.get_params(ctx) if error.option_name in param.opts)
            option = _name_option(next(params, None)) or error.option_name
            raise click.UsageError(f"a value is required for '{option}' but none was supplied", ctx) from error
        if rest:
            raise click.UsageError(f"unexpected argument '{rest[0]}' found", ctx)
        return super().parse_args(ctx, args)


@click.command(cls=QueryCommand)
@click.option(
    "-c",
    "--check",
    "checks",
    type=_ChoiceList(_CHECKS, _OTHER_NAMES),
    multiple=True,
    metavar="<CHECK>",
    help=f"Checks to run, separated by commas; repeatable. [possible values: {', '.join(_CHECKS)}]",
)
@click.option(
    "-s",
    "--section",
    "sections",
    type=TEXT_TYPE,
    multiple=True,
    metavar="<SECTION>",
    help="Check only annotations of these specifications or sections, as PATH or PATH#SECTION, separated by commas; "
    "repeatable.",
)
@click.option(
    "-q",
    "--quote",
    "quotes",
    type=TEXT_TYPE,
    multiple=True,
    metavar="<QUOTE>",
    help="Check only annotations that quote this text, ignoring case; repeatable.",
)
@click.option(
    "-r",
    "--coverage-report",
    "patterns",
    type=TEXT_TYPE,
    multiple=True,
    metavar="<COVERAGE_REPORT>",
    shell_complete=lambda ctx, param, incomplete: [command.make_completion(incomplete, "file")],
    help="Coverage report or glob pattern, required by the coverage checks; repeatable.",
)
@click.option(
    "-f",
    "--coverage-format",
    type=_ChoiceList(("jacoco-xml",), {}, splits=False),
    metavar="<COVERAGE_FORMAT>",
    help="Format of the coverage reports, required by the coverage checks. [possible values: jacoco-xml]",
)
@click.option("-v", "--verbose", is_flag=True, help="Also list the annotations that pass.")
@click.pass_context
def query(
    ctx: click.Context,
    /,
    checks: tuple[tuple[str, ...], ...],
    sections: tuple[str, ...],
    quotes: tuple[str, ...],
    patterns: tuple[str, ...],
    coverage_format: tuple[str, ...] | None,
    verbose: bool,
) -> None:
    """Queries requirement traceability using coverage data and annotations. Each check passes or fails, and prints the
    annotations that fail. As in awslabs duvet, the command reads .duvet/config.toml in the working directory, but not in
    folders above it, and writes the requirements to .duvet/requirements.

    \b
    implementation     code quotes each requirement completely
    test               tests quote the text of each citation completely
    coverage           each test ran, and so did the code that it tests
    executed-coverage  the same, without the tests that did not run
    duplicates         no annotation repeats others of its type

    --section and --quote select the annotations to check. duvet compares these annotations with all annotations;
    `duplicates` compares them only with each other.

    The coverage checks read JaCoCo's XML. Java files need `pip install 'duvet-cli[symbols]'`.

    Exits with 1 if a check fails.

    \b
    Examples:
      duvet query --check implementation,test
      duvet query -c test -s spec.md#heating
      duvet query -c coverage -f jacoco-xml -r "build/reports/**/jacoco*.xml"
      duvet query -c duplicates --verbose
    """
    settings = replace(command.current_settings(), verbose=verbose or command.current_settings().verbose)
    names = [name for words in checks for name in words]
    if settings.config_path is not None:
        raise click.UsageError(
            "`duvet query` reads .duvet/config.toml in the working directory; leave out --config", ctx
        )
    given = {"--coverage-report <COVERAGE_REPORT>": patterns, "--coverage-format <COVERAGE_FORMAT>": coverage_format}
    missing = [option for option, value in given.items() if not value]
    if missing and not _NEED_REPORTS.isdisjoint(names):
        lines = "\n".join(f"  {option}" for option in missing)
        raise click.UsageError(f"the following required arguments were not provided:\n{lines}", ctx)
    progress = QueryProgress(settings)
    if not names:
        click.echo(f"{ctx.get_help()}\n")
        return
    sections = tuple(part for section in sections for part in section.split(","))
    ctx.exit(run_query(progress, names, sections, quotes, patterns))


class QueryProgress(ProgressLines):
    def __init__(self, settings: command.TerminalSettings) -> None:
        super().__init__(settings)
        self.wants_notes = False
        self.begin("Starting duvet in query mode...")
        self._started = time.perf_counter()

    def begin(self, step: str) -> None:
        if not step.startswith("Sorting "):
            super().begin(step)

    def end(self, outcome: str) -> None:
        verb, _, rest = outcome.partition(" ")
        if verb == "Extracted" and (rest.startswith("no ") or not self.settings.verbose):
            return
        if verb != "Sorted":
            super().end(outcome)

    def finish(self, result: Iterable[str]) -> None:
        pieces = iter(result)
        verb, _, rest = next(pieces).partition(" ")
        # The line end before the first word counts, too.
        verb = verb.rjust(LABEL_WIDTH)
        streams.print_notice(f"\x1b[32;1m{verb}\x1b[0m {rest}" if self.settings.colour else f"{verb} {rest}")
        for piece in pieces:
            streams.print_notice(piece)
        elapsed = format_seconds(time.perf_counter() - self._started) if self.timed else ""
        streams.print_notice(f" {elapsed}\n")


def run_query(
    progress: QueryProgress,
    names: Sequence[str],
    sections: tuple[str, ...],
    quotes: tuple[str, ...],
    patterns: tuple[str, ...],
) -> int:
    options: dict[str, Any] = {"config_path": None, "offline": False, "allow_http": False, "spec_path": None}
    project = open_project(None, progress, source_patterns=(), spec_patterns=(), **options)
    report_run.write_requirements(project, project.extraction, prune=False)
    errors = [problem for problem in project.trace.problems if problem.severity is Severity.ERROR]
    if errors:
        problems.print_problems(errors, like_upstream=project.is_like_upstream)
        return streams.FAILED
    settings = progress.settings
    # Extracted requirements need not be on disk.
    places = AnnotationPlaces(MemoryTree(project.extraction.files, project.tree))
    width = streams.detect_table_look(sys.stderr).width if sys.stderr.isatty() else _WIDTH
    canvas = Canvas(cache(lambda path: DrawnFile.of(places.text(path))), width, settings.colour)
    renderer = CheckRenderer(project.trace.annotations, canvas, verbose=settings.verbose)
    if settings.verbose and project.config and "duplicates" in project.config.toml.values:
        progress.note(project.config.path, "`[duplicates]` is ignored: any duplicate fails the check `duplicates`")
    query = AnnotationQuery(project, QueryFilter(sections, quotes))
    try:
        results = [run_check(query, CheckName(name), patterns, progress) for name in names]
    except UnfoundQuotesError as error:
        for piece in renderer.render_unfound(error.ids):
            streams.print_notice(piece)
        return streams.FAILED
    has_passed = all(result.has_passed for result in results)
    ##= man/spec/query.md#results
    ##% `duvet query` MUST exit with 0 if all checks pass, with 1 if a check fails or cannot run, and with 2 for a usage
    ##% error.
    if not (has_passed and settings.quiet):
        progress.finish(renderer.render(results))
    return 0 if has_passed else streams.FAILED


def run_check(query: AnnotationQuery, name: CheckName, patterns: Sequence[str], progress: QueryProgress) -> CheckResult:
    if progress.settings.verbose and name in _STEPS:
        progress.begin(f"Running {_STEPS[name]} check...")
    if name == CheckName.IMPLEMENTATION:
        return query.check_implementations()
    if name == CheckName.TEST:
        return query.check_tests()
    if name == CheckName.DUPLICATES:
        return query.check_duplicates()
    models, tree = FileModels(query.project.tree, query.trace.annotations), query.project.tree
    paths = (path for one in patterns for path in expand_pattern(compile_pattern(one), tree, lambda problem: None))
    reports = list(query.apply_reports((read_jacoco_xml(tree.read(path), path) for path in paths), models))
    describe_models(reports, models, progress)
    return query.check_coverage(reports, models, only_executed=name == CheckName.EXECUTED_COVERAGE)


def describe_models(reports: Iterable[ReportLines], models: FileModels, progress: QueryProgress) -> None:
    for report in reports:
        for path, faults in report.faults.items():
            lines = ", ".join(map(str, faults))
            progress.begin(
                f"Coverage model: {path} \u2014 the selected classifier could not produce a trustworthy classification "
                f"(parse error(s) at line(s) {lines}). The file may not be this language, or the classifier has a gap. "
                "Its annotations are reported Unknown; report the file or the classifier gap."
            )
    if progress.settings.verbose:
        progress.begin(
            f"Coverage model: {len(models.classified)} file(s) language-aware (verified), "
            f"{len(models.direct)} file(s) degraded \u2014 no classifier (verified)"
        )
        for path in sorted(models.direct):
            progress.begin(f"  degraded (no classifier, verified): {path}")
