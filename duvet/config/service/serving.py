"""`server`: what the server calls itself, where it listens and what it tells."""

# Without `from __future__ import annotations`: msgspec would compile the text of each annotation at every start.

from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from duvet.config.schema import ServerRule
from duvet.config.server import DESCRIPTION, NAME, RELEASE, TITLE, PageSize, ProtocolVersionSetting
from duvet.config.service.section import Seconds, Section, Text

_DEFAULT = ServerRule()


class Mode(StrEnum):
    """How clients reach the server."""

    STDIO = "stdio"
    HTTP = "http"


class LogLevel(StrEnum):
    """What is logged: this and what is worse."""

    TRACE = "trace"
    DEBUG = "debug"
    INFO = "info"
    WARN = "warn"
    ERROR = "error"


class LogFormat(StrEnum):
    """How it is logged."""

    TEXT = "text"
    JSON = "json"


class ServerSection(Section, frozen=True, kw_only=True):
    """The server: what it says of itself, and where it listens."""

    name: Annotated[Text, NAME] = _DEFAULT.name
    title: Annotated[Text, TITLE] = _DEFAULT.title
    version: Annotated[Text, RELEASE] = _DEFAULT.version
    description: Annotated[Text, DESCRIPTION] = _DEFAULT.description
    protocol_version: ProtocolVersionSetting = None
    page_size: PageSize = _DEFAULT.page_size
    mode: Annotated[Mode, Meta(description="How clients reach the server")] = Mode.STDIO
    host: Annotated[Text, Meta(description="With `http`, the address to listen at")] = "127.0.0.1"
    port: Annotated[int, Meta(ge=1, le=65_535, description="With `http`, the port to listen at")] = 8931
    allowed_hosts: Annotated[
        tuple[Text, ...], Meta(description="With `http`, names that the server goes by, such as that of a proxy")
    ] = ()
    rate: Annotated[
        float, Meta(ge=0, le=1_000_000, description="With `http`, requests a second of a client; 0 is any number")
    ] = 1000.0
    log_level: Annotated[LogLevel, Meta(description="What is logged: this and what is worse")] = LogLevel.WARN
    log_format: Annotated[LogFormat, Meta(description="How it is logged")] = LogFormat.TEXT
    tool_timeout: Annotated[Seconds, Meta(description="How many seconds a tool of a further pack may take")] = 30.0
    shutdown_timeout: Annotated[
        Seconds, Meta(description="How many seconds what is at work may take when the server is told to end")
    ] = 3.0

    def rule(self, packs: tuple[str, ...] = _DEFAULT.packs) -> ServerRule:
        """The rule that this table and the packs that are switched on stand for."""
        version = self.protocol_version
        return ServerRule(
            name=self.name,
            title=self.title,
            version=self.version,
            description=self.description,
            protocol_version=None if version is None else version.value,
            page_size=self.page_size,
            packs=packs,
        )
