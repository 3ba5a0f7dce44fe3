"""Maintenance of the index: backup, restore, uploads, feedback."""
