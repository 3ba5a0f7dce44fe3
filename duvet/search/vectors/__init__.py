"""Texts as vectors, where the extra `semantic` is installed."""
