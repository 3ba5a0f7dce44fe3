"""The projects of the command tests, for tests that take long."""

from tests.cli.conftest import duvet, kettle, reported, reported_once, tea, watch

__all__ = ["duvet", "kettle", "reported", "reported_once", "tea", "watch"]
