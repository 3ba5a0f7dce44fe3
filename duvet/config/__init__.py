"""The configuration of a project and of the service: find, read, check, explain."""
