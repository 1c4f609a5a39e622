"""Errors as Python users know them; no bytes at all make it panic."""

from __future__ import annotations

import io
import random
import tempfile
from pathlib import Path

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
    with pytest.raises(TypeError, match="mask"):
        file.take([True, False, True])


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
        assert not str(caught.value).startswith(("'", '"'))
    with pytest.raises(KeyError, match="`name`"):
        file.read()["nam"]


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
