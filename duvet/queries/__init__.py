"""Questions to a trace, shared by commands and tools."""
