"""Rows of files and tables for training with PyTorch.

`Rows` has rows by their numbers, for samplers of PyTorch; `Batches` gives whole batches one after the other, cut for ranks
and workers, shuffled, and can be stopped and resumed.

    loader = DataLoader(lancet.torch.Batches("data.lance", batch_rows=256, shuffle="rows"), batch_size=None, num_workers=2)
    for batch in loader:
        train(batch["vector"], batch["label"])
"""

from __future__ import annotations

import os

import torch.utils.data

from lancet import _shuffle
from lancet._dataset import opened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from lancet._data import Batch
    from lancet._dataset import Dataset as _Table
    from lancet._file import File
    from lancet._source import Source

__all__ = ["Batches", "Rows", "collate"]


def collate(batch: Any) -> Any:
    """Hands over what it is given: the `collate_fn` for `Rows(batched=True)`."""
    return batch


def _opened(source: Source | File | _Table, columns: Sequence[str] | None, options: Mapping[str, Any]) -> Any:
    readable = opened(source, options)
    # A view of its own: a table that is changed by its handle moves on, and the rows that are read must not.
    return readable._view(readable._names) if columns is None else readable.select(columns)


class _InWorkers:
    """A source that works on one thread in the worker processes of a loader, which are several already."""

    _source: Any
    _process: int

    def _here(self) -> Any:
        if self._process != os.getpid():
            self._process = os.getpid()
            if torch.utils.data.get_worker_info() is not None:
                self._source = self._source._with_threads(1)
        return self._source

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_process": 0}


class Rows(_InWorkers, torch.utils.data.Dataset):  # type: ignore[misc, type-arg, unused-ignore]
    """Rows by their numbers: a map-style dataset.

    A row is a dict of tensors; values that are no numbers are objects of Python. A loader reads the rows of a batch together.
    With `batched=True` and `collate_fn=lancet.torch.collate` it hands over the batch whole, which is much faster than to cut it
    into rows and to stack them again. `transform` is applied to what is handed over.
    """

    def __init__(
        self,
        source: Source | File | _Table,
        columns: Sequence[str] | None = None,
        transform: Callable[[dict[str, Any]], Any] | None = None,
        *,
        batched: bool = False,
        **open_options: Any,
    ) -> None:
        self._source = _opened(source, columns, open_options)
        self._process = os.getpid()
        self._transform, self._batched = transform, batched

    def __len__(self) -> int:
        return len(self._source)

    def __getitem__(self, row: int) -> Any:
        return self._samples(self._here().take([row]))[0]

    def __getitems__(self, rows: Sequence[int]) -> Any:
        batch = self._here().take(rows)
        if not self._batched:
            return self._samples(batch)
        whole = batch.to_torch()
        return whole if self._transform is None else self._transform(whole)

    def _samples(self, batch: Batch) -> list[Any]:
        columns = batch.to_torch()
        samples: list[Any] = [{name: values[row] for name, values in columns.items()} for row in range(len(batch))]
        return samples if self._transform is None else [self._transform(sample) for sample in samples]


class Batches(_InWorkers, torch.utils.data.IterableDataset):  # type: ignore[misc, type-arg, unused-ignore]
    """Batches one after the other: an iterable dataset, for loaders with `batch_size=None`.

    `shuffle="rows"` gives all rows in random order. `"blocks"` mixes 32 runs of 1,024 neighbouring rows at a time: each batch takes
    single rows out of these, so that most of what it needs is in the memory of the system since the batches before it. Both need
    no list of all rows. Each epoch has another order (`set_epoch`), which `seed` decides.

    Ranks get equal shares: with `drop_last` batches that do not go round are left out, otherwise some come twice. `shard` is
    "auto" (ranks of `torch.distributed`, asked when an iteration begins), a pair of rank and number of ranks, or None. Workers of
    a loader share the batches of their rank.

    `state_dict()` tells the epoch and how many batches of it were given, `load_state_dict` goes on there, with any number of
    workers. An iteration that was broken off begins its epoch again. In a loader with workers, which are other processes, the
    counting is yours: `state_dict(position=steps)`, and `set_epoch` before every epoch; workers that stay (`persistent_workers`)
    see both at their next iteration. A position that was loaded holds there until another epoch is set. `StatefulDataLoader` of
    torchdata asks the workers itself: its own state resumes with as many workers as it had.

    Tensors can be written to: neither the file nor other batches change.
    """

    def __init__(
        self,
        source: Source | File | _Table,
        *,
        batch_rows: int,
        columns: Sequence[str] | None = None,
        shuffle: str | None = None,
        seed: int = 0,
        drop_last: bool = False,
        shard: str | tuple[int, int] | None = "auto",
        transform: Callable[[dict[str, Any]], Any] | None = None,
        **open_options: Any,
    ) -> None:
        if batch_rows < 1:
            raise ValueError("a batch needs at least one row")
        if shuffle not in (None, "rows", "blocks"):
            raise ValueError(f'`shuffle` is None, "rows" or "blocks", not {shuffle!r}')
        self._source = _opened(source, columns, open_options)
        self._process = os.getpid()
        self._batch_rows, self._shuffle, self._seed, self._drop_last = batch_rows, shuffle, seed, drop_last
        self._shard = _checked(shard)
        self._transform = transform
        self._epoch = self._position = self._first = 0
        self._told, self._teller, self._heard = _message(), os.getpid(), 0

    def __len__(self) -> int:
        """How many batches an epoch has for this rank."""
        batches, rest = divmod(len(self._source), self._batch_rows)
        if rest and not self._drop_last:
            batches += 1
        shared, rest = divmod(batches, self._share()[1])
        return shared + (1 if rest and not self._drop_last else 0)

    def _share(self) -> tuple[int, int]:
        """The rank, and how many there are. Ranks may be made after this dataset."""
        return self._shard if self._shard is not None else _group() or (0, 1)

    def __getstate__(self) -> dict[str, Any]:
        # Workers that are started anew do not know the ranks.
        return {**super().__getstate__(), "_shard": self._shard or _group()}

    def set_epoch(self, epoch: int) -> None:
        """Begins an epoch, which has an order of its own; at the batch that `load_state_dict` has said if it is of this epoch."""
        self._begin(epoch, self._first if epoch == self._epoch else 0)

    def _begin(self, epoch: int, first: int) -> None:
        self._epoch, self._position, self._first = epoch, first, first
        # A worker speaks for itself only, and a rank that was forked to its own workers only.
        if torch.utils.data.get_worker_info() is not None:
            return
        if self._teller != os.getpid():
            self._told, self._teller = _message(), os.getpid()
        self._heard += 1
        for place, value in enumerate((self._heard, epoch, first)):
            self._told[place] = value

    def _listen(self) -> None:
        number, epoch, first = (int(value) for value in self._told)
        if torch.utils.data.get_worker_info() is not None and number != self._heard:
            self._heard, self._epoch, self._first = number, epoch, first

    def state_dict(self, position: int | None = None) -> dict[str, int]:
        """Where it stands: the epoch, and how many batches of this rank were given."""
        return {"epoch": self._epoch, "position": self._position if position is None else position}

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """The next iteration goes on where `state_dict` was asked; those after it begin their epochs at the beginning."""
        self._begin(state["epoch"], state["position"])

    def _rows(self, number: int, epoch: int) -> Any:
        """The rows of a batch of an epoch, by its number among those of all ranks."""
        total = len(self._source)
        batches = -(-total // self._batch_rows)
        if self._drop_last:
            batches = max(total // self._batch_rows, 1)
        start = number % max(batches, 1) * self._batch_rows
        places = range(start, min(start + self._batch_rows, total))
        if self._shuffle is None:
            return places
        order = _shuffle.rows if self._shuffle == "rows" else _shuffle.blocks
        return order(places, total, self._seed, epoch)

    def __iter__(self) -> Iterator[Any]:
        self._listen()
        # An iteration that was broken off is not gone on with: the next one begins the epoch again.
        first, self._first = self._first, 0
        self._position = first
        return self._batches(first, self._epoch)

    def _batches(self, first: int, epoch: int) -> Iterator[Any]:
        source = self._here()
        info = torch.utils.data.get_worker_info()
        worker, workers = (0, 1) if info is None else (info.id, info.num_workers)
        rank, ranks = self._share()
        # A loader takes from its workers in turn, and begins with the first.
        for place in range(first + worker, len(self), workers):
            rows = self._rows(place * ranks + rank, epoch)
            batch = source.read(rows=rows).combine() if isinstance(rows, range) else source.take(rows)
            tensors = batch.to_torch()
            # Where this worker goes on if it is asked by itself: one that begins here adds its own number.
            self._position = place - worker + workers
            yield tensors if self._transform is None else self._transform(tensors)
        self._epoch, self._position = epoch + 1, 0


def _message() -> Any:
    """What workers are told that are there already: the number of the message, the epoch, the first batch."""
    return torch.zeros(3, dtype=torch.int64).share_memory_()


def _checked(shard: str | tuple[int, int] | None) -> tuple[int, int] | None:
    """A pair of rank and number of ranks; None for those of `torch.distributed`."""
    if shard is None:
        return 0, 1
    if shard == "auto":
        return None
    if isinstance(shard, str):
        raise ValueError('`shard` is "auto", a pair of rank and number of ranks, or None')
    rank, ranks = shard
    if not 0 <= rank < ranks:
        raise ValueError(f"rank {rank} is not one of {ranks}")
    return rank, ranks


def _group() -> tuple[int, int] | None:
    """The rank that `torch.distributed` has given this process, and how many there are; None as long as it has not."""
    distributed = getattr(torch, "distributed", None)
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    return distributed.get_rank(), distributed.get_world_size()
