"""Renders finished data as text, JSON, HTML and other formats."""
