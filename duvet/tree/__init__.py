"""The folders and files that a trace is made of: on disk, in memory, watched for what is asked of them."""
