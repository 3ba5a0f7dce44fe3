"""The HTML report: its overview, specifications, source files and pages."""
