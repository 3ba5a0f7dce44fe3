"""What the server can do, in words of the protocol: told before there is a server, which says the same of itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CAPABILITIES: Mapping[str, Any] = {
    "completions": {},
    "logging": {},
    "prompts": {"listChanged": True},
    "resources": {"listChanged": True, "subscribe": True},
    "tools": {"listChanged": True},
}
"""In the order of the wire, which is that of the alphabet."""
