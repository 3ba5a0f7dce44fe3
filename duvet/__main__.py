"""The entry points `duvet`, `contextive-mcp` and `python -m duvet`."""

from __future__ import annotations

import gc
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line and exit with its code."""
    # A run is short and creates few reference cycles; collecting them would take a sixth of its time, even during imports.
    gc.disable()
    from duvet.cli import main as run

    run()


def serve() -> NoReturn:
    """Run `duvet mcp`."""
    sys.argv[1:1] = ["mcp"]
    main()


if __name__ == "__main__":
    main()
