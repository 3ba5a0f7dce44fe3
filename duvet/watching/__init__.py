"""Tells when anything that a run has asked for would be answered otherwise, and stands on what the system tells."""
