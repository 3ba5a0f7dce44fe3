"""Queries about a trace, shared by commands and tools."""
