"""Search over everything that was taken in."""
