"""The protocol over standard input and output, for the user's own agent."""
