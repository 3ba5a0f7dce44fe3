"""The README's section on performance, from figures that are made up."""

from __future__ import annotations

from tests.bench.readme import renew
from tests.bench.samples import results

README = "# duvet\n\n## Performance\n\n{section}\n## Contributing\n\n## More\n"
SECTION = """\
CPU time of `duvet report` in milliseconds, when it writes JSON and a snapshot; with the page it writes HTML as well.

| project | first run | first run with the page | nothing changed | one source changed | memory |
| --- | --: | --: | --: | --: | --: |
| s2n-tls | 150 | 175 | 200 | 225 | 25 MB |
| 2,000 sources, 10,000 annotations | 425 | 450 | 475 | 500 | 36 MB |
| 20,000 sources, 100,000 annotations | 625 | 650 | 675 | 700 | 44 MB |

`duvet --version` takes 25 ms. That was measured on Linux x86_64, 2 cores, with Python 3.11.7. One cu, the time of a
fixed piece of work in Python, is 250 ms there. Budgets and comparisons are in cu, so that they hold on other machines
too.

Neither time nor memory grows faster than the project. The plot begins at 100 sources, 500 annotations and 10
specifications, and shows what ten times and a hundred times as much of one of them costs; with sources come their
annotations.

![How the time and memory of duvet report grow with its project](tests/bench/growth.svg)

`make bench` measures it on your machine, and `make bench ARGS=--growth` the figures of the plot.
[CONTRIBUTING.md](CONTRIBUTING.md#speed) says what they need.
"""


def test_the_section_says_what_the_results_say() -> None:
    written = renew(README.format(section="old\n"), results())
    assert written == README.format(section=SECTION)
    assert renew(written, results()) == written


def test_an_empty_section_is_filled() -> None:
    assert renew(README.replace("{section}\n", ""), results()) == README.format(section=SECTION)
