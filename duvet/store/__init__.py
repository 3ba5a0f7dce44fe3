"""The durable index of a project."""
