"""Tables that the reference has written: every verb gives what the reference gives."""

from __future__ import annotations

import datetime as dt
import json
import pickle
from pathlib import Path

import lance
import numpy as np
import pyarrow as pa
import pytest

import lancet


@pytest.fixture(scope="module", params=[False, True], ids=["addresses", "stable row ids"])
def table(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> lance.LanceDataset:
    """Five versions: two appends, a deletion, an update; a tag and a branch."""
    path = tmp_path_factory.mktemp("tables") / "t.lance"

    def rows(start: int, count: int) -> pa.Table:
        numbers = np.arange(start, start + count)
        return pa.table({"id": numbers, "s": [f"row {n}" for n in numbers], "d": [{"x": int(n) * 2} for n in numbers]})

    dataset = lance.write_dataset(rows(0, 1_000), path, enable_stable_row_ids=request.param)
    dataset.tags.create("first", 1)
    dataset = lance.write_dataset(rows(1_000, 500), path, mode="append")
    dataset.delete("id % 7 = 3")
    dataset.update({"s": "'changed'"}, where="id = 20")
    dataset = lance.write_dataset(rows(1_500, 10), path, mode="append")
    return dataset


def test_rows_are_those_of_the_reference(table: lance.LanceDataset) -> None:
    mine = lancet.open_table(table.uri)
    assert mine.version == table.version and len(mine) == table.count_rows()
    for version in mine.versions():
        then, theirs = mine.checkout(version.version), table.checkout_version(version.version)
        assert then.read().to_pyarrow().to_pylist() == theirs.to_table().to_pylist()
        assert version.num_rows == theirs.count_rows()
        assert version.timestamp is not None and abs(version.timestamp.replace(tzinfo=None) - dt.datetime.utcnow()) < dt.timedelta(days=1)
    assert pa.schema(mine.schema) == table.schema


def test_takes(table: lance.LanceDataset) -> None:
    mine = lancet.open_table(table.uri)
    rng = np.random.default_rng(3)
    rows = rng.integers(0, len(mine), 200)
    assert mine.take(rows).to_pylist() == table.take(rows.tolist()).to_pylist()
    whole = table.to_table(with_row_id=True, with_row_address=True)
    picked = rng.permutation(len(mine))[:50]
    ids = whole["_rowid"].to_numpy()[picked]
    found = mine.take_row_ids(ids, columns=["id", "_rowid"])
    assert found["_rowid"].to_pylist() == ids.tolist()
    assert found["id"].to_pylist() == whole["id"].to_numpy()[picked].tolist()
    addresses = whole["_rowaddr"].to_numpy()[picked]
    found = mine.take_addresses(addresses, columns=["id", "_rowaddr"])
    assert found["id"].to_pylist() == whole["id"].to_numpy()[picked].tolist()
    assert len(mine.take_row_ids([2**60])) == 0
    with pytest.raises(IndexError):
        mine.take([len(mine)])
    assert mine[-1]["id"] == 1_509


def test_filters_and_columns(table: lance.LanceDataset) -> None:
    mine = lancet.open_table(table.uri)
    condition = (lancet.col("d.x") > 2_900) | (lancet.col("s") == "changed")
    theirs = table.to_table(filter="d.x > 2900 or s = 'changed'", columns=["id"], with_row_id=True)
    found = mine.read(filter=condition, columns=["id", "_rowid"])
    assert sorted(found["id"].to_pylist()) == sorted(theirs["id"].to_pylist())
    assert sorted(found["_rowid"].to_pylist()) == sorted(theirs["_rowid"].to_pylist())
    assert mine.count(condition) == len(theirs)
    assert mine.select(["s"]).head(2).to_pylist() == [{"s": "row 0"}, {"s": "row 1"}]
    with pytest.raises(KeyError, match="id"):
        mine.take([0], columns=["idd"])
    numbers = [fragment.id for fragment in mine.fragments()]
    parts = [mine.scan(fragments=[number]).count() for number in numbers]
    with pytest.raises(ValueError, match="no fragment 99"):
        mine.scan(fragments=[numbers[0], 99]).count()
    assert sum(parts) == len(mine) and parts == [fragment.num_rows for fragment in mine.fragments()]


def test_versions_and_tags(table: lance.LanceDataset) -> None:
    path = table.uri
    mine = lancet.open_table(path)
    assert {name: tag.version for name, tag in mine.tags().items()} == {"first": 1}
    assert lancet.open_table(path, tag="first").version == lancet.open_table(path, version=1).version == 1
    assert mine.checkout(tag="first").num_rows == 1_000
    then = mine.versions()[1].timestamp
    assert then is not None and lancet.open_table(path, timestamp=then).version == 2
    with pytest.raises(ValueError, match="name one of"):
        lancet.open_table(path, version=1, tag="first")
    with pytest.raises(ValueError):
        lancet.open_table(path, version=99)
    assert mine.verify() == []
    with pytest.raises(IsADirectoryError, match="open_table"):
        lancet.open(path)


def test_handles_are_sent(table: lance.LanceDataset) -> None:
    old = lancet.open_table(table.uri, version=2).select(["id"])
    sent = pickle.loads(pickle.dumps(old))
    assert sent.version == 2 and sent.take([3]).to_pylist() == old.take([3]).to_pylist()


def test_neighbours_read_tables(table: lance.LanceDataset) -> None:
    import duckdb
    import polars

    mine = lancet.open_table(table.uri)
    assert duckdb.sql("select count(*) from mine").fetchall() == [(len(mine),)]
    assert polars.DataFrame(mine).height == len(mine)
    assert lancet.scan_polars(table.uri).filter(polars.col("id") < 5).collect()["id"].to_list() == [0, 1, 2, 4]


def test_tables_in_stores_are_refused() -> None:
    with pytest.raises(lancet.UnsupportedError, match="object stores"):
        lancet.open_table("s3://bucket/table")
    assert isinstance(Path("x"), Path)


def test_reports_of_tables(tmp_path: Path) -> None:
    numbers = np.arange(40_000) ** 2
    times = pa.array(numbers * 1_001, pa.timestamp("ns"))
    rows = pa.table({"id": numbers, "t": times, "s": pa.array([{"x": n} for n in numbers.tolist()])})
    table = lancet.create_table(rows, tmp_path / "t", max_rows_per_fragment=20_000)
    found = table.statistics()
    assert list(found) == ["id", "t", "s"] and found["s"] is None
    ids, instants = found["id"], found["t"]
    assert ids is not None and (ids.min, ids.max, ids.null_count, ids.num_rows) == (0, numbers[-1], 0, 40_000)
    assert ids.exact and ids.counts_exact and instants is not None and not instants.exact
    nested = table.statistics(["s.x"])["s.x"]
    assert nested is not None and nested.max == numbers[-1]
    with pytest.raises(KeyError):
        table.statistics(["missing"])
    table.delete(lancet.col("id") == 0)
    ids = table.statistics(["id"])["id"]
    assert ids is not None and ids.num_rows == 39_999 and not ids.exact
    report = table.inspect()
    assert (report.num_rows, report.num_deleted_rows, len(report.fragments)) == (39_999, 1, 2)
    files = list((tmp_path / "t" / "data").iterdir())
    assert table.nbytes == report.file_bytes == sum(file.stat().st_size for file in files)
    assert {file.name for fragment in report.fragments for file in fragment.files} == {file.name for file in files}
    assert [column.name for column in report.columns] == ["id", "t", "s.x"]
    assert json.loads(json.dumps(report.to_dict()))["num_rows"] == 39_999


def test_zone_maps_leave_out_rows_of_tables(tmp_path: Path) -> None:
    table = lancet.create_table({"id": np.arange(100_000)}, tmp_path / "t")
    table.append({"id": np.arange(100_000, 200_000)})
    assert table.prune(lancet.col("id") == 120_000) == [range(116_384, 124_576)]
    assert table.prune(lancet.col("id").between(99_000, 101_000)) == [range(98_304, 108_192)]
    assert table.prune(lancet.col("id") >= 200_000) == []
    # Zone maps count deleted rows, the numbers of rows do not.
    table.delete(lancet.col("id") < 1_000)
    table.delete((lancet.col("id") >= 120_000) & (lancet.col("id") < 120_500))
    [left] = table.prune(lancet.col("id") == 120_000)
    assert left == range(115_384, 123_076)
    rows = table.read(rows=left)["id"].to_numpy()
    assert (rows[0], rows[-1]) == (116_384, 124_575)
    ids = table.to_numpy()["id"]
    for value in (1_000, 99_999, 100_000, 119_999, 120_500, 124_576, 199_999):
        [row] = np.flatnonzero(ids == value)
        assert any(row in part for part in table.prune(lancet.col("id") == value))
    with pytest.raises(KeyError):
        table.prune(lancet.col("nothing") == 1)


def test_ranges_of_blobs_of_tables(tmp_path: Path) -> None:
    field = pa.field("photo", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
    values = [None if row % 5 == 3 else bytes([row]) * (row + 1) * 100 for row in range(40)]
    lance.write_dataset(pa.table({"photo": values[:25]}, schema=pa.schema([field])), tmp_path / "t")
    lance.write_dataset(pa.table({"photo": values[25:]}, schema=pa.schema([field])), tmp_path / "t", mode="append")
    blobs = lancet.open_table(tmp_path / "t").blobs("photo")
    wanted = [(39, 0, 4_000), (0, 10, 20), (24, 5, 5), (39, 17, 3_000), (26, 1, 2), (1, 0, 200)]
    assert blobs.read_ranges(wanted) == [values[row][start:stop] for row, start, stop in wanted]
    assert blobs.read_ranges([]) == []
    with pytest.raises(ValueError, match="row 28 is null"):
        blobs.read_ranges([(0, 0, 1), (28, 0, 1)])
    with pytest.raises(ValueError, match="outside the blob of row 26: 2700 bytes"):
        blobs.read_ranges([(0, 0, 1), (26, 0, 2_701)])
