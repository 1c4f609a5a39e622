"""Columns of many batches as arrays of numpy: each value is read, and written to its place."""

from __future__ import annotations

from lancet._data import put_objects, with_nulls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from lancet import _lancet
    from lancet._data import Batch

#: Rows of a batch: enough that what each one costs by itself does not count.
BATCH_ROWS = 65_536


def gathered(batches: Iterable[Batch], rows: int) -> dict[str, Any] | None:
    """The columns of some batches with so many rows together, by their names; None where only all of them can tell what they are.

    Beside the arrays there is one batch at a time in memory, so that the memory of one serves the next: all rows at first and
    then their arrays would be twice the memory, which the system would fill with zeros first.
    """
    import numpy

    names: list[str] = []
    columns: list[_Gathered] = []
    for batch in batches:
        if len(batch) == rows:
            return batch.to_numpy()
        core = batch._core
        if not columns:
            names = batch.column_names
            columns = [_Gathered(numpy, rows) for _ in names]
        for index, column in enumerate(columns):
            if not column.add(core.column(index)):
                return None
    if not columns or any(column.at != rows for column in columns):
        return None
    return {name: column.whole() for name, column in zip(names, columns)}


class _Gathered:
    """A column, as far as it was read."""

    def __init__(self, numpy: Any, rows: int) -> None:
        self.numpy, self.rows, self.at = numpy, rows, 0
        self.array: Any = None
        self.valid: Any = None

    def add(self, core: _lancet.Column) -> bool:
        """Takes the values of a batch, unless they are of another kind than those before."""
        numpy, end = self.numpy, self.at + len(core)
        tensors = core.tensors()
        # Vectors are numbers, unless one of them has an item that is null.
        parts = None if tensors is None else [numpy.asarray(tensor) for tensor in tensors]
        dtype, shape = (numpy.dtype(object), ()) if parts is None else (parts[0].dtype, parts[0].shape[1:])
        if self.array is None:
            self.array = numpy.empty((self.rows, *shape), dtype)
        elif self.array.dtype != dtype:
            return False
        if end > self.rows:
            return False
        if parts is None:
            put_objects(numpy, core, self.array, self.at)
        else:
            start = self.at
            for part in parts:
                self.array[start : start + len(part)] = part
                start += len(part)
            validity = core.validity()
            if validity is not None:
                if self.valid is None:
                    self.valid = numpy.ones(self.rows, dtype=bool)
                self.valid[self.at : end] = validity
        self.at = end
        return True

    def whole(self) -> Any:
        """All of it."""
        return self.array if self.valid is None else with_nulls(self.numpy, self.array, self.valid)
