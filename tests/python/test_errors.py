"""Errors as Python users know them; no bytes at all make it panic."""

from __future__ import annotations

import datetime as dt
import io
import random
import re
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest
from conftest import ROOT, cities, written

import lancet


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="missing.lance") as caught:
        lancet.open(tmp_path / "missing.lance")
    assert caught.value.errno == 2
    with pytest.raises(FileNotFoundError):
        lancet.open_table(tmp_path / "missing")
    with pytest.raises(IsADirectoryError, match="name one file"):
        lancet.open(tmp_path)


def test_files_opened_as_text(tmp_path: Path) -> None:
    path = tmp_path / "a.lance"
    with path.open("w") as file, pytest.raises(TypeError, match='opened as text; open it with the mode "wb"'):
        lancet.write_table(cities(), file)  # type: ignore[arg-type]
    lancet.write_table(cities(), path)
    with path.open() as file, pytest.raises(TypeError, match='opened as text; open it with the mode "rb"'):
        lancet.open(file)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="opened as text"):
        lancet.read_table(io.StringIO("text"))  # type: ignore[arg-type]
    with tempfile.NamedTemporaryFile("w+") as text, pytest.raises(TypeError, match="opened as text"):
        lancet.open(text)  # type: ignore[arg-type]
    with path.open("rb") as file:
        assert lancet.open(file).num_rows == 5


def test_masks_are_not_rows() -> None:
    file = lancet.open(written({"a": [1, 2, 3]}))  # type: ignore[arg-type]
    flags = [True, False, True]
    for mask in (flags, [0, True], np.array(flags), [np.True_], pa.array(flags), polars.Series(flags), pandas.Series(flags)):
        with pytest.raises(TypeError, match="numpy.flatnonzero"):
            file.take(mask)


def test_numbers_that_are_not_of_rows(tmp_path: Path) -> None:
    """What is wrong is named, and so is what would be right."""
    table = lancet.create_table({"a": [1, 2, 3]}, tmp_path / "t")
    day = dt.date(2024, 1, 1)
    wrong: list[tuple[object, str]] = [
        ([0, 1.0], "1.0 of type float"), ([None], "None of type NoneType"), (["1"], "'1' of type str"), ([[0]], "[0] of type list"),
        ([Decimal(1)], "Decimal('1') of type Decimal"), (np.array([1.5, 0]), "1.5 of type float"), (np.array([[0, 1]]), "[0, 1] of type list"),
        (np.array([day], "M8[D]"), "of type date"), (polars.Series([1.5]), "1.5 of type float"), (pandas.Series([0, None]), "0.0 of type float"),
        (pa.array([1.5]), "type Float64"), ([np.float64(2)], "2.0"), (1, "type int"), (np.int64(1), "type int"), ("01", "type str"),
        (b"ab", "type bytes"), ({1}, "type set"), (slice(0, 1), "type slice"), (None, "type NoneType"), (pa.array([0, None]), "null"),
    ]  # fmt: skip
    for rows, said in wrong:
        for verb in (table.take, lancet.open(written(cities())).take, table.take_row_ids, lambda rows: table.delete(addresses=rows)):
            if rows is None and verb not in (table.take, table.take_row_ids):
                continue
            with pytest.raises((TypeError, ValueError), match=re.escape(said) + r".*whole numbers from 0 to 2\*\*64-1"):
                verb(rows)  # type: ignore[operator]
    for rows in ([2**64], [2**200], [-(2**70)], [-1], [3], [2**64 - 1], np.array([-1])):
        with pytest.raises(IndexError, match=f"{rows[0]} is "):
            table.take(rows)
    for rows in ([2**64], [-1], [2**200]):
        with pytest.raises((ValueError, IndexError), match=f"{rows[0]} .*2\\*\\*64-1"):
            table.take_row_ids(rows)
    for rows in (np.array([2, 0], ">i8"), np.array([2, 0], object), [np.int8(2), 0], (2, 0), np.array([2, 9, 0])[::2]):
        assert table.take(rows)["a"].to_pylist() == [3, 1]


def test_columns_that_are_not_there(in_samples: Path) -> None:
    file = lancet.open("cities.lance")
    tries = [
        lambda: file.take([0], columns=["nam"]),
        lambda: file.read(columns=["nam"]),
        lambda: file.select(["nam"]),
        lambda: file.statistics(["nam"]),
        lambda: file.blobs("nam"),
        lambda: file.read(filter=lancet.col("nam") == "x"),
        lambda: file["nam"],
    ]
    for attempt in tries:
        with pytest.raises(KeyError, match="name") as caught:
            attempt()
        assert isinstance(caught.value, lancet.UnknownColumnError)
        # A KeyError would show its argument as code.
        assert str(caught.value) == "there is no column `nam`; did you mean `name`? There are `id`, `name`, `population`"
    with pytest.raises(KeyError, match="`name`"):
        file.read()["nam"]


def test_columns_that_are_not_in_a_table(tmp_path: Path) -> None:
    table = lancet.create_table(pa.table({"id": [1], "doc": [{"title": "a"}], **{f"c{n}": [n] for n in range(20)}}), tmp_path / "t")
    tries = [
        lambda: table.take([0], columns=["idd"]),
        lambda: table.read(columns=["c1", "idd"]),
        lambda: table.count(lancet.col("idd") == 1),
        lambda: table.delete([("idd", "==", 1)]),
        lambda: table.update({"idd": 1}),
        lambda: table.update({"idd": [1]}, rows=[0]),
        lambda: table.update(pa.table({"idd": [1]}), rows=[0]),
        lambda: table.append({"idd": [1]}),
        lambda: table.append(pa.table({"idd": [1]})),
        lambda: table.merge({"idd": [1]}, on="idd"),
        lambda: table.merge({"id": [1], "idd": [1]}, on="id"),
        lambda: table.drop_columns("idd"),
        lambda: table.rename_column("idd", "x"),
        lambda: table.reorder_columns(["idd"]),
        lambda: table.set_nullable("idd", True),
        lambda: table.retype_column("idd", pa.int8()),
        lambda: table.statistics(["idd"]),
        lambda: table.statistics("idd"),  # type: ignore[arg-type]
        lambda: table.blobs("idd"),
    ]
    for attempt in tries:
        with pytest.raises(lancet.UnknownColumnError, match="no column `idd`.*did you mean `id`.* `id`, `doc`, `c0`, .* and 10 more"):
            attempt()
    with pytest.raises(KeyError, match="did you mean `doc.title`"):
        table.read(columns=["doc.titel"])
    with pytest.raises(KeyError, match="there is no column `x` in the rows; there are `id`"):
        table.merge({"id": [1]}, on="x")
    with pytest.raises(KeyError, match="there is no column `doc` in this view; there are `id`, `c1`"):
        table.select(["id", "c1"]).read(columns=["doc"])
    for wrong in (1, b"id", [1], [None], lancet.col("id"), [lancet.col("id")]):
        with pytest.raises(TypeError, match="columns are"):
            table.read(columns=wrong)  # type: ignore[arg-type]
    assert table.version == 1 == table.checkout().version


def test_options_that_make_no_sense(tmp_path: Path) -> None:
    """Which one it is, and what it should be."""
    table = lancet.create_table(cities(), tmp_path / "t")
    data, path = written(cities()), str(tmp_path / "t")
    wrong: list[tuple[Any, str]] = [
        (lambda: lancet.open(data, memory_limit="4GB"), "`memory_limit` is a whole number, not '4GB' of type str"),
        (lambda: lancet.open(data, memory_limit=2**70), "`memory_limit` is less than"),
        (lambda: lancet.open(data, threads=1.5), "`threads` is a whole number, not 1.5"),
        (lambda: lancet.open(data, verify_checksums="no"), "`verify_checksums`: "),
        (lambda: lancet.open(data).read(limit=1.5), "`limit` is a whole number, not 1.5"),
        (lambda: lancet.open(data).read(limit=2**70), "`limit` is less than"),
        (lambda: list(lancet.open(data).scan(batch_rows="9")), "`batch_rows` is a whole number"),
        (lambda: lancet.open(data).read(rows=5), "`rows` is a range"),
        (lambda: lancet.open(""), "the path is empty"),
        (lambda: lancet.create_table(cities(), ""), "the path is empty"),
        (lambda: lancet.write_table(cities(), ""), "the path is empty"),
        (lambda: lancet.open_table(path, version="1"), "`version` is a whole number, not '1'"),
        (lambda: lancet.open_table(path, version=1.0), "`version` is a whole number, not 1.0"),
        (lambda: lancet.open_table(path, tag=1), "`tag` is a name, not 1"),
        (lambda: lancet.open_table(path, branch=b"b"), "`branch` is a name"),
        (lambda: lancet.open_table(path, timestamp=dt.date(2024, 1, 1)), "`timestamp` is a datetime.datetime, not"),
        (lambda: lancet.open_table(path, timestamp=dt.datetime(1900, 1, 1)), "had no versions at that time"),
        (lambda: table.checkout("1"), "`version` is a whole number"),
        (lambda: table.compact(target_rows=-1), "`target_rows` cannot be negative"),
        (lambda: table.compact(deleted_share=2), "`deleted_share` is a number from 0 to 1, not 2"),
        (lambda: table.compact(deleted_share=float("nan")), "`deleted_share` is a number from 0 to 1, not nan"),
        (lambda: table.cleanup(older_than=5), "`older_than` is a datetime.timedelta"),
        (lambda: table.cleanup(keep_versions=-1), "`keep_versions` cannot be negative"),
        (lambda: table.append({"id": [1]}, message=5), "`message`: "),
        (lambda: table.append({"id": [1]}, timeout="soon"), "`timeout`: "),
        (lambda: table.append({"id": [1]}, attempts=-1), "`attempts` cannot be negative"),
        (lambda: lancet.create_table(cities(), tmp_path / "n", stable_row_ids="no"), "`stable_row_ids`: "),
        (lambda: lancet.create_table(cities(), tmp_path / "n", max_rows_per_fragment=-1), "`max_rows_per_fragment` cannot be"),
        (lambda: lancet.write_table(cities(), tmp_path / "n", version=2.2), "`version`: "),
        (lambda: lancet.write_table(cities(), tmp_path / "n", columns={"name": "zstd"}), '{"text": {"compression": "zstd"}}'),
        (lambda: lancet.write_table(cities(), tmp_path / "n", columns=["name"]), '{"text": {"compression": "zstd"}}'),
        (lambda: lancet.Dataset(path), "`lancet.open_table` opens tables"),
        (lambda: lancet.File(path), "`lancet.open` opens files"),
    ]  # fmt: skip
    for attempt, said in wrong:
        with pytest.raises((TypeError, ValueError), match=re.escape(said)):
            attempt()
    assert lancet.open_table(path, timestamp=dt.datetime(9000, 1, 1)).version == 1
    lancet.write_table(cities(), tmp_path / "a.lance")
    with pytest.raises(NotADirectoryError, match="use `lancet.open`"):
        lancet.open_table(tmp_path / "a.lance")
    assert sorted(found.name for found in tmp_path.iterdir()) == ["a.lance", "t"] and table.checkout().version == 1


def test_rows_that_are_none(tmp_path: Path) -> None:
    table, file = lancet.create_table(cities(), tmp_path / "t"), tmp_path / "f"
    wrong: list[tuple[Any, str]] = [
        # A text is a list of letters, too.
        ({"name": "abc"}, "column `name` is a single value of type str"),
        ({"id": 5}, "column `id` is a single value of type int"),
        ([{"id": 1, "name": "x"}], "column `id` is a single value of type int"),
        ({"id": {"x": 1}}, "column `id` is a single value of type dict"),
        ({1: [1]}, "named by texts, not by 1 of type int"),
        (polars.DataFrame({"id": [1]}).lazy(), "LazyFrame has no Arrow rows.*collect"),
        (polars.Series("id", [1]), "values of one column"),
        (pandas.Series([1]), "values of one column"),
        ([1, 2], "int has no Arrow rows"),
        (np.zeros((2, 2)), "ndarray has no Arrow rows"),
        ("id", "str has no Arrow rows"),
        (None, "NoneType has no Arrow rows"),
    ]  # fmt: skip
    for rows, said in wrong:
        for verb in (lambda rows: lancet.write_table(rows, file), table.append, table.overwrite, lambda rows: lancet.create_table(rows, file)):
            with pytest.raises(TypeError, match=said):
                verb(rows)
    for attempt, said in (
        (lambda: lancet.create_table({}, file), "the rows have no columns"),
        (lambda: table.append({}), "the rows have no columns"),
        (lambda: table.update({}), "no columns to update"),
        (lambda: table.add_columns({}), "no columns to add"),
        (lambda: lancet.Table({"a": [None]}), "column `a` has no value that would tell its type"),
        (lambda: lancet.Table({"a": [1, "x"]}), "column `a`: "),
        (lambda: lancet.Table({"a": [2**63]}), "column `a`: "),
        (lambda: table.update({1: 5}), "named by texts"),
        (lambda: table.retype_column("id", pa.int8(), lambda column: [1]), "gives an Arrow array"),
    ):
        with pytest.raises((TypeError, ValueError, OverflowError), match=said):
            attempt()
    assert not file.exists() and table.checkout().version == 1
    # Columns by their names are rows wherever rows are, and parts of them.
    assert lancet.write_table([{"id": [1]}, {"id": [2, 3]}], file).num_rows == 3


def test_values_that_are_lists(tmp_path: Path) -> None:
    """A text is no list of its letters, a dict none of its keys."""
    kinds = {"tags": pa.list_(pa.string()), "large": pa.large_list(pa.string()), "pair": pa.list_(pa.float32(), 2)}
    made = {name: pa.array([["x", "y"] if name != "pair" else [1, 2]], kind) for name, kind in kinds.items()}
    table = lancet.create_table(pa.table({**made, "n": [1]}), tmp_path / "t")
    for name in kinds:
        for value in ("xy", {"x": 1, "y": 2}, 5):
            with pytest.raises(TypeError, match=f"column `{name}` has"):
                table.append({name: [value]})
            with pytest.raises(TypeError, match=f"column `{name}` has"):
                table.update({name: value}, rows=[0])
    assert table.update({"tags": ["a", "b"], "pair": (3, 4)}, rows=[0]).rows_updated == 1
    assert table[0] == {"tags": ["a", "b"], "large": ["x", "y"], "pair": [3, 4], "n": 1}
    with pytest.raises(TypeError, match="hold"):
        table.update({"n": lancet.col("n")})
    for rows in ([], (), iter([])):
        for verb in (table.append, table.overwrite, lambda rows: lancet.create_table(rows, tmp_path / "n")):
            with pytest.raises(ValueError, match="there are no rows"):
                verb(rows)
    with pytest.raises(TypeError, match="list has no Arrow rows"):
        table.merge([{"n": [1]}], on="n")  # type: ignore[arg-type]


def test_columns_are_in(tmp_path: Path) -> None:
    # Otherwise all rows would be compared with the name.
    for rows in (lancet.open(written(cities())), lancet.create_table(cities(), tmp_path / "t"), lancet.Table(cities())):
        assert "name" in rows and "nam" not in rows and 0 not in rows
        assert "name" in rows.schema and "nam" not in rows.schema
        assert len(list(rows)) == 5
    with pytest.raises(TypeError, match="several rows are named by a slice"):
        lancet.Table(cities())[[0, 1]]  # type: ignore[list-item]


def test_rows_of_blobs(in_samples: Path) -> None:
    blobs = lancet.open("photos.lance").blobs("photo")
    for wrong in ("a", 1.0, None, slice(0, 1)):
        for attempt in (lambda: blobs[wrong], lambda: blobs.sizes([wrong]), lambda: blobs.read_ranges([(wrong, 0, 1)])):  # type: ignore[index, list-item]
            with pytest.raises(TypeError, match="rows are named by whole numbers, not by"):
                attempt()
    for row in (3, -4):
        with pytest.raises(IndexError, match="out of range"):
            blobs[row]
    assert blobs[np.int64(-1)].read() == b"two long photos" and blobs[-2] is None  # type: ignore[index, union-attr]


def test_corrupt_files(tmp_path: Path) -> None:
    for data in (b"", b"x", b"PAR1 and something else", written(cities())[:-1]):
        with pytest.raises(lancet.CorruptFileError) as caught:
            lancet.open(data)
        assert isinstance(caught.value, OSError) and caught.value.rule and str(caught.value).startswith("corrupt file")
    table = pa.table({"id": range(10), "text": [f"{i} is a number that has a long text" * 3 for i in range(10)]})
    data = bytearray(written(table))
    report = lancet.open(bytes(data)).inspect()
    buffer = report.columns[1].pages[0].buffers[-1]
    data[buffer.position] ^= 0xFF
    with pytest.raises(lancet.CorruptFileError) as caught:
        lancet.open(bytes(data), verify_checksums=True).take([3])
    assert "checksum" in str(caught.value)
    data[buffer.position : buffer.position + buffer.bytes] = b"\xff" * buffer.bytes
    with pytest.raises(lancet.CorruptFileError) as caught:
        lancet.open(bytes(data)).read()
    error = caught.value
    assert (error.column, error.column_index, error.page) == ("text", 1, 0) and error.rule


def test_limits() -> None:
    table = pa.table({"n": range(200_000)})
    file = lancet.open(written(table), memory_limit=20_000)
    with pytest.raises(lancet.LimitError) as caught:
        file.take(range(200_000))
    error = caught.value
    assert isinstance(error, MemoryError) and error.option == "memory_limit" and error.limit == 20_000
    assert error.needed is not None and error.needed > 20_000


def test_unsupported(tmp_path: Path) -> None:
    union = pa.UnionArray.from_dense(pa.array([0], pa.int8()), pa.array([0], pa.int32()), [pa.array([1])])
    with pytest.raises(NotImplementedError) as caught:
        lancet.write_table(pa.table({"u": union}), tmp_path / "u.lance")
    assert isinstance(caught.value, lancet.UnsupportedError)
    assert list(tmp_path.iterdir()) == []


def test_errors_are_sent() -> None:
    import pickle

    for error in (
        lancet.UnknownColumnError("no"),
        lancet.UnsupportedError("no"),
        lancet.Error("no"),
    ):
        assert str(pickle.loads(pickle.dumps(error))) == "no"


def read_everything(data: bytes) -> None:
    file = lancet.open(data, memory_limit=64 << 20)
    rows = file.num_rows
    for batch in file.scan(batch_rows=1_000):
        batch.to_pylist()
        break
    file.take([0, rows - 1] if rows else [])
    file.inspect()
    file.verify()
    for name in file.column_names:
        file.count(lancet.col(name).is_null())
    file.statistics()


@pytest.mark.parametrize("seed", range(4))
def test_damaged_files(seed: int) -> None:
    rng = random.Random(seed)
    small = sorted((ROOT / "crates/lancet/tests/small").glob("*.lance"))
    assert len(small) > 20
    outcomes = {"fine": 0, "refused": 0}
    for path in small[seed::4]:
        data = path.read_bytes()
        for _ in range(25):
            damaged = bytearray(data)
            for _ in range(rng.randint(1, 3)):
                damaged[rng.randrange(len(damaged))] = rng.randrange(256)
            try:
                read_everything(bytes(damaged))
                outcomes["fine"] += 1
            except (lancet.CorruptFileError, lancet.UnsupportedError, lancet.LimitError, ValueError, OverflowError):
                # Dates may be beyond those of Python.
                outcomes["refused"] += 1
    assert outcomes["fine"] and outcomes["refused"]
