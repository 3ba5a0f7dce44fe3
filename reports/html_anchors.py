"""Names of places on the page."""

from __future__ import annotations

_OWN = (
    "count filters help help-title keys keys-on main not-applicable notice overview panel panel-title problems "
    "requirements result settings source-count source-filter sources specifications theme totals"
)


class Anchors:
    """Gives names to places, no two of them alike; some belong to the page itself."""

    def __init__(self) -> None:
        self._counts = dict.fromkeys(_OWN.split(), 1)

    def new(self, wanted: str) -> str:
        """The name wanted, with a number where it is taken."""
        ##= man/spec/page.md#places
        ##% An id MUST NOT occur twice on the page, whatever specifications and sections are called.
        # An id that is written in Markdown may have white space in it, and an anchor may not; `?` begins filters.
        name = wanted = "-".join(wanted.replace("?", " ").split())
        while name in self._counts:
            self._counts[wanted] = count = self._counts.get(wanted, 1) + 1
            name = f"{wanted}-{count}"
        self._counts[name] = 1
        return name
