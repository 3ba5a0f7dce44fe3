"""Downloads specifications in parallel over reused connections."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from functools import cached_property
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING

from duvet.errors import DuvetError, FetchError
from duvet.progress import Downloads, Progress
from duvet.specs.fetch import DownloadOutcome, FetchRefusal, Policy, SizeListener, check_allowed, fetch_text
from duvet.tree.outputs import store_file
from duvet.version import VERSION

if TYPE_CHECKING:
    from ssl import SSLContext

    from httpx2 import Client, Response


class DownloadClients:
    """HTTP clients shared by the threads of a run."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._lock = Lock()
        self._idle: list[Client] = []

    def fetch(self, url: str, hear: SizeListener) -> bytes:
        """Return the text of a URL, or raise FetchRefusal."""
        import httpx2

        try:
            client, response = self._answer(url)
            try:
                data = fetch_text(client, response, self.policy, hear)
            except BaseException:
                client.close()
                raise
        # The last three come from proxies and certificates that the environment asks for.
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError, ImportError) as error:
            raise FetchRefusal(str(error) or type(error).__name__) from error
        self._keep(client)
        return data

    def close(self) -> None:
        while client := self._take():
            client.close()

    def _answer(self, url: str) -> tuple[Client, Response]:
        import httpx2

        kept = self._take()
        if kept is not None:
            try:
                return kept, kept.send(kept.build_request("GET", url), stream=True)
            # Servers hang up on connections that they don't need any more, which is no answer.
            except (httpx2.NetworkError, httpx2.RemoteProtocolError):
                kept.close()
            except BaseException:
                kept.close()
                raise
        client = self._new()
        return client, client.send(client.build_request("GET", url), stream=True)

    def _new(self) -> Client:
        import httpx2

        headers = {"accept": "text/plain", "user-agent": f"duvet/{VERSION}"}
        with self._lock:
            encryption = self._encryption
        return httpx2.Client(headers=headers, timeout=self.policy.seconds, verify=encryption)

    @cached_property
    def _encryption(self) -> SSLContext:
        """The certificates; loading them takes longer than the rest of a client."""
        import httpx2

        return httpx2.create_ssl_context()

    def _take(self) -> Client | None:
        with self._lock:
            return self._idle.pop() if self._idle else None

    def _keep(self, client: Client) -> None:
        # No download may depend on which others there were before.
        client.cookies.clear()
        with self._lock:
            self._idle.append(client)


MAX_PARALLEL_DOWNLOADS = 8

_PAUSE = 0.05
"""The seconds between two progress messages about one download."""


def download_texts(wanted: Mapping[str, str], policy: Policy, progress: Progress) -> dict[str, DownloadOutcome]:
    """Download texts into files, and return the text or the error of each URL.

    A file is written completely or not at all. Of several URLs for one file, the first with a text wins.
    """
    # Where nothing is allowed there is nothing to watch.
    told = progress.downloads(len(wanted)) if any(_allowed(url, policy) for url in wanted) else Downloads(progress)
    with told:
        return _Run(wanted, policy, told).outcomes()


def _allowed(url: str, policy: Policy) -> bool:
    try:
        check_allowed(url, policy)
    except FetchRefusal:
        return False
    return True


def _lanes(wanted: Mapping[str, str]) -> list[deque[str]]:
    """The URLs in their order; those that can be in one another's way on disk are in one lane, one after another."""
    files = set(wanted.values())
    lanes: dict[str, deque[str]] = {}
    for url, file in wanted.items():
        parts = file.split("/")
        above = ("/".join(parts[:count]) for count in range(1, len(parts) + 1))
        lanes.setdefault(next(path for path in above if path in files), deque()).append(url)
    return list(lanes.values())


class _Run:
    """Begins downloads, each in a thread of its own, and hears of them: only here is anything told or written."""

    def __init__(self, wanted: Mapping[str, str], policy: Policy, told: Downloads) -> None:
        self.wanted = wanted
        self.policy = policy
        self.told = told
        self.clients = DownloadClients(policy)
        self.waiting = deque(_lanes(wanted))
        self.under_way: dict[str, tuple[float, deque[str]]] = {}
        """When a download has to be over, and what comes after it in its lane."""
        self.events: SimpleQueue[tuple[str, int | bytes | BaseException]] = SimpleQueue()
        self.found: dict[str, DownloadOutcome] = {}

    def outcomes(self) -> dict[str, DownloadOutcome]:
        ##= man/spec/trace.md#specifications
        ##% duvet SHOULD download missing specifications at the same time, and what it finds MUST NOT depend on the
        ##% order in which they arrive.
        try:
            while self.waiting or self.under_way:
                while self.waiting and len(self.under_way) < MAX_PARALLEL_DOWNLOADS:
                    self._begin(self.waiting.popleft())
                if self.under_way:
                    self._hear()
        finally:
            # What is still under way is not waited for: each thread sees that nobody listens any more.
            self.under_way.clear()
            self.clients.close()
        return self.found

    def _begin(self, lane: deque[str]) -> None:
        url = lane.popleft()
        self.told.begin(url)
        self.under_way[url] = (monotonic() + self.policy.seconds, lane)
        try:
            check_allowed(url, self.policy)
        except FetchRefusal as refusal:
            self._settle(url, refusal)
        else:
            Thread(target=self._work, args=(url,), daemon=True).start()

    def _work(self, url: str) -> None:
        told = monotonic()

        def hear(size: int) -> None:
            nonlocal told
            if url not in self.under_way:
                raise FetchRefusal("nobody waits for it")
            if monotonic() - told > _PAUSE:
                told = monotonic()
                self.events.put((url, size))

        try:
            self.events.put((url, self.clients.fetch(url, hear)))
        except BaseException as error:  # noqa: BLE001 - handed over
            self.events.put((url, error))

    def _hear(self) -> None:
        """Wait for what happens next."""
        nearest = min(end for end, _ in self.under_way.values())
        try:
            url, event = self.events.get(timeout=max(0.0, nearest - monotonic()))
        except Empty:
            self._give_up()
            return
        if url not in self.under_way:
            return
        if isinstance(event, int):
            self.told.amount(url, event)
        else:
            self._settle(url, event)

    def _give_up(self) -> None:
        """What takes too long is left alone; the time-outs of a client don't hold for looking up a name."""
        ##= man/spec/trace.md#specifications
        ##% duvet MUST download over HTTPS unless the user allows otherwise, and give up when a download is too large or
        ##% takes too long.
        now = monotonic()
        for url in [url for url, (end, _) in self.under_way.items() if end <= now]:
            self._settle(url, FetchRefusal(f"it took more than {self.policy.seconds:g} seconds"))

    def _settle(self, url: str, event: bytes | BaseException) -> None:
        _, lane = self.under_way.pop(url)
        outcome = self.found[url] = self._kept(url, event)
        if isinstance(outcome, bytes):
            self.told.amount(url, len(outcome))
            self.told.end(url)
            lane = deque(other for other in lane if self.wanted[other] != self.wanted[url])
        else:
            self.told.fail(url)
        if lane:
            self.waiting.append(lane)

    def _kept(self, url: str, event: bytes | BaseException) -> DownloadOutcome:
        """The text, which is on disk now, or why it is not."""
        path = self.wanted[url]
        if isinstance(event, FetchRefusal):
            return _failed(url, event, path)
        if isinstance(event, BaseException):
            raise event
        try:
            store_file(path, event)
        except DuvetError as error:
            return error
        return event


def _failed(url: str, refusal: FetchRefusal, path: str) -> FetchError:
    ##= man/spec/trace.md#specifications
    ##% duvet MUST refuse an HTML page as a specification, and leave no file after a failed download.
    error = FetchError(f"could not download {url}: {refusal}", hint=f"put its text into {path}")
    error.__cause__ = refusal.__cause__
    return error
