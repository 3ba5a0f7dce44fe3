"""Tools: typed operations, each declared once and offered to agents, over HTTP and in the shell."""
