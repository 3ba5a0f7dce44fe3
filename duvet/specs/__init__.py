"""From text to specifications and their requirements."""
