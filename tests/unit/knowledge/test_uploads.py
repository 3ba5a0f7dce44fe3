import os
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings, strategies as st

from duvet.config.service_tables import IngestRule, StoreSection, UploadRule
from duvet.errors import OutputError, QueryError
from duvet.knowledge.uploads import ContentFolder, StoredText, check_not_reserved, make_file_slug, resolve_destination
from duvet.sources.gitignore import IgnoredPaths
from duvet.store.location import KnowledgeSettings, find_store_paths
from tests.cli.damage import small_files
from tests.unit.knowledge.stored_project import CLOCK, Fork, Say, places


def test_a_destination_is_a_file_or_a_folder(tmp_path: Path) -> None:
    for path, destinations in {
        "docs/tea.md": (None, "", "  "),
        "docs/uploads/tea.md": ("docs/uploads/", "docs/uploads"),
        "notes/cups.txt": ("notes/cups.txt",),
        "notes/v1.2/tea.md": ("notes/v1.2/",),
        "a/b/tea.md": ("a//b/./",),
        "tea.md": (".", "./"),
        "cups.md": ("cups.md",),
        "Tee für zwei/Grün.md": ("Tee für zwei/Grün.md",),
    }.items():
        for destination in destinations:
            assert resolve_destination(str(tmp_path), "docs", destination, "tea.md") == path


def test_destinations_that_are_refused(tmp_path: Path) -> None:
    ##= man/spec/gateway.md#uploads
    ##% The server MUST refuse to store a file that is hidden, is a configuration file, or is outside the content root,
    ##% even through `..` or a symbolic link.
    characters = "it is too long or contains a character that some systems don't allow"
    for reason, destinations in {
        "it is absolute": ("/etc/passwd.md", "//host/x.md", "/"),
        "it contains `..`": ("../x.md", "..", "docs/../../x.md", "docs/../x.md"),
        "is a hidden name": (".git/hooks/x.sh", ".env", "docs/.x.md", ".duvet/config.toml", "docs/..."),
        characters: ("C:\\x.md", "d\\..\\x.md", "C:/x.md", "x.md:s", "x\0.md", "x\n.md", "a*b"),
        "is not a valid name on some systems": ("NUL", "docs/con.md", "docs/COM1.tar.md", "docs /x.md", "docs/x.md ./"),
        "it is a configuration": ("duvet.config.yaml", "sub/Contextive.config.JSON"),
        "too long": ("x" * 300 + ".md", "x/" * 600 + "x.md"),
    }.items():
        for path in destinations:
            with pytest.raises(QueryError) as caught:
                resolve_destination(str(tmp_path), "docs", path, "tea.md")
            assert reason in caught.value.message and "under the content root" in caught.value.hint
    for folder, destination in (("con", None), ("docs", "con/"), ("docs", "con")):
        with pytest.raises(QueryError, match=r'can\'t write to "con/tea\.md": "con" is not a valid name on some sys'):
            resolve_destination(str(tmp_path), folder, destination, "tea.md")
    for name in (".env", "..", "con", "x" * 300):
        with pytest.raises(QueryError):
            resolve_destination(str(tmp_path), "docs", None, name)
    assert os.listdir(tmp_path) == []


def test_links_may_not_lead_out_of_the_content_root(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "docs/folder.md").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (root / "out").symlink_to(tmp_path / "elsewhere")
    (root / "inner").symlink_to(root / "docs")
    (root / "docs/link.md").symlink_to(root / "docs/none.md")
    (root / "file").touch()
    for path in ("out/", "out/x.md", "out/new/x.md", "docs/link.md", "docs/folder.md", "file/x.md", "file/"):
        with pytest.raises(QueryError):
            resolve_destination(str(root), "docs", path, "tea.md")
    (root / ".hidden").mkdir()
    (root / "plain").symlink_to(root / ".hidden")
    message = r'a symbolic link in its path leads to an invalid path: "\.hidden" is a hidden name'
    with pytest.raises(QueryError, match=message):
        resolve_destination(str(root), "docs", "plain/", "tea.md")
    assert resolve_destination(str(root), "docs", "inner/", "tea.md") == "inner/tea.md"


def test_files_of_duvet_and_configurations_are_reserved(tmp_path: Path) -> None:
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf/team.yaml").touch()
    (tmp_path / "conf/linked.yaml").symlink_to("real.yaml")
    os.link(tmp_path / "conf/team.yaml", tmp_path / "conf/other.yaml")
    files = ("conf/team.yaml", "conf/linked.yaml", "/nowhere.yaml")
    paths = find_store_paths(KnowledgeSettings(str(tmp_path), IngestRule(), StoreSection(), configurations=files))
    for path in (paths.store, paths.feedback, paths.audit, f"{paths.backups}/x.tgz"):
        with pytest.raises(QueryError, match="duvet stores its own files there"):
            check_not_reserved(paths, path)
    configured = ("subsystems.yaml", "docs/Subsystems.yml", "recipes/daily.yaml", "recipes/more/x.YML")
    for name in ("conf/team.yaml", "conf/other.yaml", "conf/real.yaml", "conf/REAL.yaml", *configured):
        with pytest.raises(QueryError, match="it is a configuration file"):
            check_not_reserved(paths, str(tmp_path / name))
    for name in ("docs/tea.md", "conf/tea.yaml", "src/subsystems.yaml", "recipes/README.md", "docs/recipes/tea.yaml"):
        check_not_reserved(paths, str(tmp_path / name))


def test_code_that_the_server_may_load_is_reserved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv/pyvenv.cfg").touch()
    paths = find_store_paths(KnowledgeSettings(str(tmp_path), IngestRule(), StoreSection()))
    monkeypatch.syspath_prepend(tmp_path / "src")
    for name in ("src/json.py", "src/a/B.PYC", "src/x.pth", "venv/lib/x.txt", "node_modules/a.js", "docs/.ssh/id"):
        with pytest.raises(QueryError, match="it may be vendored, contain secrets, or be loaded by duvet as code"):
            check_not_reserved(paths, str(tmp_path / name))
    for name in ("src/a.md", "docs/a.py", "lib/x.txt"):
        check_not_reserved(paths, str(tmp_path / name))


def test_a_text_is_a_document_with_front_matter() -> None:
    assert StoredText(content="Nothing else\n").document() == "Nothing else\n"
    assert StoredText(content="x", tags=["b"]).document() == "---\ntags: [b]\n---\n\nx\n"
    deep: dict[str, Any] = {}
    for _ in range(500):
        deep = {"a": deep}
    with pytest.raises(QueryError, match="nested deeper than 8 levels"):
        StoredText(content="x", metadata=deep).document()


def test_a_text_is_named_after_its_title_or_the_time() -> None:
    for name, titles in {
        "release-notes.md": ("Release Notes",),
        "unicode-strasse.md": ("  Ünïcode / Straße?! ",),
        "uber.md": ("U\u0308ber",),
        "etc-passwd.md": ("../../etc/passwd",),
        "ri-ben.md": ("日本",),
        "chai.md": ("Чай",),
        "con-note.md": ("CON",),
        "com1-note.md": ("com1",),
        "con-artists.md": ("Con artists",),
        "note-20270115-080000.md": ("-", " \u3000\n", ""),
        "x" * 100 + ".md": ("x" * 500,),
    }.items():
        assert {StoredText(content="x", title=title).file_name(CLOCK) for title in titles} == {name}
        assert not any("/" in make_file_slug(title) for title in titles)


TITLES = (
    *("a: b", "#x", "- x", "yes", "null", "1e3", "'\"", "--- # x", "a\n---\nb: c"),
    *("&a *a", "!!python/x", "😀", "{x: y}"),
)
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


@given(title=st.sampled_from(TITLES), metadata=st.dictionaries(WORDS, VALUES, max_size=4))
@settings(max_examples=60)
def test_front_matter_is_written_as_yaml(title: str, metadata: dict[str, Any]) -> None:
    content, metadata = "---\nno: front\n---\n", {**metadata, **dict.fromkeys(TITLES, title)}
    text = StoredText(content=content, title=title, tags=TITLES, metadata=metadata).document()
    front, _, rest = text.removeprefix("---\n").partition("\n---\n\n")
    found, tags = yaml.load(front, yaml.CSafeLoader), [" ".join(tag.split()) for tag in TITLES]
    assert (rest, list(found)) == (content, ["title", "tags", "metadata"])
    assert found == {"title": " ".join(title.split()), "tags": tags, "metadata": metadata}


posix = pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")


@posix
def test_a_full_disk_changes_nothing(tmp_path: Path) -> None:
    ##= man/spec/gateway.md#uploads
    ##% The server MUST write an upload completely or not at all, and MUST NOT overwrite a file unless `overwrite` is
    ##% set.
    (tmp_path / "old.md").write_text("old")
    content = ContentFolder(places(tmp_path), UploadRule())
    for overwrite, name in ((False, "new.md"), (True, "old.md")):
        with small_files(1000), pytest.raises(OutputError, match="can't write this file"):
            content.store(b"x" * 2000, name, "x.md", overwrite=overwrite)
    assert (os.listdir(tmp_path), (tmp_path / "old.md").read_text()) == (["old.md"], "old")


@posix
def test_only_one_of_two_writers_creates_a_file(tmp_path: Path) -> None:
    def store_files(text: bytes, say: Say) -> None:
        content = ContentFolder(places(tmp_path), UploadRule())
        for number in range(50):
            with suppress(QueryError):
                content.store(text * 1000, f"{number}.md", "x.md", overwrite=False)
                say(number)

    with Fork(partial(store_files, b"a")) as a, Fork(partial(store_files, b"b")) as b:
        stored = {"a": a.lines.read().split(), "b": b.lines.read().split()}
    assert sorted(map(int, stored["a"] + stored["b"])) == list(range(50))
    for writer, numbers in stored.items():
        assert {(tmp_path / f"{number}.md").read_text() for number in numbers} <= {writer * 1000}


@posix
@pytest.mark.parametrize("part", ["docs", "docs/tea.md"])
def test_a_link_that_replaces_a_checked_path_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    for folder, text in (("project/docs", "tea"), ("other/docs", "secret")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "tea.md").write_text(text)
    content = ContentFolder(places(tmp_path / "project"), UploadRule())

    def hides(paths: IgnoredPaths, path: str, *, is_folder: bool) -> bool:
        (tmp_path / "project" / part).rename(tmp_path / "moved")
        (tmp_path / "project" / part).symlink_to(tmp_path / "other" / part)
        return False

    os.mkfifo(tmp_path / "project/pipe")
    descriptors = os.listdir("/dev/fd")
    assert content.read("docs/tea.md", is_local=True) == b"tea"
    with pytest.raises(QueryError, match="can't read"):
        content.read("pipe", is_local=True)
    monkeypatch.setattr(IgnoredPaths, "hides", hides)
    with pytest.raises(QueryError, match="can't read"):
        content.read("docs/tea.md", is_local=True)
    assert len(os.listdir("/dev/fd")) == len(descriptors)
