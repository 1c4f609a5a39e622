"""Files."""

from __future__ import annotations

import io

from lancet._data import Table
from lancet._expr import tree_of
from lancet._readable import Readable, names_of, not_negative
from lancet._reports import FileReport, Statistics, Verification
from lancet._source import PathSource, StoreSource, source_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from lancet import _lancet
    from lancet._expr import FilterLike
    from lancet._readable import RowRanges
    from lancet._source import Source


def open(
    source: Source,
    *,
    storage_options: Mapping[str, str] | None = None,
    memory_limit: int | None = None,
    verify_checksums: bool = False,
    memory_map: bool = False,
    zone_maps: bool = True,
    threads: int | None = None,
) -> File:
    """Opens a Lance file: a path, a URL, bytes, an object with `seek` and `read`, or a store of obstore and a path in it.

    >>> with lancet.open("cities.lance") as file:
    ...     print(file.num_rows, file.version)
    5 2.2

    One read holds at most `memory_limit` bytes (4 GiB). With `verify_checksums`, all that is read is compared with the
    checksums of the file. `memory_map` is for files that nobody changes meanwhile. Without `zone_maps`, filters look at every
    row: for files of strangers, whose maps may lie. `threads` is how many may work on a read, 1 for this one only; by default
    one for each core. What objects and stores read is decoded by one.

    `lancet.open((store, path))` reads from any object with `head` and `get_ranges` as obstore's stores have them.
    URLs (`s3://`, `gs://`, `az://`, `https://`) need `pip install 'lancet-io[cloud]'`; `storage_options` are keys, regions
    and endpoints, for `http://` and `https://` options of the client such as `timeout` and `allow_http`. After a fork they
    cannot be read: start workers by "spawn" or "forkserver".
    """
    options = {
        "memory_limit": memory_limit,
        "verify_checksums": verify_checksums,
        "memory_map": memory_map,
        "zone_maps": zone_maps,
        "threads": threads,
    }
    not_negative(options, "memory_limit", "threads")
    return File._open(source_of(source, storage_options), options, None)


def read_table(
    source: Source,
    *,
    columns: Sequence[str] | None = None,
    rows: RowRanges | None = None,
    filter: FilterLike | None = None,
    limit: int | None = None,
    **open_options: Any,
) -> Table:
    """Reads a file, or some of it, into memory.

    >>> lancet.read_table("cities.lance", columns=["name"], rows=range(2)).to_pylist()
    [{'name': 'Basel'}, {'name': 'Lyon'}]
    """
    with open(source, **open_options) as file:
        return file.read(columns=columns, rows=rows, filter=filter, limit=limit)


class File(Readable):
    """An open Lance file; `lancet.open` makes one.

    It can be used from several threads and sent to other processes, where it is opened again; a file that has changed since
    is an error. After a fork it goes on working.

    >>> file = lancet.open("cities.lance")
    >>> file
    <File cities.lance: 5 rows, format 2.2, columns id, name, population>
    """

    __slots__ = ("_options", "_source")
    _source: Any
    _options: dict[str, Any]
    _opened: _lancet.Reader | None
    _projected: _lancet.Projection

    def __init__(self, *_: object, **__: object) -> None:
        raise TypeError("`lancet.open` opens files")

    @classmethod
    def _make(cls, core: _lancet.Reader, source: Any, options: dict[str, Any], names: tuple[str, ...] | None) -> File:
        file = cls.__new__(cls)
        file._opened, file._source, file._options, file._names = core, source, options, names
        file._projected = core.project(None if names is None else list(names))
        return file

    @classmethod
    def _open(cls, source: Any, options: dict[str, Any], names: tuple[str, ...] | None) -> File:
        return cls._make(source.open(options), source, options, names)

    def _view(self, names: tuple[str, ...] | None) -> File:
        return self._make(self._core, self._source, self._options, names)

    def _with_threads(self, threads: int) -> File:
        """The same file, opened again for so many threads."""
        if self._options.get("threads") == threads:
            return self
        return self._open(self._source, {**self._options, "threads": threads}, self._names)

    def __reduce__(self) -> tuple[Any, ...]:
        return File._open, (self._source, self._options, self._names)

    @property
    def path(self) -> str | None:
        """The path or the URL; None for a file that has none."""
        if isinstance(self._source, PathSource):
            return self._source.path
        return self._source.url if isinstance(self._source, StoreSource) else None

    @property
    def version(self) -> str:
        """The version of the format."""
        return self._core.version  # type: ignore[no-any-return]

    @property
    def metadata(self) -> dict[str, str]:
        """What is noted in the schema."""
        return self.schema.metadata

    @property
    def nbytes(self) -> int:
        """The size of the file."""
        return self._core.file_bytes  # type: ignore[no-any-return]

    def statistics(self, columns: Sequence[str] | None = None) -> dict[str, Statistics | None]:
        """The least and the greatest value of columns, and how many are null; None for a column without a zone map.

        >>> found = lancet.open("numbers.lance").statistics()["n"]
        >>> found.min, found.max, found.null_count
        (0, 99999, 0)
        """
        names = self.column_names if columns is None else names_of(columns)
        found = self._core.statistics(names)
        return {name: None if one is None else Statistics(one) for name, one in zip(names, found)}

    def blobs(self, column: str) -> Blobs:
        """The blobs of a column, to be read by ranges of bytes."""
        return Blobs(self._core.blobs(column))

    def inspect(self) -> FileReport:
        """Columns, pages, encodings, and where the bytes are.

        >>> report = lancet.open("cities.lance").inspect()
        >>> [column.name for column in report.columns]
        ['id', 'name', 'population']
        """
        return FileReport(self._core.inspect())

    def verify(self) -> Verification:
        """Checks every rule of the format and every checksum, over the whole file.

        >>> bool(lancet.open("cities.lance").verify())
        True
        """
        return Verification(self._core.verify())

    def _title(self) -> str:
        return f"{self._source!r}, format {self.version}"

    def __repr__(self) -> str:
        if self._opened is None:
            return f"<File {self._source!r}: closed>"
        names = self.column_names
        shown = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
        return f"<File {self._source!r}: {self.num_rows:,} rows, format {self.version}, columns {shown}>"


class Blobs:
    """The blobs of one column: long values that are read by ranges of bytes.

    >>> photos = lancet.open("photos.lance").blobs("photo")
    >>> with photos[0] as photo:
    ...     photo.seek(4)
    ...     photo.read(4)
    4
    b'long'
    >>> photos.read_ranges([(0, 0, 3), (2, 4, 8)])
    [b'one', b'long']
    """

    __slots__ = ("_core",)
    _core: _lancet.Blobs

    def __init__(self, core: _lancet.Blobs) -> None:
        self._core = core

    def __len__(self) -> int:
        return self._core.num_rows

    def __getitem__(self, row: int) -> Blob | None:
        """The blob of a row as a file; None if it is null."""
        row = row + len(self) if hasattr(row, "__index__") and row < 0 else row
        self._check([row])
        size = self._core.size(row)
        return None if size is None else Blob(self._core, row, size)

    def __iter__(self) -> Iterator[Blob | None]:
        return (self[row] for row in range(len(self)))

    def sizes(self, rows: Sequence[int]) -> list[int | None]:
        """The sizes in bytes of the blobs of some rows; None for those that are null."""
        self._check(rows)
        return [self._core.size(row) for row in rows]

    def read_ranges(self, ranges: Sequence[tuple[int, int, int]]) -> list[bytes]:
        """Bytes of blobs: for each row, from start to stop. They are found and read together."""
        self._check(row for row, _, _ in ranges)
        if any(start < 0 or stop < 0 for _, start, stop in ranges):
            raise ValueError("bytes of blobs are counted from the start, which is 0")
        return self._core.read_ranges(list(ranges))

    def _check(self, rows: Iterable[int]) -> None:
        for row in rows:
            if not hasattr(row, "__index__"):
                raise TypeError(f"rows are named by whole numbers, not by {row!r} of type {type(row).__name__}")
            if not 0 <= row < len(self):
                raise IndexError(f"row {row} is out of range: there are {len(self)} rows")


class Blob(io.RawIOBase):
    """One blob as a file that can be read and sought in; nothing is read before it is asked for.

    Libraries that take files take it: `PIL.Image.open(blobs[3])`.
    """

    #: The size in bytes.
    size: int

    def __init__(self, core: _lancet.Blobs, row: int, size: int) -> None:
        self._core, self._row, self.size, self._position = core, row, size, 0

    def readable(self) -> bool:
        """It can be read."""
        return True

    def seekable(self) -> bool:
        """It can be sought in."""
        return True

    def tell(self) -> int:
        """Where the next read begins."""
        return self._position

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Goes to another place: from the start, from here (1) or from the end (2)."""
        if whence not in (0, 1, 2):
            raise ValueError(f"whence is 0, 1 or 2, not {whence}")
        position = offset + (0, self._position, self.size)[whence]
        if position < 0:
            raise ValueError("there is nothing before the start")
        self._position = position
        return position

    def readinto(self, buffer: Any, /) -> int:
        """Fills a buffer, or as much of it as there are bytes."""
        view = memoryview(buffer).cast("B")
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)

    def read(self, size: int | None = -1, /) -> bytes:
        """So many bytes; all that are left by default."""
        if self.closed:
            raise ValueError("the blob is closed")
        start = min(self._position, self.size)
        stop = self.size if size is None or size < 0 else min(start + size, self.size)
        data = self._core.read(self._row, start, stop)
        self._position = max(self._position, stop)
        return data

    def readall(self) -> bytes:
        """All bytes that are left."""
        return self.read()
