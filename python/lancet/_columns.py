"""Rows out of columns that are arrays of numpy, tensors, or lists."""

from __future__ import annotations

from lancet import _lancet
from lancet._expr import literal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def rows_of(columns: Mapping[str, Any], schema: _lancet.Schema | None = None) -> _lancet.Data:
    """One batch with these columns. Lists become what a schema says of columns with their names."""
    for name in columns:
        if not isinstance(name, str):
            raise TypeError(f"columns are named by texts, not by {name!r} of type {type(name).__name__}")
    typed = () if schema is None else schema.names
    made = [(name, *_column(name, values, name in typed)) for name, values in columns.items()]
    return _lancet.Data.from_columns(made, schema)


#: What values for many rows have one of.
_OF_COLUMNS = ("__iter__", "__arrow_c_array__", "__array_interface__", "to_numpy", "detach")


def is_column(value: Any) -> bool:
    """Whether it has values for many rows."""
    if isinstance(value, (list, tuple, range)) or hasattr(value, "__arrow_c_array__") or hasattr(value, "__arrow_c_stream__"):
        return True
    return hasattr(value, "combine_chunks") or getattr(value, "ndim", 0) > 0


def stored(value: Any) -> Any:
    """A value as the extension module takes it; what stands for a missing one is None."""
    if type(value).__name__ in ("NaTType", "NAType") or str(value) == "NaT":
        return None
    return literal(value)


def _column(name: str, values: Any, typed: bool = False) -> tuple[str, Any]:
    """What the values are, and the values as the extension module takes them."""
    if isinstance(values, (str, bytes, dict)) or not any(hasattr(values, name) for name in _OF_COLUMNS):
        raise TypeError(
            f"column `{name}` is a single value of type {type(values).__name__}; give a list with one value for each row"
        )
    if typed and isinstance(values, (list, tuple, range)):
        return "typed", list(values)
    if hasattr(values, "__arrow_c_array__"):
        return "arrow", values
    if hasattr(values, "combine_chunks"):
        return "arrow", values.combine_chunks()
    if type(values).__module__.startswith("polars") and hasattr(values, "to_frame"):
        # A series: as an array of numpy, whole numbers with nulls would become others.
        return "arrow", _lancet.Data.from_arrow(values.to_frame()).combine().column(0)
    if hasattr(values, "mask") and hasattr(values, "filled"):
        raise TypeError(f"column `{name}` is a masked array; give a list with None, or an Arrow array")
    if hasattr(values, "detach") and hasattr(values, "numpy"):
        values = values.detach().cpu().numpy()
    if hasattr(values, "isna") and hasattr(values, "to_numpy"):
        # A series of pandas, which says by itself where it has none. Whole numbers would become floats otherwise.
        import numpy

        missing, has_own_type = numpy.asarray(values.isna()), not hasattr(values.dtype, "newbyteorder")
        values = numpy.asarray(values.astype(object) if has_own_type and missing.any() else values)
        if values.dtype.kind not in "biufMm":
            listed = [None if none else value for none, value in zip(missing, values.tolist())]
            return ("typed", listed) if typed else _listed(name, listed)
    if not hasattr(values, "__array_interface__") and hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if hasattr(values, "__array_interface__"):
        if values.ndim == 0:
            raise ValueError(f"column `{name}` is one value; give one for each row")
        if values.dtype.kind in "biufMm":
            return "numbers", _plain(values)
        values = values.tolist()
    values = list(values)
    return ("typed", values) if typed else _listed(name, values)


def _plain(values: Any) -> Any:
    """An array that lies in one piece, with the bytes in the order of this machine."""
    import numpy

    kind = values.dtype.newbyteorder("=")
    if values.dtype.kind in "Mm":
        unit, _ = numpy.datetime_data(kind)
        if unit in ("ps", "fs", "as"):
            raise TypeError(f"columns have no times in units of {unit}; convert them to nanoseconds")
        # Minutes and days are seconds, and so are times that have no unit, which are none.
        kind = numpy.dtype(f"{values.dtype.kind}8[{unit if unit in ('s', 'ms', 'us', 'ns') else 's'}]")
    return numpy.ascontiguousarray(values, dtype=kind)


def _listed(name: str, values: list[Any]) -> tuple[str, Any]:
    first: Any = next((value for value in values if value is not None), None)
    if first is None:
        raise TypeError(f"column `{name}` has no value that would tell its type; give an array of numpy or pyarrow")
    if hasattr(first, "dtype") and getattr(first, "ndim", None) == 0:
        return _scalars(name, values, first.dtype.kind)
    if isinstance(first, bool) or type(first).__name__ in ("bool_", "bool"):
        return "bool", values
    if isinstance(first, (int, float)):
        whole = all(value is None or isinstance(value, int) for value in values)
        return ("int", values) if whole else ("float", values)
    if isinstance(first, str):
        return "str", values
    if isinstance(first, (bytes, bytearray)):
        return "bytes", [None if value is None else bytes(value) for value in values]
    if isinstance(first, (list, tuple)) or hasattr(first, "__array_interface__"):
        import numpy

        try:
            array = numpy.asarray(values)
        except ValueError:
            array = numpy.empty(0)  # of different lengths
        if array.dtype.kind in "biufMm" and array.ndim > 1:
            return "numbers", _plain(array)
    raise _no_column(name)


def _scalars(name: str, values: list[Any], kind: str) -> tuple[str, Any]:
    """A list of scalars of numpy; where none is missing, the column is of their type."""
    import numpy

    if kind in "Mm":
        none = numpy.datetime64("NaT") if kind == "M" else numpy.timedelta64("NaT")
        values = [none if value is None else value for value in values]
    if None not in values:
        array = numpy.asarray(values)
        if array.dtype.kind not in "biufMmSU" or array.ndim != 1:
            raise _no_column(name)
        if array.dtype.kind in "biufMm":
            return "numbers", _plain(array)
    return _listed(name, [value.item() if hasattr(value, "item") else value for value in values])


def _no_column(name: str) -> TypeError:
    return TypeError(
        f"column `{name}` is no list of numbers, texts, bytes, or vectors of the same length; "
        "give an array of numpy or pyarrow, or a data frame"
    )
