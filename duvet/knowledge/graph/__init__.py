"""What the store knows as a graph."""
