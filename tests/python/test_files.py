"""Files: written and read, in every way there is to ask for rows."""

from __future__ import annotations

import datetime as dt
import io
import os
import pickle
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pytest
from conftest import ROOT, cities, written

import lancet


def many_types() -> pa.Table:
    """A column of each type, with nulls."""
    when = dt.datetime(2024, 2, 29, 12, 30, 1, 5)
    columns = {
        "flag": pa.array([True, None, False]),
        "small": pa.array([1, None, -3], pa.int8()),
        "large": pa.array([2**63, None, 1], pa.uint64()),
        "half": pa.array(np.array([1.5, 0, -2], np.float16)),
        "float": pa.array([1.25, None, float("inf")], pa.float32()),
        "text": pa.array(["a", None, "ä" * 40]),
        "bytes": pa.array([b"\x00", None, b""]),
        "fixed": pa.array([b"abc", None, b"def"], pa.binary(3)),
        "day": pa.array([dt.date(2024, 2, 29), None, dt.date(1969, 1, 1)]),
        "time": pa.array([dt.time(1, 2, 3, 4), None, dt.time(0)]),
        "naive": pa.array([when, None, when], pa.timestamp("us")),
        "zoned": pa.array([when.replace(tzinfo=dt.timezone.utc), None, None], pa.timestamp("ms", "Europe/Zurich")),
        "span": pa.array([dt.timedelta(days=-1, microseconds=3), None, dt.timedelta(0)]),
        "price": pa.array([Decimal("12.50"), None, Decimal("-0.01")], pa.decimal128(10, 2)),
        "list": pa.array([[1, None, 3], None, []], pa.list_(pa.int32())),
        "vector": pa.array([[1, 2], [3, 4], [5, 6]], pa.list_(pa.float32(), 2)),
        "struct": pa.array([{"x": 1, "y": "a"}, None, {"x": None, "y": "b"}]),
        "map": pa.array([[("a", 1)], None, []], pa.map_(pa.string(), pa.int64())),
        "word": pa.array(["a", None, "a"]).dictionary_encode(),
        "nothing": pa.nulls(3),
    }
    return pa.table(columns)


def test_every_type_comes_back_as_pyarrow_has_it() -> None:
    table = many_types()
    file = lancet.open(written(table))
    found = file.read()
    assert found.to_pyarrow().equals(table)
    assert found.to_pylist() == table.to_pylist()
    assert file.take([2, 0, 2]).to_pylist() == table.take([2, 0, 2]).to_pylist()
    assert [column.type for column in found.columns()] == [field.type for field in file.schema]


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
def test_versions(version: str) -> None:
    file = lancet.open(written(cities(), version=version))
    assert file.version == version
    assert file.read().to_pyarrow().equals(cities())


def golden() -> list[Path]:
    """Files of the reference, beside them what they hold: those of the clone, and all where they are."""
    own = sorted((ROOT / "crates/lancet/tests/golden").glob("*.lance"))
    return own + sorted((ROOT / "../shared/golden/lance").glob("*.lance"))


def test_golden_files() -> None:
    checked = 0
    for path in golden():
        expected = path.with_suffix(".arrow")
        if not expected.exists():
            continue
        with pa.ipc.open_file(expected) as reader:
            wanted = reader.read_all()
        try:
            found = lancet.open(path).read().to_pyarrow()
        except lancet.UnsupportedError:
            continue
        assert found.num_rows == wanted.num_rows, path
        assert found.to_pylist() == wanted.to_pylist() or "nan" in str(wanted.to_pylist()), path
        checked += 1
    assert checked > 20


def test_a_take_gives_any_rows_in_any_order(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    table = pa.table({"n": np.arange(20_000), "s": [f"row {i}" for i in range(20_000)]})
    lancet.write_table(table, tmp_path / "t.lance")
    file = lancet.open(tmp_path / "t.lance")
    for count in (0, 1, 2, 300, 6_000):
        rows = rng.integers(0, 20_000, count)
        for form in (rows, rows.tolist(), rows.astype(np.uint32), pa.array(rows), rows.astype(np.int64)[::1]):
            assert file.take(form).to_pyarrow() == table.take(rows).combine_chunks().to_batches()[0] if count else True
        assert file.take(rows[::-1])["n"].to_pylist() == rows[::-1].tolist()
        assert file.take(tuple(rows.tolist()), columns=["s"]).column_names == ["s"]
    assert file.take(range(3, 9, 2))["n"].to_pylist() == [3, 5, 7]


def test_rows_that_are_not_there(in_samples: Path) -> None:
    file = lancet.open("cities.lance")
    for rows in ([5], [-1], [0, 2**62], np.array([-1]), np.array([2**64 - 1], np.uint64)):
        with pytest.raises(IndexError, match="out of range: there are 5 rows"):
            file.take(rows)
    for rows in (["a"], [1.5], np.array([0.5]), np.array([True]), "abc", 7):
        with pytest.raises(TypeError, match="whole numbers"):
            file.take(rows)  # type: ignore[arg-type]
    with pytest.raises(IndexError):
        file[5]
    with pytest.raises(IndexError):
        file.read(rows=range(3, 9))


def test_brackets(in_samples: Path) -> None:
    file = lancet.open("cities.lance")
    assert file[0] == {"id": 10, "name": "Basel", "population": 173_552}
    assert file[-1]["id"] == 50
    assert file[np.int64(1)]["id"] == 20
    assert file[1:3]["id"].to_pylist() == [20, 30]
    assert file[::2]["id"].to_pylist() == [10, 30, 50]
    assert file[::-1]["id"].to_pylist() == [50, 40, 30, 20, 10]
    assert file[[0, -1]]["id"].to_pylist() == [10, 50]
    assert file[np.array([4, 1])]["id"].to_pylist() == [50, 20]
    assert file["name"].column_names == ["name"]
    assert [row["id"] for row in file] == [10, 20, 30, 40, 50]
    assert len(file) == 5


def test_ranges_of_rows(in_samples: Path) -> None:
    file = lancet.open("cities.lance")
    ids = lambda **options: file.read(**options)["id"].to_pylist()  # noqa: E731
    assert ids(rows=range(1, 3)) == [20, 30]
    assert ids(rows=slice(3, None)) == [40, 50]
    assert ids(rows=[range(4, 5), range(0, 2)]) == [10, 20, 50]
    assert ids(rows=range(0)) == []
    assert ids(limit=2) == [10, 20]
    with pytest.raises(ValueError, match="steps of 1"):
        file.read(rows=range(0, 4, 2))
    with pytest.raises(TypeError, match="`take`"):
        file.read(rows=[1, 2])  # type: ignore[list-item]


def test_views(in_samples: Path) -> None:
    view = lancet.open("cities.lance").select(["name", "id"])
    assert view.column_names == ["name", "id"]
    assert view.take([0]).to_pylist() == [{"name": "Basel", "id": 10}]
    assert view.read(columns=["id"]).column_names == ["id"]
    # A filter may name a column that is not given.
    assert view.read(filter=lancet.col("population") > 2_000_000)["id"].to_pylist() == [40]
    with pytest.raises(KeyError, match="no column `population` in this view"):
        view.take([0], columns=["population"])


def test_nested_columns() -> None:
    rows = [{"doc": {"title": "a", "at": {"x": 1}}}, {"doc": None}, {"doc": {"title": None, "at": {"x": 2}}}]
    table = pa.Table.from_pylist(rows)
    file = lancet.open(written(table))
    assert file.read(columns=["doc.at.x"]).to_pylist() == [{"doc": {"at": {"x": 1}}}, {"doc": None}, {"doc": {"at": {"x": 2}}}]
    assert file.read()["doc.at.x"].to_pylist() == [1, None, 2]
    assert file.read()["doc"]["title"].to_pylist() == ["a", None, None]
    assert file.count(lancet.col("doc")["at"]["x"] > 1) == 1


def test_scans_begin_again(in_samples: Path) -> None:
    scan = lancet.open("cities.lance").scan(batch_rows=2)
    assert [len(batch) for batch in scan] == [2, 2, 1]
    assert [len(batch) for batch in scan] == [2, 2, 1]
    assert scan.to_table().num_rows == scan.count() == 5
    assert pa.table(scan).equals(cities())
    assert pa.RecordBatchReader.from_stream(scan).read_all().num_rows == 5


def test_sources(tmp_path: Path) -> None:
    data = written(cities())
    path = tmp_path / "c.lance"
    path.write_bytes(data)
    for source in (path, str(path), f"file://{path}", data, bytearray(data), memoryview(data), io.BytesIO(data)):
        file = lancet.open(source)
        assert file.take([3]).to_pylist()[0]["name"] == "Rome"
        assert file.read().to_pyarrow().equals(cities())
    with path.open("rb") as opened, lancet.open(opened) as file:
        assert file.count(lancet.col("id") > 20) == 3
    with pytest.raises(TypeError, match="a path, a URL, bytes"):
        lancet.open(7)  # type: ignore[arg-type]


def test_what_a_file_object_raises_comes_out(tmp_path: Path) -> None:
    class Broken(io.BytesIO):
        armed = False

        def read(self, *args: object) -> bytes:  # type: ignore[override]
            if self.armed:
                raise ConnectionResetError(104, "the line is cut")
            return super().read(*args)  # type: ignore[arg-type]

    source = Broken(written(cities()))
    file = lancet.open(source)
    source.armed = True
    with pytest.raises(ConnectionResetError, match="the line is cut"):
        file.take([1])


def test_files_are_closed(in_samples: Path) -> None:
    with lancet.open("cities.lance") as file:
        rows = file.take([0])
    assert rows["id"].to_pylist() == [10]
    with pytest.raises(ValueError, match="closed"):
        file.take([0])
    assert "closed" in repr(file)


def test_handles_are_sent(tmp_path: Path) -> None:
    path = tmp_path / "c.lance"
    lancet.write_table(cities(), path)
    file = lancet.open(path, threads=1).select(["name"])
    sent = pickle.loads(pickle.dumps(file))
    assert sent.take([4]).to_pylist() == [{"name": "Turin"}]
    assert pickle.loads(pickle.dumps(lancet.open(path.read_bytes()))).num_rows == 5
    pickled = pickle.dumps(file)
    # Times of files may be told in steps of some milliseconds, so that the size has to differ.
    lancet.write_table(pa.concat_tables([cities()] * 1_000), path)
    with pytest.raises(lancet.Error, match="has changed"):
        pickle.loads(pickled)


def test_rows_are_sent(in_samples: Path) -> None:
    table = lancet.read_table("cities.lance")
    assert pickle.loads(pickle.dumps(table)) == table
    batch = lancet.open("cities.lance").take([1])
    sent = pickle.loads(pickle.dumps(batch))
    assert type(sent) is lancet.Batch and sent == batch
    assert pickle.loads(pickle.dumps(table.schema)) == table.schema


def test_blobs(in_samples: Path) -> None:
    blobs = lancet.open("photos.lance").blobs("photo")
    assert len(blobs) == 3 and blobs[1] is None
    blob = blobs[-1]
    assert blob is not None and blob.size == 15
    with io.BufferedReader(blobs[2]) as buffered:  # type: ignore[type-var]
        assert buffered.read() == b"two long photos"
    assert (blob.seek(-6, 2), blob.read(), blob.read()) == (9, b"photos", b"")
    buffer = bytearray(4)
    blob.seek(4)
    assert (blob.readinto(buffer), bytes(buffer), blob.tell()) == (4, b"long", 8)
    assert blobs.sizes([0, 1, 2]) == [14, None, 15]
    assert blobs.read_ranges([(2, 0, 3), (0, 4, 8)]) == [b"two", b"long"]
    with pytest.raises(ValueError, match="null"):
        blobs.read_ranges([(1, 0, 1)])
    with pytest.raises(IndexError):
        blobs[3]
    with pytest.raises(ValueError, match="not a blob column"):
        lancet.open("cities.lance").blobs("name")
    with blobs[0] as first:  # type: ignore[union-attr]
        pass
    with pytest.raises(ValueError, match="closed"):
        first.read()


def test_what_a_file_is_made_of(in_samples: Path) -> None:
    file = lancet.open("cities.lance")
    report = file.inspect()
    assert report.num_rows == 5 and report.file_bytes == os.path.getsize("cities.lance") == file.nbytes
    assert report.columns[1].pages[0].buffers[0].bytes > 0
    assert report.to_dict()["columns"][0]["name"] == "id"
    found = file.verify()
    assert found and found.has_checksums and found.num_pages == 3 and not found.problems
    assert file.statistics()["name"] is None, "so small a column has no zone map"
    many = lancet.open("numbers.lance")
    statistics = many.statistics()["n"]
    assert statistics is not None and (statistics.min, statistics.max, statistics.exact) == (0, 99_999, True)
    assert many.prune(lancet.col("n") == 30) == [range(0, 8_192)]
    assert many.prune(lancet.col("n") < 0) == []
    assert many.read(rows=many.prune(lancet.col("n") > 99_000)).num_rows == 100_000 - 98_304
    data = bytearray(Path("cities.lance").read_bytes())
    data[5] ^= 1
    assert not lancet.open(bytes(data)).verify()


def test_metadata(tmp_path: Path) -> None:
    table = cities().replace_schema_metadata({"made": "today"})
    lancet.write_table(table, tmp_path / "m.lance")
    assert lancet.open(tmp_path / "m.lance").metadata == {"made": "today"}


def test_whatever_has_rows_is_written(tmp_path: Path) -> None:
    import duckdb
    import pandas
    import polars

    path = tmp_path / "w.lance"
    table = rows = cities()
    frames = [
        table,
        table.to_batches()[0],
        table.to_reader(),
        polars.DataFrame(table),
        pandas.DataFrame({"id": [10, 20, 30, 40, 50]}),
        duckdb.sql("select * from rows"),
        lancet.Table(table),
        lancet.open(written(table)),
        (batch for batch in table.to_batches(max_chunksize=2)),
        [table.slice(0, 2), table.slice(2)],
    ]
    for rows in frames:
        assert lancet.write_table(rows, path).num_rows == 5
        assert lancet.open(path).read()["id"].to_pylist() == [10, 20, 30, 40, 50]
    assert lancet.write_table([], path, schema=table.schema).num_rows == 0
    for rows in (polars.DataFrame(table).lazy(), 7, {"a": [object()]}, {"a": [[1], [1, 2]]}):
        with pytest.raises(TypeError):
            lancet.write_table(rows, path)
    with pytest.raises(ValueError, match="schema"):
        lancet.write_table([], path)


def test_a_writer_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "w.lance"
    with pytest.raises(ZeroDivisionError), lancet.Writer(path, cities().schema) as writer:
        writer.write(cities())
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []
    with lancet.Writer(path, cities().schema) as writer:
        writer.write(cities())
        with pytest.raises(ValueError, match="where the file has"):
            writer.write(pa.table({"id": ["x"], "name": ["y"], "population": [1]}))
        assert not path.exists()
    assert writer.summary is not None and writer.summary.num_rows == 5
    with pytest.raises(ValueError, match="closed"):
        writer.write(cities())
    assert [entry.name for entry in tmp_path.iterdir()] == ["w.lance"]


def test_options_of_writers(tmp_path: Path) -> None:
    path = tmp_path / "w.lance"
    table = pa.table({"text": [f"some text {i % 100}" for i in range(50_000)]})
    small = lancet.write_table(table, path, profile="small", columns={"text": {"compression": "zstd", "compression_level": 9}})
    assert "zstd" in small.columns[0].pages[0].encoding.lower()
    plain = lancet.write_table(table, path, columns={"text": {"compression": "none", "general": False}}, page_bytes=100_000)
    assert plain.file_bytes > small.file_bytes and plain.num_pages > small.num_pages
    bare = lancet.write_table(table, path, checksums=False, zone_maps=False)
    assert bare.columns[0].zone_map_bytes == 0 and not lancet.open(path).verify().has_checksums
    for options in ({"profile": "tiny"}, {"version": "9.9"}, {"columns": {"text": {"wrong": 1}}}, {"columns": {"none": {"bss": "on"}}}):
        with pytest.raises(ValueError):
            lancet.write_table(table, path, **options)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        lancet.write_table(table, tmp_path / "missing" / "w.lance")


class Counted(io.BytesIO):
    """A file that counts how often it is read."""

    reads = 0

    def read(self, size: int | None = -1, /) -> bytes:
        self.reads += 1
        return super().read(size)


def test_ranges_of_blobs_are_read_together(tmp_path: Path) -> None:
    field = pa.field("photo", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
    photos = pa.table({"photo": [bytes([n % 251]) * 1_000 for n in range(300)]}, schema=pa.schema([field]))
    source = Counted(written(photos))
    ranges = [(row, row, row + 10) for row in range(0, 300, 3)]
    expected = [bytes([row % 251]) * 10 for row, _, _ in ranges]
    blobs = lancet.open(source).blobs("photo")
    source.reads = 0
    assert blobs.read_ranges(ranges) == expected and source.reads < 10
    assert lancet.create_table(photos, tmp_path / "t").blobs("photo").read_ranges(ranges) == expected
    assert blobs.read_ranges([]) == [] and blobs.read_ranges([(0, 5, 5)]) == [b""]
    for wrong in ((0, 0, 1_001), (0, 7, 5), (0, -1, 5)):
        with pytest.raises(ValueError):
            blobs.read_ranges([wrong])
    for row in (300, -1):
        with pytest.raises(IndexError):
            blobs.read_ranges([(0, 0, 1), (row, 0, 1)])
        with pytest.raises(IndexError):
            blobs.sizes([row])
