"""Tables that lancet changes: pylance reads what was written, and the other way round."""

from __future__ import annotations

import datetime as dt
import multiprocessing
import pickle
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import lance
import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest

import lancet

col = lancet.col


def rows(start: int, count: int) -> pa.Table:
    numbers = np.arange(start, start + count)
    return pa.table({"id": numbers, "s": pa.array([f"row {n}" for n in numbers], pa.string()), "v": pa.array([[n, n + 0.5] for n in numbers], pa.list_(pa.float32(), 2))})


@pytest.fixture(params=[False, True], ids=["addresses", "stable row ids"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> lancet.Dataset:
    """100 rows in two fragments."""
    return lancet.create_table(rows(0, 100), tmp_path / "t.lance", stable_row_ids=request.param, max_rows_per_fragment=60)


def reference(table: lancet.Dataset) -> list[dict[str, Any]]:
    """What pylance reads; lancet reads the same."""
    theirs = lance.dataset(table.path)
    theirs.validate()
    found: list[dict[str, Any]] = theirs.to_table().to_pylist()
    assert theirs.version == table.version and table.read().to_pylist() == found
    assert table.verify() == [] and table.num_rows == len(found)
    return found


def test_create_append_overwrite(table: lancet.Dataset) -> None:
    assert table.version == 1 and len(table.fragments()) == 2
    change = table.append(rows(100, 5))
    assert (change.version, change.rows_inserted, change.rows_updated, change.rows_deleted) == (2, 5, 0, 0)
    assert reference(table) == rows(0, 105).to_pylist()
    # Columns by their names, in any order; those that may be null may be missing.
    table.append({"v": [[1, 2]], "id": [7]}, message="one more")
    assert reference(table)[-1] == {"id": 7, "s": None, "v": [1, 2]}
    assert lance.dataset(table.path).read_transaction(3).transaction_properties == {"__lance_commit_message": "one more"}
    lance.write_dataset(rows(300, 3), table.path, mode="append")
    # Behind what another has written meanwhile.
    assert table.version == 3 and table.append(rows(400, 1)).version == 5
    assert [row["id"] for row in reference(table)[-4:]] == [300, 301, 302, 400]
    assert table.overwrite({"other": ["x"]}).version == 6
    assert reference(table) == [{"other": "x"}] and table.column_names == ["other"]
    assert len(table.checkout(1)) == 100


def test_the_reference_goes_on(table: lancet.Dataset) -> None:
    theirs = lance.dataset(table.path)
    theirs.delete("id % 10 = 3")
    theirs.update({"s": "'theirs'"}, where="id < 5")
    table = table.checkout()
    table.delete(col("id") == 50)
    table.update({"s": "ours"}, col("id").is_in([51, 52]))
    theirs = lance.dataset(table.path)
    theirs.merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(rows(99, 3))
    table = table.checkout()
    found = {row["id"]: row["s"] for row in reference(table)}
    assert len(found) == 100 - 10 - 1 + 2 and found[0] == "theirs" and found[51] == found[52] == "ours" and found[101] == "row 101"


def test_rows_of_every_library(tmp_path: Path) -> None:
    table = lancet.create_table(pa.table({"n": pa.array([1], pa.int32()), "s": ["a"]}), tmp_path / "t")
    table.append(polars.DataFrame({"n": [2], "s": ["b"]}, schema={"n": polars.Int32, "s": polars.String}))
    table.append({"n": [3, None], "s": ["c", None]})
    table.append({"n": np.array([4], np.int32), "s": np.array(["d"])})
    table.append(pandas.DataFrame({"n": pandas.Series([5], dtype="int32"), "s": ["e"]}))

    def parts() -> Iterator[Any]:
        yield pa.record_batch({"n": pa.array([6], pa.int32()), "s": ["f"]})
        yield {"n": [7], "s": ["g"]}
        yield pa.table({"n": pa.array([8, 9], pa.int32()), "s": ["h", "i"]})

    assert table.append(parts()).rows_inserted == 4
    table.append(pa.RecordBatchReader.from_batches(table.read().to_pyarrow().schema, []))
    assert [row["n"] for row in reference(table)] == [1, 2, 3, None, 4, 5, 6, 7, 8, 9]
    version = table.version
    for wrong, message in (
        ({"n": [2**40]}, "does not hold 1099511627776"),
        ({"n": ["x"]}, "does not hold 'x'"),
        ({"x": [1]}, "no column `x`"),
        (pa.table({"n": [1]}), "Int32"),
        (3, "no Arrow rows"),
    ):
        with pytest.raises((TypeError, ValueError, KeyError), match=message):
            table.append(wrong)  # type: ignore[arg-type]

    def broken() -> Iterator[Any]:
        yield {"n": [10]}
        raise ZeroDivisionError("no more")

    # What the caller's code raises comes out as it is, and nothing is left.
    files = sorted(path.name for path in tmp_path.rglob("*.lance"))
    with pytest.raises(ZeroDivisionError, match="no more"):
        table.append(broken())
    assert table.checkout().version == version and sorted(path.name for path in tmp_path.rglob("*.lance")) == files


def test_pandas_with_missing_values() -> None:
    frame = {
        "whole": pandas.Series([2**60 + 1, None], dtype="Int64"),
        "text": pandas.Series(["a", None]),
        "when": pandas.Series([pandas.Timestamp("2024-01-01"), pandas.NaT]),
    }
    arrays = lancet.Table({"n": pandas.array([2**60 + 1, None]), "c": pandas.Categorical(["x", None])})
    assert arrays.to_pydict() == {"n": [2**60 + 1, None], "c": ["x", None]}
    found = lancet.Table(frame)
    assert found["whole"].to_pylist() == [2**60 + 1, None] and found["text"].to_pylist() == ["a", None]
    assert found["when"].null_count == 1


def test_delete(table: lancet.Dataset) -> None:
    assert table.delete((col("id") >= 10) & (col("id") < 20)).rows_deleted == 10
    assert table.delete(rows=[0, 89]).rows_deleted == 2
    ids = table.read(columns=["_rowid"], rows=range(3, 5))["_rowid"].to_pylist()
    assert table.delete(row_ids=ids).rows_deleted == 2
    addresses = table.read(columns=["_rowaddr"], rows=range(50, 51))["_rowaddr"].to_pylist()
    assert table.delete(addresses=addresses).rows_deleted == 1
    gone = {0, 99, *range(10, 20), 4, 5, 63}
    assert [row["id"] for row in reference(table)] == [n for n in range(100) if n not in gone]
    assert "id >= 10" in str(lance.dataset(table.path).read_transaction(2).operation.predicate)
    version = table.version
    # No rows, no version.
    assert table.delete(col("id") < 0).version == version == table.checkout().version
    with pytest.raises(ValueError, match="all of them"):
        table.delete()
    with pytest.raises(ValueError, match="once"):
        table.delete(col("id") > 1, rows=[0])
    with pytest.raises(KeyError, match="id"):
        table.delete(col("idd") > 1)
    with pytest.raises(IndexError):
        table.delete(rows=[1_000])
    with pytest.raises(ValueError, match="stands alone"):
        table.delete(col("id") > 1, all_rows=True)
    assert table.delete(rows=[]).rows_deleted == 0
    assert table.delete(all_rows=True).rows_deleted == 85 and reference(table) == []


@pytest.mark.parametrize("empty", [[], (), [[]], [[("id", ">", 1)], []], [[[]]]])
def test_filters_of_no_conditions_change_nothing(table: lancet.Dataset, empty: Any) -> None:
    # Such lists come out of programs that put conditions together. Reads take them for all rows.
    assert table.count(empty) == 100
    with pytest.raises(ValueError, match="all_rows=True"):
        table.delete(empty)
    with pytest.raises(ValueError, match="leave the filter out"):
        table.update({"s": "all"}, empty)
    assert table.checkout().version == 1 and table.num_rows == 100
    # A list of no values is a condition: that of no row.
    assert table.delete([("id", "in", [])]).rows_deleted == 0


def test_conditions_are_those_of_the_newest_version(table: lancet.Dataset) -> None:
    lance.write_dataset(rows(100, 20), table.path, mode="append")
    assert table.version == 1
    assert table.delete(col("id") >= 90).rows_deleted == 30
    lance.write_dataset(rows(100, 20), table.path, mode="append")
    assert table.update({"s": "all"}).rows_updated == 110
    assert {row["s"] for row in reference(table)} == {"all"}


def test_update(table: lancet.Dataset) -> None:
    change = table.update({"s": "changed", "v": [1, 2]}, (col("id") > 97) | (col("id") == 0))
    assert (change.rows_updated, change.version) == (3, 2)
    found = {row["id"]: row for row in reference(table)}
    assert found[0] == {"id": 0, "s": "changed", "v": [1, 2]} and found[98]["v"] == [1, 2] and found[97]["s"] == "row 97"
    # One value for each row, in the order of the rows.
    numbers = {row["id"]: at for at, row in enumerate(table.read().to_pylist())}
    table.update({"s": ["x", None]}, rows=[numbers[7], numbers[5]])
    table.update(pa.table({"s": ["y", "z"]}), [("id", "in", [8, 9])])
    table.update({"v": np.array([[7, 8], [9, 10]], np.float32)}, rows=[0, 1])
    found = {row["id"]: row for row in reference(table)}
    assert [found[n]["s"] for n in (5, 7, 8, 9)] == [None, "x", "y", "z"]
    assert found[1]["v"] == [7, 8] and found[2]["v"] == [9, 10] and len(found) == 100
    assert table.update({"s": None}, row_ids=table.read(columns=["_rowid"], rows=range(1))["_rowid"].to_pylist()).rows_updated == 1
    version = table.version
    for wrong, error in (({"s": 3}, TypeError), ({"x": 3}, KeyError), ({"s": ["only one"]}, ValueError)):
        with pytest.raises(error):
            table.update(wrong, col("id") < 10)
    assert table.checkout().version == version


def test_values_of_every_type(tmp_path: Path) -> None:
    schema = pa.schema(
        {
            "i8": pa.int8(), "u64": pa.uint64(), "f16": pa.float16(), "f32": pa.float32(), "flag": pa.bool_(),
            "large": pa.large_string(), "bytes": pa.binary(), "fixed": pa.binary(2), "day": pa.date32(), "day64": pa.date64(),
            "naive": pa.timestamp("ms"), "zoned": pa.timestamp("us", "UTC"), "clock": pa.time64("us"), "span": pa.duration("ns"),
            "money": pa.decimal128(10, 2), "list": pa.list_(pa.int16()), "struct": pa.struct({"x": pa.int32(), "y": pa.string()}),
            "vectors": pa.list_(pa.list_(pa.float32(), 2)),
        }
    )  # fmt: skip
    table = lancet.create_table(schema.empty_table(), tmp_path / "t")
    utc = dt.timezone.utc
    row: dict[str, Any] = {
        "i8": -128, "u64": 2**64 - 1, "f16": 0.5, "f32": 1.25, "flag": True, "large": "ä", "bytes": b"x", "fixed": b"ab",
        "day": dt.date(2024, 2, 29), "day64": dt.date(1969, 12, 31), "naive": dt.datetime(1960, 1, 2, 3, 4, 5, 678_000),
        "zoned": dt.datetime(2024, 5, 6, 7, 8, 9, 10, utc), "clock": dt.time(1, 2, 3, 4), "span": dt.timedelta(microseconds=5),
        "money": Decimal("-12.50"), "list": [1, None, 3], "struct": {"x": 1, "y": None}, "vectors": [[1.0, 2.0]],
    }  # fmt: skip
    table.append({name: [value, None] for name, value in row.items()})
    none = dict.fromkeys(row)
    assert reference(table) == [row, none]
    table.update(none, rows=[0])
    table.update(row, rows=[0])
    assert reference(table) == [none, row]
    wrong: list[dict[str, Any]] = [
        {"i8": 128}, {"u64": -1}, {"i8": 1.5}, {"flag": 1}, {"large": b"x"}, {"fixed": b"abc"}, {"naive": row["zoned"]},
        {"naive": dt.datetime(2024, 1, 1, 0, 0, 0, 1)}, {"money": Decimal("1.234")}, {"money": Decimal("123456789.00")},
        {"list": ["x"]}, {"struct": {"z": 1}}, {"struct": 3}, {"vectors": [[1.0]]}, {"day": "2024-01-01"},
    ]  # fmt: skip
    for one in wrong:
        with pytest.raises((TypeError, ValueError)):
            table.update(one, rows=[0])
            raise AssertionError(one)


def test_merge(table: lancet.Dataset) -> None:
    change = table.merge({"id": [98, 99, 100], "s": ["a", "b", "c"], "v": [[0, 0]] * 3}, on="id")
    assert (change.rows_updated, change.rows_inserted, change.version) == (2, 1, 2)
    # Keys of two columns, of another library that holds texts in another way.
    more = polars.DataFrame({"id": [1, 2, 200], "s": ["row 1", "other", "new"]})
    change = table.merge(more, on=["id", "s"])
    assert (change.rows_updated, change.rows_inserted) == (1, 2)
    assert table.merge({"id": [5, 300], "s": ["only", "updated"]}, on="id", insert=False).rows_updated == 1
    assert table.merge({"id": [5, 300], "s": ["not", "new"]}, on="id", update=False).rows_inserted == 1
    found = reference(table)
    assert len(found) == 104 and sorted(row["s"] for row in found if row["id"] in (98, 99, 100)) == ["a", "b", "c"]
    assert [row["s"] for row in found if row["id"] == 2] == ["row 2", "other"]
    assert {row["id"]: row["s"] for row in found}[5] == "only" and {row["id"]: row for row in found}[300]["v"] is None
    version = table.version
    with pytest.raises(ValueError, match="rows 1 and 2 have the same key: id = 1;"):
        table.merge({"id": [2, 1, 1]}, on="id")
    parts = pa.table({"id": [7, 8], "s": ["a", "b"]}), pa.table({"id": [9, 8], "s": ["a", "b"]})
    with pytest.raises(ValueError, match="rows 1 and 3 have the same key: id = 8, s = 'b';"):
        table.merge(pa.concat_tables(parts), on=["id", "s"])
    with pytest.raises(KeyError, match="there is no column `x`"):
        table.merge({"id": [1]}, on="x")
    with pytest.raises(TypeError, match="Int64"):
        table.merge(pa.table({"id": ["1"]}), on="id")
    with pytest.raises(ValueError, match="at least one"):
        table.merge({"id": [1]}, on=[])
    assert table.checkout().version == version


def test_keys_that_are_null_equal_no_other(tmp_path: Path) -> None:
    table = lancet.create_table({"a": ["x", None], "b": [b"1", b"1"], "n": [1, 2]}, tmp_path / "t")
    change = table.merge({"a": [None, None, "x"], "b": [b"1", b"1", b"1"], "n": [3, 4, 5]}, on=["a", "b"])
    assert (change.rows_updated, change.rows_inserted) == (1, 2)
    assert sorted((row["n"], row["a"]) for row in reference(table)) == [(2, None), (3, None), (4, None), (5, "x")]
    # How a text is held is no matter, and where it ends is.
    table = lancet.create_table({"a": ["ab", "a"], "b": ["c", "bc"], "n": [1, 2]}, tmp_path / "u")
    keys = pa.table({"a": pa.array(["a"]).dictionary_encode(), "b": pa.array(["bc"], pa.string_view()), "n": [9]})
    plain = pa.table({"a": ["a"], "b": pa.array(["bc"], pa.string_view()), "n": [9]})
    assert table.merge(plain, on=["a", "b"], insert=False).rows_updated == 1
    assert [row["n"] for row in reference(table)] == [1, 9]
    assert table.merge(keys.select(["a", "b"]), on=["a", "b"], update=False).version == table.version


def test_keys_are_equal_where_conditions_are(tmp_path: Path) -> None:
    """Zeros are equal whatever their signs, and what is no number equals what is none."""
    nan = float("nan")
    for kind in (pa.float16(), pa.float32(), pa.float64()):
        made = pa.table({"x": pa.array([0.0, nan, 1.5]).cast(kind), "n": [1, 2, 3]})
        table = lancet.create_table(made, tmp_path / str(kind))
        new = pa.table({"x": pa.array([-0.0, np.copysign(nan, -1), 2.5]).cast(kind), "n": [10, 20, 30]})
        change = table.merge(new, on="x")
        assert (change.rows_updated, change.rows_inserted) == (2, 1)
        assert sorted(table.read()["n"].to_pylist()) == [3, 10, 20, 30]
        assert table.count(col("x") == 0.0) == table.count(col("x") == -0.0) == table.count(col("x") == nan) == 1
        for two, said in (([0.0, -0.0], "x = 0.0"), ([nan, nan], "x = nan")):
            with pytest.raises(ValueError, match=f"rows 0 and 1 have the same key: {said}"):
                table.merge(pa.table({"x": pa.array(two).cast(kind), "n": [1, 2]}), on="x")


def test_keys_that_are_times(tmp_path: Path) -> None:
    noon = dt.datetime(2024, 1, 1, 12)
    kinds: dict[str, tuple[pa.DataType, Any, Any]] = {
        "seconds": (pa.timestamp("s"), noon, noon.replace(hour=13)),
        "nanos": (pa.timestamp("ns"), noon, noon.replace(microsecond=1)),
        "zoned": (pa.timestamp("us", "Europe/Zurich"), noon.replace(tzinfo=dt.timezone.utc), noon.replace(tzinfo=dt.timezone.utc, hour=1)),
        "day": (pa.date32(), noon.date(), dt.date(1960, 1, 1)),
        "long day": (pa.date64(), noon.date(), dt.date(1960, 1, 1)),
        "time": (pa.time64("us"), noon.time(), dt.time(1)),
        "span": (pa.duration("ms"), dt.timedelta(1), dt.timedelta(-1)),
        "price": (pa.decimal128(9, 2), Decimal("1.50"), Decimal("-1.50")),
    }  # fmt: skip
    for name, (kind, old, new) in kinds.items():
        table = lancet.create_table(pa.table({"k": pa.array([old, None], kind), "n": [1, 2]}), tmp_path / name)
        for rows in ({"k": [new, old], "n": [3, 4]}, pa.table({"k": pa.array([old, None], kind), "n": [5, 6]})):
            assert table.merge(rows, on="k").rows_updated == 1
        assert sorted(table.read()["n"].to_pylist()) == [2, 3, 5, 6]
        with pytest.raises(ValueError, match="rows 0 and 1 have the same key: k = "):
            table.merge({"k": [new, new], "n": [3, 4]}, on="k")
        assert [row["n"] for row in reference(table)] == table.read()["n"].to_pylist()
    # Others units would not be equal where the instants are.
    table = lancet.create_table(pa.table({"k": pa.array([noon], pa.timestamp("us"))}), tmp_path / "t")
    for kind in (pa.timestamp("ns"), pa.timestamp("us", "UTC"), pa.date32()):
        with pytest.raises(TypeError, match="column `k` is of type Timestamp"):
            table.merge(pa.table({"k": pa.array([noon]).cast(pa.timestamp("us")).cast(kind)}), on="k")


def test_keys_that_are_named_twice(tmp_path: Path) -> None:
    table = lancet.create_table({"id": [5, 6], "n": [1, 2]}, tmp_path / "t")
    assert table.merge({"id": [6], "n": [3]}, on=["id", "id"]).rows_updated == 1
    assert table.read()["n"].to_pylist() == [1, 3]


def test_merges_are_those_of_the_reference(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    mine = lancet.create_table(rows(0, 0), tmp_path / "mine", stable_row_ids=True)
    theirs = lance.write_dataset(rows(0, 0), tmp_path / "theirs", enable_stable_row_ids=True)
    for _ in range(8):
        ids = rng.choice(500, 120, replace=False)
        new = pa.table({"id": ids, "s": [f"{n} {rng.integers(9)}" for n in ids], "v": rows(0, 120)["v"]})
        mine.merge(new, on="id")
        theirs.merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(new)
        key = lambda row: row["id"]  # noqa: E731
        assert sorted(reference(mine), key=key) == sorted(theirs.to_table().to_pylist(), key=key)


def test_columns(table: lancet.Dataset) -> None:
    table.delete(col("id") == 3)
    table.add_columns({"kind": "k", "small": np.int8(3)})
    table.add_columns({"rank": range(99), "half": 0.5})
    table.add_columns(pa.table({"even": pa.array([n % 2 == 0 for n in range(99)])}))
    table.add_columns(pa.schema({"later": pa.int16()}))
    first = reference(table)[0]
    assert first == {"id": 0, "s": "row 0", "v": [0, 0.5], "kind": "k", "small": 3, "rank": 0, "half": 0.5, "even": True, "later": None}
    assert table.schema["small"].type == "Int8" and table["rank"].read()["rank"].to_pylist() == list(range(99))
    assert table.version == 6
    table.rename_column("kind", "sort")
    table.reorder_columns(["rank", "id"])
    table.drop_columns(["half", "v"])
    assert table.column_names == ["rank", "id", "s", "sort", "small", "even", "later"]
    table.retype_column("id", pa.int32())
    table.retype_column("s", pa.int64(), lambda column: pa.array([int(text[4:]) for text in column.to_pylist()]))
    table.set_nullable("rank", False)
    found = reference(table)
    assert found[5]["id"] == found[5]["s"] == 6 and table.schema["id"].type == "Int32" and not table.schema["rank"].nullable
    version = table.version
    for attempt in (
        lambda: table.add_columns({"id": 1}),
        lambda: table.add_columns({"x": None}),
        lambda: table.add_columns({"x": [1]}),
        lambda: table.drop_columns("nothing"),
        lambda: table.rename_column("id", "s"),
        lambda: table.set_nullable("later", False),
        lambda: table.select(["id"]).append({"id": [1]}),
    ):
        with pytest.raises((ValueError, KeyError)):
            attempt()
    with pytest.raises(ZeroDivisionError):
        table.retype_column("id", pa.int64(), lambda _: 1 / 0)  # type: ignore[arg-type, return-value]
    with pytest.raises(pa.ArrowInvalid):
        table.append({"rank": [1], "id": [2**31 - 1]})
        table.retype_column("id", pa.int8())
    assert table.checkout().version == version + 1


def test_versions_that_were_cleaned_up(table: lancet.Dataset) -> None:
    for n in range(3):
        table.update({"s": str(n)}, rows=[n])
    other = lancet.open_table(table.path)
    table.create_tag("kept")
    table.update({"s": "last"}, rows=[0])
    assert [version.version for version in other.versions()] == [1, 2, 3, 4]
    lance.dataset(table.path).cleanup_old_versions(older_than=dt.timedelta(0), error_if_tagged_old_versions=False)
    assert [version.version for version in other.versions()] == [4]
    assert [version.version for version in table.versions()] == [4, 5]
    table.delete_tag("kept")
    assert table.cleanup(older_than=dt.timedelta(0)).versions == [4]
    assert other.versions() == [] and [version.version for version in table.versions()] == [5]
    with pytest.raises(ValueError, match="there is 5"):
        table.checkout(4)


def test_compact_restore_cleanup(table: lancet.Dataset) -> None:
    for start in range(100, 160, 10):
        table.append(rows(start, 10))
    table.delete(col("id") < 30)
    assert len(table.fragments()) == 8
    done = table.compact()
    assert done.fragments_removed == 8 and done.fragments_added == 1 and done.deleted_rows == 30 and done.rows == 130
    assert [row["id"] for row in reference(table)] == list(range(30, 160)) and table.compact().version == done.version
    old = table.checkout(1)
    old.restore()
    assert old.version == done.version + 1 and reference(old) == rows(0, 100).to_pylist()
    assert old.cleanup().versions == []
    found = old.cleanup(older_than=dt.timedelta(0), keep_versions=2, dry_run=True)
    assert found.versions == list(range(1, done.version)) and found.dry_run and len(old.checkout(1)) == 100
    table.create_tag("kept")
    removed = old.cleanup(older_than=dt.timedelta(0))
    assert removed.versions == list(range(1, done.version)) and removed.bytes > 0 and not removed.dry_run
    assert [version.version for version in old.checkout().versions()] == [done.version, done.version + 1]
    assert reference(old) == rows(0, 100).to_pylist() and len(old.checkout(tag="kept")) == 130


def test_iterators_run_where_they_were_made(table: lancet.Dataset, tmp_path: Path) -> None:
    """What is bound to a thread, as connections of sqlite are, works there only."""
    found: list[int] = []

    def parts(*numbers: int) -> Iterator[pa.Table]:
        for number in numbers:
            found.append(threading.get_ident())
            yield rows(number, 2)

    def convert(column: lancet.Column) -> pa.Array:
        found.append(threading.get_ident())
        return column.to_pyarrow().cast(pa.float64())

    made = lancet.create_table(parts(0, 2), tmp_path / "made")
    made.append(parts(4, 6, 8))
    assert [row["id"] for row in reference(made)] == list(range(10))
    made.overwrite(parts(0, 2))
    made.update(parts(10, 12), rows=[0, 1, 2, 3])
    assert [row["id"] for row in reference(made)] == [10, 11, 12, 13]
    made.retype_column("id", pa.float64(), convert)
    assert made.read()["id"].type == "Float64"
    assert len(found) == 2 + 3 + 2 + 2 + 1 and set(found) == {threading.get_ident()}
    with pytest.raises(ZeroDivisionError):
        table.append(rows(1 // number, 1) for number in (1, 0))
    connection = sqlite3.connect(":memory:")
    connection.execute("create table n as select 1 as id union select 2")
    with_ids = lancet.create_table(({"id": [row[0]]} for row in connection.execute("select id from n")), tmp_path / "sqlite")
    assert with_ids.read()["id"].to_pylist() == [1, 2]


def test_checkout_stays_on_the_branch(table: lancet.Dataset) -> None:
    branch = table.create_branch("try").checkout()
    assert branch.branch == "try"
    branch.append(rows(100, 5))
    first = branch.version - 1
    assert len(table.checkout()) == 100 and len(branch.checkout()) == 105
    assert branch.checkout(first).branch == "try" and len(branch.checkout(first)) == 100
    table.append(rows(200, 1))
    assert len(branch.checkout()) == 105 and len(branch.checkout(branch.version)) == 105
    for main in (branch.checkout(branch="main"), branch.checkout(1, branch="main")):
        assert main.branch is None and len(main) in (100, 101)
    when = dt.datetime.now(dt.timezone.utc)
    assert len(table.checkout(timestamp=when)) == 101
    with pytest.raises(ValueError, match="not found by time"):
        branch.checkout(timestamp=when)


def test_tags_branches_clones(table: lancet.Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table.create_tag("first")
    table.append(rows(100, 1))
    with pytest.raises(ValueError, match="already"):
        table.create_tag("first")
    table.create_tag("second")
    table.checkout(1).move_tag("second")
    table.delete_tag("first")
    assert {name: tag.version for name, tag in table.tags().items()} == {"second": 1}
    assert lance.dataset(table.path).tags.list()["second"]["version"] == 1
    branch = table.create_branch("try")
    assert branch.branch == "try" and branch.delete(col("id") < 50).rows_deleted == 50
    assert len(table.checkout()) == 101 and len(table.checkout(branch="try")) == len(branch) == 51
    assert lance.dataset(table.path).checkout_version(("try", None)).count_rows() == 51
    sent = pickle.loads(pickle.dumps(branch))
    assert sent.branch == "try" and sent.append(rows(0, 1)).version == branch.version + 1
    table.delete_branch("try")
    assert table.branches() == {}
    clone = table.shallow_clone(tmp_path / "clone")
    clone.delete(col("id") > 0)
    assert len(clone) == 1 and len(table.checkout()) == 101
    again = lancet.open_table(tmp_path / "clone", bases=[table.path])
    assert again.read().to_pylist() == rows(0, 1).to_pylist()
    # The error names what Python users write, and a folder may be named by where it is from here.
    with pytest.raises(ValueError, match=r"allow that with `bases=\[…\]` if you trust its writer"):
        lancet.open_table(tmp_path / "clone").read()
    monkeypatch.chdir(tmp_path)
    for bases in ([Path(table.path).name], Path(table.path).name, Path(table.path)):
        assert len(lancet.open_table("clone", bases=bases).read()) == 1


def test_conflicts(table: lancet.Dataset) -> None:
    other = lancet.open_table(table.path)
    other.update({"s": "theirs"}, rows=[1])
    with pytest.raises(lancet.ConflictError) as caught:
        table.update({"s": "ours"}, rows=[1])
    error = caught.value
    assert error.operation == error.other_operation == "update or merge rows"
    assert error.version == 2 and error.can_retry
    assert "version 2" in str(error) and isinstance(error, lancet.Error)
    assert table.version == 1 and table.checkout().read(filter=col("id") == 1)["s"].to_pylist() == ["theirs"]
    # Rows that others have not touched: both changes hold.
    table.delete(rows=[5])
    assert len(reference(table)) == 99
    other.overwrite(rows(0, 3))
    with pytest.raises(lancet.ConflictError, match=r"version 4 \(overwrite\)"):
        table.add_columns({"x": range(99)})


def test_places(tmp_path: Path) -> None:
    lancet.create_table({"id": [1]}, f"file://{tmp_path}/my%20table")
    assert (tmp_path / "my table").is_dir() and len(lancet.open_table(f"file://{tmp_path}/my%20table")) == 1
    with pytest.raises(FileExistsError, match="already"):
        lancet.create_table({"id": [1]}, tmp_path / "my table")
    for attempt in (lambda: lancet.create_table({"id": [1]}, "s3://bucket/t"), lambda: lancet.open_table("gs://bucket/t", storage_options={})):
        with pytest.raises(lancet.UnsupportedError, match="object stores"):
            attempt()
    with pytest.raises(ValueError, match="storage_options"):
        lancet.open_table(tmp_path / "my table", storage_options={})
    with pytest.raises(TypeError, match="no option `colour`"):
        lancet.create_table({"id": [1]}, tmp_path / "t", colour="red")
    assert not (tmp_path / "t").exists()


def test_writers_at_the_same_time(tmp_path: Path) -> None:
    path = tmp_path / "t"
    lancet.create_table({"id": [0], "n": [0]}, path)
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_write, args=(path, number)) for number in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
        assert worker.exitcode == 0
    found = lancet.open_table(path)
    assert sorted(found.read(filter=col("id") > 0)["id"].to_pylist()) == sorted(w * 100 + n + 1 for w in range(3) for n in range(5))
    assert found.version == 1 + 3 * 5 * 2 and lance.dataset(path).to_table().to_pylist() == found.read().to_pylist()


def _write(path: Path, worker: int) -> None:
    table = lancet.open_table(path)
    for number in range(5):
        table.append({"id": [worker * 100 + number + 1], "n": [0]}, attempts=100)
        # All want the same row: the condition is looked at again where another was faster.
        table.update({"n": worker}, col("id") == 0)


def test_other_threads_go_on_meanwhile(tmp_path: Path) -> None:
    ticks, done = [], threading.Event()

    def tick() -> None:
        while not done.wait(0.001):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    lancet.create_table({"v": np.random.default_rng(1).random((300_000, 16))}, tmp_path / "t")
    done.set()
    thread.join()
    assert len(ticks) > 5


ENDLESS = """
import os, sys, threading, time, signal
import numpy, lancet

table = lancet.open_table(sys.argv[1])

def parts():
    rows = {"id": numpy.arange(50_000), "s": ["x"] * 50_000}
    for number in range(1_000_000):
        if number == 5:
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        yield rows

start = time.monotonic()
try:
    table.append(parts())
except KeyboardInterrupt as error:
    print("interrupted", getattr(error, "__notes__", []))
"""


def test_ctrl_c_takes_a_change_back(tmp_path: Path) -> None:
    lancet.create_table({"id": [1], "s": ["a"]}, tmp_path / "t")
    before = sorted(path for path in tmp_path.rglob("*"))
    done = subprocess.run([sys.executable, "-c", ENDLESS, str(tmp_path / "t")], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout == "interrupted []\n", done.stderr
    assert sorted(path for path in tmp_path.rglob("*")) == before
