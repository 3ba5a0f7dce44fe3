"""Search over the index."""
