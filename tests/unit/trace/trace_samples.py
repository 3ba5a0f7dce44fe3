from hypothesis import strategies as st

from duvet.model import Annotation, Format, Kind, Level, Locator, Section, Specification
from duvet.progress import Progress
from duvet.specs.library import Library
from duvet.trace.build import build_trace
from duvet.trace.catalogue import State
from duvet.trace.records import Coverage, Finished, Requirement, Trace
from duvet.tree.files import MemoryTree

HEADING = "# T\n"
SECTION = Section("s", "S", (0, 1), "S", (), ())


def section_of(text: str, id: str = "t") -> Section:
    lines = tuple(text.split("\n"))
    starts = [len(HEADING)]
    for line in lines[:-1]:
        starts.append(starts[-1] + len(line.encode()) + 1)
    return Section(id, "T", (2, 3), "T", lines, tuple(starts))


def file_of(text: str) -> bytes:
    return f"{HEADING}{text}".encode()


def citing(
    quote: str, kind: Kind = Kind.CITATION, line: int = 1, level: Level = Level.AUTO, reason: str = ""
) -> Annotation:
    return Annotation("a.rs", line, kind, "t.md#t", quote, level, reason=reason)


def trace_of(text: str, *annotations: Annotation) -> Trace:
    tree = MemoryTree({"t.md": file_of(text)})
    return build_trace(annotations, Library(tree, "d"), tree, "", (), Progress())


def specification(name: str) -> Specification:
    path = f"{name}.md"
    return Specification(name, name, Locator(path), path, path, Format.MARKDOWN, "", "", b"", ())


def requirement(name: str, level: Level, state: State) -> Requirement:
    return Requirement(specification(name), SECTION, "The pot MUST be warm.", level, state, (), (), ())


def finished(*requirements: Requirement, cited: tuple[str, ...] = ()) -> Finished:
    names = dict.fromkeys([*(one.specification.name for one in requirements), *cited])
    return Finished(Trace((), (), tuple(Coverage(specification(name), (), {}, {}) for name in names), ()), requirements)


@st.composite
def cited_texts(draw: st.DrawFn) -> tuple[str, tuple[Annotation, ...]]:
    words = draw(st.lists(st.sampled_from(["ab", "cd.", "é日", "x", "ef"]), min_size=1, max_size=8))
    text = "".join(word + draw(st.sampled_from(" \n")) for word in words)[:-1]
    quoted = []
    for line in range(draw(st.integers(1, 7))):
        start = draw(st.integers(0, len(words) - 1))
        quote = " ".join(words[start : draw(st.integers(start + 1, len(words)))])
        kind, level = draw(st.sampled_from(Kind)), draw(st.sampled_from(Level))
        quoted.append(citing(quote, kind, line, level, draw(st.sampled_from(["", "why"]))))
    whole = citing(" ".join(words), Kind.SPEC, 99)
    return text, (*quoted, whole) if draw(st.booleans()) else tuple(quoted)
