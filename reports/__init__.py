"""Renders finished data as bytes, with one module for each format."""
