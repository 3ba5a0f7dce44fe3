"""Files to annotations."""
