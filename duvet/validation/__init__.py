"""Whether annotations are as they should be, and how those that are not are mended."""
