"""The HTML report in a browser."""
