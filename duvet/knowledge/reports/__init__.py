"""What is missing, stale or left alone among all that was taken in."""
