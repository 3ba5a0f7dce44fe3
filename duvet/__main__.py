"""The entry points `duvet`, `contextive-mcp` and `python -m duvet`."""

from __future__ import annotations

import gc

# A run is short and creates few reference cycles; collecting them would take a sixth of its time.
gc.disable()

from duvet.cli import main, serve

__all__ = ["main", "serve"]

if __name__ == "__main__":
    main()
