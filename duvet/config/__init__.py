"""The configuration of a project and of the service: reading, checking and explaining it."""
