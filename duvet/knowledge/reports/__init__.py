"""Reports about the index: coverage, lifecycle, history."""
