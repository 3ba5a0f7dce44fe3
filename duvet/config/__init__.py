"""The configuration: finding it, reading it, checking it and explaining it."""
