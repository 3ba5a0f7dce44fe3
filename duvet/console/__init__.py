"""Code that commands share: options, streams, progress, problems, lists, completion."""
