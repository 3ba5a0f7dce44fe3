"""Upstream's second JSON report: sources and what is said of them, by ids that reports of several packages share."""

from __future__ import annotations

from typing import BinaryIO

from duvet.trace.finished import Finished


def render(report: Finished, out: BinaryIO) -> None:
    """Write the report."""
    ##= man/spec/trace.md#reports
    ##% JSON, in both of its versions, LCOV and the snapshot MUST equal those of awslabs duvet, its defects left aside.
    # Hashing is loaded for this report alone.
    from duvet.reports.v2_build import build
    from duvet.reports.v2_codec import encode

    out.write(encode(build(report)))
