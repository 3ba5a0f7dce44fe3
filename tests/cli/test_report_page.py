"""The page that `duvet report` keeps follows all that is shown on it."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.cli.made import SOURCE
from tests.cli.running import Run
from tests.histories import commit, git, history

PAGE = ".duvet/reports/report.html"


def test_the_page_follows_the_commit(kettle: Path, duvet: Run) -> None:
    ##= man/spec/page.md#overview
    ##% The report MUST name its version of duvet, its configuration and the checked-out commit, if there is one.
    history(kettle, {".gitignore": ".duvet/reports/\n.duvet/cache/\n"})
    duvet("report")
    first = git(kettle, "rev-parse", "HEAD")[:12]
    assert first in (kettle / PAGE).read_text()
    assert "nothing has changed" in duvet("report").err
    second = commit(kettle)[:12]
    assert "nothing has changed" not in duvet("report").err
    page = (kettle / PAGE).read_text()
    assert second in page
    assert first not in page
    git(kettle, "pack-refs", "--all", "--prune")
    duvet("report")
    assert (kettle / PAGE).read_text() == page
    git(kettle, "checkout", "--quiet", "--detach", first)
    assert duvet("report").code == 0
    kept = (kettle / PAGE).read_bytes()
    assert first.encode() in kept
    assert duvet("--no-cache", "report").code == 0
    assert (kettle / PAGE).read_bytes() == kept


def test_the_page_follows_the_code_below_a_comment(kettle: Path, duvet: Run) -> None:
    ##= man/spec/page.md#requirements-and-citations
    ##% The report MUST show the code below each citation, up to the next annotation and no more lines than
    ##% `snippet-lines` says.
    duvet("report")
    assert "<pre>fn boil() {}</pre>" in (kettle / PAGE).read_text()
    (kettle / "src/a.rs").write_text(SOURCE.replace("fn boil()", "fn cook()"))
    assert duvet("report").code == 0
    kept = (kettle / PAGE).read_bytes()
    assert b"<pre>fn cook() {}</pre>" in kept
    duvet("--no-cache", "report")
    assert (kettle / PAGE).read_bytes() == kept


def test_the_page_follows_the_committed_snapshot(kettle: Path, duvet: Run) -> None:
    ##= man/spec/page.md#overview
    ##% The overview MUST list the coverage gained and lost since the snapshot that `HEAD` contains, or say nothing
    ##% without such a snapshot.
    (kettle / "src/a.rs").write_text(SOURCE.partition("\n\n")[0])
    duvet("report")
    history(kettle, {})
    (kettle / "src/a.rs").write_text(SOURCE)
    duvet("report")
    gained = (kettle / PAGE).read_text()
    assert "implementation, test" in gained
    commit(kettle)
    duvet("report")
    same = (kettle / PAGE).read_bytes()
    assert b"implementation, test" not in same
    duvet("--no-cache", "report")
    assert (kettle / PAGE).read_bytes() == same


EMBEDDED = """\
'$schema' = "duvet-cli/config/v1"
[[source]]
pattern = "src/**/*.rs"
[[specification]]
source = "spec.md"
[report.html]
title = "Kettle </title> & Co"
logo = "ACME"
embed-json = true
"""
EXPIRED = """\
[[not-applicable]]
target = "spec.md#pouring"
reason = "There is no spout"
expiry = 2020-01-31
"""
RESULT = re.compile(r'<script type="?application/json"? id="?result"?>(.*?)</script>', re.DOTALL)


def embedded(page: Path) -> list[object]:
    """The JSON reports in a page."""
    return [json.loads(found) for found in RESULT.findall(page.read_text())]


def test_the_report_in_the_page(kettle: Path, duvet: Run) -> None:
    ##= man/spec/page.md#working-with-the-report
    ##% With `embed-json`, the report MUST contain the JSON report, unless an annotation is wrong.
    ##= man/spec/page.md#overview
    ##% The report MUST have the configured title and logo, or be named after the repository that its links lead to, or
    ##% else after its specifications.
    (kettle / ".duvet/config.toml").write_text(EMBEDDED)
    text = "It MUST say </script><!-- & \u2028."
    (kettle / "spec.md").write_text(f"# Kettle\n\n## Heating\n\n{text}\n")
    (kettle / "src/a.rs").write_text(f"//= spec.md#heating\n//# {text}\n")
    assert duvet("report", "--json", "report.json").code == 0
    page = kettle / PAGE
    assert embedded(page) == [json.loads((kettle / "report.json").read_text())]
    assert "<title>Kettle &lt;/title&gt; &amp; Co</title>" in page.read_text()
    assert "ACME" in page.read_text()
    (kettle / ".duvet/config.toml").write_text(EMBEDDED + EXPIRED)
    assert duvet("report").code == 1
    assert embedded(page) == []
    assert "There is no spout" in page.read_text()
    (kettle / ".duvet/config.toml").write_text(EMBEDDED.replace("embed-json = true\n", ""))
    assert duvet("report").code == 0
    assert embedded(page) == []
