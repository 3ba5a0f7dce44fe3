"""Calls of the tools about what is known, forwarded to the server of a team."""
