"""Tools about the server itself."""
