"""Tools and models, one after another: an engine that knows no syntax, and checks that run nothing."""
