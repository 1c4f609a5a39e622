"""New files."""

from __future__ import annotations

from lancet import _lancet
from lancet._data import Schema, Table, unnumbered
from lancet._readable import not_negative
from lancet._reports import WriteSummary
from lancet._source import check_bytes, is_url, open_store, path_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any, BinaryIO, Union

    from typing_extensions import Self

    from lancet._data import AnyRows, ArrowRows, ArrowSchema

    Target = Union[str, os.PathLike[str], BinaryIO]
    Rows = Union[AnyRows, Iterable[ArrowRows]]


def write_table(
    data: Rows,
    path: Target,
    *,
    schema: ArrowSchema | None = None,
    version: str = "2.2",
    profile: str = "balanced",
    columns: Mapping[str, Mapping[str, Any]] | None = None,
    page_bytes: int | None = None,
    memory_limit: int | None = None,
    checksums: bool = True,
    zone_maps: bool = True,
    threads: int | None = None,
    storage_options: Mapping[str, str] | None = None,
) -> WriteSummary:
    """Writes rows to a file, which appears under its name when it is complete.

    `data` is anything that has Arrow rows (a data frame of polars or pandas, a table of pyarrow, a relation of DuckDB, a
    scan), or several of them one after the other; or a dict of columns, which are arrays of numpy, tensors or lists. The index of
    a data frame of pandas is a column if it has a name, or is no whole numbers.

    >>> rows = lancet.open("cities.lance").read(filter=lancet.col("population") > 1_000_000)
    >>> lancet.write_table(rows, "large.lance").num_rows
    2

    `profile` is "fast", "balanced" or "small". `columns` has options of columns by their names, as they stand in field
    metadata after `lance-encoding:`: `{"text": {"compression": "zstd"}}`. See `Writer` for the rest.
    """
    options: dict[str, Any] = {"version": version, "profile": profile, "columns": columns, "page_bytes": page_bytes}
    options.update(memory_limit=memory_limit, checksums=checksums, zone_maps=zone_maps, threads=threads)
    options.update(storage_options=storage_options)
    parts: Iterator[Any]
    if isinstance(data, dict):
        data = Table(data)
    if _has_rows(data):
        parts = iter([data])
    elif isinstance(data, str) or not hasattr(data, "__iter__"):
        _lancet.Data.from_arrow(data)  # which says what it should be
    else:
        parts = iter(data)  # type: ignore[arg-type]
    first = unnumbered(next(parts, None))
    if first is not None and not _has_rows(first):
        first = Table(first)
    if first is None and schema is None:
        raise ValueError("there are no rows to tell the schema from; give `schema`")
    # A file has the schema of its first rows.
    if first is not None and not hasattr(first, "__arrow_c_schema__") and hasattr(first, "__arrow_c_stream__"):
        first = _Once(first)
    fields: Any = first if schema is None else schema
    with Writer(path, fields, **options) as writer:
        if first is not None:
            writer.write(first)
        for part in parts:
            writer.write(part)
        return writer.finish()


def _has_rows(data: object) -> bool:
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


class _Once:
    """Rows of which both the schema and the rows are asked for, of something that may give them only once."""

    def __init__(self, rows: Any) -> None:
        self._capsule = rows.__arrow_c_stream__()

    def __arrow_c_schema__(self) -> Any:
        return _lancet.Schema.of_stream(self._capsule).__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._capsule


class Writer:
    """A file that is written batch by batch. It appears when the block ends; after an exception nothing is left behind.

    >>> rows = lancet.read_table("cities.lance")
    >>> with lancet.Writer("twice.lance", rows.schema) as writer:
    ...     writer.write(rows)
    ...     writer.write(rows)
    >>> writer.summary.num_rows
    10

    A page is cut at `page_bytes` (8 MiB). The writer holds about `memory_limit` bytes. Without `checksums` and `zone_maps`,
    which other readers skip, damage is not noticed and filters read every row. `threads` is how many may encode, 1 for this
    one only.
    """

    __slots__ = ("_core", "_store", "summary")
    _core: _lancet.Writer
    #: What was written, once it is.
    summary: WriteSummary | None

    def __init__(
        self,
        path: Target,
        schema: ArrowSchema | ArrowRows,
        *,
        version: str = "2.2",
        profile: str = "balanced",
        columns: Mapping[str, Mapping[str, Any]] | None = None,
        page_bytes: int | None = None,
        memory_limit: int | None = None,
        checksums: bool = True,
        zone_maps: bool = True,
        threads: int | None = None,
        storage_options: Mapping[str, str] | None = None,
    ) -> None:
        options: dict[str, Any] = {"version": version, "profile": profile, "page_bytes": page_bytes}
        options["columns"] = settings(columns or {})
        options.update(memory_limit=memory_limit, checksums=checksums, zone_maps=zone_maps, threads=threads)
        not_negative(options, "page_bytes", "memory_limit", "threads")
        fields = schema if isinstance(schema, Schema) else Schema(unnumbered(schema))
        self.summary = None
        self._store: Any = None
        if is_url(path):
            import obstore

            store, inside = open_store(path, storage_options)  # type: ignore[arg-type]
            self._store = obstore.open_writer(store, inside)
            self._core = _lancet.Writer.to_object(self._store, fields._core, options)
        elif hasattr(path, "write"):
            check_bytes(path, "wb")
            self._core = _lancet.Writer.to_object(path, fields._core, options)
        else:
            self._core = _lancet.Writer.create(path_of(path), fields._core, options)

    @property
    def schema(self) -> Schema:
        """Names and types of the columns."""
        return Schema(self._core.schema)

    def write(self, rows: AnyRows) -> None:
        """Appends rows: anything that has Arrow rows of the same columns, or a dict of columns."""
        self._core.write(Table(rows) if isinstance(rows, dict) else unnumbered(rows))

    def finish(self) -> WriteSummary:
        """Writes what is left, and makes the file appear."""
        if self.summary is None:
            summary = WriteSummary(self._core.finish())
            if self._store is not None:
                self._store.close()
            self.summary = summary
        return self.summary

    def abandon(self) -> None:
        """Gives the file up; nothing is left of it."""
        self._core.abandon()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is None:
            self.finish()
        elif self.summary is None:
            self.abandon()


def settings(columns: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """Options of columns as they stand in metadata."""
    if not all(hasattr(given, "items") for given in (columns, *getattr(columns, "values", list)())):
        raise TypeError('`columns` has options of columns by their names, as in {"text": {"compression": "zstd"}}')
    return {name: {key: _word(value) for key, value in given.items()} for name, given in columns.items()}


def _word(value: Any) -> str:
    """An option as it stands in metadata."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)
