"""Rows in memory, and ways to other libraries."""

from __future__ import annotations

from lancet import _lancet

TYPE_CHECKING = False
if TYPE_CHECKING:
    import types
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any, Protocol, Union, overload

    import numpy as np
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    import torch
    from typing_extensions import Self

    class ArrowStream(Protocol):
        """Rows of any library, as a stream: data frames, tables, readers, relations."""

        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...

    class ArrowArray(Protocol):
        """Rows of any library, as one array: batches, arrays of structs."""

        def __arrow_c_array__(self, requested_schema: Any = None) -> Any: ...

    class ArrowSchema(Protocol):
        """What rows are made of, of any library."""

        def __arrow_c_schema__(self) -> Any: ...

    ArrowRows = Union[ArrowStream, ArrowArray]
    #: Rows of any library, or columns by their names: arrays of numpy, tensors, lists.
    AnyRows = Union[ArrowRows, Mapping[str, Any]]


def core_of(rows: Any) -> _lancet.Data:
    """Rows of anything that has some, in memory."""
    if isinstance(rows, _lancet.Data):
        return rows
    if isinstance(rows, dict):
        from lancet._columns import rows_of

        return rows_of(rows)
    return _lancet.Data.from_arrow(unnumbered(rows))


def unnumbered(rows: Any) -> Any:
    """The same rows; data frames of pandas without the numbers of rows that they have from a frame before.

    They would become a column `__index_level_0__`. An index that has a name, or values that are no whole numbers, is kept.
    """
    if type(rows).__module__.partition(".")[0] != "pandas" or not hasattr(rows, "columns"):
        return rows
    index = rows.index
    if index.nlevels > 1 or index.name is not None or getattr(index.dtype, "kind", "O") not in "iu":
        return rows
    return rows.reset_index(drop=True)


class Field:
    """One field of a schema."""

    __slots__ = ("metadata", "name", "nullable", "type")
    #: Its name.
    name: str
    #: Its type in Arrow, in words.
    type: str
    #: Whether rows may have no value.
    nullable: bool
    #: What is noted about it.
    metadata: dict[str, str]

    def __init__(self, name: str, type: str, nullable: bool, metadata: dict[str, str]) -> None:
        self.name, self.type, self.nullable, self.metadata = name, type, nullable, metadata

    def __repr__(self) -> str:
        return f"{self.name}: {self.type}{'' if self.nullable else ' not null'}"


class Schema:
    """The names and types of columns. Any Arrow library takes it (`pyarrow.schema(schema)`).

    >>> lancet.open("cities.lance").schema
    id: Int64
    name: Utf8
    population: Int64
    """

    __slots__ = ("_core",)
    _core: _lancet.Schema

    def __init__(self, schema: ArrowSchema | ArrowRows | _lancet.Schema) -> None:
        self._core = schema if isinstance(schema, _lancet.Schema) else _lancet.Schema.from_arrow(schema)

    @property
    def names(self) -> list[str]:
        """The names of the fields."""
        return self._core.names

    @property
    def metadata(self) -> dict[str, str]:
        """What is noted about all of it."""
        return self._core.metadata

    def field(self, key: int | str) -> Field:
        """A field by its name, or by its place."""
        names = self.names
        if isinstance(key, str):
            if key not in names:
                from lancet._errors import no_column

                raise no_column(key, "", names, names)
            key = names.index(key)
        elif not -len(names) <= key < len(names):
            raise IndexError(f"there is no field {key}: there are {len(names)}")
        key %= len(names)
        core = self._core
        return Field(names[key], core.type_of(key), core.is_nullable(key), core.metadata_of(key))

    def __getitem__(self, key: int | str) -> Field:
        return self.field(key)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Field]:
        return (self.field(index) for index in range(len(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and self._core.equals(other._core)

    def __hash__(self) -> int:
        return hash(tuple(self.names))

    def __arrow_c_schema__(self) -> Any:
        return self._core.__arrow_c_schema__()

    def __reduce__(self) -> tuple[Any, ...]:
        # A file without rows has a schema.
        return _unpickled_schema, (_pickled(self, []),)

    def __repr__(self) -> str:
        return "\n".join(map(repr, self))


class Column:
    """One column of rows in memory.

    >>> names = lancet.read_table("cities.lance")["name"]
    >>> names[0], len(names)
    ('Basel', 5)
    """

    __slots__ = ("_core",)
    _core: _lancet.Column

    def __init__(self, core: _lancet.Column) -> None:
        self._core = core

    @property
    def name(self) -> str:
        """Its name, without those of the fields around it."""
        return self._core.name

    @property
    def type(self) -> str:
        """Its type in Arrow, in words."""
        return self._core.type

    @property
    def null_count(self) -> int:
        """How many rows have no value."""
        return self._core.null_count

    def __len__(self) -> int:
        return len(self._core)

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, key: int) -> Any: ...
        @overload
        def __getitem__(self, key: slice) -> Column: ...
        @overload
        def __getitem__(self, key: str) -> Column: ...

    def __getitem__(self, key: int | slice | str) -> Any:
        """The value of a row, some rows, or a field of a struct by its name."""
        if isinstance(key, str):
            return Column(self._core.child(key))
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step != 1:
                raise ValueError("columns are cut in steps of 1")
            return Column(self._core.slice(start, max(stop - start, 0)))
        return self._core.slice(_place(key, len(self)), 1).to_pylist()[0]

    def __iter__(self) -> Iterator[Any]:
        for start in range(0, len(self), 1024):
            yield from self._core.slice(start, 1024).to_pylist()

    def to_pylist(self) -> list[Any]:
        """The values as objects of Python: structs are dicts, lists are lists, maps are lists of pairs."""
        return self._core.to_pylist()

    def to_numpy(self, copy: bool = False) -> np.ndarray[Any, Any]:
        """The values as an array of numpy; vectors have two dimensions.

        Numbers and vectors of one batch without nulls are not copied, and cannot be written to; with `copy=True` they can.
        Where a value is null, floats are NaN, times are NaT, whole numbers become floats, and all else is an object.
        """
        import numpy

        array: np.ndarray[Any, Any] = _to_numpy(numpy, self._core)
        return array.copy() if copy and not array.flags.writeable else array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        array = self.to_numpy()
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError("another type needs a copy")
            return array.astype(dtype)
        return array.copy() if copy else array

    def _tensor(self) -> _lancet.Tensor:
        tensors = self._core.tensors()
        if tensors is None or len(tensors) != 1 or self.null_count:
            raise BufferError(
                f"column `{self.name}` of type {self.type} has no numbers that lie in one piece, without nulls; "
                "take a batch of a scan, or use `to_numpy`"
            )
        return tensors[0]

    def __dlpack__(self, **options: Any) -> Any:
        return self._tensor().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def to_torch(self) -> torch.Tensor:
        """The numbers as a tensor.

        It shares their memory where they lie in one piece and were read from a file on disk: what is written to it this
        column has, too. Memory of `bytes`, of mapped files and of other libraries is copied.
        """
        import torch

        return _to_torch(torch, self)

    def to_pyarrow(self) -> pa.Array:
        """The values as an array of pyarrow, without a copy."""
        import pyarrow

        return pyarrow.array(self)

    def to_polars(self) -> pl.Series:
        """The values as a series of polars."""
        import polars

        return polars.Series(self.name, self)

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return self._core.__arrow_c_array__(requested_schema)

    def __repr__(self) -> str:
        from lancet._show import cell

        shown = ", ".join(cell(value) for value in self._core.slice(0, 8).to_pylist())
        return f"{self.name}: {self.type} [{shown}{', …' if len(self) > 8 else ''}]"


class _Rows:
    """What tables and batches have in common."""

    __slots__ = ("_core",)
    _core: _lancet.Data

    @property
    def schema(self) -> Schema:
        """Names and types of the columns."""
        return Schema(self._core.schema)

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return self._core.schema.names

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        return self._core.num_rows

    @property
    def num_columns(self) -> int:
        """How many columns there are."""
        return len(self.column_names)

    @property
    def nbytes(self) -> int:
        """Bytes of memory that the rows take."""
        return self._core.nbytes

    def __len__(self) -> int:
        return self._core.num_rows

    def _of(self, core: _lancet.Data) -> Self:
        new = type(self).__new__(type(self))
        new._core = core
        return new

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, key: str) -> Column: ...
        @overload
        def __getitem__(self, key: int) -> dict[str, Any]: ...
        @overload
        def __getitem__(self, key: slice | list[str]) -> Self: ...

    def __getitem__(self, key: str | int | slice | list[str]) -> Any:
        """A column by its name, a row by its number as a dict, some rows, or some columns."""
        if isinstance(key, str):
            return Column(self._core.named(key))
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step != 1:
                raise ValueError("rows are cut in steps of 1")
            core = self._core.slice(start, max(stop - start, 0))
            return self._of(core if isinstance(self, Table) else core.combine())
        if isinstance(key, list):
            if not all(isinstance(name, str) for name in key):
                raise TypeError("several rows are named by a slice, several columns by a list of their names")
            names = self.column_names
            unknown = [name for name in key if name not in names]
            if unknown:
                Column(self._core.named(unknown[0]))
                raise ValueError(f"`{unknown[0]}` is nested; take it by itself")
            return self._of(self._core.columns([names.index(name) for name in key]))
        return next(iter(self._dicts(self._core.slice(_place(key, len(self)), 1))))

    def __contains__(self, name: object) -> bool:
        """Whether there is a column of this name."""
        return name in self.column_names

    @staticmethod
    def _dicts(core: _lancet.Data) -> list[dict[str, Any]]:
        names = core.schema.names
        columns = [core.column(index).to_pylist() for index in range(len(names))]
        if not columns:
            return [{} for _ in range(core.num_rows)]
        return [dict(zip(names, row)) for row in zip(*columns)]

    def columns(self) -> list[Column]:
        """All columns."""
        return [Column(self._core.column(index)) for index in range(self.num_columns)]

    def to_pylist(self) -> list[dict[str, Any]]:
        """The rows as dicts."""
        return self._dicts(self._core)

    def to_pydict(self) -> dict[str, list[Any]]:
        """The columns as lists, by their names."""
        return {column.name: column.to_pylist() for column in self.columns()}

    def to_numpy(self) -> dict[str, np.ndarray[Any, Any]]:
        """The columns as arrays of numpy, by their names; see `Column.to_numpy`."""
        return {column.name: column.to_numpy() for column in self.columns()}

    def to_torch(self) -> dict[str, Any]:
        """The columns as tensors, by their names; those that are no numbers as lists of objects."""
        import torch

        return {column.name: _to_torch(torch, column, or_list=True) for column in self.columns()}

    def to_polars(self) -> pl.DataFrame:
        """The rows as a data frame of polars."""
        import polars

        return polars.DataFrame(self._core)

    def to_pandas(self) -> pd.DataFrame:
        """The rows as a data frame of pandas: by way of pyarrow if it is there, otherwise of numpy."""
        try:
            import pyarrow
        except ImportError:
            import pandas

            columns = {}
            for name, array in self.to_numpy().items():
                # pandas has columns of one dimension.
                columns[name] = array if array.ndim == 1 else list(array)
            return pandas.DataFrame(columns, index=range(len(self)) if not columns else None)
        return pyarrow.table(self._core).to_pandas()

    def __arrow_c_schema__(self) -> Any:
        return self._core.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._core.__arrow_c_stream__(requested_schema)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (type(self), _pickled(self.schema, [self]))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Rows) or type(other) is not type(self):
            return NotImplemented
        return self._core.equals(other._core)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        from lancet._show import text

        return text(self)

    def _repr_html_(self) -> str:
        from lancet._show import html

        return html(self)


class Table(_Rows):
    """Rows in memory, in one or more batches. Any Arrow library takes it, and it takes the rows of any.

    >>> table = lancet.read_table("cities.lance", columns=["name", "population"])
    >>> table.num_rows, table.column_names
    (5, ['name', 'population'])
    >>> table["population"].to_numpy().max()
    np.int64(2746984)

    Columns can be arrays of numpy, of which those with two dimensions are vectors, and lists:

    >>> lancet.Table({"id": [1, 2], "vector": [[0.5, 1.5], [2.5, 3.5]]})["vector"].type
    'FixedSizeList(2 x Float64)'

    `pyarrow.table(table)`, `polars.DataFrame(table)` and, in DuckDB, `select * from table` take it without a copy.
    """

    __slots__ = ()

    def __init__(self, rows: AnyRows | _lancet.Data) -> None:
        self._core = core_of(rows)

    def batches(self) -> list[Batch]:
        """The batches that it is made of."""
        return [Batch(self._core.batch(index)) for index in range(self._core.num_batches)]

    def combine(self) -> Batch:
        """All rows as one batch, which may be a copy."""
        return Batch(self._core.combine())

    def to_pyarrow(self) -> pa.Table:
        """The rows as a table of pyarrow, without a copy."""
        import pyarrow

        return pyarrow.table(self._core)


class Batch(_Rows):
    """Rows in memory that lie in one piece: what a take gives, and a scan one after the other.

    >>> batch = lancet.open("cities.lance").take([4, 0])
    >>> batch["name"].to_pylist()
    ['Turin', 'Basel']
    """

    __slots__ = ()

    def __init__(self, rows: AnyRows | _lancet.Data) -> None:
        core = core_of(rows)
        self._core = core if core.num_batches == 1 else core.combine()

    def to_pyarrow(self) -> pa.RecordBatch:
        """The rows as a batch of pyarrow, without a copy."""
        import pyarrow

        return pyarrow.record_batch(self._core)

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return self._core.__arrow_c_array__(requested_schema)


def _place(key: Any, length: int) -> int:
    try:
        place: int = key.__index__()
    except AttributeError:
        raise TypeError(f"rows are named by whole numbers, not by a value of type {type(key).__name__}") from None
    if not -length <= place < length:
        raise IndexError(f"row {place} is out of range: there are {length} rows")
    return place % length


def _pickled(schema: Schema, rows: list[Any]) -> bytes:
    """Rows as a Lance file, which takes fewer bytes than most."""
    import io

    from lancet._write import Writer

    file = io.BytesIO()
    with Writer(file, schema, profile="fast") as writer:
        for part in rows:
            writer.write(part)
    return file.getvalue()


def _unpickled(kind: type[_Rows], data: bytes) -> _Rows:
    from lancet._file import open

    with open(data) as file:
        table = file.read()
    return table if kind is Table else kind(table._core)  # type: ignore[call-arg]


def _unpickled_schema(data: bytes) -> Schema:
    from lancet._file import open

    with open(data) as file:
        return file.schema


def _to_numpy(numpy: types.ModuleType, core: _lancet.Column) -> Any:
    tensors = core.tensors()
    if tensors is None:
        return _objects(numpy, core)
    arrays = [numpy.asarray(tensor) for tensor in tensors]
    array = arrays[0] if len(arrays) == 1 else numpy.concatenate(arrays)
    validity = core.validity()
    return array if validity is None else with_nulls(numpy, array, numpy.asarray(validity))


def with_nulls(numpy: types.ModuleType, array: Any, valid: Any) -> Any:
    """An array with what stands for null where there is no value; it may be the same one."""
    if array.dtype.kind == "b":
        array = array.astype(object)
        array[~valid] = None
    elif array.dtype.kind in "Mm":
        # The memory of rows cannot be written to: one that can be was made here.
        array = array if array.flags.writeable else array.copy()
        array[~valid] = "NaT"
    else:
        array = array.astype(array.dtype if array.dtype.kind == "f" else "f8")
        array[~valid] = numpy.nan
    return array


def _objects(numpy: types.ModuleType, core: _lancet.Column) -> Any:
    array = numpy.empty(len(core), dtype=object)
    put_objects(numpy, core, array, 0)
    return array


def put_objects(numpy: types.ModuleType, core: _lancet.Column, array: Any, at: int) -> None:
    """Puts values that are no numbers into an array of objects, from a place on."""
    lists = core.lists()
    if lists is None:
        core.put_objects(array, at)
        return
    for index, part in enumerate(lists, at):
        array[index] = None if part is None else _to_numpy(numpy, part)


def _to_torch(torch: types.ModuleType, column: Column, or_list: bool = False) -> Any:
    tensors = column._core.tensors()
    kind = tensors[0].__array_interface__["typestr"][1] if tensors else "O"
    if tensors is None or column.null_count or kind in "MmO":
        if or_list:
            return column.to_pylist()
        why = "nulls" if column.null_count else f"values of type {column.type}"
        raise TypeError(f"column `{column.name}` has {why}, which tensors cannot hold")
    parts = [torch.from_dlpack(tensor) for tensor in tensors]
    return parts[0] if len(parts) == 1 else torch.cat(parts)
