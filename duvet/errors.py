"""The errors that duvet raises, from the least specific to the most."""


class DuvetError(Exception):
    """Something a user can put right; the message says what, where and how."""

    def __init__(self, message: str, *, path: str = "", line: int = 0, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.line = line
        self.hint = hint

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}: " if self.line else f"{self.path}: " if self.path else ""
        return place + self.message


class UnreadableError(DuvetError):
    """A file that should be read can't be read."""


class NotRegularError(UnreadableError):
    """Something that should be a file is a folder or a device."""


class FetchError(DuvetError):
    """A specification can't be downloaded."""


class NotFoundError(DuvetError):
    """Something that is asked for by name is not there, or not only one is."""


class QueryError(DuvetError):
    """A question that can't be understood."""


class OutputError(DuvetError):
    """A result can't be written."""


class OutputExistsError(OutputError):
    """A file is there that is not to be replaced."""


def describe_os_error(error: OSError | ValueError) -> str:
    """What the system says, with its number; a ValueError is a path with a NUL, in other words with each Python."""
    if isinstance(error, OSError):
        return f"{error.strerror or error} (os error {error.errno})"
    return "a path can't hold a NUL"
