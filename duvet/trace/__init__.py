"""Annotations resolved against specifications: targets, quotes, coverage, gates."""
