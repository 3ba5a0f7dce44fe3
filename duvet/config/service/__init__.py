"""The configuration of the service: who serves, which models and tools there are, and workflows that chain them."""
