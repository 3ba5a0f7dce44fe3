"""The server over standard input and output."""
