"""Addresses of servers that secrets are sent to."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit


def parts_of(base: str) -> SplitResult | None:
    """The parts of a URL of the web that holds neither a user, nor a query, nor a fragment; None where it is none."""
    try:
        parts = urlsplit(base)
        is_one = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    is_plain = base.isascii() and base.isprintable() and not set(base) & set(" \\?#") and "@" not in parts.netloc
    return parts if is_one and is_plain else None


def is_safe(parts: SplitResult) -> bool:
    """Whether nobody else hears what is sent there: it is encrypted, or stays on this machine."""
    return parts.scheme == "https" or is_here(parts)


def is_here(parts: SplitResult) -> bool:
    """Whether it is on this machine."""
    host = parts.hostname or ""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
