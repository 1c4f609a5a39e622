"""Lazy frames of polars over files and tables: columns, conditions and limits are pushed down.

>>> import polars as pl
>>> import lancet.polars
>>> lancet.polars.scan_lancet("cities.lance").filter(pl.col("population") > 1_000_000).select("name").collect().height
2
"""

from __future__ import annotations

import json

import polars as pl
from polars.io.plugins import register_io_source

from lancet._dataset import opened
from lancet._expr import Expr, col

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from lancet._dataset import Dataset
    from lancet._file import File
    from lancet._source import Source

__all__ = ["condition", "scan_lancet"]


def scan_lancet(source: Source | File | Dataset, **open_options: Any) -> pl.LazyFrame:
    """A lazy frame over a file, or over the folder of a table. Only the columns that a query needs are read, and of them the rows
    that zone maps and filters leave.
    """
    readable = opened(source, open_options)
    # A batch without rows tells the types, as polars has them.
    schema = pl.DataFrame(readable.read(rows=range(0))).schema

    def batches(
        with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        pushed = None if predicate is None else condition(predicate, schema)
        rows = None if n_rows is None else range(0, min(n_rows, len(readable)))
        scan = readable.scan(columns=with_columns, filter=pushed, rows=rows, batch_rows=batch_size or 100_000)
        found = False
        for batch in scan:
            frame = pl.DataFrame(batch)
            # What was pushed down is true of all of these; polars says which of them it means.
            found = True
            yield frame if predicate is None else frame.filter(predicate)
        if not found:
            # polars wants a frame, though it be empty.
            names = list(schema) if with_columns is None else with_columns
            yield pl.DataFrame(schema={name: schema[name] for name in names})

    return register_io_source(batches, schema=dict(schema), is_pure=True, explain_name="lancet")


def condition(predicate: pl.Expr, schema: Any) -> Expr | None:
    """A condition that holds wherever a predicate of polars does; None where nothing can be said."""
    try:
        tree = json.loads(predicate.meta.serialize(format="json"))
    except (ValueError, TypeError, AttributeError, pl.exceptions.PolarsError):
        return None
    return _Translation(schema).weaker(tree)


_COMPARISONS = {"Eq": "=", "NotEq": "!=", "Lt": "<", "LtEq": "<=", "Gt": ">", "GtEq": ">="}
_TURNED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


class _Translation:
    """What conditions of polars are in lancet, for columns whose values both compare in the same way."""

    def __init__(self, schema: Any) -> None:
        self.schema = schema

    def weaker(self, tree: Any) -> Expr | None:
        """A condition that holds wherever this one does. Of those that must all hold, some may be left out."""
        parts = self._joined(tree, ("And", "LogicalAnd"))
        if parts is not None:
            known = [part for part in map(self.weaker, parts) if part is not None]
            if len(known) == 2:
                return known[0] & known[1]
            return known[0] if known else None
        parts = self._joined(tree, ("Or", "LogicalOr"))
        if parts is not None:
            one, other = map(self.weaker, parts)
            return None if one is None or other is None else one | other
        return self.same(tree)

    @staticmethod
    def _joined(tree: Any, ops: tuple[str, str]) -> list[Any] | None:
        binary = tree.get("BinaryExpr") if isinstance(tree, dict) else None
        return [binary["left"], binary["right"]] if binary and binary.get("op") in ops else None

    def same(self, tree: Any) -> Expr | None:
        """A condition that is the same as this one."""
        if not isinstance(tree, dict):
            return None
        if "BinaryExpr" in tree:
            return self._compared(tree["BinaryExpr"])
        if "Function" in tree:
            return self._function(tree["Function"])
        name = self._column(tree)
        return col(name) if name is not None and self.schema[name] == pl.Boolean else None

    def _compared(self, binary: Any) -> Expr | None:
        op = _COMPARISONS.get(binary["op"]) if isinstance(binary["op"], str) else None
        if op is None:
            return None
        name, value = self._column(binary["left"]), binary["right"]
        if name is None:
            name, value, op = self._column(binary["right"]), binary["left"], _TURNED[op]
        known = name is not None and self._value(value, self.schema[name])
        return col(str(name))._compare(op, known[0]) if known else None

    def _function(self, function: Any) -> Expr | None:
        inputs, kind = function.get("input", []), function.get("function")
        if kind == {"Boolean": "Not"}:
            part = self.same(inputs[0])
            return None if part is None else ~part
        name = self._column(inputs[0]) if inputs else None
        if name is None:
            return None
        if kind == {"Boolean": "IsNull"}:
            return col(name).is_null()
        if kind == {"Boolean": "IsNotNull"}:
            return col(name).is_not_null()
        if kind == {"StringExpr": "StartsWith"}:
            prefix = self._value(inputs[1], self.schema[name])
            return col(name).starts_with(prefix[0]) if prefix else None
        if kind == {"Boolean": {"IsBetween": {"closed": "Both"}}}:
            low, high = (self._value(bound, self.schema[name]) for bound in inputs[1:3])
            return col(name).between(low[0], high[0]) if low and high else None
        return None

    def _column(self, tree: Any) -> str | None:
        name = tree.get("Column") if isinstance(tree, dict) else None
        return name if isinstance(name, str) and name in self.schema else None

    @staticmethod
    def _value(tree: Any, kind: Any) -> tuple[Any] | None:
        """A literal that a column of this type is compared with as it stands."""
        literal = tree.get("Literal") if isinstance(tree, dict) else None
        if not isinstance(literal, dict):
            return None
        [(_, typed)] = literal.items()
        if not isinstance(typed, dict) or len(typed) != 1:
            return None
        [(name, value)] = typed.items()
        whole = isinstance(value, int) and not isinstance(value, bool) and "Int" in name
        if kind.is_integer() and whole:
            return (value,)
        if kind == pl.Float64 and (whole and abs(value) < 2**53 or isinstance(value, float)):
            return (value,)
        if kind == pl.String and name == "String" and isinstance(value, str):
            return (value,)
        return (value,) if kind == pl.Boolean and isinstance(value, bool) else None
