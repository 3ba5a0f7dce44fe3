"""From annotations and specifications to a trace."""
