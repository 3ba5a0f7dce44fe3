"""What a project knows beside its trace: pages, index, search, graph, reports."""
