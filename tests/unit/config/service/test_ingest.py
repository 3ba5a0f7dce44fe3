"""What the configuration says of taking in."""

from __future__ import annotations

import pytest

from duvet.config.service import load_service_ingest
from duvet.config.settings import IngestRule, StoreSection
from duvet.errors import DuvetError, ProblemsError
from duvet.tree.files import MemoryTree

BROKEN = b"providers:\n  a:\n    apiKey: $UNSET\n"


def taking(text: bytes, **environ: str) -> tuple[IngestRule, StoreSection]:
    return load_service_ingest(MemoryTree({"duvet.config.yaml": text}), environ)


def test_without_a_file_the_defaults_are_in_force() -> None:
    assert load_service_ingest(MemoryTree({}), {}) == (IngestRule(), StoreSection())


def test_what_is_wrong_with_other_tables_does_not_matter() -> None:
    ##= man/spec/service.md#configuration
    ##= type=test
    ##% duvet MUST use the tables `pages`, `ingest` and `store` even when other tables are wrong.
    text = BROKEN + b"ingest:\n  include: src\n  symbols: false\n  semantic: true\nstore:\n  path: $PLACE/x.db\n"
    wanted = IngestRule(include=("src",), symbols=False, semantic=True)
    assert taking(text, PLACE="there") == (wanted, StoreSection(path="there/x.db"))


def test_what_is_wrong_is_told() -> None:
    with pytest.raises(ProblemsError) as error:
        taking(b"ingest:\n  symbol: false\n")
    assert [(one.place.line, one.message.partition(",")[0]) for one in error.value.problems] == [
        (2, "ingest.symbol: unknown field `symbol`")
    ]


FIELDS = "{abs_path}, {path}, {line_start}, {line_end}, {name}"


@pytest.mark.parametrize("template", ["x://{file}", "x://{}", "x://{path!r}", "x://{line_start:>9}", "x://{path", "x}"])
def test_a_template_with_another_field_is_told(template: str) -> None:
    ##= man/spec/knowledge.md#search
    ##= type=test
    ##% `km-search` MUST fill in the editor's URI for each symbol, and refuse a template with an unknown field.
    with pytest.raises(ProblemsError) as error:
        taking(f"ingest:\n  symbols: false\n  editorUri: '{template}'\n".encode())
    message = f'ingest.editorUri: "{template}" is not a template of URIs, whose fields are {FIELDS}'
    assert [(one.path, one.place.line, one.message) for one in error.value.problems] == [
        ("duvet.config.yaml", 3, message)
    ]
    with pytest.raises(ProblemsError, match="once its variables are filled in, this is not a template of URIs"):
        taking(b"ingest: {editorUri: '$EDITOR_URI'}\n", EDITOR_URI=template)


def test_templates() -> None:
    said = "x://{{{path}}}?{line_start}#{name}"
    for text, environ in ((f"'{said}'", {}), ("'${EDITOR_URI}'", {"EDITOR_URI": said}), ("'x://$$5{path}'", {})):
        wanted = "x://$5{path}" if "$$" in text else said
        assert taking(f"ingest: {{editorUri: {text}}}\n".encode(), **environ)[0].editor_uri == wanted


def test_variables_count_where_nothing_is_said() -> None:
    ##= man/spec/knowledge.md#files
    ##= type=test
    ##% `KM_SYMBOLS_ENABLED` MUST apply while `ingest.symbols` is `auto`, and `KM_EDITOR_URI_TEMPLATE` while
    ##% `ingest.editorUri` is not set.
    beside = {"KM_SYMBOLS_ENABLED": "false", "KM_EDITOR_URI_TEMPLATE": "vscode://file/{abs_path}"}
    assert taking(b"", **beside)[0] == IngestRule(symbols=False, editor_uri="vscode://file/{abs_path}")
    said = b"ingest:\n  symbols: true\n  editorUri: 'x:{path}'\n"
    assert taking(said, **beside)[0] == IngestRule(symbols=True, editor_uri="x:{path}")
    with pytest.raises(DuvetError, match="neither true nor false"):
        taking(b"", KM_SYMBOLS_ENABLED="perhaps")
