"""Lance columnar files and tables: read, write, take single rows, train on them.

>>> import lancet
>>> file = lancet.open("cities.lance")
>>> file.take([4, 0])["name"].to_pylist()
['Turin', 'Basel']
>>> lancet.read_table("cities.lance", filter=lancet.col("population") > 1_000_000).to_pylist()[0]["name"]
'Milan'

Rows come as `Table`s and `Batch`es, which every Arrow library takes without a copy: pyarrow, polars, DuckDB, pandas, numpy,
torch. None of them is needed.

- Files: `open`, `read_table`, `write_table`, `Writer`
- Tables: `open_table`, `create_table`
- Conditions: `col`
- Neighbours: `lancet.torch`, `lancet.polars`, `lancet.huggingface`, `lancet.ray`
"""

from __future__ import annotations

from lancet import _lancet
from lancet._changes import Change, Cleanup, Compaction
from lancet._data import Batch, Column, Field, Schema, Table
from lancet._dataset import Dataset, Fragment, Tag, Version, create_table, open_table
from lancet._errors import (
    ConflictError,
    CorruptFileError,
    Error,
    LimitError,
    UncertainCommitError,
    UnknownColumnError,
    UnsupportedError,
)
from lancet._expr import Col, Expr, col
from lancet._file import Blob, Blobs, File, open, read_table
from lancet._readable import Scan
from lancet._reports import (
    BufferReport,
    ColumnReport,
    ColumnSummary,
    DataFileReport,
    FileReport,
    FragmentReport,
    PageReport,
    PageSummary,
    Problem,
    Statistics,
    TableColumnReport,
    TableReport,
    Verification,
    WriteSummary,
)
from lancet._write import Writer, write_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import polars as pl

    from lancet._source import Source

__version__: str = _lancet.__version__

__all__ = [
    "Batch",
    "Blob",
    "Blobs",
    "BufferReport",
    "Change",
    "Cleanup",
    "Col",
    "Column",
    "ColumnReport",
    "ColumnSummary",
    "Compaction",
    "ConflictError",
    "CorruptFileError",
    "DataFileReport",
    "Dataset",
    "Error",
    "Expr",
    "Field",
    "File",
    "FileReport",
    "Fragment",
    "FragmentReport",
    "LimitError",
    "PageReport",
    "PageSummary",
    "Problem",
    "Scan",
    "Schema",
    "Statistics",
    "Table",
    "TableColumnReport",
    "TableReport",
    "Tag",
    "UncertainCommitError",
    "UnknownColumnError",
    "UnsupportedError",
    "Verification",
    "Version",
    "WriteSummary",
    "Writer",
    "col",
    "create_table",
    "open",
    "open_table",
    "read_table",
    "scan_polars",
    "write_table",
]


def scan_polars(source: Source | File | Dataset, **open_options: Any) -> pl.LazyFrame:
    """A lazy frame of polars over a file or a table: columns, conditions and limits are pushed down.

    >>> import polars as pl
    >>> lancet.scan_polars("cities.lance").filter(pl.col("id") > 30).select("name").collect()["name"].to_list()
    ['Rome', 'Turin']
    """
    from lancet.polars import scan_lancet

    return scan_lancet(source, **open_options)


def _at_exit() -> None:
    import atexit

    # What a thread that was left behind still writes.
    atexit.register(_lancet.abandon_files)


_at_exit()
del _at_exit
