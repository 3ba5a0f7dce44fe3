"""Many clients for a long time: no error, no growth of memory, and no answer that is lost in the end."""
