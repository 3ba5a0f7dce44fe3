"""The server: MCP, REST, health checks and metrics."""
