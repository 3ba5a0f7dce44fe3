from itertools import permutations
from pathlib import Path

import pytest

from duvet import Downloads, FetchError, Options, Place, Policy, Problem, Progress, Project
from duvet.specs.locator import locate_specification
from tests.sample_project import TEA, in_memory, written
from tests.unit.specs.download_server import Held, text

PLAIN = b"'$schema' = 'duvet-cli/config/v1'\nsource = [{ pattern = '*.rs' }]\n"
ALLOWED = Options(policy=Policy(allow_http=True))


class Turns(Progress):
    """Lets downloads finish in a given order: the server answers one after the other."""

    def __init__(self, server: Held, order: tuple[str, ...] = ()) -> None:
        self.server = server
        self.order = list(order)
        self.counts: list[int] = []

    def downloads(self, count: int) -> Downloads:
        self.counts.append(count)
        self.next()
        return _Turn(self)

    def next(self) -> None:
        if self.order:
            self.server.doors[self.order.pop(0)].set()


class _Turn(Downloads):
    progress: Turns

    def end(self, url: str) -> None:
        self.progress.next()

    def fail(self, url: str) -> None:
        self.progress.next()


def project(folder: Path, configured: list[str], source: str = "") -> Path:
    rules = "".join(f"[[specification]]\nsource = '{name}'\n" for name in configured)
    return written(folder, {".duvet/config.toml": PLAIN + rules.encode(), "a.rs": source.encode()})


def read_downloads(folder: Path) -> dict[str, bytes]:
    host = folder / ".duvet/specifications/127.0.0.1"
    return {path.relative_to(host).as_posix(): path.read_bytes() for path in host.rglob("*") if path.is_file()}


def describe_problem(problem: Problem) -> tuple[str, str, int, str]:
    return (problem.code, problem.path, problem.place.line, problem.message.rpartition("/")[2])


@pytest.mark.parametrize("order", list(permutations(["/good/a", "/bad/b", "/good/c", "/page/d"])))
def test_the_order_in_which_downloads_end_does_not_matter(held: Held, tmp_path: Path, order: tuple[str, ...]) -> None:
    paths = ["/good/a", "/bad/b", "/good/c", "/page/d"]
    urls = [f"{held.url}{path}" for path in paths]
    source = "".join(f"//= {url}#tea\n//# The {url[-1]} MUST be warm.\n\n" for url in reversed(urls))
    root = project(tmp_path / "project", [*urls, urls[1]], source)
    held.held = None
    turns = Turns(held, order)
    found = Project(str(root), ALLOWED, progress=turns)
    missing, page = "b: the server answered 404 Not Found", "d: the response is an HTML page, expected text or Markdown"
    assert [describe_problem(one) for one in found.trace.problems] == [
        ("DUV045", ".duvet/config.toml", 6, missing),
        ("DUV045", ".duvet/config.toml", 10, page),
        ("DUV045", ".duvet/config.toml", 12, missing),
    ]
    assert [one.specification.path[-10:] for one in found.trace.coverages] == ["good/a.txt", "good/c.txt"]
    assert read_downloads(root) == {"good/a.txt": text("a"), "good/c.txt": text("c")}
    assert (turns.counts, sorted(held.seen)) == ([4], sorted(paths))


def test_urls_in_comments_are_downloaded_in_parallel(held: Held, tmp_path: Path) -> None:
    ##= man/spec/trace.md#downloads
    ##% duvet MUST download a specification at most once, and later read it from disk.
    names = ["/good/b", "/bad/c", "/good/d", "/bad/c", "/good/a", "/good/b?again"]
    comments = "".join(f"//= {held.url}{name}#tea\n//# MUST be\n\n" for name in names)
    root = project(tmp_path / "project", [f"{held.url}/good/a", f"{held.url}/bad/e"], comments)
    turns = Turns(held)
    found = Project(str(root), ALLOWED, progress=turns).trace
    assert [describe_problem(one) for one in found.problems] == [
        ("DUV045", ".duvet/config.toml", 6, "e: the server answered 404 Not Found"),
        ("DUV045", "a.rs", 4, "c: the server answered 404 Not Found"),
        ("DUV044", "a.rs", 16, "b are the same text, but count as two specifications"),
    ]
    assert [match is not None for match in found.match_of[-6:]] == [True, False, True, False, True, True]
    assert read_downloads(root) == {f"good/{name}.txt": text(name) for name in "abd"}
    assert turns.counts == [2, 4]
    assert sorted(held.seen) == ["/bad/c", "/bad/e", "/good/a", "/good/b", "/good/d"]


def test_nothing_is_downloaded_but_what_targets_name(held: Held, tmp_path: Path) -> None:
    targets = [
        *(f"{held.url}/good/there.md#tea", f"tea.md#{held.url}/good/section", f"tea.md {held.url}/good/name#tea"),
        *(f"file://{held.url}/good/file#tea", "https://#tea", "http://[#tea", f"{held.url}/good/whole"),
    ]
    comments = "".join(f"//= {target}\n//# MUST be\n\n" for target in targets)
    root = project(tmp_path / "project", ["tea.md", "https://", "file:///etc/passwd"], comments)
    written(root, {"tea.md": text("pot"), ".duvet/specifications/127.0.0.1/good/there.txt": text("there")})
    found = Project(str(root), ALLOWED).trace
    assert held.seen == ["/good/whole"]
    assert [(one.code, one.path, one.place.line) for one in found.problems] == [
        ("DUV041", ".duvet/config.toml", 6),
        ("DUV041", ".duvet/config.toml", 8),
        ("DUV043", "a.rs", 4),
        ("DUV041", "a.rs", 7),
        ("DUV041", "a.rs", 10),
        ("DUV041", "a.rs", 13),
        ("DUV041", "a.rs", 16),
        ("DUV042", "a.rs", 19),
    ]


URL = "https://host.example/tea.md"


def test_specifications_in_memory_are_not_downloaded() -> None:
    config = PLAIN + f"specification = [{{ source = '{URL}' }}]\n".encode()
    files = {".duvet/config.toml": config, "a.rs": f"//= {URL}#tea\n//# It MAY be\n".encode()}
    (problem,) = in_memory(files).trace.problems
    hint = "save the specification's text as .duvet/specifications/host.example/tea.txt"
    message = f"{URL} has not been downloaded"
    place, label = Place(3, 29, 29), "configured here"
    assert problem == Problem("DUV045", message, ".duvet/config.toml", place, label, hint)
    there = in_memory({**files, ".duvet/specifications/host.example/tea.txt": TEA})
    assert [one.text for one in there.requirements] == [
        "The pot MUST be warm.",
        "It MAY be blue.",
        "A cup SHOULD be ☕.",
    ]


def test_downloads_are_kept_where_the_options_say(tmp_path: Path) -> None:
    class Steps(Progress):
        def begin(self, step: str) -> None:
            steps.append(step)

    steps: list[str] = []
    options = Options(spec_path="kept", policy=Policy(offline=True))
    project = Project(str(tmp_path), options, progress=Steps())
    assert (project.downloads, in_memory({}).downloads) == ("kept/specs", "specs")
    with pytest.raises(FetchError, match="downloads are disabled") as caught:
        project.library.load(locate_specification(URL))
    path = f"{tmp_path}/kept/specs/host.example/tea.txt"
    assert caught.value.hint == f"leave out --offline, or save the specification's text as {path}"
    assert (steps, list(tmp_path.iterdir())) == ([f"Downloading {URL}"], [])


def test_a_download_is_kept_for_the_next_run(tmp_path: Path, held: Held) -> None:
    url = f"{held.url}/good/pot"
    config = PLAIN + f"specification = [{{ source = '{url}' }}]\n".encode()
    written(tmp_path, {".duvet/config.toml": config, "a.rs": f"//= {url}#tea\n//# The pot\n".encode()})
    first = Project(str(tmp_path), Options(policy=Policy(allow_http=True)))
    assert ([one.text for one in first.requirements], first.trace.problems) == (["The pot MUST be warm."], ())
    assert (tmp_path / ".duvet/specifications/127.0.0.1/good/pot.txt").read_bytes() == text("pot")
    assert Project(str(tmp_path), Options(policy=Policy(offline=True))).trace == first.trace
