"""No text that a person or an agent reads contains a phrase of the list below.

The list holds phrases that a reader has to translate. Everything else about good English is for reviewers.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import ROOT

PHRASES = {
    r"mend(?:s|ed|ing)?": "fix",
    r"(?:take|taken|takes|taking|took) in": "index, read",
    r"hangs? together": "relate",
    r"(?:is|are|was|were|be|being) told": "name the actor: `duvet prints ...`",
    r"(?:tells?|told) of": "name, list",
    r"(?:come|comes|came) of": "result of",
    r"is wrong is": "problems are",
    r"there (?:is|are) none(?=[.;]|$)": "not found",
    r"there (?:is|are) \{[^}]*\}$": "available: a, b",
    r"(?:it is|they are) no (?!longer)[a-z]+": "is not a ...",
    r"whoever": "the user",
    r"whatever there is": "everything",
    r"be it that": "if",
    r"as (?:it|they) stands? there": "unchanged",
    r"at once and as a whole": "atomically",
    r"the (?:last|first) first": "newest first",
    r"is nothing (?:for|that)": "is not",
    r"for a time": "with a time limit",
    r"so that it is": "to",
    r"(?:what|all) there is to know": "everything about",
    r"of one's own": "your own",
    r"(?:text|error|defined) here": "what is expected or found",
    r"\(os error": "the operating system's words",
    r"encountered 1 errors": "encountered 1 error",
}
FORBIDDEN = re.compile("|".join(rf"(?:(?<!\w){phrase}(?!\w))" for phrase in PHRASES), re.IGNORECASE)

# The formatter puts two spaces before a comment that follows code.
COMMENT = re.compile(r"(?:^|  )\s*#[#=% ]*(.*)")

TEXTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "action.yml", "server.json", "Makefile")
FOLDERS = ("duvet", "commands", "reports", "templates", "man", ".pre-commit-hooks.yaml")
SUFFIXES = {".md", ".j2", ".js", ".css", ".yaml", ".toml", ".json", ".1", ".5", ".7", ".html", ".svg"}

EXCEPTIONS: dict[str, set[str]] = {
    "duvet/errors.py": {"(os error"},
    "duvet/sources/comments.py": {"defined here"},
    "duvet/tree/files.py": {"(os error"},
}
"""The phrases of awslabs duvet that its conformance tests pin, by file."""


def list_files() -> Iterator[Path]:
    for name in FOLDERS:
        for path in [ROOT / name, *(ROOT / name).rglob("*")]:
            # In duvet/, the other packages are links.
            if path.is_file() and not any(parent.is_symlink() for parent in path.parents):
                yield path
    yield from (ROOT / name for name in TEXTS if (ROOT / name).exists())


def list_texts(path: Path) -> Iterator[tuple[int, str]]:
    content = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield 1, content
        return
    for node in ast.walk(ast.parse(content)):
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, "".join(str(one.value) if isinstance(one, ast.Constant) else "{}" for one in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value
    comment, first, last = "", 0, 0
    for number, line in enumerate(content.splitlines(), 1):
        if found := COMMENT.search(line):
            if number != last + 1:
                yield first, comment
                comment, first = "", number
            comment, last = f"{comment} {found[1]}", number
    yield first, comment


def find_phrases(path: Path) -> Iterator[str]:
    name = path.relative_to(ROOT).as_posix()
    for line, text in list_texts(path):
        # A phrase may be wrapped, also within a comment or a man page.
        flat = re.sub(r"\s+", " ", text)
        for match in FORBIDDEN.finditer(flat):
            if match[0].lower() not in EXCEPTIONS.get(name, set()):
                around = flat[max(0, match.start() - 30) : match.end() + 30]
                yield f"{name}:{line}: {match[0]!r} in {around!r}"


def test_texts_contain_no_phrase_of_the_list() -> None:
    files = [path for path in list_files() if path.suffix in {".py", *SUFFIXES} or path.name == "Makefile"]
    found = sorted({problem for path in files if "__pycache__" not in path.parts for problem in find_phrases(path)})
    assert not found, "\n".join(found)


def test_each_exception_is_needed() -> None:
    for name, phrases in EXCEPTIONS.items():
        text = re.sub(r"\s+", " ", (ROOT / name).read_text(encoding="utf-8")).lower()
        assert phrases == {phrase for phrase in phrases if phrase in text}, name


def test_a_wrapped_phrase_is_found(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text('"""How it hangs\n    together."""\n# What is\n# told.\nx = f"there are {1}"\n', encoding="utf-8")
    found = [FORBIDDEN.findall(re.sub(r"\s+", " ", text)) for _, text in list_texts(module)]
    assert [one for one in found if one] == [["hangs together"], ["there are {}"], ["is told"]]
