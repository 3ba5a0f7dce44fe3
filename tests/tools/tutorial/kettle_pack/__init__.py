"""Tools about kettles."""
