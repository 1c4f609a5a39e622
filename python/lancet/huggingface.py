"""Rows of files and tables for the `datasets` of Hugging Face."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from lancet._readable import Readable

__all__ = ["dataset", "iterable"]


def dataset(source: Readable) -> Any:
    """All rows as a `datasets.Dataset`, in memory."""
    import datasets

    return datasets.Dataset(datasets.table.InMemoryTable(source.to_pyarrow()))


def iterable(source: Readable, *, num_shards: int = 16, columns: Sequence[str] | None = None) -> Any:
    """The rows as a `datasets.IterableDataset`, read as they come. Each shard is a range of rows, for workers and nodes."""
    import datasets

    view = source if columns is None else source.select(columns)
    total, shards = len(view), max(1, min(num_shards, len(view)))
    bounds = [total * shard // shards for shard in range(shards + 1)]
    ranges = list(zip(bounds, bounds[1:]))
    return datasets.IterableDataset.from_generator(_rows, gen_kwargs={"source": view, "ranges": ranges})


def _rows(source: Readable, ranges: list[tuple[int, int]]) -> Iterator[dict[str, Any]]:
    for start, stop in ranges:
        for batch in source.scan(rows=range(start, stop), batch_rows=1024, threads=1):
            yield from batch.to_pylist()
