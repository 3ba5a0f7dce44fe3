"""The entry points: `duvet`, `python -m duvet` and `contextive-mcp`."""

from __future__ import annotations

import gc
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line and exit."""
    # A run is short and makes few cycles, but the garbage collector takes a sixth of its time, imports included.
    gc.disable()
    from duvet.cli import main as run

    run()


def serve() -> NoReturn:
    """Run `duvet mcp` as `contextive-mcp`."""
    sys.argv[1:1] = ["mcp"]
    main()


if __name__ == "__main__":
    main()
