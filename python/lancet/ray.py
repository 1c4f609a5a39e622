"""Files as datasets of Ray Data, for those who need many machines.

    dataset = lancet.ray.read_lancet(["a.lance", "b.lance"], columns=["vector"], filter=lancet.col("id") > 3)
"""

from __future__ import annotations

from ray.data import Datasource, ReadTask, read_datasource
from ray.data.block import BlockMetadata

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

    def get_read_tasks(self, parallelism: int, *_: Any, **__: Any) -> list[ReadTask]:
        """One task for each range of rows."""
        share = max(1, sum(file.nbytes for file in self._files) // max(parallelism, 1))
        tasks = []
        for file in self._files:
            parts = max(1, min(len(file), round(file.nbytes / share)))
            bounds = [len(file) * part // parts for part in range(parts + 1)]
            for start, stop in zip(bounds, bounds[1:]):
                size = file.nbytes * (stop - start) // max(len(file), 1)
                rows = stop - start if self._filter is None else None
                metadata = BlockMetadata(num_rows=rows, size_bytes=size, input_files=[file.path or ""], exec_stats=None)
                tasks.append(ReadTask(_reader(file, start, stop, self._filter), metadata))
        return tasks


def _reader(file: File, start: int, stop: int, condition: Any) -> Callable[[], Iterable[Any]]:
    def read() -> Iterable[Any]:
        for batch in file.scan(rows=range(start, stop), filter=condition):
            import pyarrow

            yield pyarrow.table(batch)

    return read
