"""Files as datasets of Ray Data, for those who need many machines.

    dataset = lancet.ray.read_lancet(["a.lance", "b.lance"], columns=["vector"], filter=lancet.col("id") > 3)

Conditions of the dataset itself (`dataset.filter(expr=ray.data.expressions.col("id") > 3)`) are answered where the rows are read:
zone maps leave out rows by what of them is known here, and pyarrow answers all of it for the rest, as Ray means it.
"""

from __future__ import annotations

from ray.data import Datasource, ReadTask, read_datasource
from ray.data.block import BlockMetadata

from lancet._expr import Expr, col, tree_of
from lancet._file import File
from lancet._file import open as _open

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from lancet._expr import FilterLike
    from lancet._source import Source

__all__ = ["LanceFiles", "read_lancet"]


def read_lancet(
    paths: Source | Sequence[Source],
    *,
    columns: Sequence[str] | None = None,
    filter: FilterLike | None = None,
    open_options: Mapping[str, Any] | None = None,
    **read_options: Any,
) -> Any:
    """A dataset of Ray over one or more Lance files, cut into ranges of rows of about the same bytes."""
    sources: list[Any] = list(paths) if isinstance(paths, (list, tuple)) else [paths]
    files = [_open(source, **(open_options or {})) for source in sources]
    return read_datasource(LanceFiles(files, columns, filter), **read_options)


class LanceFiles(Datasource):  # type: ignore[misc, unused-ignore]
    """Lance files as a source of Ray Data."""

    def __init__(self, files: Sequence[File], columns: Sequence[str] | None, filter: FilterLike | None) -> None:
        super().__init__()
        self._files = [file if columns is None else file.select(columns) for file in files]
        # As the caller has written it: one tuple is a condition, a list of them several.
        self._filter = filter

    def get_name(self) -> str:
        """What Ray shows."""
        return "Lance"

    def estimate_inmemory_data_size(self) -> int | None:
        """About the bytes of all rows."""
        return sum(file.nbytes for file in self._files)

    def supports_predicate_pushdown(self) -> bool:
        """Conditions of a dataset are answered by its source."""
        return True

    def get_read_tasks(self, parallelism: int, *_: Any, **__: Any) -> list[ReadTask]:
        """One task for each range of rows."""
        share = max(1, sum(file.nbytes for file in self._files) // max(parallelism, 1))
        tasks = []
        predicate = self.get_current_predicate()
        for file in self._files:
            parts = max(1, min(len(file), round(file.nbytes / share)))
            bounds = [len(file) * part // parts for part in range(parts + 1)]
            for start, stop in zip(bounds, bounds[1:]):
                size = file.nbytes * (stop - start) // max(len(file), 1)
                rows = stop - start if self._filter is None and predicate is None else None
                metadata = BlockMetadata(num_rows=rows, size_bytes=size, input_files=[file.path or ""], exec_stats=None)
                tasks.append(ReadTask(_reader(file, start, stop, self._filter, predicate), metadata))
        return tasks


def _reader(file: File, start: int, stop: int, condition: Any, predicate: Any) -> Callable[[], Iterable[Any]]:
    def read() -> Iterable[Any]:
        import pyarrow

        exact = None if predicate is None else predicate.to_pyarrow()
        pushed = None if predicate is None else weaker(predicate, _types(file))
        given = None if condition is None else Expr(tree_of(condition))
        wanted = pushed if given is None else given if pushed is None else given & pushed
        for batch in file.scan(rows=range(start, stop), filter=wanted):
            rows = pyarrow.table(batch)
            yield rows if exact is None else rows.filter(exact)

    return read


def _types(file: File) -> dict[str, str]:
    return {field.name: field.type for field in file.schema}


#: Operations of Ray, and those that say the same with the sides turned.
_COMPARISONS = {"eq": "=", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_TURNED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def weaker(predicate: Any, types: Mapping[str, str]) -> Expr | None:
    """A condition that holds wherever one of Ray does, for columns of these types; None where nothing can be said."""
    op = _op(predicate)
    if op == "and":
        known = [part for part in (weaker(predicate.left, types), weaker(predicate.right, types)) if part is not None]
        if len(known) == 2:
            return known[0] & known[1]
        return known[0] if known else None
    if op == "or":
        one, other = weaker(predicate.left, types), weaker(predicate.right, types)
        return None if one is None or other is None else one | other
    if op in ("is_null", "is_not_null"):
        name = _column(predicate.operand, types)
        if name is None:
            return None
        return col(name).is_null() if op == "is_null" else col(name).is_not_null()
    if op == "in":
        name, values = _column(predicate.left, types), getattr(predicate.right, "value", None)
        if name is None or not isinstance(values, (list, tuple)) or not all(_compares(value, types[name]) for value in values):
            return None
        return col(name).is_in(values)
    if op not in _COMPARISONS:
        return None
    sign, name, value = _COMPARISONS[op], _column(predicate.left, types), getattr(predicate.right, "value", None)
    if name is None:
        name, value, sign = _column(predicate.right, types), getattr(predicate.left, "value", None), _TURNED[sign]
    return col(name)._compare(sign, value) if name is not None and _compares(value, types[name]) else None


def _op(predicate: Any) -> str | None:
    op = getattr(predicate, "op", None)
    return getattr(op, "value", None)


def _column(side: Any, types: Mapping[str, str]) -> str | None:
    name = None if hasattr(side, "op") or hasattr(side, "value") else getattr(side, "name", None)
    return name if isinstance(name, str) and name in types else None


def _compares(value: Any, kind: str) -> bool:
    """Whether a column of this type compares with a value here as it does in pyarrow, or is true more often."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    if kind in ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"):
        return whole
    if kind == "Float64":
        # Whether 0 and -0 are the same, others see differently; NaN compares with nothing there.
        return isinstance(value, float) and value != 0 and value == value
    return kind in ("Utf8", "LargeUtf8") and isinstance(value, str)
