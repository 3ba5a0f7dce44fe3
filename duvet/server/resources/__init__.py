"""The trace as a tree of resources: specifications, their sections, the requirements of these, and their citations."""
