"""The trace pack: tools that answer questions about requirements and citations."""
