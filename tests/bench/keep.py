"""What a run leaves in the repository: its results, their plot, and the README's section."""

from __future__ import annotations

from pathlib import Path

from tests.bench import plot, readme
from tests.bench.results import FILE, Results, decode, encode


def keep(results: Results) -> None:
    """Write all of it."""
    for path, text in texts(results, readme.FILE.read_text(encoding="utf-8")).items():
        path.write_text(text, encoding="utf-8")


def texts(results: Results, page: str) -> dict[Path, str]:
    """What each file has to say; plot and README tell the rounded figures, which are all that anybody can check."""
    encoded = encode(results)
    kept = decode(encoded)
    return {FILE: encoded, plot.FILE: plot.render(kept), readme.FILE: readme.renew(page, kept)}
