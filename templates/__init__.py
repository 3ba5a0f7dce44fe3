"""The templates: data that Jinja renders."""
