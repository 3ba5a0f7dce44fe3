"""The tables of a configuration file in our own schema: upstream's keys and more."""

# Without `from __future__ import annotations`: msgspec would compile the text of each annotation at every start.

from collections.abc import Mapping
from typing import Annotated, Self

from msgspec import Meta, field
from msgspec.structs import replace

from duvet.config.languages import Language
from duvet.config.schema import SourceRule, TableError
from duvet.config.tables import ConfigTable, SchemaName, SourceTable, as_tuple, named
from duvet.config.wording import missing_field
from duvet.rules import CONFIG_MISSING_KEY

Patterns = str | Annotated[tuple[str, ...], Meta(min_length=1)]


class ExtendedSource(SourceTable, frozen=True, kw_only=True):
    """Source files, and how their comments are marked."""

    pattern: Annotated[
        Patterns | None,
        Meta(description="Which files, as one pattern of paths or several; by default those of the language"),
    ] = None
    exclude: Annotated[
        str | tuple[str, ...],
        Meta(description="Which of these files to leave out, or folders with all that is in them"),
    ] = ()
    gitignore: Annotated[bool, Meta(description="Leave out what git ignores")] = False
    language: Annotated[Language | None, Meta(description="The language, for its files and comments")] = None

    def __post_init__(self) -> None:
        if self.pattern is None and self.language is None:
            hint = "name the files, or a `language` that has some"
            raise TableError(CONFIG_MISSING_KEY, missing_field("pattern"), hint)

    def style(self) -> tuple[str, str]:
        ##= man/spec/trace.md#sources
        ##% With `language`, the comment style and the patterns of that language MUST be used where none are given.
        return super().style() if self.language is None else self.language.style

    def settled(self, environ: Mapping[str, str]) -> Self:
        source = super().settled(environ)
        ##= man/spec/trace.md#sources
        ##% With `language`, the comment style and the patterns of that language MUST be used where none are given.
        if source.pattern is None and source.language is not None:
            source = replace(source, pattern=source.language.patterns)
        return source

    def rule(self) -> SourceRule:
        return replace(
            super().rule(),
            exclude=as_tuple(self.exclude),
            gitignore=self.gitignore,
            language="" if self.language is None else self.language.value,
        )


# The keywords of JSON Schema for what `__post_init__` checks.
_ONE_OF_BOTH = {"anyOf": [{"required": ["pattern"]}, {"required": ["language"]}]}
_Source = Annotated[ExtendedSource, Meta(extra_json_schema=_ONE_OF_BOTH)]


##= man/spec/trace.md#configuration
##% A configuration with our own schema MUST accept every key of the other one.
class ExtendedConfig(ConfigTable, frozen=True, kw_only=True):
    """The configuration of duvet."""

    source: Annotated[tuple[_Source, ...], Meta(description="Source files to scan")] = ()
    schema: Annotated[SchemaName, named(extended=True)] = field(name="$schema")
