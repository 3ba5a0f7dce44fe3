"""Prompts for agents."""
