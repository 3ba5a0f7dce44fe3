from datetime import date

from msgspec import convert, structs
from pytest_snapshot.plugin import Snapshot

from duvet.config import settings
from duvet.config.project_file import find_config, read_config
from duvet.config.settings import CONFIG_PATH, ExtendedHtmlReport, NotApplicableTable, SourceRule, SpecText
from duvet.config.toml import TomlDocument
from duvet.model import Place
from duvet.tree.files import MemoryTree
from tests.unit.config.configurations import EXTENDED, PATH, UPSTREAM

NO_TOML = TomlDocument({}, "", "")
DEFAULTS = settings.Config(
    path=PATH,
    schema=UPSTREAM,
    extended=False,
    sources=(),
    requirements=settings.BUILT_IN_REQUIREMENTS,
    specifications=(),
    report=settings.Report(),
    toml=NO_TOML,
)
EVERYTHING = """
source = [
  { pattern = "src/**/*.rs" },
  { pattern = "test/*.py", comment-style = { meta = "##=", content = "##%" }, type = "test", blob-link = "LINK" },
  { pattern = "lua/*", comment-style.content = "--", type = "implementation" },
]
requirement = [{ pattern = "more/*.toml" }]
specification = [
  { source = "https://www.rfc-editor.org/rfc/rfc2324" },
  { source = "spec.md", format = "md" },
  { format = "IETF" },
]
[report]
html = { enabled = false, path = "page.html", blob-link = "https://host/blob", issue-link = "${{ NAME }}/issues" }
json = { enabled = true, path = "out.json" }
snapshot = { enabled = true, path = "snapshot.txt" }
""".replace("LINK", "https://host/${{ REV || 'main' }}")


def read(text: str, schema: str = UPSTREAM) -> settings.Config:
    config = read_config(f"'$schema' = \"{schema}\"\n{text}".encode(), PATH, {"REV": "abc", "NAME": "me"})
    return structs.replace(config, toml=NO_TOML)


def test_every_key_and_name_of_upstreams_schema_is_read(snapshot: Snapshot) -> None:
    config = read(EVERYTHING)
    parts = (*config.sources, *config.requirements, *config.specifications, *structs.astuple(config.report))
    snapshot.assert_match("".join(f"{part}\n" for part in parts), "config/every_key.txt")
    names = ("sources", "requirements", "specifications", "report")
    assert structs.replace(config, **{name: getattr(DEFAULTS, name) for name in names}) == DEFAULTS
    for name in ("v0.4.0.json", "v0.4.0.json#", "v0.4.json", "v0.4.json#"):
        schema = f"https://awslabs.github.io/duvet/config/{name}"
        assert read("", schema) == structs.replace(DEFAULTS, schema=schema)


def test_our_schema_holds_upstreams_keys() -> None:
    ##= man/spec/trace.md#configuration
    ##% duvet MUST read a configuration with awslabs duvet's schema exactly as awslabs duvet does. duvet's own schema
    ##% MUST accept every key of awslabs duvet's schema.
    ours = read(EVERYTHING, EXTENDED)
    theirs = convert(ours.report, settings.Report, from_attributes=True)
    # Only the default of requirement files differs.
    expected = structs.replace(read(EVERYTHING), schema=EXTENDED, extended=True, writes_requirements=False)
    assert structs.replace(ours, report=theirs) == expected
    assert read("[report.requirements]\nenabled = true\n", EXTENDED).writes_requirements


def test_settings_of_the_report_and_requirements_that_are_not_applicable() -> None:
    text = "title = 'Tea'\nlogo = 'ACME'\nspec-text = 'full'\nsnippet-lines = 0\nembed-json = true\n"
    wanted = ExtendedHtmlReport(title="Tea", logo="ACME", spec_text=SpecText.FULL, snippet_lines=0, embed_json=True)
    assert read(f"[report.html]\n{text}", EXTENDED).report.html == wanted
    assert read("", EXTENDED).report.html == ExtendedHtmlReport(snippet_lines=6)
    entries = (
        "{ target = 'spec.md', reason = 'too hot' }",
        "{ target = 'spec.md#pot', quote = 'It MUST be warm.', reason = 'cold', owner = 'me', expiry = 2030-01-31 }",
        "{ target = 'spec.md', reason = 'no', expiry = '2030-02-28' }",
    )
    assert read(f"not-applicable = [{', '.join(entries)}]", EXTENDED).not_applicable == (
        NotApplicableTable(target="spec.md", reason="too hot"),
        NotApplicableTable(
            target="spec.md#pot", quote="It MUST be warm.", reason="cold", owner="me", expiry=date(2030, 1, 31)
        ),
        NotApplicableTable(target="spec.md", reason="no", expiry=date(2030, 2, 28)),
    )


SOURCES = {
    # A language gives patterns and a style, unless others are given.
    "{ language = 'python' }": SourceRule(("**/*.py", "**/*.pyi"), "##=", "##%", language="python"),
    "{ language = 'c', pattern = '*.c', comment-style.meta = '//=' }": SourceRule(("*.c",), "//=", "*#", language="c"),
    "{ pattern = ['a', 'b'], exclude = ['c', 'd'], gitignore = true }": SourceRule(
        ("a", "b"), exclude=("c", "d"), gitignore=True
    ),
    "{ pattern = 'c' }": SourceRule(("c",)),
    "{ pattern = 'a/*', exclude = 'a/x' }": SourceRule(("a/*",), exclude=("a/x",)),
}


def test_sources_are_read() -> None:
    ##= man/spec/trace.md#sources
    ##% If a `[[source]]` has a `language`, duvet MUST use the comment style and the patterns of that language, unless
    ##% the `[[source]]` sets its own.
    assert read(f"source = [{', '.join(SOURCES)}]", EXTENDED).sources == tuple(SOURCES.values())


def test_byte_order_marks_and_line_ends_do_not_matter() -> None:
    wanted = structs.replace(DEFAULTS, report=settings.Report(html=settings.HtmlReport(path="x")))
    for change in (("", ""), ("'$", "\ufeff'$"), ("\n", "\r\n")):
        text = f"'$schema' = \"{UPSTREAM}\"\n[report]\nhtml.path = 'x'\n".replace(*change)
        assert structs.replace(read_config(text.encode(), PATH, {}), toml=NO_TOML) == wanted


def test_a_named_file_wins_and_folders_stand_beside_the_file() -> None:
    tree = MemoryTree({CONFIG_PATH: b"", "config.toml": b""})
    assert [find_config(tree), find_config(tree, "x.toml")] == [CONFIG_PATH, "x.toml"]
    assert find_config(MemoryTree({"config.toml": b""})) is None
    for path, folder in ((PATH, ".duvet/"), ("config.toml", ""), ("/a/b.toml", "/a/")):
        config = structs.replace(DEFAULTS, path=path)
        assert config.specifications_folder == f"{folder}specifications"
        assert config.requirements_folder == f"{folder}requirements"


def test_places_of_values_that_others_check() -> None:
    text = (
        f"'$schema' = '{EXTENDED}'\n[[source]]\npattern = ['a', 'b']\nexclude = 'c'\n[[source]]\nlanguage = 'go'\n"
        "[[requirement]]\npattern = 'd'\n[[specification]]\nsource = 'e'\n"
    )
    config = read_config(text.encode(), PATH, {})
    keys: list[tuple[str | int, ...]] = [("pattern", 1), ("exclude", 0)]
    assert [
        *(config.toml.value_place("source", 0, *key) for key in keys),
        *(config.toml.value_place("source", 1, "pattern", 0), config.toml.value_place("specification", 0, "source")),
        *(config.requirement_place(0), config.requirement_place(3)),
    ] == [Place(3, 17, 3), Place(4, 11, 3), Place(5, 1, 10), Place(10, 10, 3), Place(), Place(8, 11, 3)]
