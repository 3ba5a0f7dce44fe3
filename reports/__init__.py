"""The reports: finished data in, bytes out, one module a format."""
