import os
from pathlib import Path

from pytest_snapshot.plugin import Snapshot

from duvet.project.survey import FoundSpecification, survey_folder
from duvet.tree.files import DiskTree, MemoryTree

RULES = "# Login\n\n## Flow\n\nThe server MUST reject it. It SHOULD log. The client MAY retry.\n"


def groups(*paths: str) -> list[str]:
    """Return the language, number of files and patterns of each group; `-` marks patterns that it excludes."""
    found = survey_folder(MemoryTree(dict.fromkeys(paths, b"")), "/project").sources
    words = [[one.language.value, str(one.count), *one.patterns, *map("-{}".format, one.exclude)] for one in found]
    return [" ".join(["test"] * one.is_test + shown) for one, shown in zip(found, words, strict=True)]


FOLDERS = [
    "README.md Cargo.toml .hidden/a.rs docs/conf.py setup.py jest.config.js",
    "kettle/a.py kettle/deep/b.pyi tests/a.py tests/deep/conftest.py",
    "main.go main_test.go internal/a.go internal/a_test.go vendor/x/y.go",
    "src/a.ts src/a.test.ts src/b/__tests__/c.ts src/__tests__/d.ts",
    "src/main/java/A.java src/test/java/ATest.java",
    *("lib/a.rb spec/a_spec.rb spec/spec_helper.rb Rakefile.rb", "a/a.rs b/a.rs c/a.rs d/a.rs e/a.rs"),
    *("a.py test_a.py a/a.py b/a.py c/a.py d/a.py tests/b.py", "[a]/x.ts [a]/tests/x.ts", "a/x.h a/x.cpp"),
    *("a/x.h b/x.c", "include/x.h"),
]


def test_languages_and_tests_are_found(snapshot: Snapshot) -> None:
    ##= man/spec/init.md#new-projects
    ##% `duvet init` MUST detect languages by file extensions and manifests. `duvet init` MUST skip hidden files
    ##% outside `.kiro`, vendored folders and files that git ignores. `duvet init` MUST configure files in test
    ##% folders, and files that are named like tests, in a `[[source]]` of type `test`.
    found = ("\n".join([f"# {paths}", *groups(*paths.split()), ""]) for paths in FOLDERS)
    snapshot.assert_match("\n".join(found), "init/languages.txt")


def specifications(files: dict[str, str]) -> list[FoundSpecification]:
    tree = MemoryTree({path: text.encode() for path, text in files.items()})
    return list(survey_folder(tree, "/project").specifications)


def test_specifications_with_the_number_of_their_requirements() -> None:
    one = "# Tea\n\nThe pot MUST be hot.\n"
    paths = [".kiro/specs/a/requirements.md", "docs/a.md", "openspec/specs/b/spec.md", "specs/001-x/spec.md"]
    named = dict.fromkeys((*paths, "src/tea-spec.md", "Requirements.markdown"), one)
    found = specifications({**named, "notes.md": RULES, "rfc/rfc1.txt": "1.  Tea\n\n   It MUST be hot.\n"})
    assert [(found_one.path, found_one.requirements) for found_one in found] == [
        *((".kiro/specs/a/requirements.md", 1), ("Requirements.markdown", 1), ("docs/a.md", 1), ("notes.md", 3)),
        *(("openspec/specs/b/spec.md", 1), ("rfc/rfc1.txt", 1), ("specs/001-x/spec.md", 1), ("src/tea-spec.md", 1)),
    ]


def test_documents_that_are_no_specifications() -> None:
    without = dict.fromkeys(("docs/plain.md", "specs/001-x/tasks.md"), "# Tea\n\nThe pot must be hot.\n")
    ignored = dict.fromkeys(("README.md", "CHANGELOG.md", "AGENTS.md", "tests/a.md", ".github/a.md"), RULES)
    others = {"notes.md": "# Tea\n\nIt MUST be hot.\n", "openspec/changes/a/spec.md": RULES, "notes.txt": RULES}
    assert specifications({**without, **ignored, **others}) == []
    plans = [".kiro/specs/a/design.md", ".kiro/steering/a.md", "specs/001-x/tasks.md", "docs/templates/a.md"]
    assert specifications(dict.fromkeys(plans, RULES)) == []
    broken = MemoryTree({"docs/a.md": b"# \xff MUST\n", "docs/long.md": b"# A\n\nIt MUST.\n" + b" " * (5 << 20)})
    assert survey_folder(broken, "/project").specifications == ()


def test_specifications_without_keywords_are_listed_apart_and_lower_case_is_noticed() -> None:
    texts = {
        "docs/prd/requirements.md": "# Tea\n\n- FR1: The pot is hot.\n",
        "specs/001-x/spec.md": "# Tea\n\nWhen it boils, the pot shall whistle.\n",
        "docs/b.md": "# Tea\n\nThe pot shall whistle.\n",
        "notes.md": "FR-001",
    }
    found = survey_folder(MemoryTree({path: text.encode() for path, text in texts.items()}), "/project")
    shall = FoundSpecification("specs/001-x/spec.md", 1, any_case=True)
    assert (found.specifications, found.unmarked) == ((shall,), ("docs/prd/requirements.md",))
    lower = "# Tea\n\n- The pot must be hot.\n- It should whistle, if it can. It is blue.\n\n```\nmust\n```\n"
    texts = {
        "docs/guide.md": lower,
        "docs/tea-spec.md": lower,
        "notes.md": lower,
        "specs/both.md": f"{lower}\nIt MUST boil.\n",
        "specs/code.md": "# Tea\n\nIt is hot.\n\n```\nmust\n```\n",
        "specs/tea.md": lower,
        "rfc/rfc1.txt": "1.  Tea\n\n   It must be hot.\n",
    }
    assert specifications(texts) == [
        FoundSpecification("docs/tea-spec.md", 2, any_case=True),
        FoundSpecification("specs/both.md", 1),
        FoundSpecification("specs/tea.md", 2, any_case=True),
    ]


def test_files_that_do_not_belong_to_the_project(tmp_path: Path) -> None:
    for name in ("build/a.py", "mine/pyvenv.cfg", "mine/a.py", "node_modules/a.py", "src/a.py", "src/odd\n.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / ".gitignore").write_text("build/\n")
    os.symlink(tmp_path, tmp_path / "src/loop")
    os.symlink(tmp_path / "src/a.py", tmp_path / "src/b.py")
    (found,) = survey_folder(DiskTree(str(tmp_path)), str(tmp_path)).sources
    assert (found.patterns, found.count) == (("src/**/*.py",), 1)
