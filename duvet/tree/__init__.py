"""Trees of files (disk, memory, a git revision), the record of a run's reads, and the cache of its results."""
