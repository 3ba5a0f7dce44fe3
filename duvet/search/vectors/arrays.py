"""numpy, which calculates in one thread: with more, each small product waits for all of them on a busy machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["np"]

_THREADS = "OPENBLAS_NUM_THREADS"


@contextmanager
def _one_thread() -> Iterator[None]:
    """Somebody's own wish counts more, and programs that are started later are told nothing."""
    ##= man/spec/knowledge.md#vectors
    ##% Calculating with vectors MUST NOT change the environment of the programs that duvet starts.
    if _THREADS in os.environ:
        yield
        return
    # It is looked at once, when the library is loaded.
    os.environ[_THREADS] = "1"
    try:
        yield
    finally:
        os.environ.pop(_THREADS, None)


with _one_thread():
    import numpy as np
