"""Notes in Markdown that link to one another and to requirements."""
