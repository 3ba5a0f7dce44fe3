"""Pages: Markdown notes that link to one another and to requirements."""
