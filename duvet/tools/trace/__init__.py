"""What agents ask a trace: one module a tool."""
