"""The index of a project and what it answers: ingest, search, graph, pages, reports, backup."""
