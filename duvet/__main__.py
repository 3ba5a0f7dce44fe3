"""The entry points `duvet`, `contextive-mcp` and `python -m duvet`."""

from __future__ import annotations

import gc
import sys
from typing import NoReturn

MCP_PROGRAM, MCP_COMMAND = "contextive-mcp", "mcp"  # The program runs this command of duvet.


def main(program: str = "duvet") -> NoReturn:
    """Run the command line under this program name, and exit with its code."""
    # A run is short and creates few reference cycles; collecting them would take a sixth of its time.
    gc.disable()
    from duvet.cli import main as run

    run(program)


def serve() -> NoReturn:
    """Run `duvet mcp`, for `contextive-mcp`."""
    if sys.argv[1:] != ["--version"]:
        sys.argv[1:1] = [MCP_COMMAND]
    main(MCP_PROGRAM)


if __name__ == "__main__":
    main()
