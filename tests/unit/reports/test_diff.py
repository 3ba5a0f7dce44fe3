from pyromark import Markdown

from duvet.console.streams import render_bytes
from duvet.queries.difference import compare_catalogues
from duvet.queries.revisions import DiffBase
from duvet.reports.diff import render_difference_markdown
from tests.unit.queries.query_projects import make_catalogue

BASE = DiffBase("0123456789abcdef" * 2, "origin/main", True)


def comment(*sentences: str) -> str:
    schema = "https://awslabs.github.io/duvet/config/v0.4.0.json"
    config = f"'$schema' = '{schema}'\n[[specification]]\nsource = 'tea.md'\n"
    texts = ("# Tea\n", "# Tea\n\n" + "".join(f"{one}\n\n" for one in sentences))
    then, now = (make_catalogue({".duvet/config.toml": config, "tea.md": text}) for text in texts)
    difference = compare_catalogues(then, now)
    return render_bytes(lambda out: render_difference_markdown(BASE, difference, out)).decode()


def test_text_from_files_is_escaped() -> None:
    ##= man/spec/diff.md#output
    ##% With `--format markdown`, `duvet diff` MUST escape text from files.
    for text in [
        "It MUST `not` be ``code``.",
        "`It` MUST end in `ticks`",
        "It MUST </details> <script>alert(1)</script> &amp; | *so* _on_ [x](y) ![z](z) ~~no~~.",
        "It MUST ping @everyone, close #1 and https://example.org/.",
        "It MUST $x$ \\`escape\\` \\.",
    ]:
        html = Markdown().html(comment(text))
        shown = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
        # In code, asterisks, brackets and ticks are shown unchanged.
        assert f"<code>{shown}</code>" in html
        assert html.count("<code>") == 4


def test_long_sentences_and_comments_are_cut() -> None:
    ##= man/spec/diff.md#output
    ##% With `--format markdown`, `duvet diff` MUST stay within the size limit of a GitHub comment, and say how
    ##% much it left out.
    found = comment(*(f"Part {n:05} MUST be {'very ' * 40}hot." for n in range(400)))
    shown = found.count("- `tea.md#tea` MUST")
    base = "Compared with `0123456789ab`, the merge base with `origin/main`.\n\n| | then | now |\n"
    assert found.startswith(f"### duvet: no coverage lost\n\n{base}")
    assert 64_000 < len(found) < 65_536
    assert "<summary>Requirements added: 400</summary>\n\n- `tea.md#tea` MUST; uncited\n  - `Part 00000" in found
    assert found.endswith(f"- and {400 - shown:,} more, which don't fit in a comment\n\n</details>\n")
    assert comment().startswith("### duvet: the project has no requirements\n\n")
    found = comment(f"It MUST be {'very ' * 50_000}hot.")
    assert len(found) < 1000 and "very …`\n" in found
