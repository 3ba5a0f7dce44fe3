"""Files of values in several formats: what stands in them, and where."""
