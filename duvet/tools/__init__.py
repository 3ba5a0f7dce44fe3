"""Typed operations, each declared once and served by every face: to agents, over HTTP, from the shell."""
