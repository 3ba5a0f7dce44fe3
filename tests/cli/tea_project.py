from tests.cli.sample_project import PROJECTS
from tests.sample_project import read_files

_FILES = read_files(PROJECTS / "tea")
CONFIG, TEA, RFC, SOURCE = (_FILES[name] for name in (".duvet/config.toml", "tea.md", "rfc7168.txt", "src/pot.rs"))
TESTS = """\
def test_warm() -> None:
    @@= tea.md#pot
    @@% The pot MUST be warm.
    assert warm()
""".replace("@@", "##")
TEA_PROJECT = {**_FILES, "tests/test_pot.py": TESTS}
