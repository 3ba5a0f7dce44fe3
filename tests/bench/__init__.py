"""Measures duvet against its budgets: `make bench`."""
