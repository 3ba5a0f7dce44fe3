"""A project: configuration, inputs and trace."""
