"""From files to annotations."""
