"""Full text over the requirements of a project."""
