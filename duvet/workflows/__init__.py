"""One engine for workflows and recipes."""
