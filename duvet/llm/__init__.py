"""Language models: routing, providers, and answers with sources."""
