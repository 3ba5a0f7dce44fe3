"""The index of a project: ingest, search, graph, pages, reports, backup."""
