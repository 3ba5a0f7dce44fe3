"""Source files: patterns, comments, and edits."""
