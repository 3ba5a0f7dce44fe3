"""What a project knows beside its trace."""
