"""The tools about pages."""
