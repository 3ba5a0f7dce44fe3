"""How the library tells what it is doing; the terminal decides whether and how to show it."""


##= man/spec/trace.md#reports
##% Reading a project through the library MUST NOT print anything, and MUST NOT write anything but downloads.
class Progress:
    """Hears of each step; this one keeps it to itself."""

    def begin(self, step: str) -> None:
        """A step begins: `Scanning sources`."""

    def end(self, outcome: str) -> None:
        """The step that began last is over: `Scanned 3 sources`."""

    def note(self, detail: str) -> None:
        """Something that only those want to know who ask for more."""
