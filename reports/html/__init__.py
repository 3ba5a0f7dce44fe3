"""The HTML report, a module for each view."""
