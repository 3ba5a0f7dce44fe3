from duvet.sources.literals import find_lines_in_literals, may_have_literals

# Each sign in a line of its own: `!` where the line begins in a literal.
INSIDE = {
    "a.py": '#! """ no\nx = """\n!a\n!"""\ny = r\'\'\'\n! """\n!\'\'\' + \'"""\'\nz = "\'\'\'"\nw = 1\n',
    "a.toml": 'a = """\n!b\n!"""\nc = 1\n',
    "A.java": '// """\nString s = """\n!a \\""" b\n!""";\n/* """ */ char c = \'"\';\nint x;\n',
    "a.groovy": "def s = '''\n!a\n!'''\nint x\n",
    "a.rs": 'let s = "a\n!b \\" c\n!d";\n// "\nlet t = r#"\n! " \n!"#;\nlet c = \'"\';\nfn f<\'a>() {}\n/* " */\nlet u = "";\nx\n',
    "a.cc": 'auto s = R"x(\n!a )"\n!)x";\nchar c = \'"\'; // R"(\nint y;\n',
    "a.go": 's := `\n!a\n!`\n// `\nt := "`"\nx\n',
    "a.ts": "let s = `\n!a \\` $b\n!`;\n// `\nlet t = '`';\nx\n",
}


def test_literals_of_a_language() -> None:
    ##= man/spec/validate.md#checks
    ##% `duvet validate` SHOULD warn about duplicate annotations, about annotations in string literals, and about code
    ##% or tests that cite excepted text.
    for path, content in INSIDE.items():
        lines = content.split("\n")
        expected = [number for number, line in enumerate(lines, 1) if line.startswith("!")]
        text = "\n".join(line.removeprefix("!") for line in lines)
        assert expected and find_lines_in_literals(path, text, range(1, len(lines) + 1)) == expected


def test_unclear_literals_and_unknown_languages_are_ignored() -> None:
    for path, text in [
        # Literals that contain code or never end are ignored, with everything after them.
        ("a.js", "`${f(`\na`)}`\n`\nb\n`"),
        ("a.py", '"""\na\n'),
        ("a.c", '"""\na\n"""'),
        ("a.unknown", '"""\na\n"""'),
        ("Makefile", '"""\na\n"""'),
    ]:
        assert find_lines_in_literals(path, text, range(1, 9)) == []
    assert [
        path for path in ("src/a.py", "a.b.rs", "a.c", "py", ".py", "a.py/b", "Dockerfile") if may_have_literals(path)
    ] == ["src/a.py", "a.b.rs"]
