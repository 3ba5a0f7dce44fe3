"""Renders reports: finished data to bytes, one module for each format."""
