"""The tools about the server itself."""

from __future__ import annotations

from duvet.tools.introspect.duvet_health import HEALTH
from duvet.tools.introspect.duvet_server_info import SERVER_INFO
from duvet.tools.tool import Pack

INTROSPECT = Pack("introspect", (SERVER_INFO, HEALTH), "What the server is, and how well")
