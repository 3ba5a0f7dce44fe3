"""The knowledge pack: search, graph, reports and maintenance of the index."""
