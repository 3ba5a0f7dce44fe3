"""Questions to a trace: every command and every tool asks them here."""
