"""The knowledge pack: search, graph, reports, maintenance of the index."""
