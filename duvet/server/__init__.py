"""The faces of the tools for machines."""
