"""From the files of a project to the store: what they are, their pieces, and what they have to do with one another."""
