"""What the subcommands share at the terminal: options, progress, errors and outputs."""
