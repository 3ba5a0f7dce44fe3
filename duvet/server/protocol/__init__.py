"""The Model Context Protocol, independent of the transport."""
