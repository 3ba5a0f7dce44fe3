"""How much a client may ask of the server."""

from __future__ import annotations

from msgspec import Struct


class Limits(Struct, frozen=True, kw_only=True):
    """What is more than this is refused; times are seconds."""

    body: int = 1 << 20
    """Bytes of a request."""
    head: int = 32 << 10
    """Bytes of the headers of a request."""
    arrival: float = 10
    """Within which the headers of a request arrive once it has begun; the body gets as long again."""
    arriving: int = 64 << 20
    """Bytes of all requests that are arriving; where there are more, the one that takes longest is refused."""
    keep_alive: int = 60
    """How long a connection may lie idle between requests."""
    unread: float = 30
    """How long a client may leave what was sent to it unread."""
    connections: int = 2048
    requests: int = 512
    """At work at once, without streams."""
    streams: int = 800
    """Open at once: those that tell of changes, which last."""
    sessions: int = 1024
    idle_session: float = 1800
    batch: int = 50
    """Messages in a batch."""
    rate: float = 1000
    """Requests a second of a client, in the long run; 0 is any number."""
    burst: float = 2000
    """Requests that a client may make at once after a while without any."""
    clients: int = 4096
    """Whose requests are counted; those that were quiet for longest are forgotten."""
    stopping: float = 3
    """For what is at work when the server is told to end."""
