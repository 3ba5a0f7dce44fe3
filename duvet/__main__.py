"""Where the command begins: `duvet`, or `python -m duvet`."""

from __future__ import annotations

import gc
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line and leave with its exit code."""
    # A run is short and makes no cycles to speak of: looking for them cost a sixth of its time, and some of that goes
    # into the imports.
    gc.disable()
    from duvet.cli import main as run

    run()


def serve() -> NoReturn:
    """`contextive-mcp`: the same as `duvet mcp`."""
    sys.argv[1:1] = ["mcp"]
    main()


if __name__ == "__main__":
    main()
