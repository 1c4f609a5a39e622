"""What files and tables have in common: reads of some rows of some columns."""

from __future__ import annotations

from lancet._data import Batch, Schema, Table
from lancet._expr import tree_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any, Union, overload

    import numpy as np
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from typing_extensions import Self

    from lancet import _lancet
    from lancet._data import ArrowArray
    from lancet._expr import FilterLike

    #: Rows to take: numbers in any order, as often as wanted.
    RowNumbers = Union[Sequence[int], "np.ndarray[Any, Any]", ArrowArray]
    #: Rows to read: a range, or several.
    RowRanges = Union[range, slice, Sequence[range]]


def pairs(rows: RowRanges | None, num_rows: int) -> list[tuple[int, int]] | None:
    """Ranges of rows as pairs of start and end."""
    if rows is None:
        return None
    if isinstance(rows, slice):
        if any(bound is not None and bound < 0 for bound in (rows.start, rows.stop)):
            raise IndexError("negative rows count from the end only in brackets: file[-10:]")
        if rows.step not in (None, 1):
            raise ValueError("rows are read in steps of 1; take others by their numbers")
        start, stop, _ = rows.indices(num_rows)
        return [(start, max(start, stop))]
    parts: list[Any] = [rows] if isinstance(rows, range) or not hasattr(rows, "__iter__") else list(rows)
    for part in parts:
        if not isinstance(part, range):
            raise TypeError(
                f"`rows` is a range, a slice or a list of ranges, not a value of type {type(part).__name__}; "
                "`take` reads rows by their numbers"
            )
        if part.step != 1:
            raise ValueError("rows are read in steps of 1; take others by their numbers")
        if len(part) and not 0 <= part.start <= part.stop <= num_rows:
            raise IndexError(f"rows {part.start} to {part.stop} are out of range: there are {num_rows} rows")
    return [(part.start, part.stop) for part in parts if len(part)]


def not_negative(options: Mapping[str, Any], *names: str) -> None:
    """Fails where one of these is no whole number, less than nothing, or more than there can be."""
    for name in names:
        value = options.get(name)
        if value is None:
            continue
        if not hasattr(value, "__index__"):
            raise TypeError(f"`{name}` is a whole number, not {value!r} of type {type(value).__name__}")
        if value < 0:
            raise ValueError(f"`{name}` cannot be negative: {value}")
        if value >= 2**63:
            raise ValueError(f"`{name}` is less than 2**63, and not {value}")


def names_of(columns: Any) -> list[str]:
    """The names of columns: one, or several."""
    if isinstance(columns, str):
        return [columns]
    if isinstance(columns, (bytes, bytearray)) or getattr(columns, "__iter__", None) is None:
        raise TypeError(f"columns are a name or a list of names, not a value of type {type(columns).__name__}")
    names: list[str] = list(columns)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"columns are named by texts, not by {name!r} of type {type(name).__name__}")
    return names


class Scan:
    """Rows that are read batch by batch, as often as they are iterated over.

    >>> scan = lancet.open("cities.lance").scan(columns=["name"], batch_rows=2)
    >>> [batch["name"].to_pylist() for batch in scan]
    [['Basel', 'Lyon'], ['Milan', 'Rome'], ['Turin']]

    Any Arrow library takes it as a stream: `pyarrow.RecordBatchReader.from_stream(scan)`.
    """

    __slots__ = ("_core", "_options", "_projection")
    _core: Any
    _projection: Any
    _options: dict[str, Any]

    def __init__(self, core: Any, projection: Any, options: dict[str, Any]) -> None:
        self._core, self._projection, self._options = core, projection, options

    @property
    def schema(self) -> Schema:
        """Names and types of the columns."""
        return Schema(self._start().schema if self._options["describe_blobs"] else self._projection.schema)

    def _start(self) -> _lancet.Batches:
        options = dict(self._options)
        extra = {"fragments": options.pop("fragments")} if "fragments" in options else {}
        batches: _lancet.Batches = self._core.scan(self._projection, options, **extra)
        return batches

    def __iter__(self) -> Iterator[Batch]:
        return map(Batch, self._start())

    def to_table(self) -> Table:
        """All rows."""
        return Table(self._start().rest())

    def count(self) -> int:
        """How many rows there are."""
        return self._start().count()

    def to_pyarrow(self) -> pa.RecordBatchReader:
        """A reader of pyarrow, which has not begun."""
        import pyarrow

        return pyarrow.RecordBatchReader.from_stream(self._start())

    def to_polars(self) -> pl.DataFrame:
        """All rows as a data frame of polars."""
        return self.to_table().to_polars()

    def to_pandas(self) -> pd.DataFrame:
        """All rows as a data frame of pandas."""
        return self.to_table().to_pandas()

    def __arrow_c_schema__(self) -> Any:
        return self.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._start().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        given = {name: value for name, value in self._options.items() if value not in (None, False)}
        return f"Scan({', '.join(self.schema.names)}{''.join(f'; {name}={value}' for name, value in given.items())})"


class Readable:
    """Rows that are read when they are asked for."""

    __slots__ = ("_names", "_opened", "_projected")
    _opened: Any
    #: The columns of this view; None for all.
    _names: tuple[str, ...] | None
    _projected: Any

    @property
    def _core(self) -> Any:
        if self._opened is None:
            raise ValueError("it is closed")
        return self._opened

    def _view(self, names: tuple[str, ...] | None) -> Self:
        """The same rows with other columns."""
        raise NotImplementedError

    def _project(self, columns: Sequence[str] | str | None) -> Any:
        if columns is None:
            return self._projected
        names = names_of(columns)
        if self._names is not None:
            for name in names:
                if not any(name == known or name.startswith(known + ".") for known in self._names):
                    from lancet._errors import no_column

                    known = list(self._names)
                    raise no_column(name, " in this view", known, known)
        return self._core.project(names)

    @property
    def schema(self) -> Schema:
        """Names and types of the columns."""
        return Schema(self._projected.schema)

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        names: list[str] = self._projected.schema.names
        return names

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        rows: int = self._core.num_rows
        return rows

    def __len__(self) -> int:
        return self.num_rows

    def select(self, columns: Sequence[str] | str) -> Self:
        """The same rows with only these columns. Nested fields are named with dots.

        >>> lancet.open("cities.lance").select(["name"]).take([1]).to_pylist()
        [{'name': 'Lyon'}]
        """
        names = tuple(names_of(columns))
        self._project(names)
        return self._view(names)

    def take(self, rows: RowNumbers, *, columns: Sequence[str] | None = None) -> Batch:
        """Rows by their numbers, in the order asked for, as often as asked for.

        >>> lancet.open("cities.lance").take([4, 0, 4], columns=["name"])["name"].to_pylist()
        ['Turin', 'Basel', 'Turin']
        """
        projection = self._projected if columns is None else self._project(columns)
        return Batch(self._core.take(rows, projection))

    def _scan(self, columns: Sequence[str] | None, options: dict[str, Any]) -> Scan:
        not_negative(options, "limit", "batch_rows", "batch_bytes", "threads")
        condition = options["filter"]
        options["filter"] = None if condition is None else tree_of(condition)
        options["rows"] = pairs(options["rows"], self.num_rows)
        return Scan(self._core, self._project(columns), options)

    def read(
        self,
        *,
        columns: Sequence[str] | None = None,
        rows: RowRanges | None = None,
        filter: FilterLike | None = None,
        limit: int | None = None,
    ) -> Table:
        """Rows as a table: all, a range, those that match a condition, the first ones.

        >>> lancet.open("cities.lance").read(filter=lancet.col("id") >= 40, columns=["name"])["name"].to_pylist()
        ['Rome', 'Turin']
        """
        return self.scan(columns=columns, rows=rows, filter=filter, limit=limit).to_table()

    def scan(
        self,
        *,
        columns: Sequence[str] | None = None,
        rows: RowRanges | None = None,
        filter: FilterLike | None = None,
        limit: int | None = None,
        batch_rows: int | None = None,
        batch_bytes: int | None = None,
        threads: int | None = None,
        describe_blobs: bool = False,
    ) -> Scan:
        """Rows batch by batch: of at most `batch_rows` rows (8,192) and about `batch_bytes` bytes (8 MiB).

        A filter gives exactly the rows that match. Zone maps leave out what cannot match, then the columns of the filter are
        read, and of the others only the rows that are left. With `describe_blobs`, blobs are told by position and size.
        """
        options = {
            "rows": rows,
            "filter": filter,
            "limit": limit,
            "batch_rows": batch_rows,
            "batch_bytes": batch_bytes,
            "threads": threads,
            "describe_blobs": describe_blobs,
        }
        return self._scan(columns, options)

    def count(self, filter: FilterLike | None = None) -> int:
        """How many rows there are, or match a condition.

        >>> lancet.open("cities.lance").count([("name", "in", ["Rome", "Paris"])])
        1
        """
        if filter is None:
            return self.num_rows
        options: dict[str, Any] = {"rows": None, "filter": tree_of(filter), "limit": None, "batch_rows": None}
        options.update(batch_bytes=None, threads=None, describe_blobs=False)
        count: int = self._core.scan(self._core.project([]), options).count()
        return count

    def prune(self, filter: FilterLike) -> list[range]:
        """The rows outside of which none matches, by the zone maps; those inside may match or not.

        >>> lancet.open("numbers.lance").prune(lancet.col("n") == 10_000)
        [range(8192, 16384)]
        """
        return [range(start, stop) for start, stop in self._core.prune(tree_of(filter))]

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, key: int) -> dict[str, Any]: ...
        @overload
        def __getitem__(self, key: slice) -> Table: ...
        @overload
        def __getitem__(self, key: str | list[str]) -> Self: ...
        @overload
        def __getitem__(self, key: list[int] | np.ndarray[Any, Any] | range) -> Batch: ...

    def __getitem__(self, key: Any) -> Any:
        """A row as a dict, some rows, or a view of some columns. Negative numbers count from the end.

        >>> file = lancet.open("cities.lance")
        >>> file[-1]["name"], len(file[1:3]), file[["name"]].column_names
        ('Turin', 2, ['name'])
        """
        if isinstance(key, str):
            return self.select([key])
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step != 1:
                return Table(self._core.take(range(start, stop, step), self._projected))
            return self.read(rows=range(start, max(start, stop)))
        if isinstance(key, (list, tuple)) and any(isinstance(name, str) for name in key):
            return self.select(key)
        if hasattr(key, "__index__") and getattr(key, "ndim", 0) == 0:
            row = key.__index__()
            if not -len(self) <= row < len(self):
                raise IndexError(f"row {row} is out of range: there are {len(self)} rows")
            return self.take([row % len(self)]).to_pylist()[0]
        return self.take(_from_end(key, len(self)))

    def __contains__(self, name: object) -> bool:
        """Whether there is a column of this name."""
        return name in self.column_names

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The rows as dicts."""
        for batch in self.scan(batch_rows=1024):
            yield from batch.to_pylist()

    def head(self, rows: int = 5) -> Table:
        """The first rows."""
        return self.read(rows=range(0, min(rows, len(self))))

    def to_pyarrow(self) -> pa.Table:
        """All rows as a table of pyarrow."""
        return self.read().to_pyarrow()

    def to_polars(self) -> pl.DataFrame:
        """All rows as a data frame of polars; `lancet.scan_polars` reads only what a query needs."""
        return self.read().to_polars()

    def to_pandas(self) -> pd.DataFrame:
        """All rows as a data frame of pandas."""
        return self.read().to_pandas()

    def to_numpy(self) -> dict[str, np.ndarray[Any, Any]]:
        """All columns as arrays of numpy, by their names; see `Column.to_numpy`."""
        from lancet._gather import BATCH_ROWS, gathered

        rows = self.num_rows
        found = gathered(self.scan(batch_rows=BATCH_ROWS), rows)
        return self.read().to_numpy() if found is None else found

    def to_hf(self) -> Any:
        """All rows as a `datasets.Dataset` of Hugging Face; `lancet.huggingface.iterable` reads them as they come."""
        from lancet.huggingface import dataset

        return dataset(self)

    def __arrow_c_schema__(self) -> Any:
        return self.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.scan().__arrow_c_stream__(requested_schema)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of it. Rows that were read stay."""
        self._opened = None

    def _title(self) -> str:
        """What it is, in a few words."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        from lancet._show import ROWS, html

        return html(self.head(ROWS), self._title(), len(self))


def _from_end(key: Any, rows: int) -> Any:
    """Numbers of rows, of which negative ones count from the end, as `take` has them."""
    if hasattr(key, "__array_interface__"):
        return key + (key < 0) * rows if key.dtype.kind == "i" else key
    for method in ("tolist", "to_list", "to_pylist"):
        if hasattr(key, method):
            key = getattr(key, method)()
            break
    if not hasattr(key, "__len__") or None in key:
        return key
    # What is no number is told by `take`.
    return [row + rows if hasattr(row, "__index__") and row < 0 else row for row in key]
