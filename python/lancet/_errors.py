"""What goes wrong, as exceptions that Python users know."""

from __future__ import annotations


class Error(Exception):
    """What all exceptions of this package have in common.

    A file that is not there is a plain `FileNotFoundError`, a row that is not there an `IndexError`, an argument that makes
    no sense a `ValueError` or a `TypeError`.
    """


class CorruptFileError(Error, OSError):
    """The file breaks a rule of the format: it is damaged, or not what it claims to be.

    >>> try:
    ...     lancet.open(b"PAR1 is something else")
    ... except lancet.CorruptFileError as error:
    ...     print(error.rule is not None)
    True
    """

    #: The name of the column, from the top-level field down, joined with dots.
    column: str | None
    #: The number of the column in the file.
    column_index: int | None
    #: The number of the page in the column.
    page: int | None
    #: The number of the buffer in the page.
    buffer: int | None
    #: The byte, in the innermost part that is known: the buffer, otherwise the file.
    offset: int | None
    #: The rule that does not hold.
    rule: str | None
    #: The file, where it is one of several.
    file: str | None

    def __init__(
        self,
        message: str,
        *,
        column: str | None = None,
        column_index: int | None = None,
        page: int | None = None,
        buffer: int | None = None,
        offset: int | None = None,
        rule: str | None = None,
        file: str | None = None,
    ) -> None:
        super().__init__(message)
        self.column = column
        self.column_index = column_index
        self.page = page
        self.buffer = buffer
        self.offset = offset
        self.rule = rule
        self.file = file

    def __str__(self) -> str:
        return str(self.args[0])


class UnsupportedError(Error, NotImplementedError):
    """The file or the data uses something that lancet does not handle."""


class LimitError(Error, MemoryError):
    """Going on would exceed a limit, as a rule `memory_limit`."""

    #: The option that sets the limit.
    option: str | None
    #: What would be needed.
    needed: int | None
    #: What is allowed.
    limit: int | None

    def __init__(
        self,
        message: str,
        *,
        option: str | None = None,
        needed: int | None = None,
        limit: int | None = None,
    ) -> None:
        super().__init__(message)
        self.option = option
        self.needed = needed
        self.limit = limit


class UnknownColumnError(Error, KeyError):
    """There is no such column; the message names those that come near.

    >>> lancet.open("cities.lance").take([0], columns=["nam"])
    Traceback (most recent call last):
    ...
    lancet.UnknownColumnError: there is no field `nam`; did you mean `name`?
    """

    def __str__(self) -> str:
        # A KeyError shows its argument as code.
        return str(self.args[0])


for _class in (Error, CorruptFileError, UnsupportedError, LimitError, UnknownColumnError):
    # As people import them.
    _class.__module__ = "lancet"
