"""What earlier runs found out, kept beside a project. It is a hint: without it every answer is the same, but later."""
