"""Tools and models, one after another: an engine that knows no syntax, and what can be told wrong without running it."""
