"""The tools about everything in the project: search, graph, reports."""
