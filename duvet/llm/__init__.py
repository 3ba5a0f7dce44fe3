"""Models: which one is asked, how, and what an answer may name as its sources."""
