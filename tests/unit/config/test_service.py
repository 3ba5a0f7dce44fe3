import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace
from pytest_snapshot.plugin import Snapshot

from duvet.config import service, settings
from duvet.config.project_file import read_config
from duvet.config.service import ServiceFile, find_service_file, load_service
from duvet.config.service_file import salvage_service
from duvet.config.service_tables import (
    IngestRule,
    ProviderKind,
    Secret,
    ServerSection,
    ServiceConfig,
    StoreSection,
    UploadRule,
)
from duvet.config.settings import CONFIG_PATH, DEFAULT_PACKS
from duvet.errors import DuvetError, ProblemsError
from duvet.knowledge.uploads import resolve_destination
from duvet.tools.packs import BUILT_IN_PACKS
from duvet.tree.files import MemoryTree
from tests.conftest import ROOT
from tests.unit.config.configurations import load, show

ALL = MemoryTree({"given.json": b"", "named.toml": b"", "other.yml": b"", "duvet.config.yaml": b""})
BOTH = {"DUVET_CONFIG": "named.toml", "CONTEXTIVE_CONFIG": "other.yml"}
EVERYTHING = ROOT / "man/examples/contextive.yaml"
OF_PROJECT = b"'$schema' = 'duvet-cli/config/v1'\n[server]\nname = 'tea'\npacks = []\n"
REFUSED = ["con", "docs.", "a/docs /b", "NUL.d/", "x/com1", "é" * 128]


def refusal(tree: MemoryTree, environ: dict[str, str], given: str | None = None) -> str:
    with pytest.raises(DuvetError) as error:
        find_service_file(tree, environ, given)
    return f"{error.value}; {error.value.hint}"


CHOSEN: list[tuple[dict[str, str], str | None, ServiceFile]] = [
    (BOTH, "given.json", ServiceFile("given.json", "--service-config")),
    ({"DUVET_CONFIG": "named.toml"}, None, ServiceFile("named.toml", "DUVET_CONFIG")),
    ({"CONTEXTIVE_CONFIG": "other.yml"}, None, ServiceFile("other.yml", "CONTEXTIVE_CONFIG")),
    ({"DUVET_CONFIG": "", "CONTEXTIVE_CONFIG": "other.yml"}, None, ServiceFile("other.yml", "CONTEXTIVE_CONFIG")),
    (dict.fromkeys(BOTH, "other.yml"), None, ServiceFile("other.yml", "DUVET_CONFIG")),
    (dict.fromkeys(BOTH, ""), "", ServiceFile("duvet.config.yaml", "found")),
]


def test_the_first_file_that_is_named_wins_and_then_the_working_directory() -> None:
    ##= man/spec/service.md#configuration
    ##% duvet MUST read the service configuration from the named file, or else from `duvet.config.*` or
    ##% `contextive.config.*` in the working directory, or else from such a file in the project's folder.
    assert [find_service_file(ALL, environ, given) for environ, given, _ in CHOSEN] == [file for *_, file in CHOSEN]
    project, below = {"duvet.config.toml": b""}, {"below/contextive.config.json": b""}
    found = [find_service_file(MemoryTree(files), {}, folder="below").path for files in (project, project | below)]
    assert found == ["duvet.config.toml", "below/contextive.config.json"]

    for path in service.SERVICE_FILE_NAMES:
        assert find_service_file(MemoryTree({path: b"", f"below/{path}": b""}), {}) == ServiceFile(path, "found")
    assert find_service_file(MemoryTree({"config.json": b""}), {}) == ServiceFile("", "defaults")


def test_files_that_can_not_be_chosen_are_errors(snapshot: Snapshot) -> None:
    found = MemoryTree(dict.fromkeys(("duvet.config.yml", "contextive.config.json"), b""))
    odd = MemoryTree({"a.json/x": b"", "config": b""})
    refusals = [
        *(refusal(found, {}), refusal(ALL, BOTH), refusal(odd, {}, "config")),
        *(refusal(ALL, {}, "gone.json"), refusal(ALL, {"DUVET_CONFIG": "gone.json"})),
    ]
    snapshot.assert_match("\n".join(refusals), "problems/service_files.txt")


def test_defaults_apply_without_a_configuration_and_with_an_empty_one() -> None:
    read = load_service(MemoryTree({}), {})
    assert (read.config, read.packs) == (ServiceConfig(), DEFAULT_PACKS)
    assert (read.path, read.origin, read.document) == ("", "defaults", None)
    for name in (f"duvet.config.{ending}" for ending in ("json", "yaml", "yml", "toml")):
        for data in (b"", b"\xef\xbb\xbf", b"\r\n"):
            read = load(data, name)
            assert (read.config, read.path, read.origin) == (ServiceConfig(), name, "found")


@pytest.mark.criterion("core 2.3.1", "core 4.2.1")
def test_the_examples_of_the_manual() -> None:
    for path in sorted((ROOT / "man/examples").glob("duvet.config.*")):
        read = load_service(MemoryTree({path.name: path.read_bytes()}), {"ANTHROPIC_API_KEY": "sk"})
        assert read.config != ServiceConfig()
    environ = {"OPENAI_API_KEY": "sk-1", "ANTHROPIC_API_KEY": "sk-2", "LOCAL_PORT": "11434", "USER": "me"}
    read = load_service(MemoryTree({"duvet.config.yaml": EVERYTHING.read_bytes()}), environ)
    config = read.config
    names = [field for field in ServiceConfig.__struct_fields__ if field != "schema"]
    assert [name for name in names if not getattr(config, name)] == []
    assert [provider.api_key for provider in config.providers.values()] == [
        Secret("sk-1"),
        None,
        Secret("sk-2"),
    ]
    assert config.providers["local"].base_url == "http://127.0.0.1:11434/v1"
    assert config.providers["claude"].kind is ProviderKind.ANTHROPIC
    assert config.tool_packs["introspect"].settings == {"greeting": "Hello me, a coffee is $5"}
    assert config.workflows["audit"].steps[0].params["level"] == "${vars.level}"
    server, words = config.server, "Links the requirements of the kettle to its code"
    assert (server.name, server.title, server.version) == ("kettle", "Requirements of the kettle", "2.1")
    assert (server.description, server.protocol_version, server.page_size) == (words, None, 20)
    assert read.packs == ("trace", "introspect")


def test_one_table_in_two_files_is_an_error() -> None:
    ##= man/spec/service.md#configuration
    ##% If the same table is in the service configuration and in `.duvet/config.toml`, duvet MUST report an error that
    ##% names both places.
    tree = MemoryTree({"duvet.config.yaml": b"\nserver: {}\n", CONFIG_PATH: OF_PROJECT})
    with pytest.raises(ProblemsError) as error:
        load_service(tree, {})
    (problem,) = error.value.problems
    assert (problem.place.line, problem.message) == (2, "server: this table is also in `.duvet/config.toml:2:2`")


def test_the_valid_parts_of_an_invalid_configuration_are_kept() -> None:
    text = b"workflows: [1]\nserver: {port: x}\nproviders: {a: {}, b: {kind: x}}\n"
    config = salvage_service(MemoryTree({"duvet.config.yaml": text}), {}).config
    assert (config.workflows, list(config.providers), config.server.port) == ({}, ["a"], 8931)
    text = b"server: {host: $BLANK}\nproviders: {a: {apiKey: $NO}}\n"
    config = salvage_service(MemoryTree({"duvet.config.yaml": text}), {"BLANK": " "}).config
    assert (config.server.host, list(config.providers)) == ("127.0.0.1", ["a"])


def test_packs_are_switched_off_and_on() -> None:
    assert load("toolPacks: {trace: {enabled: false}, x: {}, y: {enabled: false}}").packs == ("x",)
    read = load("toolPacks: {x: {settings: {day: 2027-12-31}}}")
    assert read.config.tool_packs["x"].settings == {"day": "2027-12-31"}
    files = {"duvet.config.yaml": b"toolPacks: {introspect: {}}", "other.toml": OF_PROJECT}
    read = load_service(MemoryTree(files), {}, None, "other.toml")
    assert (read.config.server, read.packs) == (ServerSection(name="tea"), ("introspect",))
    assert [pack.value for pack in settings.PackName] == list(BUILT_IN_PACKS)
    assert settings.ServerTable().packs == DEFAULT_PACKS


PROGRAM = """
import sys
from duvet.config.service import load_service
from duvet.tree.files import MemoryTree

heavy = {"asyncio", "httpx2", "jinja2", "mcp", "pydantic", "rapidfuzz", "rich", "yaml"}
for ending, data in (("json", b"{}"), ("toml", b""), ("yaml", b"server: {}")):
    load_service(MemoryTree({f"duvet.config.{ending}": data}), {})
    print(ending, *sorted(heavy & {name.partition(".")[0] for name in sys.modules}))
"""


def test_no_more_is_imported_than_the_format_needs() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["json", "toml", "yaml yaml"]


BEGIN = f"'$schema' = '{settings.EXTENDED_SCHEMA}'\n"
WORDS = {"name": "tea", "title": "Tea", "version": "1.2.3", "description": "What tea has to be"}
WRITTEN = "".join(f'{key} = "{value}"\n' for key, value in WORDS.items())
SERVER = f'[server]\n{WRITTEN}protocol-version = "2025-03-26"\npage-size = 7\npacks = []\n'
TEA = replace(ServerSection(), **WORDS, protocol_version=settings.ProtocolVersion.SECOND, page_size=7)
LATEST = "'$schema' = 'https://awslabs.github.io/duvet/config/v0.4.0.json'\n"


def server_and_packs(data: bytes | None, path: str | None = None) -> tuple[ServerSection, tuple[str, ...]]:
    """Return the server's settings from a project configuration."""
    read = load_service(MemoryTree({} if data is None else {path or CONFIG_PATH: data}), {}, project_path=path)
    return read.config.server, read.packs


WRONG = ("[server", "server = 1\n", "[server]\nname = 1\n", "[server]\nnam = 'x'\n", "[[server]]\nname = 'x'\n")


def test_the_server_is_read_even_if_another_table_is_wrong_and_else_the_defaults_serve() -> None:
    for wrong in ("", "[[source]]\n", "[report.pdf]\n", "[[specification]]\nformat = 'x'\n"):
        for path in (None, "other.toml"):
            assert server_and_packs((BEGIN + SERVER + wrong).encode(), path) == (TEA, ())
    assert read_config((BEGIN + SERVER).encode(), CONFIG_PATH, {}).extended
    ##= man/spec/mcp.md#connecting
    ##% The server MUST answer `initialize` even if the configuration is invalid.
    texts: list[bytes | None] = [
        None,
        BEGIN.encode(),
        (LATEST + SERVER).encode(),
        *(f"{BEGIN}{wrong}".encode() for wrong in WRONG),
    ]
    texts += [b"[server", b"[server]\nname = 'x'", b"\xff", b"server \xff", OF_PROJECT + b"nam = 1"]
    for data in texts:
        assert server_and_packs(data) == (ServerSection(), DEFAULT_PACKS)
    absent = load_service(MemoryTree({CONFIG_PATH: OF_PROJECT}), {}, project_path="absent.toml")
    assert (absent.config.server, absent.packs) == (ServerSection(), DEFAULT_PACKS)


def ingest_rules(text: bytes, **environ: str) -> tuple[IngestRule, StoreSection]:
    return service.load_service_ingest(MemoryTree({"duvet.config.yaml": text}), environ)


def test_ingest_is_read_even_if_another_table_is_wrong() -> None:
    assert service.load_service_ingest(MemoryTree({}), {}) == (IngestRule(), StoreSection())
    text = (
        b"providers:\n  a:\n    apiKey: $UNSET\ningest:\n  include: src\n  symbols: false\n  semantic: true\n"
        b"store:\n  path: $PLACE/x.db\n"
    )
    wanted = IngestRule(include=("src",), symbols=False, semantic=True)
    assert ingest_rules(text, PLACE="there") == (wanted, StoreSection(path="there/x.db"))
    with pytest.raises(ProblemsError) as error:
        ingest_rules(b"ingest:\n  symbol: false\n")
    (problem,) = error.value.problems
    assert (problem.place.line, problem.message.partition(",")[0]) == (2, "ingest.symbol: unknown field `symbol`")


def test_editor_uris_and_variables_of_ingest() -> None:
    uri = "x://{{{path}}}?{line_start}#{name}"
    for text, expected in ((f"'{uri}'", uri), ("'${EDITOR_URI}'", uri), ("'x://$$5{path}'", "x://$5{path}")):
        rule, _ = ingest_rules(f"ingest: {{editorUri: {text}}}\n".encode(), EDITOR_URI=uri)
        assert rule.editor_uri == expected
    environ = {"KM_SYMBOLS_ENABLED": "false", "KM_EDITOR_URI_TEMPLATE": "vscode://file/{abs_path}"}
    assert ingest_rules(b"", **environ)[0] == IngestRule(symbols=False, editor_uri="vscode://file/{abs_path}")
    configured = b"ingest:\n  symbols: true\n  editorUri: 'x:{path}'\n"
    assert ingest_rules(configured, **environ)[0] == IngestRule(symbols=True, editor_uri="x:{path}")
    with pytest.raises(DuvetError, match="neither true nor false"):
        ingest_rules(b"", KM_SYMBOLS_ENABLED="perhaps")


def uploads(text: str, **environ: str) -> UploadRule:
    return load_service(MemoryTree({"duvet.config.yaml": text.encode()}), environ).config.uploads.rule(environ)


def test_variables_of_uploads_count_where_nothing_is_configured() -> None:
    environ = {"KM_CONTENT_ROOT": " /content ", "KM_UPLOAD_DEFAULT_OVERWRITE": "TRUE", "KM_UPLOAD_DEFAULT_INGEST": "1"}
    assert uploads("{}") == UploadRule()
    given = UploadRule(root="/content", root_origin="KM_CONTENT_ROOT", overwrite=True, ingest=True)
    assert uploads("{}", **environ) == given
    configured = "uploads: {root: in, docsSubdir: notes, overwrite: false, ingest: false, maxBytes: 9}"
    wanted = UploadRule(root="in", root_origin="uploads.root", docs_subdir="notes", max_bytes=9)
    assert uploads(configured, **environ) == wanted
    with pytest.raises(DuvetError, match="KM_UPLOAD_DEFAULT_INGEST"):
        uploads("{}", KM_UPLOAD_DEFAULT_INGEST="perhaps")
    for text in ("uploads: {maxBytes: 0}", "uploads: {docs: x}", "uploads: {overwrite: 1}"):
        with pytest.raises(ProblemsError):
            uploads(text)


TEMPLATES = ["x://{file}", "x://{}", "x://{path!r}", "x://{line_start:>9}", "x://{path", "x}"]
FOLDERS = ["../x", "a/../b", "/x", ".x", "a/.b", "", " ", "a:b", *REFUSED]


def test_editor_uris_and_folders_that_are_refused(snapshot: Snapshot, tmp_path: Path) -> None:
    lines: list[str] = []
    for key, values in (("ingest:\n  editorUri", TEMPLATES), ("uploads:\n  docsSubdir", FOLDERS)):
        for value in values:
            for written in (f"'{value}'", "$VALUE"):
                with pytest.raises(ProblemsError) as caught:
                    load_service(MemoryTree({"duvet.config.yaml": f"{key}: {written}\n".encode()}), {"VALUE": value})
                lines += map(show, caught.value.problems)
    snapshot.assert_match("\n".join(lines), "problems/templates.txt")
    for folder in REFUSED:
        with pytest.raises(DuvetError) as refused:
            resolve_destination(str(tmp_path), folder, None, "t.md")
        assert any(refused.value.message.partition(": ")[2] in line for line in lines)


def test_folders_below_the_content_root_and_of_backups() -> None:
    for folder in ("a/b/", ".", "./docs", "a b", "v1.2", "é"):
        assert uploads(f"uploads: {{docsSubdir: '{folder}'}}").docs_subdir == folder
    assert uploads("uploads: {docsSubdir: 'a/${IN}'}", IN="b").docs_subdir == "a/b"
    found = load_service(MemoryTree({"duvet.config.yaml": b"store: {backups: $PLACE/b}"}), {"PLACE": "/mnt"})
    assert found.config.store == StoreSection(backups="/mnt/b")
