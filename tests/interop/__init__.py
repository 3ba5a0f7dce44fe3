"""Clients and suites of others against the server: python -m tests.interop FOLDER, where `.ci/interop` has put them."""
