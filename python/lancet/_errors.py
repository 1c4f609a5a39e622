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
    """There is no such column; the message names those that come near, and those that are there.

    >>> lancet.open("cities.lance").take([0], columns=["nam"])
    Traceback (most recent call last):
    ...
    lancet.UnknownColumnError: there is no column `nam`; did you mean `name`? There are `id`, `name`, `population`
    """

    def __str__(self) -> str:
        # A KeyError shows its argument as code.
        return str(self.args[0])


class ConflictError(Error):
    """A change of a table was not made: another writer has committed one that it does not go together with.

    With `can_retry`, it may work on the newest version: `table = table.checkout()`, and again.
    """

    #: What was to be done, in words: "append", "delete", "update or merge rows", "compact".
    operation: str | None
    #: The version that stands in the way.
    version: int | None
    #: What that one did.
    other_operation: str | None
    #: Whether it may work when it is done again on the newest version.
    can_retry: bool

    def __init__(
        self,
        message: str,
        *,
        operation: str | None = None,
        version: int | None = None,
        other_operation: str | None = None,
        can_retry: bool = False,
    ) -> None:
        super().__init__(message)
        self.operation = operation
        self.version = version
        self.other_operation = other_operation
        self.can_retry = can_retry


class UncertainCommitError(Error):
    """It is not known whether a change of a table was made; open the table again to see."""

    #: The version that is there, or not.
    version: int | None

    def __init__(self, message: str, *, version: int | None = None) -> None:
        super().__init__(message)
        self.version = version


#: So many names of columns are shown.
_SHOWN = 12


def no_column(name: str, place: str, names: list[str], top: list[str]) -> UnknownColumnError:
    """What tells that a column is not there. `names` are all there are, `top` those that are inside no other."""
    from difflib import get_close_matches

    if name in names:
        return UnknownColumnError(f"`{name}` is inside a struct, and no column by itself{place}")
    # Long names, of which few letters differ, would cost much.
    lower = {known.lower(): known for known in names[:10_000] if abs(len(known) - len(name)) <= 3 and len(known) <= 100}
    near = get_close_matches(name.lower(), lower, n=3)
    asked = f"; did you mean {' or '.join(f'`{lower[one]}`' for one in near)}? There are " if near else "; there are "
    shown = ", ".join(f"`{known}`" for known in top[:_SHOWN]) or "none"
    more = f" and {len(top) - _SHOWN} more" if len(top) > _SHOWN else ""
    return UnknownColumnError(f"there is no column `{name}`{place}{asked}{shown}{more}")


_CLASSES = (Error, CorruptFileError, UnsupportedError, LimitError, UnknownColumnError, ConflictError, UncertainCommitError)
for _class in _CLASSES:
    # As people import them.
    _class.__module__ = "lancet"
