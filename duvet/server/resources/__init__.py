"""The trace as a tree of resources."""
