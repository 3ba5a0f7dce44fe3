"""Where files come from: disk, memory, a git revision, a recording. What was read before, and what has changed since."""
