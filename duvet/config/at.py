"""Where in a document a check is, and how it tells of a problem there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from msgspec.structs import replace

from duvet import rules
from duvet.config.documents.document import Document
from duvet.config.fields import key_path
from duvet.model import Place, Problem


class At(NamedTuple):
    """A place in the file, by the keys that lead to it."""

    document: Document
    environ: Mapping[str, str]
    keys: tuple[str | int, ...] = ()
    is_private: bool = False
    """Whether secrets may stand in the file: its lines are not shown, and each problem names the path of its key."""

    def __truediv__(self, key: str | int) -> At:
        return self._replace(keys=(*self.keys, key))

    @property
    def place(self) -> Place:
        """Where the value stands."""
        return self.document.value_place(*self.keys)

    def problem(self, rule: rules.Rule, message: str, hint: str = "", *, at_key: bool = False) -> Problem:
        """A problem with the value, or with its key."""
        place = self.document.key_place(*self.keys) if at_key else self.place
        if not self.is_private:
            return rule.problem(message, self.document.path, place, hint=hint)
        ##= man/spec/service.md#configuration
        ##% All that is wrong with a file MUST be listed, each with its line, its column and the path of its key.
        path = f"{key_path(self.keys)}: " if self.keys else ""
        return replace(rule.problem(path + message, self.document.path, place, hint=hint), is_private=True)
