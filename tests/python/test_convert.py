"""Rows for other libraries, with and without pyarrow."""

from __future__ import annotations

import ctypes
import datetime as dt
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest
from conftest import cities, written

import lancet


def vectors() -> pa.Table:
    numbers = np.arange(3_000 * 8, dtype=np.float32)
    return pa.table({"id": np.arange(3_000), "vector": pa.FixedSizeListArray.from_arrays(numbers, 8)})


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def test_numbers_and_vectors_are_not_copied(tmp_path: Path) -> None:
    lancet.write_table(vectors(), tmp_path / "v.lance")
    batch = lancet.open(tmp_path / "v.lance").take(range(100, 200))
    for name, shape in (("id", (100,)), ("vector", (100, 8))):
        column = batch[name]
        array = column.to_numpy()
        assert array.shape == shape and not array.flags.writeable
        assert address(array) == address(column.to_numpy()) == address(np.asarray(column))
        shared = np.from_dlpack(column)
        assert address(shared) == address(array) and (shared == array).all()
        copied = column.to_numpy(copy=True)
        assert copied.flags.writeable and address(copied) != address(array)
    # The Arrow array of another library has the same memory, too.
    assert batch["id"].to_pyarrow().buffers()[1].address == address(batch["id"].to_numpy())
    # A part of a column begins where the part does.
    assert batch["vector"][3:5].to_numpy().tolist() == batch["vector"].to_numpy()[3:5].tolist()


def test_what_stands_for_null_is_written_to_a_copy(tmp_path: Path) -> None:
    table = pa.table(
        {
            "time": pa.array([None if row % 3 == 0 else row for row in range(300)], pa.timestamp("us")),
            "span": pa.array([None if row % 5 == 0 else row for row in range(300)], pa.duration("ms")),
            "number": pa.array([None if row % 7 == 0 else row / 2 for row in range(300)]),
        }
    )
    lancet.write_table(table, tmp_path / "n.lance")
    for rows in (lancet.open(tmp_path / "n.lance").take(range(300)), lancet.Table(table)):
        for name in table.column_names:
            column = rows[name]
            # Other libraries have these bytes, and those behind nulls are among them.
            shared = column.to_pyarrow().buffers()[1]
            before = shared.to_pybytes()
            found = column.to_numpy()
            found[:] = found[1]
            assert found.flags.writeable and shared.to_pybytes() == before, name
            nothing = np.isnan(column.to_numpy()) if name == "number" else np.isnat(column.to_numpy())
            assert nothing.tolist() == [value is None for value in table[name].to_pylist()], name
            assert column.to_pyarrow().buffers()[1].address == shared.address


def test_nobody_gets_memory_that_must_not_be_written_to(tmp_path: Path) -> None:
    data = written(vectors())
    path = tmp_path / "v.lance"
    path.write_bytes(data)
    before = bytes(bytearray(data))
    theirs = pa.array(np.arange(5.0))
    sources = [
        lancet.open(data).read(),
        lancet.open(data).take(range(3_000)),
        lancet.open(path, memory_map=True).read(),
        next(iter(lancet.open(path, memory_map=True).scan())),
        lancet.open(io.BytesIO(data)).read(),
        lancet.Table(pa.table({"vector": theirs})),
    ]
    for rows in sources:
        column = rows["vector"]
        shared = column.to_numpy()
        assert not shared.flags.writeable
        with pytest.raises(ValueError):
            shared.flags.writeable = True
        taken = np.from_dlpack(column)
        assert (taken == shared).all() and address(taken) != address(shared)
        # As torch does, which asks nobody.
        ctypes.memset(address(taken), 7, taken.nbytes)
        assert (column.to_numpy() == shared).all()
        with pytest.raises(BufferError, match="copy"):
            column.__dlpack__(copy=False)
    assert data == before == path.read_bytes() and theirs.to_pylist() == [0, 1, 2, 3, 4]
    own = lancet.open(path).take(range(5))["vector"]
    assert address(np.from_dlpack(own)) == address(own.to_numpy())
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
        assert address(np.from_dlpack(own, copy=True)) != address(own.to_numpy())


def test_times_that_are_none() -> None:
    columns: dict[str, np.ndarray] = {
        "day": np.array(["2024-01-01", "NaT"], "M8[D]"),
        "nano": np.array(["NaT", "1960-01-01T00:00:00.000000001"], "M8[ns]"),
        "span": np.array([5, "NaT"], "m8[ms]"),
        "pairs": np.array([["2024-01-01", "NaT"], ["2024-01-02", "2024-01-03"]], "M8[us]"),
        "nothing": np.array(["NaT", "NaT"], "M8"),
        "swapped": np.array(["NaT", "2024-01-01"], ">M8[s]"),
        "several": np.array(["NaT", "2024-01-01"], "M8[30s]"),
    }
    file = lancet.open(written(columns))
    found = file.read().to_pyarrow()
    assert [found[name].null_count for name in columns] == [1, 1, 1, 0, 2, 1, 1]
    assert found["day"].to_pylist() == [dt.datetime(2024, 1, 1), None]
    assert found["pairs"].to_pylist()[0] == [dt.datetime(2024, 1, 1), None]
    assert file.count(lancet.col("span").is_null()) == 1
    back = file.read().to_numpy()
    for name in columns:
        if name != "pairs":
            assert np.isnat(back[name]).tolist() == np.isnat(columns[name]).tolist()
    assert (back["nano"][1], back["span"][0]) == (columns["nano"][1], columns["span"][0])
    with pytest.raises(TypeError, match="ps"):
        lancet.Table({"t": np.array([1], "M8[ps]")})


def test_numpy_of_nulls() -> None:
    kinds: dict[str, tuple[pa.DataType, Any]] = {
        "i": (pa.int64(), 3), "u": (pa.uint8(), 3), "f": (pa.float32(), 0.5), "b": (pa.bool_(), True), "t": (pa.timestamp("us"), 7),
        "v": (pa.list_(pa.float32(), 2), [1.0, 2.0]), "w": (pa.list_(pa.int32(), 2), [1, 2]), "x": (pa.list_(pa.bool_(), 2), [True, False]),
    }  # fmt: skip
    table = pa.table({name: pa.array([value, None, value], kind) for name, (kind, value) in kinds.items()})
    for rows in (lancet.Table(table), lancet.open(written(table)).read(), lancet.Table(table)[0:3], lancet.open(written(table)).take([0, 1, 2])):
        arrays = rows.to_numpy()
        assert arrays["i"].dtype == arrays["u"].dtype == np.float64 and np.isnan(arrays["i"][1]) and arrays["u"][2] == 3
        assert arrays["f"].dtype == np.float32 and np.isnan(arrays["f"][1]) and arrays["b"].tolist() == [True, None, True]
        assert np.isnat(arrays["t"]).tolist() == [False, True, False]
        assert arrays["v"].shape == arrays["w"].shape == (3, 2) and np.isnan(arrays["v"][1]).all() and arrays["w"][2].tolist() == [1, 2]
        assert arrays["x"].tolist() == [[True, False], [None, None], [True, False]]
    # An item that is null in a vector that is not: there is no array of numbers for it.
    items = lancet.Table(pa.table({"v": pa.array([[1.0, None], None], pa.list_(pa.float64(), 2))}))
    assert items["v"].to_numpy().tolist() == [[1.0, None], None]


def nested() -> pa.Table:
    """Structs and vectors with nulls, below lists and each other."""
    struct = pa.struct({"x": pa.int64(), "v": pa.list_(pa.float32(), 2), "in": pa.struct({"y": pa.string()})})
    rows = [
        {"x": 1, "v": [1, 2], "in": {"y": "a"}}, None, {"x": None, "v": None, "in": None}, {"x": 4, "v": [None, 4], "in": {"y": None}},
        None, {"x": 6, "v": [5, 6], "in": {"y": "f"}},
    ]  # fmt: skip
    lists = [rows[:2], None, [], rows[2:], [None], rows]
    pairs = [rows[:2], None, rows[2:4], [None, None], rows[4:], rows[1:3]]
    maps = [[("k", row)] if row else None for row in rows]
    return pa.table(
        {
            "struct": pa.array(rows, struct),
            "list": pa.array(lists, pa.list_(struct)),
            "fixed": pa.array(pairs, pa.list_(struct, 2)),
            "map": pa.array(maps, pa.map_(pa.string(), struct)),
            "flag": pa.array([True, None, False, True, None, True]),
        }
    )


def test_nulls_of_nested_rows_arrive() -> None:
    whole = nested()
    for start, length in ((0, 6), (1, 4), (3, 3), (5, 1)):
        part = whole.slice(start, length)
        expected = part.to_pylist()
        [batch] = part.combine_chunks().to_batches()
        for rows in (part, batch, batch.to_struct_array(), pa.chunked_array([batch.to_struct_array()]), pa.RecordBatchReader.from_batches(part.schema, [batch])):
            given = lancet.Table(rows)
            assert given.to_pyarrow().to_pylist() == expected and given.to_pylist() == expected
        for column in part.column_names:
            assert lancet.Table({column: part[column].combine_chunks()})[column].to_pylist() == part[column].to_pylist()
        plain = part.drop_columns(["fixed", "map"])
        assert lancet.open(written(plain)).read().to_pyarrow().to_pylist() == plain.to_pylist()
        assert lancet.Table(part)["struct.in.y"].to_pylist() == [row and row["in"] and row["in"]["y"] for row in part["struct"].to_pylist()]


def test_rows_that_are_null_are_refused() -> None:
    rows = pa.array([{"a": 1}, None, {"a": 3}])
    for given in (rows, pa.chunked_array([rows]), polars.Series([{"a": 1}, None])):
        with pytest.raises(ValueError, match="rows that are null"):
            lancet.Table(given)
        with pytest.raises(ValueError, match="rows that are null"):
            written(given)
    # Those outside of a slice are not meant.
    assert lancet.Table(pa.chunked_array([rows[2:]])).to_pylist() == [{"a": 3}]


def test_what_rows_take() -> None:
    numbers = pa.table({"n": np.arange(1_000_000)})
    assert lancet.Table(numbers.slice(10, 5)).nbytes == 40
    lists = pa.table({"l": pa.array([list(range(100))] * 1_000, pa.list_(pa.int64()))})
    assert 800 * 7 <= lancet.Table(lists.slice(3, 7)).nbytes < 810 * 7
    views = lancet.Table(polars.DataFrame({"s": ["x" * 100] * 10}))
    assert 1_000 <= views.nbytes <= 1_300


def test_memory_outlives_what_it_came_from() -> None:
    file = lancet.open(written(vectors()))
    arrays = [file.take([row])["vector"].to_numpy() for row in range(200)]
    shared = [np.from_dlpack(file.take([row])["id"]) for row in range(200)]
    del file
    for row in range(200):
        assert arrays[row].tolist() == [list(range(row * 8, row * 8 + 8))] and shared[row].tolist() == [row]


def test_numpy_of_every_kind() -> None:
    from test_files import many_types

    batch = lancet.open(written(many_types())).take([0, 1, 2])
    arrays = batch.to_numpy()
    assert arrays["flag"].tolist() == [True, None, False]
    assert arrays["small"].dtype == np.float64 and np.isnan(arrays["small"][1]) and arrays["small"][2] == -3
    assert arrays["half"].dtype == np.float16
    assert arrays["float"].dtype == np.float32 and np.isnan(arrays["float"][1])
    assert arrays["text"].tolist() == ["a", None, "ä" * 40]
    assert arrays["day"].dtype == "M8[D]" and np.isnat(arrays["day"][1]) and str(arrays["day"][0]) == "2024-02-29"
    assert arrays["naive"].dtype == "M8[us]" and arrays["zoned"].dtype == "M8[ms]" and arrays["span"].dtype == "m8[us]"
    assert arrays["list"][1] is None and arrays["list"][2].tolist() == [] and np.isnan(arrays["list"][0][1])
    assert arrays["vector"].tolist() == [[1, 2], [3, 4], [5, 6]]
    assert arrays["struct"][0] == {"x": 1, "y": "a"}
    assert all(len(array) == 3 for array in arrays.values())


def test_numpy_of_several_batches() -> None:
    table = lancet.Table(pa.concat_tables([vectors(), vectors()]))
    array = table["vector"].to_numpy()
    assert array.shape == (6_000, 8) and array[3_000].tolist() == list(range(8))
    with pytest.raises(BufferError, match="one piece"):
        np.from_dlpack(table["vector"])
    assert table.combine()["id"].to_numpy().shape == (6_000,)
    empty = lancet.open(written(vectors())).read(rows=range(0))
    assert empty["vector"].to_numpy().shape == (0, 8) and empty["id"].to_pylist() == []


def test_columns_of_numpy_and_lists() -> None:
    rng = np.random.default_rng(2)
    columns = {
        "id": np.arange(6)[::2],
        "vector": rng.random((3, 4), dtype=np.float32),
        "image": np.arange(3 * 2 * 2, dtype=np.uint8).reshape(3, 2, 2),
        "turned": rng.random((4, 3)).T,
        "swapped": np.array([1, 2, 3], ">i4"),
        "flag": np.array([True, False, True]),
        "when": np.array(["2024-01-01", "2024-01-02", "NaT"], "M8[D]"),
        "span": np.array([1, 2, 3], "m8[ns]"),
        "words": np.array(["a", "b", "c"]),
        "texts": ["x", None, "z"],
        "bytes": [b"x", None, bytearray(b"z")],
        "whole": [1, None, 3],
        "mixed": [1, 2.5, None],
        "truth": [True, None, False],
        "lists": [[1, 2], [3, 4], [5, 6]],
        "arrow": pa.array([{"x": 1}, None, {"x": 3}]),
        "chunked": pa.chunked_array([[1], [2, 3]]),
        "series": pandas.Series([1.5, 2.5, 3.5]),
        "frame": polars.Series([1, 2, 3]),
        "nulls": polars.Series([2**60 + 1, None, 3]),
    }
    file = lancet.open(written(columns))  # type: ignore[arg-type]
    found = file.read()
    assert found.column_names == list(columns)
    for name in ("id", "vector", "image", "turned", "swapped", "flag", "span"):
        assert (found[name].to_numpy() == columns[name]).all(), name
    assert found["image"].type == "FixedSizeList(2 x FixedSizeList(2 x UInt8))"
    assert found["vector"].type == "FixedSizeList(4 x Float32)"
    assert str(found["when"].to_numpy()[1]).startswith("2024-01-02") and found["words"].to_pylist() == ["a", "b", "c"]
    for name in ("texts", "whole", "mixed", "truth", "lists"):
        assert found[name].to_pylist() == columns[name], name
    assert found["bytes"].to_pylist() == [b"x", None, b"z"] and found["arrow"].to_pylist() == [{"x": 1}, None, {"x": 3}]
    assert found["series"].to_pylist() == [1.5, 2.5, 3.5] and found["frame"].to_pylist() == found["chunked"].to_pylist() == [1, 2, 3]
    assert found["nulls"].to_pylist() == [2**60 + 1, None, 3]
    with pytest.raises(TypeError, match="masked array"):
        lancet.Table({"a": np.ma.masked_array([1, 2], [True, False])})
    with lancet.Writer(io.BytesIO(), found.schema) as writer:
        writer.write(columns)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="`b` has 1 rows"):
        lancet.Table({"a": [1, 2], "b": [1]})
    assert lancet.Table({}).num_rows == 0


def test_dlpack_refuses_what_it_has_no_type_for() -> None:
    table = lancet.Table(pa.table({"s": ["a"], "n": [None], "t": pa.array([0], pa.timestamp("us")), "x": pa.array([1, ])}))
    for name in "snt":
        with pytest.raises(BufferError):
            np.from_dlpack(table[name])
    assert table["x"].__dlpack_device__() == (1, 0)


def test_pyarrow_polars_duckdb_pandas(in_samples: Path) -> None:
    file = lancet.open("cities.lance")
    table, batch, scan = file.read(), file.take([0, 1]), file.scan()
    assert pa.table(table).equals(cities()) and pa.record_batch(batch).num_rows == 2
    assert pa.schema(file.schema) == cities().schema
    assert pa.array(table["name"]).to_pylist() == cities()["name"].to_pylist()
    frame = polars.DataFrame(cities())
    for rows in (file, table, scan):
        assert polars.DataFrame(rows).equals(frame)
        assert duckdb.sql("select sum(population) from rows").fetchall() == [(5_638_582,)]
        # Again, and by another way.
        assert duckdb.from_arrow(rows).filter("id > 20").count("*").fetchall() == [(3,)]
    assert polars.Series(table["name"]).to_list() == table["name"].to_polars().to_list() == cities()["name"].to_pylist()
    assert table.to_polars().equals(frame) and file.to_polars().equals(frame)
    assert table.to_pandas().equals(cities().to_pandas())
    assert lancet.Table(frame).to_pyarrow()["id"].to_pylist() == [10, 20, 30, 40, 50]
    assert lancet.Table(pandas.DataFrame({"a": [1, 2]})).to_pydict() == {"a": [1, 2]}
    assert lancet.Table(duckdb.sql("select 1 as a")).to_pydict() == {"a": [1]}


ALONE = """
import sys

class Blind:
    def __init__(self, finder):
        self.finder = finder

    def __getattr__(self, name):
        return getattr(self.finder, name)

    def find_spec(self, name, path=None, target=None):
        return None if name.split(".")[0] in BLOCKED else self.finder.find_spec(name, path, target)

BLOCKED = set(sys.argv[1].split(","))
sys.meta_path[:] = map(Blind, sys.meta_path)
import lancet

file = lancet.open("cities.lance")
assert file.take([1]).to_pylist()[0]["name"] == "Lyon"
if "numpy" not in BLOCKED:
    assert file.to_numpy()["id"].tolist() == [10, 20, 30, 40, 50]
if "polars" not in BLOCKED:
    import polars
    assert polars.DataFrame(file).height == 5
    assert lancet.scan_polars("cities.lance").select("id").collect().height == 5
    lancet.write_table(polars.DataFrame(file), sys.argv[2])
    assert lancet.open(sys.argv[2]).num_rows == 5
if "duckdb" not in BLOCKED:
    import duckdb
    assert duckdb.sql("select count(*) from file").fetchall() == [(5,)]
if "pandas" not in BLOCKED:
    assert file.to_pandas()["name"].tolist()[4] == "Turin"
print("fine", "pyarrow" in sys.modules, "numpy" in sys.modules)
"""


@pytest.mark.parametrize("blocked", ["pyarrow", "pyarrow,pandas,duckdb", "pyarrow,numpy,polars,pandas,duckdb"])
def test_without_pyarrow(in_samples: Path, tmp_path: Path, blocked: str) -> None:
    script = [sys.executable, "-c", ALONE, blocked, str(tmp_path / "new.lance")]
    done = subprocess.run(script, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout.startswith("fine False"), done.stderr


def test_nothing_else_is_imported(in_samples: Path) -> None:
    code = "import sys, lancet; lancet.open('cities.lance').take([0]).to_pylist(); print(sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    for name in ("numpy", "pyarrow", "polars", "pandas", "typing", "dataclasses", "inspect"):
        assert f"'{name}'" not in done.stdout


def test_views_for_people(in_samples: Path) -> None:
    file = lancet.open("cities.lance")
    text = repr(file.read())
    assert "5 rows, 3 columns" in text and "Basel" in text and "Int64" in text
    html = lancet.Table(pa.table({"<b>": ["<script>"], "v": [[0.5] * 700], "b": [b"x" * 5_000], "n": pa.nulls(1)}))._repr_html_()
    assert "<script>" not in html and "&lt;script&gt;" in html and "… 700" in html and "5 KB" in html and "null" in html
    assert "first 10 are shown" in lancet.Table(pa.table({"x": range(11)}))._repr_html_()
    assert "cities.lance, format 2.2" in file._repr_html_() and "5 rows, 3 columns<" in file._repr_html_()
    assert "100,000 rows, 1 column; the first 10 are shown" in lancet.open("numbers.lance")._repr_html_()
    wide = lancet.Table(pa.table({f"c{i}": [i] for i in range(30)}))
    assert "10 columns" in repr(wide) and "10 columns are not" in wide._repr_html_()
    nanos = lancet.Table(pa.table({"t": pa.array([1], pa.timestamp("ns"))}))
    assert "1 row" in repr(nanos) and nanos["t"].to_numpy().dtype == "M8[ns]"
    with pytest.raises(ValueError, match="nanoseconds"):
        nanos.to_pylist()
    assert repr(file.read()["name"]).startswith("name: Utf8 [Basel, Lyon")
    for thing in (file, file.scan(), file.inspect(), file.verify(), lancet.col("a").is_in([1]), file.statistics()):
        assert repr(thing)


def test_lists_of_scalars() -> None:
    columns = {
        "f": [np.float32(1), np.float32(2)],
        "i": [np.int64(1), None],
        "b": [np.bool_(True), np.bool_(False)],
        "t": [np.datetime64("2024-01-01T00:00:01", "ns"), None],
        "s": [np.str_("a"), np.str_("b")],
    }
    table = lancet.Table(columns)
    assert [column.type for column in table.columns()] == ["Float32", "Int64", "Boolean", "Timestamp(ns)", "Utf8"]
    assert table["i"].to_pylist() == [1, None] and table["t"].null_count == 1 and table["s"].to_pylist() == ["a", "b"]


def test_frames_that_were_cut(tmp_path: Path) -> None:
    """The numbers that rows have from a frame before are no column; an index with a name is."""
    frame = pandas.DataFrame({"x": [1, 2, 3, 4, 5]})
    part = frame[frame.x.isin([1, 4, 5])]
    table = lancet.create_table(frame, tmp_path / "t")
    table.append(part)
    table.append([part, part[::-1]])
    table.merge(part.assign(x=[7, 8, 9]), on="x")
    assert table.read().to_pydict() == {"x": [1, 2, 3, 4, 5, 1, 4, 5, 1, 4, 5, 5, 4, 1, 7, 8, 9]}
    lancet.write_table(part, tmp_path / "f.lance")
    with lancet.Writer(tmp_path / "w.lance", part) as writer:
        writer.write(part)
    for name in ("f", "w"):
        assert lancet.open(tmp_path / f"{name}.lance").column_names == ["x"]
    assert lancet.Table(part).column_names == ["x"]
    assert lancet.Table(frame.set_index(pandas.Index(list("abcde"), name="key"))).column_names == ["x", "key"]
    assert len(lancet.Table(frame.set_index(pandas.Index(list("abcde")))).column_names) == 2


def test_rows_in_brackets(tmp_path: Path) -> None:
    file = lancet.open(written(cities()))
    for key in ([-1, 0], np.array([-1, 0]), np.array([-1, 0], np.int8), pa.array([-1, 0]), pa.chunked_array([[-1], [0]]), polars.Series([-1, 0])):
        assert file[key]["name"].to_pylist() == ["Turin", "Basel"]
    for rows in (polars.Series([4, 0]), pa.chunked_array([[4], [0]]), pandas.Series([4, 0]), np.array([4, 0], np.uint8)):
        assert file.take(rows)["name"].to_pylist() == file[rows]["name"].to_pylist() == ["Turin", "Basel"]
    with pytest.raises(TypeError, match="mask"):
        file[np.array([True, False])]
    with pytest.raises((TypeError, ValueError)):
        file[pa.array([1, None])]


def test_less_than_nothing(tmp_path: Path) -> None:
    data = written(cities())
    table = lancet.create_table(cities(), tmp_path / "t")
    for rows in (lancet.open(data), table):
        for options in ({"limit": -1}, {"batch_rows": -1}, {"batch_bytes": -1}, {"threads": -1}):
            with pytest.raises(ValueError, match="negative"):
                rows.scan(**options)
    for numbers in ({"page_bytes": -1}, {"memory_limit": -1}, {"threads": -1}):
        with pytest.raises(ValueError, match="negative"):
            lancet.write_table(cities(), tmp_path / "f", **numbers)
    with pytest.raises(ValueError, match="no version"):
        table.checkout(-1)
    for options in ({"threads": -1}, {"memory_limit": -1}):
        with pytest.raises(ValueError, match="negative"):
            lancet.open(data, **options)
        with pytest.raises(ValueError, match="negative"):
            lancet.open_table(table.path, **options)


def test_nanoseconds_in_reports() -> None:
    numbers = np.arange(30_000) ** 2 * 1_001 + 1_001
    times = pa.array(numbers, pa.timestamp("ns"))
    clock = pa.array([*numbers[:-1], 86_399_999_999_999], pa.time64("ns"))
    table = pa.table({"t": times, "c": clock, "d": pa.array(-numbers, pa.duration("ns")), "i": numbers})
    file = lancet.open(written(table))
    found = file.statistics()
    t, c, d, i = (found[name] for name in "tcdi")
    assert t is not None and c is not None and d is not None and i is not None
    micro, epoch = dt.timedelta(microseconds=1), dt.datetime(1970, 1, 1)
    last = int(numbers[-1]) // 1_000 + 1
    assert (t.min, t.max, t.exact) == (epoch + micro, epoch + last * micro, False)
    assert (c.min, c.max, c.exact) == (dt.time(microsecond=1), dt.time.max, False)
    assert (d.min, d.max, d.exact) == (-last * micro, -micro, False)
    assert (i.min, i.max, i.exact) == (numbers[0], numbers[-1], True)
    assert file.read() == lancet.Table(table) and file.read() != lancet.Table(table.slice(1))


def test_equal_tables() -> None:
    one = lancet.Table(pa.table({"x": pa.chunked_array([[1, 2], [3]]), "s": ["a", None, "c"]}))
    other = lancet.Table(pa.table({"x": [1, 2, 3], "s": ["a", None, "c"]}))
    assert one == other and one != lancet.Table(pa.table({"x": [1, 2, 4], "s": ["a", None, "c"]}))
    assert one != lancet.Table(pa.table({"x": [1.0, 2.0, 3.0], "s": ["a", None, "c"]})) and one != 3
    assert lancet.Table({"f": [0.5, float("nan")]}) == lancet.Table({"f": [0.5, float("nan")]})
    sliced = lancet.Table(pa.table({"x": [0, 1, 2, 3], "s": ["x", "a", None, "c"]}).slice(1))
    assert one == sliced


def test_arrays_of_whole_files_are_those_of_their_rows(tmp_path: Path) -> None:
    """However many batches are read: what a column is may be known only from a later one."""
    count = 150_000
    rng = np.random.default_rng(3)
    late = [None if row == 140_000 else row for row in range(count)]
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(rng.random(count * 2)), 2)
    table = pa.table(
        {
            "int": range(count),
            "int with a null": late,
            "float with nulls": pa.array(rng.random(count), mask=rng.random(count) < 0.1),
            "bool": rng.random(count) < 0.5,
            "bool with nulls": pa.array(rng.random(count) < 0.5, mask=rng.random(count) < 0.1),
            "day": pa.array([None if row == 0 else row % 20_000 for row in range(count)], pa.date32()),
            "time": pa.array(late, pa.timestamp("us")),
            "word": pa.array([None if row % 7 == 0 else f"word {row % 100}" for row in range(count)]),
            "text": [f"text {row}" for row in range(count)],
            "bytes": [b"%d" % row for row in range(count)],
            "vector": vectors,
            "list": pa.array([[row, row] if row % 3 else [] for row in range(count)], pa.list_(pa.int32())),
        }
    )
    lancet.write_table(table, tmp_path / "many.lance")
    file = lancet.open(tmp_path / "many.lance")
    found, wanted = file.to_numpy(), file.read().to_numpy()
    assert list(found) == table.column_names
    for name, array in found.items():
        other = wanted[name]
        assert array.dtype == other.dtype and array.shape == other.shape, name
        if name == "list":
            assert all(np.array_equal(one, another) for one, another in zip(array, other))
        elif array.dtype == object:
            assert array.tolist() == other.tolist() == table[name].to_pylist(), name
        else:
            np.testing.assert_array_equal(array, other, err_msg=name)
    assert all(array.flags.writeable for array in found.values())
    # An item that is null in a vector of a late batch makes objects of all.
    items = rng.random(count * 2).tolist()
    items[-1] = None
    table = pa.table({"vector": pa.FixedSizeListArray.from_arrays(pa.array(items), 2)})
    lancet.write_table(table, tmp_path / "null item.lance")
    array = lancet.open(tmp_path / "null item.lance").to_numpy()["vector"]
    assert array.dtype == object and len(array) == count and list(array[0]) == items[:2]
    assert lancet.open(written(cities().slice(0, 0))).to_numpy()["name"].shape == (0,)


def test_texts_that_repeat_are_what_they_were() -> None:
    words = [f"{row % 3_000}" if row % 4 else None for row in range(9_000)] + ["a" * 65, "a" * 65, "", "é", "\0", "\0\0"]
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        column = lancet.Table(pa.table({"word": pa.array(words, kind)}))["word"]
        assert column.to_pylist() == words and column.to_numpy().tolist() == words


TAKES = """
import resource, sys
import lancet

file = lancet.open(sys.argv[1])
for takes in (5, 20):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(takes):
        file.take(range(100)).to_numpy()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def test_memory_of_objects_is_used_again(tmp_path: Path) -> None:
    images = pa.table({"image": [os.urandom(20_000) for _ in range(100)]})
    lancet.write_table(images, tmp_path / "i.lance")
    # Another process: what this one has let go may have taught the allocator before.
    done = subprocess.run([sys.executable, "-c", TAKES, str(tmp_path / "i.lance")], capture_output=True, text=True, check=True)
    pages = 20 * 100 * 20_000 // 4096
    assert int(done.stdout) < pages // 4
