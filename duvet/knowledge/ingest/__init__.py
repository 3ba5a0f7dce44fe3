"""Indexes the files of a project."""
