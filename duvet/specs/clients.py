"""The HTTP clients of many downloads: one for each that is under way, kept with its connections for the next."""

from __future__ import annotations

from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING

from duvet.specs.fetch import Hear, Policy, Refusal, fetch
from duvet.version import VERSION

if TYPE_CHECKING:
    from ssl import SSLContext

    from httpx2 import Client, Response


class Clients:
    """Fetches texts, in as many threads as ask for them."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._lock = Lock()
        self._idle: list[Client] = []

    def fetch(self, url: str, hear: Hear) -> bytes:
        """The text of a URL; a Refusal where there is none."""
        import httpx2

        try:
            client, response = self._answer(url)
            try:
                data = fetch(client, response, self.policy, hear)
            except BaseException:
                client.close()
                raise
        # The last three come from proxies and certificates that the environment asks for.
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError, ImportError) as error:
            raise Refusal(str(error) or type(error).__name__) from error
        self._keep(client)
        return data

    def close(self) -> None:
        """Hang up on all servers that nothing is fetched from."""
        while client := self._take():
            client.close()

    def _answer(self, url: str) -> tuple[Client, Response]:
        """The first answer of the server, and the client for the next."""
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
        """What certificates are checked with; to load them takes longer than anything else about a client."""
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
