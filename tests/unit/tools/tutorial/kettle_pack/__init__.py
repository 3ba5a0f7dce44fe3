"""Tools for kettles."""
