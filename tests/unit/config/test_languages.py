from duvet.config import languages


def test_the_table_of_languages() -> None:
    patterns = [pattern for language in languages.Language for pattern in language.patterns]
    assert len(set(patterns)) == len(patterns)
    # The two prefixes of a style are different.
    for meta, content in (language.style for language in languages.Language):
        assert not meta.startswith(content) and not content.startswith(meta)


def test_the_names_of_tests() -> None:
    globs = {
        "test_a.py": "test_*.py",
        "conftest.py": "conftest.py",
        "a_test.go": "*_test.go",
        "a-test.js": "*-test.js",
        "a.spec.mts": "*.spec.mts",
        "KettleTests.kt": "*Tests.kt",
        "a_spec.rb": "*_spec.rb",
        **dict.fromkeys(("test.py", "contest.py", "a.tests.ts", "latest.go", "test_a.pyc"), ""),
    }
    assert {name: languages.find_test_glob(name) for name in globs} == globs
