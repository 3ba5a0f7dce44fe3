"""Fetches one URL within the limits of a policy."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING

from msgspec import Struct

from duvet.errors import DuvetError

if TYPE_CHECKING:
    from httpx2 import Client, Response

DownloadOutcome = bytes | DuvetError  # The text, or why there is none.
SizeListener = Callable[[int], None]
"""Called with the number of bytes received; an exception that it raises ends the download."""

_MOST_REDIRECTS = 10
# Compiled only when something is downloaded.
_HTML = rb"(?i:(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype\s+html|html)\b)"


class Policy(Struct, frozen=True):
    """The limits of downloads: size, time, and allowed sources."""

    offline: bool = False
    allow_http: bool = False
    max_bytes: int = 64 * 1024 * 1024
    seconds: float = 60.0


class FetchRefusal(Exception):
    """The reason why a URL has no text."""


def check_allowed(url: str, policy: Policy) -> None:
    """Raise FetchRefusal if the policy forbids this URL."""
    scheme = url.partition(":")[0]
    ##= man/spec/trace.md#specifications
    ##% With `--offline`, duvet MUST NOT download anything.
    if policy.offline:
        raise FetchRefusal("downloads are off")
    if scheme not in ("https", "http"):
        raise FetchRefusal(f"downloads over {scheme} are not supported")
    ##= man/spec/trace.md#specifications
    ##% duvet MUST download over HTTPS unless the user allows otherwise, and give up when a download is too large or
    ##% takes too long.
    if scheme == "http" and not policy.allow_http:
        raise FetchRefusal("it is not https")


def fetch_text(client: Client, response: Response, policy: Policy, listen: SizeListener) -> bytes:
    """The text of a response after redirects, which must not leave HTTPS."""
    end = time.monotonic() + policy.seconds
    for _ in range(_MOST_REDIRECTS):
        following = response.next_request
        if following is None:
            break
        response.close()
        if following.url.scheme != "https" and (response.url.scheme == "https" or not policy.allow_http):
            raise FetchRefusal(f"it redirects to {following.url}, which is not https")
        response = client.send(following, stream=True)
    with closing(response):
        if response.next_request is not None:
            raise FetchRefusal(f"it redirects more than {_MOST_REDIRECTS} times")
        if not response.is_success:
            raise FetchRefusal(f"the server answered {response.status_code} {response.reason_phrase}".rstrip())
        body = bytearray()
        for chunk in response.iter_bytes():
            body += chunk
            if len(body) > policy.max_bytes:
                raise FetchRefusal(f"it is larger than {policy.max_bytes} bytes")
            if time.monotonic() > end:
                raise FetchRefusal("it took too long")
            listen(len(body))
        data = bytes(body)
    ##= man/spec/trace.md#specifications
    ##% duvet MUST refuse an HTML page as a specification, and leave no file after a failed download.
    if re.match(_HTML, data):
        raise FetchRefusal("it is an HTML page, where text or Markdown is needed")
    return data
