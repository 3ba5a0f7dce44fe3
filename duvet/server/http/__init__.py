"""The protocol over HTTP, for a team."""
