"""External clients and suites against the server: `python -m tests.interop FOLDER`, installed by `.ci/interop`."""
