"""The HTML report, with one module per view."""
