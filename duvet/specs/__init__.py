"""Specifications: reading, parsing, requirements and downloads."""
