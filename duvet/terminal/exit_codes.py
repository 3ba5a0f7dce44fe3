"""What a run answers to whoever started it."""

from __future__ import annotations

##= man/spec/trace.md#diagnostics
##% The exit code MUST be 0 for yes, 1 for no, 2 for wrong usage, 3 for a defect of duvet and 130 for an interruption.
OK, FAILED, USAGE, BUG, INTERRUPTED = 0, 1, 2, 3, 130
