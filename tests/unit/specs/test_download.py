import re
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path
from queue import SimpleQueue
from threading import Barrier, Thread, current_thread, enumerate as enumerate_threads

import httpx2
import pytest

from duvet.errors import DuvetError, FetchError, OutputError
from duvet.progress import Downloads, Progress
from duvet.specs.download import MAX_PARALLEL_DOWNLOADS, DownloadClients, FetchRefusal, download_texts, fetch_text
from duvet.specs.library import Policy
from tests.unit.specs.download_server import Held, at_work, text

HTTP = Policy(allow_http=True)


def fetch(url: str, path: Path, policy: Policy = HTTP) -> bytes:
    outcome = download_texts({url: str(path)}, policy, Progress())[url]
    if isinstance(outcome, DuvetError):
        raise outcome
    return outcome


def downloaded(server: Held, files: dict[str, Path], policy: Policy = HTTP) -> dict[str, str | bytes]:
    found = download_texts({f"{server.url}{path}": str(file) for path, file in files.items()}, policy, Progress())
    return {
        url.removeprefix(server.url): one if isinstance(one, bytes) else str(one).partition(": ")[2]
        for url, one in found.items()
    }


def content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "specifications" / "host" / "tea.txt"


def test_a_download_is_stored(held: Held, path: Path) -> None:
    for kind in ("good", "moved"):
        assert fetch(f"{held.url}/{kind}/{kind}", path) == text(kind)
        assert content(path.parent) == {"tea.txt": text(kind)}
        assert held.client == ("text/plain", f"duvet/{version('duvet-cli')}")


def test_unsafe_downloads_are_refused(held: Held, path: Path) -> None:
    ##= man/spec/trace.md#downloads
    ##% With `--offline`, duvet MUST NOT download anything. duvet MUST download only over HTTPS, unless the user allows
    ##% HTTP. duvet MUST refuse a download that is too large, takes too long or is an HTML page, and MUST NOT leave a
    ##% file.
    held.held = {"/slow/a"}
    for name, policy, why, remedy in [
        ("bad/a", HTTP, "the server answered 404 Not Found", ""),
        ("page/a", HTTP, "the response is an HTML page, expected text or Markdown", ""),
        ("good/a", Policy(allow_http=True, max_bytes=10), "larger than the limit of 10 bytes", ""),
        ("slow/a", Policy(allow_http=True, seconds=0.1), "took longer than 0.1 seconds", ""),
        ("round/a", HTTP, "more than 10 redirects", ""),
        ("good/a", Policy(), "plain HTTP is not allowed", "use https:// or --allow-http, or "),
        ("good/a", Policy(offline=True), "downloads are disabled", "leave out --offline, or "),
        ("ftp://example.com/tea.txt", Policy(), "downloads over ftp are not supported", ""),
        *((name, HTTP, "", "") for name in ("cut/a", "away/a", "http://127.0.0.1:1/nobody-answers")),
    ]:
        url = name if "://" in name else f"{held.url}/{name}"
        with pytest.raises(FetchError, match=f"^could not download {re.escape(url)}: ") as caught:
            fetch(url, path, policy)
        if why:
            hint = f"{remedy}save the specification's text as {path}"
            assert (str(caught.value).partition(": ")[2], caught.value.hint) == (why, hint)
        assert not path.parent.exists()


def test_a_redirect_never_leaves_https() -> None:
    response = httpx2.Response(301, headers={"location": "http://plain.example/tea"})
    client = httpx2.Client(transport=httpx2.MockTransport(lambda request: response))
    for policy in (Policy(), HTTP):
        first = client.get("https://safe.example/tea")
        with pytest.raises(FetchRefusal, match=r"it redirects to http://plain.example/tea, which does not use HTTPS"):
            fetch_text(client, first, policy, lambda size: None)


def test_a_file_or_a_folder_in_the_way_stays(held: Held, path: Path) -> None:
    path.parent.parent.write_bytes(b"")
    with pytest.raises(OutputError) as caught:
        fetch(f"{held.url}/good/a", path)
    assert (caught.value.path, path.parent.parent.read_bytes()) == (str(path), b"")
    path.parent.parent.unlink()
    path.mkdir(parents=True)
    with pytest.raises(OutputError):
        fetch(f"{held.url}/good/a", path)
    assert list(path.parent.iterdir()) == [path]


def test_downloads_run_in_parallel_up_to_the_limit(held: Held, tmp_path: Path) -> None:
    names = [f"n{index}" for index in range(2 * MAX_PARALLEL_DOWNLOADS)]
    held.meeting = Barrier(MAX_PARALLEL_DOWNLOADS)
    found = downloaded(held, {f"/good/{name}": tmp_path / f"{name}.txt" for name in names})
    assert found == {f"/good/{name}": text(name) for name in names}
    assert content(tmp_path) == {f"{name}.txt": text(name) for name in names}
    assert (held.most, sorted(held.seen)) == (MAX_PARALLEL_DOWNLOADS, sorted(found))


def test_a_slow_download_does_not_delay_others(held: Held, tmp_path: Path) -> None:
    class Release(Progress):
        def end(self, outcome: str) -> None:
            ended.append(outcome.rpartition("/")[2])
            if len(ended) == 2 * MAX_PARALLEL_DOWNLOADS:
                held.doors["/good/slow"].set()

    ended: list[str] = []
    held.held = {"/good/slow"}
    names = ["slow", *(f"n{index}" for index in range(2 * MAX_PARALLEL_DOWNLOADS))]
    files = {f"{held.url}/good/{name}": str(tmp_path / name) for name in names}
    assert list(download_texts(files, HTTP, Release()).values()) == [text(name) for name in ended]
    assert (ended[-1], sorted(ended)) == ("slow", sorted(names))


def test_endless_downloads_make_room_for_others_and_are_ignored_later(held: Held, tmp_path: Path) -> None:
    class Failures(Downloads):
        def fail(self, url: str) -> None:
            failed.put(url)

    class Watched(Progress):
        def downloads(self, count: int) -> Downloads:
            return Failures(self)

    def finish() -> None:
        assert sorted(held.asked.get() for _ in stuck) == stuck
        others = set(enumerate_threads()) - {*before, current_thread()}
        for _ in stuck:
            failed.get()
        for path in stuck:
            held.doors[path].set()
        for thread in others:
            thread.join()
        held.doors["/good/late"].set()

    failed: SimpleQueue[str] = SimpleQueue()
    stuck = [f"/good/stuck{index}" for index in range(MAX_PARALLEL_DOWNLOADS)]
    held.held, before = {*stuck, "/good/late"}, enumerate_threads()
    Thread(target=finish, daemon=True).start()
    files = {f"{held.url}{path}": str(tmp_path / path[1:]) for path in [*stuck, "/good/late"]}
    found = download_texts(files, Policy(allow_http=True, seconds=2), Watched()).values()
    late = ["took longer than 2 seconds"] * len(stuck)
    assert [str(one).rpartition(": ")[2] for one in found] == [*late, str(text("late"))]
    assert content(tmp_path) == {"good/late": text("late")}


def test_one_file_is_downloaded_once(held: Held, tmp_path: Path) -> None:
    cases: list[tuple[list[str], dict[str, str | bytes]]] = [
        (["/good/a", "/good/b", "/bad/c"], {"/good/a": text("a")}),
        (["/bad/a", "/good/b", "/good/c"], {"/bad/a": "the server answered 404 Not Found", "/good/b": text("b")}),
    ]
    for paths, found in cases:
        held.seen.clear()
        (tmp_path / "tea.txt").unlink(missing_ok=True)
        assert downloaded(held, dict.fromkeys(paths, tmp_path / "tea.txt")) == found
        assert (held.seen, content(tmp_path)) == (list(found), {"tea.txt": list(found.values())[-1]})


def test_a_file_and_a_folder_of_one_name_conflict_and_the_first_wins(held: Held, tmp_path: Path) -> None:
    for folder, names in ((tmp_path / "1", ["tea", "tea/pot"]), (tmp_path / "2", ["tea/pot", "tea"])):
        urls = {f"{held.url}/good/{name}": str(folder / name) for name in names}
        first, second = download_texts(urls, HTTP, Progress()).values()
        assert (first, type(second)) == (text("tea"), OutputError)
        assert content(folder) == {names[0]: text("tea")}


def test_forbidden_downloads_show_no_progress(held: Held, tmp_path: Path) -> None:
    class Watched(Progress):
        def downloads(self, count: int) -> Downloads:
            raise AssertionError("there is nothing to watch")

    files = {f"{held.url}/good/{name}": str(tmp_path / name) for name in "abc"}
    found = download_texts(files, Policy(allow_http=True, offline=True), Watched())
    assert ([type(one) for one in found.values()], held.seen) == ([FetchError] * 3, [])


def test_each_download_reports_progress(held: Held, tmp_path: Path) -> None:
    class Lines(Downloads):
        def begin(self, url: str) -> None:
            lines.append(f"begun {url}")

        def amount(self, url: str, size: int) -> None:
            lines.append(f"{url} {size}")

        def end(self, url: str) -> None:
            lines.append(f"ended {url}")

        def fail(self, url: str) -> None:
            lines.append(f"failed {url}")

        def __exit__(self, *error: object) -> None:
            lines.append("over")

    class Watched(Progress):
        def downloads(self, count: int) -> Downloads:
            lines.append(f"{count} to come")
            return Lines(self)

    lines: list[str] = []
    good, bad = f"{held.url}/good/a", f"{held.url}/bad/b"
    download_texts(dict.fromkeys((bad, good), str(tmp_path / "tea")), HTTP, Watched())
    # If a download takes long, the amount is shown meanwhile, too.
    assert list(dict.fromkeys(lines)) == [
        *("2 to come", f"begun {bad}", f"failed {bad}", f"begun {good}", f"{good} {len(text('a'))}"),
        *(f"ended {good}", "over"),
    ]


def test_an_interruption_does_not_wait_for_downloads(held: Held, tmp_path: Path) -> None:
    class Interrupting(Progress):
        def end(self, outcome: str) -> None:
            raise KeyboardInterrupt

    held.held = {"/good/a", "/good/c"}
    files = {f"{held.url}/good/{name}": str(tmp_path / name) for name in "abc"}
    with pytest.raises(KeyboardInterrupt):
        download_texts(files, HTTP, Interrupting())
    assert content(tmp_path) == {"b": text("b")}


class Connections(ThreadingHTTPServer):
    """Keeps connections open until `/once` is requested a second time, or `/never`."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Connection)
        self.calls: list[tuple[str, str | None, int]] = []
        """What was asked for, with which cookie, and how many connections there were by then."""
        self.connections = 0


class Connection(BaseHTTPRequestHandler):
    server: Connections
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        super().setup()
        self.server.connections += 1
        self.served = 0

    def do_GET(self) -> None:
        name, self.served = self.path[1:], self.served + 1
        self.server.calls.append((name, self.headers["cookie"], self.server.connections))
        if name == "never" or (name == "once" and self.served > 1):
            self.close_connection = True
            return
        self.send_response(404 if name == "absent" else 200)
        self.send_header("content-length", str(len(name)))
        self.send_header("set-cookie", "seen=yes")
        self.end_headers()
        self.wfile.write(name.encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


def test_connections_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    refusals = {"never": "Server disconnected", "absent": "the server answered 404 Not Found"}
    for calls in (
        # The next download uses the connection, without what the server wants to know of it.
        [("a", None, 1), ("b", None, 1)],
        # A server that has hung up meanwhile is called again, and one that hangs up is not.
        [("a", None, 1), ("once", None, 1), ("once", None, 2)],
        [("never", None, 1)],
        # An answer is never asked for twice.
        [("a", None, 1), ("absent", None, 1), ("b", None, 2)],
    ):
        with at_work(Connections()) as server, closing(DownloadClients(HTTP)) as clients:
            for name in dict.fromkeys(name for name, *_ in calls):
                url = f"http://127.0.0.1:{server.server_port}/{name}"
                try:
                    assert (clients.fetch(url, lambda size: None).decode(), name in refusals) == (name, False)
                except FetchRefusal as refusal:
                    assert refusals[name] in str(refusal)
            assert server.calls == calls


def test_settings_of_the_environment_that_no_client_can_use(monkeypatch: pytest.MonkeyPatch) -> None:
    proxy, file = ("HTTP_PROXY", "foo://host", "foo://host"), ("SSL_CERT_FILE", "/no/such/file", "No such file")
    for name, value, why in (proxy, file):
        with monkeypatch.context() as patch, closing(DownloadClients(HTTP)) as clients:
            patch.setenv(name, value)
            for _ in range(2):
                with pytest.raises(FetchRefusal, match=why):
                    clients.fetch("http://host.example/a", lambda size: None)
