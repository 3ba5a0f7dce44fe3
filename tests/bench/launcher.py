"""Runs a command and prints its exit code, CPU seconds and peak memory in MB.

It is a small separate program, because the peak memory of a process begins with that of its parent.
"""

from __future__ import annotations

import os
import sys

QUIET = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0), (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]

if __name__ == "__main__":
    child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=QUIET)
    _, status, usage = os.wait4(child, 0)
    print(os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
