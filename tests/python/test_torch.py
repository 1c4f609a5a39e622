"""Training: shares, shuffles, resuming, workers. With as much of torch as it takes."""

from __future__ import annotations

import ctypes
import os
import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import lancet
from lancet import _shuffle

ROWS = 5_003


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("torch") / "t.lance"
    vectors = pa.FixedSizeListArray.from_arrays(np.arange(ROWS * 4, dtype=np.float32), 4)
    lancet.write_table(pa.table({"id": np.arange(ROWS), "v": vectors, "s": [str(i) for i in range(ROWS)]}), path)
    return path


def ids(batches: Any) -> list[int]:
    return [int(row) for batch in batches for row in batch["id"]]


def test_rows_by_their_numbers(path: Path, stub_torch: None) -> None:
    import lancet.torch

    rows = lancet.torch.Rows(path)
    assert len(rows) == ROWS
    assert rows[7]["v"].tolist() == [28, 29, 30, 31] and rows[7]["s"] == "7"
    assert [int(sample["id"]) for sample in rows.__getitems__([3, 1, 3])] == [3, 1, 3]
    doubled = lancet.torch.Rows(path, ["id"], lambda sample: sample["id"] * 2, batched=True)
    assert doubled.__getitems__([5, 6]).tolist() == [10, 12]
    with pytest.raises(IndexError):
        rows[ROWS]


@pytest.mark.parametrize("shuffle", [None, "rows", "blocks"])
def test_every_row_comes_once(path: Path, stub_torch: None, shuffle: str | None) -> None:
    import lancet.torch

    batches = lancet.torch.Batches(path, batch_rows=100, shuffle=shuffle)
    assert len(batches) == 51
    first = ids(batches)
    assert sorted(first) == list(range(ROWS)) and (first == list(range(ROWS))) == (shuffle is None)
    second = ids(batches)
    assert sorted(second) == list(range(ROWS)) and (second == first) == (shuffle is None)
    batches.set_epoch(0)
    assert ids(batches) == first
    other = lancet.torch.Batches(path, batch_rows=100, shuffle=shuffle, seed=1)
    assert (ids(other) == first) == (shuffle is None)
    short = lancet.torch.Batches(path, batch_rows=100, shuffle=shuffle, drop_last=True)
    assert len(short) == 50 and len(ids(short)) == 5_000


@pytest.mark.parametrize("shuffle", [None, "rows", "blocks"])
def test_ranks_get_equal_shares(path: Path, stub_torch: None, shuffle: str | None) -> None:
    import lancet.torch

    def parts(**options: Any) -> list[list[int]]:
        made = [lancet.torch.Batches(path, batch_rows=100, shuffle=shuffle, shard=(r, 4), **options) for r in range(4)]
        assert len({len(part) for part in made}) == 1
        return [ids(part) for part in made]

    counted = Counter(row for part in parts(drop_last=True) for row in part)
    assert max(counted.values()) == 1 and len(counted) == 4_800
    counted = Counter(row for part in parts() for row in part)
    assert len(counted) == ROWS and max(counted.values()) <= 2


def test_a_run_is_resumed(path: Path, stub_torch: None) -> None:
    import lancet.torch

    make = lambda: lancet.torch.Batches(path, batch_rows=100, shuffle="rows")  # noqa: E731
    whole = make()
    whole.set_epoch(3)
    expected = list(whole)
    stopped = make()
    stopped.set_epoch(3)
    running = iter(stopped)
    for _ in range(20):
        next(running)
    state = stopped.state_dict()
    assert state == {"epoch": 3, "position": 20}
    resumed = make()
    resumed.load_state_dict(state)
    assert ids(resumed) == ids(expected[20:])
    assert resumed.state_dict() == {"epoch": 4, "position": 0}


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.parametrize("workers", [1, 3])
def test_workers(path: Path, stub_torch: None, method: str, workers: int) -> None:
    import torch.utils.data

    import lancet.torch

    batches = lancet.torch.Batches(path, batch_rows=100, shuffle="rows", columns=["id", "v"])
    alone = ids(batches)
    batches.set_epoch(0)
    assert ids(torch.utils.data.load(batches, workers, method)) == alone
    # Whatever the number of workers, a resumed run goes on where it was.
    batches.load_state_dict({"epoch": 0, "position": 17})
    assert ids(torch.utils.data.load(batches, workers, method)) == alone[1_700:]
    rows = lancet.torch.Rows(path, ["id"], batched=True)
    rows.__getitems__([1, 2, 3])
    wanted = [list(range(start, start + 50)) for start in range(0, 1_000, 50)]
    found = torch.utils.data.load(rows, workers, method, wanted, lancet.torch.collate)
    assert ids(found) == list(range(1_000))


def test_an_epoch_that_was_loaded_is_set(path: Path, stub_torch: None) -> None:
    import lancet.torch

    batches = lancet.torch.Batches(path, batch_rows=100, shuffle="rows")
    batches.set_epoch(3)
    whole = ids(batches)
    batches.load_state_dict({"epoch": 3, "position": 17})
    batches.set_epoch(3)
    assert batches.state_dict() == {"epoch": 3, "position": 17} and ids(batches) == whole[1_700:]
    batches.load_state_dict({"epoch": 2, "position": 17})
    batches.set_epoch(3)
    assert batches.state_dict() == {"epoch": 3, "position": 0} and ids(batches) == whole


@pytest.mark.parametrize("given", [0, 1, 7, 12, 50])
def test_each_worker_is_asked_where_it_stands(path: Path, stub_torch: None, monkeypatch: pytest.MonkeyPatch, given: int) -> None:
    """As `StatefulDataLoader` does: the states of all workers, and who has given the last batch."""
    import torch.utils.data

    import lancet.torch

    workers = 3
    make = lambda: lancet.torch.Batches(path, batch_rows=100, shuffle="rows", columns=["id"])  # noqa: E731
    alone = list(make())

    def next_of(worker: int, running: Any) -> Any:
        monkeypatch.setattr(torch.utils.data, "_info", torch.utils.data._Info(worker, workers))
        return next(running, None)

    parts = [make() for _ in range(workers)]
    running = [iter(part) for part in parts]
    found = [next_of(turn % workers, running[turn % workers]) for turn in range(given)]
    states = [part.state_dict() for part in parts]
    parts = [make() for _ in range(workers)]
    monkeypatch.setattr(torch.utils.data, "_info", torch.utils.data._Info(0, workers))
    for part, state in zip(parts, states):
        part.load_state_dict(state)
    running = [iter(part) for part in parts]
    found += [next_of(turn % workers, running[turn % workers]) for turn in range(given, len(alone))]
    assert ids(found) == ids(alone)


def test_workers_that_stay(path: Path, stub_torch: None) -> None:
    import torch.utils.data

    import lancet.torch

    batches = lancet.torch.Batches(path, batch_rows=100, shuffle="rows", columns=["id"])
    whole = []
    for epoch in range(4):
        batches.set_epoch(epoch)
        whole.append(ids(batches))
    batches.set_epoch(0)
    workers = torch.utils.data.Staying(batches, 3)
    try:
        for epoch in (0, 1, 3, 3, 0):
            batches.set_epoch(epoch)
            assert ids(workers.load()) == whole[epoch]
        batches.load_state_dict({"epoch": 2, "position": 17})
        assert ids(workers.load()) == whole[2][1_700:]
        # Nobody says anything: they count by themselves.
        assert ids(workers.load()) == whole[3]
    finally:
        workers.end()


def test_ranks_that_were_forked_do_not_hear_each_other(path: Path, stub_torch: None) -> None:
    import lancet.torch

    batches = lancet.torch.Batches(path, batch_rows=100, shuffle="rows", columns=["id"])
    child = os.fork()
    if child == 0:
        batches.set_epoch(7)
        os._exit(0)
    os.waitpid(child, 0)
    next(iter(batches))
    assert batches.state_dict() == {"epoch": 0, "position": 1}


def test_ranks_that_are_made_later(path: Path, stub_torch: None, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    import lancet.torch

    batches = lancet.torch.Batches(path, batch_rows=100, columns=["id"])
    assert len(batches) == 51
    sent = pickle.dumps(batches)
    monkeypatch.setattr(torch.distributed, "group", (1, 3))
    assert len(batches) == 17 and ids(batches)[:200] == [*range(100, 200), *range(400, 500)]
    assert len(pickle.loads(sent)) == 17
    # Workers that are started anew have no group.
    batches = pickle.loads(pickle.dumps(batches))
    monkeypatch.setattr(torch.distributed, "group", None)
    assert len(batches) == 17


def test_a_table_that_goes_on(tmp_path: Path, stub_torch: None) -> None:
    import lancet.torch

    table = lancet.create_table({"id": [1, 2, 3]}, tmp_path / "t")
    batches, rows = lancet.torch.Batches(table, batch_rows=2), lancet.torch.Rows(table)
    table.append({"id": [4, 5]})
    assert ids(batches) == [1, 2, 3] and len(batches) == 2 and len(rows) == 3


def test_an_iteration_that_was_broken_off(path: Path, stub_torch: None) -> None:
    import lancet.torch

    batches = lancet.torch.Batches(path, batch_rows=100, shuffle="rows")
    whole = ids(batches)
    batches.set_epoch(0)
    for number, _ in enumerate(batches):
        if number == 7:
            break
    assert batches.state_dict() == {"epoch": 0, "position": 8}
    # The next one begins at the beginning, as with workers.
    assert ids(batches) == whole and batches.state_dict() == {"epoch": 1, "position": 0}
    # What was loaded holds for one iteration.
    batches.load_state_dict({"epoch": 0, "position": 8})
    assert batches.state_dict() == {"epoch": 0, "position": 8}
    running = iter(batches)
    assert ids([next(running)]) == whole[800:900]
    assert ids(batches) == whole


@pytest.mark.parametrize("position", [0, 1, 2, 5])
def test_workers_of_ranks(path: Path, stub_torch: None, position: int) -> None:
    """Whatever worker gives a batch: the order is that of one process, and no batch is left out or comes twice."""
    import torch.utils.data

    import lancet.torch

    for rank in range(2):
        make = lambda: lancet.torch.Batches(path, batch_rows=300, shuffle="blocks", shard=(rank, 2), columns=["id"])  # noqa: B023, E731
        alone = [[int(row) for row in batch["id"]] for batch in make()]
        assert len(alone) == 9 and len({tuple(batch) for batch in alone}) == 9
        batches = make()
        batches.load_state_dict({"epoch": 0, "position": position})
        for workers in (2, 4):
            found = [batch["id"] for batch in torch.utils.data.load(batches, workers, "fork")]
            assert found == alone[position:]


def test_tables_by_url(tmp_path: Path, stub_torch: None) -> None:
    import polars

    import lancet.torch

    lancet.create_table({"id": [1, 2, 3]}, tmp_path / "my table")
    url = f"file://{tmp_path}/my%20table"
    assert ids(lancet.torch.Batches(url, batch_rows=2)) == [1, 2, 3] and len(lancet.torch.Rows(url)) == 3
    assert lancet.scan_polars(url).filter(polars.col("id") > 1).collect().height == 2


def test_tensors_can_be_written_to(path: Path, stub_torch: None) -> None:
    import lancet.torch

    data = path.read_bytes()
    for source, options in ((data, {}), (path, {"memory_map": True}), (path, {})):
        first = lancet.torch.Batches(source, batch_rows=50, columns=["v"], **options)
        tensor = next(iter(first))["v"]
        ctypes.memset(tensor.__array_interface__["data"][0], 1, tensor.nbytes)
        assert next(iter(first))["v"].tolist() == [[row * 4 + n for n in range(4)] for row in range(50)]
    assert path.read_bytes() == data and lancet.open(data).verify()


def test_options_that_make_no_sense(path: Path, stub_torch: None) -> None:
    import lancet.torch

    for options in ({"batch_rows": 0}, {"batch_rows": 1, "shuffle": "all"}, {"batch_rows": 1, "shard": (4, 4)}):
        with pytest.raises(ValueError):
            lancet.torch.Batches(path, **options)


@pytest.mark.parametrize("total", [1, 2, 3, 100, 1_024, 1_025, 40_000, 100_003])
def test_orders_have_every_row_once(total: int) -> None:
    for order in (_shuffle.rows, _shuffle.blocks):
        found = np.concatenate([order(range(start, min(start + 999, total)), total, 5, 2) for start in range(0, total, 999)])
        assert sorted(found.tolist()) == list(range(total))
    # Rows land anywhere: about as many of the first half in the first half as chance would have it.
    if total > 10_000:
        half = (_shuffle.rows(range(total // 2), total, 1, 1) < total // 2).mean()
        assert 0.48 < half < 0.52
