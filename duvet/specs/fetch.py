"""Specifications from the network, put where the next run finds them."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from duvet.errors import FetchError
from duvet.version import VERSION

if TYPE_CHECKING:
    from httpx2 import Client, Response

_MOST_REDIRECTS = 10
_HTML = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype\s+html|html)\b", re.IGNORECASE)


class Policy(Struct, frozen=True):
    """What may be downloaded: how large a text, in how many seconds, and from where."""

    offline: bool = False
    allow_http: bool = False
    max_bytes: int = 64 * 1024 * 1024
    seconds: float = 60.0


def fetch(url: str, path: str, policy: Policy | None = None) -> bytes:
    """Download a text into a file, whole or not at all; a FetchError says where to put it by hand."""
    policy = policy or Policy()
    hint = f"put its text into {path}"
    try:
        _check_allowed(url, policy)
        ##= man/spec/trace.md#specifications
        ##% A download MUST be given up when it is too large or takes too long.
        data = _in_time(lambda: _download(url, policy), policy.seconds)
        ##= man/spec/trace.md#specifications
        ##% A page of HTML MUST NOT be taken for a specification.
        if _HTML.match(data):
            raise Refusal("it is an HTML page, where text or Markdown is needed")
    except Refusal as refusal:
        raise FetchError(f"could not download {url}: {refusal}", hint=hint) from refusal.__cause__
    ##= man/spec/trace.md#specifications
    ##% A download that fails MUST leave no file.
    from duvet.outputs import store

    store(path, data)
    return data


class Refusal(Exception):
    """Why there is no text."""


def _check_allowed(url: str, policy: Policy) -> None:
    scheme = url.partition(":")[0]
    ##= man/spec/trace.md#specifications
    ##% With `--offline`, duvet MUST NOT download anything.
    if policy.offline:
        raise Refusal("downloads are off")
    if scheme not in ("https", "http"):
        raise Refusal(f"downloads over {scheme} are not supported")
    ##= man/spec/trace.md#specifications
    ##% A download MUST use HTTPS unless the user allows otherwise.
    if scheme == "http" and not policy.allow_http:
        raise Refusal("it is not https")


def _in_time(work: Callable[[], bytes], seconds: float) -> bytes:
    """What the work gives; the time-outs of a client are for one step each, and none is for looking up a name."""
    from concurrent.futures import Future
    from threading import Thread

    outcome: Future[bytes] = Future()

    def run() -> None:
        try:
            outcome.set_result(work())
        except BaseException as error:  # noqa: BLE001 - handed over
            outcome.set_exception(error)

    Thread(target=run, daemon=True).start()
    try:
        return outcome.result(seconds)
    except TimeoutError as error:
        raise Refusal(f"it took more than {seconds:g} seconds") from error


def _download(url: str, policy: Policy) -> bytes:
    import httpx2

    headers = {"accept": "text/plain", "user-agent": f"duvet/{VERSION}"}
    try:
        with httpx2.Client(headers=headers, timeout=policy.seconds) as client:
            return follow(client, url, policy)
    # The last three come from proxies that the environment asks for.
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError, ImportError) as error:
        raise Refusal(str(error) or type(error).__name__) from error


def follow(client: Client, url: str, policy: Policy) -> bytes:
    """The text that a URL leads to through any redirects but those that leave https."""
    end = time.monotonic() + policy.seconds
    request = client.build_request("GET", url)
    for _ in range(_MOST_REDIRECTS + 1):
        response = client.send(request, stream=True)
        try:
            following = response.next_request
            if following is None:
                return _body(response, policy.max_bytes, end)
        finally:
            response.close()
        ##= man/spec/trace.md#specifications
        ##% A download MUST use HTTPS unless the user allows otherwise.
        if following.url.scheme != "https" and (request.url.scheme == "https" or not policy.allow_http):
            raise Refusal(f"it redirects to {following.url}, which is not https")
        request = following
    raise Refusal(f"it redirects more than {_MOST_REDIRECTS} times")


def _body(response: Response, max_bytes: int, end: float) -> bytes:
    if not response.is_success:
        raise Refusal(f"the server answered {response.status_code} {response.reason_phrase}".rstrip())
    data = bytearray()
    for chunk in response.iter_bytes():
        data += chunk
        ##= man/spec/trace.md#specifications
        ##% A download MUST be given up when it is too large or takes too long.
        if len(data) > max_bytes:
            raise Refusal(f"it is larger than {max_bytes} bytes")
        if time.monotonic() > end:
            raise Refusal("it took too long")
    return bytes(data)
