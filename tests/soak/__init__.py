"""Many clients for a long time: no errors, no growing memory, and no lost answers."""
