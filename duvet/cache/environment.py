"""The environment, with an account of the variables that are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from duvet.tree.recorded import RecordedTree
from duvet.tree.seen import digest


class RecordedEnvironment(Mapping[str, str]):
    """Variables of the environment; those that are looked up stand on the tree's record."""

    def __init__(self, environ: Mapping[str, str], tree: RecordedTree) -> None:
        self.environ = environ
        self.tree = tree

    def __getitem__(self, name: str) -> str:
        self.tree.record.variables[name] = answer(self.environ, name)
        return self.environ[name]

    def __iter__(self) -> Iterator[str]:
        self.tree.record.settled = False
        return iter(self.environ)

    def __len__(self) -> int:
        return len(self.environ)


def answer(environ: Mapping[str, str], name: str) -> bytes | None:
    """What stands on record for a variable: a digest, because its value may be secret."""
    value = environ.get(name)
    return None if value is None else digest(value.encode(errors="surrogateescape"))
