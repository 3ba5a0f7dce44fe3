"""A server with a method that is never answered."""

from tests.unit.server.stdio.conftest import odd, patient

__all__ = ["odd", "patient"]
