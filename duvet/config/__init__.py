"""Finds, reads, checks and explains the configuration of a project and of the service."""
