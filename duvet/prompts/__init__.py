"""Prompts for agents: texts with front matter, filled with what the trace knows."""
