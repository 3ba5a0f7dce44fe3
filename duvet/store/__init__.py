"""The durable store of what is known about a project: files, their pieces, what they have to do with one another."""
