"""What is known of files: plain values with names."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Record:
    """A few values with names."""

    __slots__: tuple[str, ...] = ()

    def __init__(self, fields: dict[str, Any]) -> None:
        for name in self.__slots__:
            setattr(self, name, fields[name])

    def to_dict(self) -> dict[str, Any]:
        """The values as dicts and lists, which can be stored as JSON."""
        return {name: _plain(getattr(self, name)) for name in self.__slots__}

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Record) and other.to_dict() == self.to_dict()

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={_short(getattr(self, name))}" for name in self.__slots__)
        return f"{type(self).__name__}({fields})"


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return value.to_dict()
    return [_plain(part) for part in value] if isinstance(value, list) else value


def _short(value: Any) -> str:
    return f"<{len(value)}>" if isinstance(value, list) and value and isinstance(value[0], Record) else repr(value)


class BufferReport(Record):
    """One buffer of a page."""

    __slots__ = ("bytes", "holds", "position")
    #: What it holds: chunks, values, levels, a dictionary, a zone map.
    holds: str
    #: Where it starts in the file.
    position: int
    #: Its size.
    bytes: int


class PageReport(Record):
    """One page of a column."""

    __slots__ = ("buffers", "bytes", "encoding", "layout", "num_rows")
    #: Rows of the page.
    num_rows: int
    #: The layout: mini-block, full-zip, constant, blob; in format 2.0 array, list, struct.
    layout: str
    #: The encoding in words, outermost first.
    encoding: str
    #: Bytes of all buffers.
    bytes: int
    #: The buffers, in the order of the file.
    buffers: list[BufferReport]

    def __init__(self, fields: dict[str, Any]) -> None:
        super().__init__({**fields, "buffers": [BufferReport(buffer) for buffer in fields["buffers"]]})


class ColumnReport(Record):
    """One column of a file: the values of one leaf of the schema."""

    __slots__ = ("bytes", "index", "name", "pages", "type", "zone_map_bytes")
    #: Its number.
    index: int
    #: Names from the top-level field down, joined with dots.
    name: str
    #: The type, in words.
    type: str
    #: Bytes of all pages.
    bytes: int
    #: Bytes of the zone map; None if it has none.
    zone_map_bytes: int | None
    #: The pages, in the order of the rows.
    pages: list[PageReport]

    def __init__(self, fields: dict[str, Any]) -> None:
        super().__init__({**fields, "pages": [PageReport(page) for page in fields["pages"]]})


class FileReport(Record):
    """What a file is made of; `File.inspect` makes one."""

    __slots__ = ("columns", "data_bytes", "file_bytes", "global_buffers", "metadata_bytes", "num_rows", "version")
    #: The format version.
    version: str
    #: The size of the file.
    file_bytes: int
    #: Rows of the file.
    num_rows: int
    #: Bytes of the pages of all columns.
    data_bytes: int
    #: Bytes of the schema, the column metadata, the tables and the footer.
    metadata_bytes: int
    #: Sizes of the global buffers; number 0 is the schema.
    global_buffers: list[int]
    #: One entry for each column of the file.
    columns: list[ColumnReport]

    def __init__(self, fields: dict[str, Any]) -> None:
        super().__init__({**fields, "columns": [ColumnReport(column) for column in fields["columns"]]})


class Problem(Record):
    """A rule that a file breaks, and where."""

    __slots__ = ("buffer", "column", "column_index", "offset", "page", "rule")
    #: The name of the column.
    column: str | None
    #: The number of the column.
    column_index: int | None
    #: The number of the page.
    page: int | None
    #: The number of the buffer.
    buffer: int | None
    #: The byte.
    offset: int | None
    #: The rule.
    rule: str


class Verification(Record):
    """What `File.verify` found. It is true if the file is sound."""

    __slots__ = ("has_checksums", "num_checksums", "num_pages", "num_zone_maps", "problems", "unread")
    #: What is wrong; empty if the file is sound.
    problems: list[Problem]
    #: What could not be checked, because lancet does not read it.
    unread: list[str]
    #: Pages that were checked.
    num_pages: int
    #: Whether the file has checksums.
    has_checksums: bool
    #: Buffers whose checksum was compared.
    num_checksums: int
    #: Zone maps that were checked.
    num_zone_maps: int

    def __init__(self, fields: dict[str, Any]) -> None:
        super().__init__({**fields, "problems": [Problem(problem) for problem in fields["problems"]]})

    def __bool__(self) -> bool:
        return not self.problems


class DataFileReport(Record):
    """One data file of a table."""

    __slots__ = ("bytes", "name", "num_columns", "side_bytes", "unused_bytes", "version")
    #: Its name.
    name: str
    #: Its format version.
    version: str
    #: Its size.
    bytes: int
    #: Its columns that hold fields of this version of the table.
    num_columns: int
    #: Bytes of pages that no field of this version of the table needs.
    unused_bytes: int
    #: Bytes of the files beside it that hold its blobs.
    side_bytes: int


class FragmentReport(Record):
    """One fragment of a table, and its files."""

    __slots__ = ("deletion_bytes", "files", "id", "num_deleted_rows", "num_physical_rows")
    #: Its number in the table.
    id: int
    #: Its rows, deleted ones included.
    num_physical_rows: int
    #: Its deleted rows.
    num_deleted_rows: int
    #: Bytes of its deletion file.
    deletion_bytes: int
    #: Its data files.
    files: list[DataFileReport]

    def __init__(self, fields: dict[str, Any]) -> None:
        super().__init__({**fields, "files": [DataFileReport(file) for file in fields["files"]]})


class TableColumnReport(Record):
    """One column of a table, over all files that have it."""

    __slots__ = ("bytes", "encodings", "name", "num_files", "num_pages", "num_rows", "type", "zone_map_bytes")
    #: Names from the top-level field down, joined with dots; of all columns that are not used together `(unused)`.
    name: str
    #: The type, in words; None if no file has it.
    type: str | None
    #: Files that have it. In the rows of others it is null.
    num_files: int
    #: Its pages.
    num_pages: int
    #: The rows of its pages, deleted ones included.
    num_rows: int
    #: Bytes of all pages.
    bytes: int
    #: Bytes of its zone maps.
    zone_map_bytes: int
    #: Layouts and encodings in words, and how many pages have each; the most frequent first.
    encodings: list[tuple[str, int]]


class TableReport(Record):
    """What a version of a table is made of; `Dataset.inspect` makes one."""

    __slots__ = ("columns", "data_bytes", "deletion_bytes", "file_bytes", "fragments", "num_deleted_rows", "num_rows", "side_bytes", "zone_map_bytes")
    #: Rows without deleted ones.
    num_rows: int
    #: Deleted rows that still lie in the files.
    num_deleted_rows: int
    #: Bytes of all data files.
    file_bytes: int
    #: Of these, bytes of the pages of all columns.
    data_bytes: int
    #: Of these, bytes of zone maps.
    zone_map_bytes: int
    #: Bytes of the files beside the data files that hold their blobs.
    side_bytes: int
    #: Bytes of all deletion files.
    deletion_bytes: int
    #: The fragments, in the order of their rows.
    fragments: list[FragmentReport]
    #: The columns in the order of the schema, then those that are no fields of it.
    columns: list[TableColumnReport]

    def __init__(self, fields: dict[str, Any]) -> None:
        fragments = [FragmentReport(fragment) for fragment in fields["fragments"]]
        columns = [TableColumnReport(column) for column in fields["columns"]]
        super().__init__({**fields, "fragments": fragments, "columns": columns})


class Statistics(Record):
    """What the zone map of a column says about all of it."""

    __slots__ = ("counts_exact", "exact", "max", "min", "nan_count", "null_count", "num_rows")
    #: Rows of the column.
    num_rows: int
    #: Rows that are null.
    null_count: int
    #: Rows that are NaN; None if the map does not say.
    nan_count: int | None
    #: Whether so many are null and NaN. Otherwise some of those that were counted may be deleted rows of a table.
    counts_exact: bool
    #: The least value, NaN left out; None if it is unknown, or all rows are null.
    min: Any
    #: The greatest value; None if it is unknown, all rows are null, or one is NaN.
    max: Any
    #: Whether both bounds are values of the column. Otherwise they may lie further out, as where nanoseconds were rounded.
    exact: bool


class PageSummary(Record):
    """A page that was written."""

    __slots__ = ("bytes", "encoding", "layout", "num_rows", "reason")
    #: The layout.
    layout: str
    #: The encoding in words.
    encoding: str
    #: Bytes of its buffers.
    bytes: int
    #: Its rows.
    num_rows: int
    #: Why it has this form.
    reason: str


class ColumnSummary(Record):
    """A column that was written."""

    __slots__ = ("name", "pages", "zone_map_bytes")
    #: Names from the top down, with dots between.
    name: str
    #: Bytes of its zone map; 0 if it has none.
    zone_map_bytes: int
    #: Its pages.
    pages: list[PageSummary]

    def __init__(self, fields: dict[str, Any]) -> None:
        super().__init__({**fields, "pages": [PageSummary(page) for page in fields["pages"]]})


class WriteSummary(Record):
    """What was written."""

    __slots__ = ("columns", "file_bytes", "num_pages", "num_rows")
    #: Rows of the file.
    num_rows: int
    #: Size of the file.
    file_bytes: int
    #: Pages of all columns.
    num_pages: int
    #: Each column, in the order of the file.
    columns: list[ColumnSummary]

    def __init__(self, fields: dict[str, Any]) -> None:
        super().__init__({**fields, "columns": [ColumnSummary(column) for column in fields["columns"]]})
