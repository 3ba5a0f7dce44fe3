"""What commands share: options, streams, progress, problems, lists, completion."""
