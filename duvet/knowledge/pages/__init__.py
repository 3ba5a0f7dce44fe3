"""Pages: Markdown notes that link to each other and to requirements."""
