"""Downloads specifications in parallel, within limits for size, time and sources."""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import closing
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import TYPE_CHECKING

import httpx2

from duvet.errors import DuvetError, FetchError
from duvet.progress import Downloads, Progress
from duvet.specs.library import DownloadOutcome, Policy
from duvet.tree.outputs import store_file
from duvet.version import VERSION

if TYPE_CHECKING:
    from ssl import SSLContext

MAX_PARALLEL_DOWNLOADS = 8
_PAUSE = 0.05  # Seconds between two progress messages about a download.

SizeListener = Callable[[int], None]
"""Called with the number of bytes received; an exception that it raises ends the download."""

_MOST_REDIRECTS = 10
# Compiled only when something is downloaded.
_ERROR_NUMBER = r"^\[Errno -?\d+\] "
_HTML = rb"(?i:(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype\s+html|html)\b)"


class FetchRefusal(Exception):
    def __init__(self, reason: str, remedy: str = "") -> None:
        super().__init__(reason)
        self.remedy = remedy


class DownloadClients:
    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._lock = Lock()
        self._idle: list[httpx2.Client] = []
        self._certificates: SSLContext | None = None

    def fetch(self, url: str, listen: SizeListener) -> bytes:
        try:
            client, response = self._request(url)
            try:
                data = fetch_text(client, response, self.policy, listen)
            except BaseException:
                client.close()
                raise
        # The last three come from proxies and certificates in the environment.
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError, ImportError) as error:
            raise FetchRefusal(re.sub(_ERROR_NUMBER, "", str(error)) or type(error).__name__) from error
        # A download must not depend on the cookies of another one.
        client.cookies.clear()
        with self._lock:
            self._idle.append(client)
        return data

    def close(self) -> None:
        while client := self._take_idle():
            client.close()

    def _request(self, url: str) -> tuple[httpx2.Client, httpx2.Response]:
        idle = self._take_idle()
        if idle is not None:
            try:
                return idle, idle.send(idle.build_request("GET", url), stream=True)
            # The server may have closed the idle connection, so try a new one.
            except (httpx2.NetworkError, httpx2.RemoteProtocolError):
                idle.close()
            except BaseException:
                idle.close()
                raise
        headers = {"accept": "text/plain", "user-agent": f"duvet/{VERSION}"}
        with self._lock:
            # Loading the certificates takes longer than creating the rest of the client.
            self._certificates = self._certificates or httpx2.create_ssl_context()
        client = httpx2.Client(headers=headers, timeout=self.policy.seconds, verify=self._certificates)
        return client, client.send(client.build_request("GET", url), stream=True)

    def _take_idle(self) -> httpx2.Client | None:
        with self._lock:
            return self._idle.pop() if self._idle else None


def download_texts(urls: Mapping[str, str], policy: Policy, progress: Progress) -> dict[str, DownloadOutcome]:
    """Download each URL to its file; once a file is written, skip its other URLs."""
    # If nothing is allowed, there is no progress to show.
    is_any_allowed = any(_check_url(url, policy) is None for url in urls)
    display = progress.downloads(len(urls)) if is_any_allowed else Downloads(progress)
    with display:
        return _DownloadRun(urls, policy, display).run()


def _check_url(url: str, policy: Policy) -> FetchRefusal | None:
    scheme = url.partition(":")[0]
    ##= man/spec/trace.md#downloads
    ##% With `--offline`, duvet MUST NOT download anything.
    if policy.offline:
        return FetchRefusal("downloads are disabled", "leave out --offline")
    if scheme not in ("https", "http"):
        return FetchRefusal(f"downloads over {scheme} are not supported")
    ##= man/spec/trace.md#downloads
    ##% duvet MUST download only over HTTPS, unless the user allows HTTP.
    if scheme == "http" and not policy.allow_http:
        return FetchRefusal("plain HTTP is not allowed", "use https:// or --allow-http")
    return None


def fetch_text(client: httpx2.Client, response: httpx2.Response, policy: Policy, listen: SizeListener) -> bytes:
    end = time.monotonic() + policy.seconds
    for _ in range(_MOST_REDIRECTS):
        following = response.next_request
        if following is None:
            break
        response.close()
        if following.url.scheme != "https" and (response.url.scheme == "https" or not policy.allow_http):
            raise FetchRefusal(f"it redirects to {following.url}, which does not use HTTPS")
        response = client.send(following, stream=True)
    with closing(response):
        if response.next_request is not None:
            raise FetchRefusal(f"more than {_MOST_REDIRECTS} redirects")
        if not response.is_success:
            raise FetchRefusal(f"the server answered {response.status_code} {response.reason_phrase}".rstrip())
        body = bytearray()
        for chunk in response.iter_bytes():
            body += chunk
            if len(body) > policy.max_bytes:
                raise FetchRefusal(f"larger than the limit of {policy.max_bytes:,} bytes")
            if time.monotonic() > end:
                raise FetchRefusal(f"took longer than {policy.seconds:g} seconds")
            listen(len(body))
        data = bytes(body)
    if re.match(_HTML, data):
        raise FetchRefusal("the response is an HTML page, expected text or Markdown")
    return data


class _DownloadRun:
    """Runs each download in its own thread; only the calling thread shows progress and writes files."""

    def __init__(self, urls: Mapping[str, str], policy: Policy, display: Downloads) -> None:
        self.urls = urls
        self.policy = policy
        self.display = display
        self.clients = DownloadClients(policy)
        # The URLs in order; URLs with conflicting files (the same file, or one inside the other) share a lane.
        files = set(urls.values())
        lanes: dict[str, deque[str]] = {}
        for url, file in urls.items():
            parts = file.split("/")
            above = ("/".join(parts[:count]) for count in range(1, len(parts) + 1))
            lanes.setdefault(next(path for path in above if path in files), deque()).append(url)
        self.waiting = deque(list(lanes.values()))
        self.running: dict[str, tuple[float, deque[str]]] = {}
        """The deadline of each running download, and the downloads that wait for its end."""
        self.events: SimpleQueue[tuple[str, int | bytes | BaseException]] = SimpleQueue()
        self.found: dict[str, DownloadOutcome] = {}

    def run(self) -> dict[str, DownloadOutcome]:
        try:
            while self.waiting or self.running:
                while self.waiting and len(self.running) < MAX_PARALLEL_DOWNLOADS:
                    lane = self.waiting.popleft()
                    url = lane.popleft()
                    self.display.begin(url)
                    self.running[url] = (time.monotonic() + self.policy.seconds, lane)
                    refusal = _check_url(url, self.policy)
                    if refusal is not None:
                        self._finish(url, refusal)
                    else:
                        Thread(target=self._fetch, args=(url,), daemon=True).start()
                if not self.running:
                    continue
                nearest = min(end for end, _ in self.running.values())
                try:
                    url, event = self.events.get(timeout=max(0.0, nearest - time.monotonic()))
                except Empty:
                    # The timeouts of a client don't cover name resolution.
                    now = time.monotonic()
                    for url in [url for url, (end, _) in self.running.items() if end <= now]:
                        self._finish(url, FetchRefusal(f"took longer than {self.policy.seconds:g} seconds"))
                    continue
                if url not in self.running:
                    continue
                if isinstance(event, int):
                    self.display.amount(url, event)
                else:
                    self._finish(url, event)
        finally:
            # Threads that are still running see that `running` no longer contains them, and stop.
            self.running.clear()
            self.clients.close()
        return self.found

    def _fetch(self, url: str) -> None:
        shown = time.monotonic()

        def listen(size: int) -> None:
            nonlocal shown
            if url not in self.running:
                raise FetchRefusal("the download was cancelled")
            if time.monotonic() - shown > _PAUSE:
                shown = time.monotonic()
                self.events.put((url, size))

        try:
            self.events.put((url, self.clients.fetch(url, listen)))
        except BaseException as error:  # noqa: BLE001 - raised again by the calling thread
            self.events.put((url, error))

    def _finish(self, url: str, event: bytes | BaseException) -> None:
        _, lane = self.running.pop(url)
        path = self.urls[url]
        outcome: DownloadOutcome
        if isinstance(event, FetchRefusal):
            ##= man/spec/trace.md#downloads
            ##% duvet MUST refuse a download that is too large, takes too long or is an HTML page, and MUST NOT leave a
            ##% file.
            hint = f"save the specification's text as {path}"
            hint = f"{event.remedy}, or {hint}" if event.remedy else hint
            outcome = FetchError(f"could not download {url}: {event}", hint=hint)
            outcome.__cause__ = event.__cause__
        elif isinstance(event, BaseException):
            raise event
        else:
            outcome = event
            try:
                store_file(path, event)
            except DuvetError as error:
                outcome = error
        self.found[url] = outcome
        if isinstance(outcome, bytes):
            self.display.amount(url, len(outcome))
            self.display.end(url)
            lane = deque(other for other in lane if self.urls[other] != self.urls[url])
        else:
            self.display.fail(url)
        if lane:
            self.waiting.append(lane)
