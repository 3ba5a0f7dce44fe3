"""Trees of files (disk, memory, a git revision), what a run asked of them, and the cache of its results."""
