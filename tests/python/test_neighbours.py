"""polars, Hugging Face, object stores, Ray."""

from __future__ import annotations

import http.server
import importlib.util
import os
import pickle
import sys
import threading
import types
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from conftest import cities, written

import lancet


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("neighbours") / "n.lance"
    rng = np.random.default_rng(5)
    table = pa.table(
        {
            "id": np.arange(50_000),
            "f": rng.normal(size=50_000),
            "f32": rng.normal(size=50_000).astype(np.float32),
            "s": pa.array([None if i % 11 == 0 else f"{i % 997:03}" for i in range(50_000)]),
            "b": rng.random(50_000) < 0.3,
        }
    )
    lancet.write_table(table, path)
    return path


PREDICATES = {
    "compared": (pl.col("id") > 49_000, "(id > 49000)"),
    "turned": (pl.lit(49_000) < pl.col("id"), "(id > 49000)"),
    "both": ((pl.col("id") < 100) & (pl.col("s") == "007"), "((id < 100) & (s = '007'))"),
    "either": ((pl.col("id") < 100) | pl.col("s").is_null(), "((id < 100) | (s is null))"),
    "one of two that is known": ((pl.col("id") < 100) & (pl.col("f32") > 0.1), "(id < 100)"),
    "one of two that must be": ((pl.col("id") < 100) | (pl.col("f32") > 0.1), "None"),
    "not": (~(pl.col("id") >= 100), "~(id >= 100)"),
    "not of what is not known": (~((pl.col("id") > 9) & (pl.col("f32") > 0.1)), "None"),
    "prefix": (pl.col("s").str.starts_with("99"), "(s starts with b'99')"),
    "between": (pl.col("f").is_between(0.5, 0.6), "((f >= 0.5) & (f <= 0.6))"),
    "flag": (pl.col("b"), "b"),
    "in": (pl.col("id").is_in([1, 2, 70_000]), "None"),
    "sum": (pl.col("id") + 1 > 49_000, "None"),
}


@pytest.mark.parametrize("name", PREDICATES)
def test_polars_pushes_down(path: Path, name: str) -> None:
    from lancet.polars import condition

    predicate, pushed = PREDICATES[name]
    frame = pl.DataFrame(lancet.open(path))
    assert repr(condition(predicate, frame.schema)) == pushed
    lazy = lancet.scan_polars(path)
    assert lazy.filter(predicate).collect().equals(frame.filter(predicate))
    assert lazy.filter(predicate).select("f32").collect().equals(frame.filter(predicate).select("f32"))
    assert lazy.filter(predicate).head(7).collect().equals(frame.filter(predicate).head(7))


def test_polars_reads_what_it_needs(path: Path) -> None:
    lazy = lancet.scan_polars(path)
    assert lazy.head(3).collect()["id"].to_list() == [0, 1, 2]
    assert lazy.select(pl.len()).collect().item() == 50_000
    assert lazy.group_by("b").len().collect()["len"].sum() == 50_000
    assert lazy.filter(pl.col("id") > 10**9).collect().height == 0
    assert lazy.collect(engine="streaming").height == 50_000
    assert "LANCET" in lazy.explain().upper()


@pytest.mark.extra
def test_hugging_face(path: Path) -> None:
    import datasets

    from lancet.huggingface import iterable

    file = lancet.open(path).select(["id", "s"])
    whole = file.to_hf()
    assert isinstance(whole, datasets.Dataset) and whole.num_rows == 50_000 and whole[7] == {"id": 7, "s": "007"}
    stream = iterable(lancet.open(path), num_shards=4, columns=["id"])
    assert [row["id"] for row in stream.take(3)] == [0, 1, 2]
    assert stream.num_shards == 4
    assert sum(row["id"] for row in stream) == sum(range(50_000))


class Store:
    """A store in memory, as obstore has it."""

    def __init__(self) -> None:
        from obstore.store import MemoryStore

        self.store = MemoryStore()


def test_object_stores(monkeypatch: pytest.MonkeyPatch) -> None:
    if importlib.util.find_spec("obstore") is None:
        with pytest.raises(ImportError, match="lancet-io\\[cloud\\]"):
            lancet.open("s3://bucket/c.lance")
        return
    import obstore.store

    store = Store().store
    monkeypatch.setattr(obstore.store, "from_url", lambda url, config=None, client_options=None: store)
    lancet.write_table(cities(), "s3://bucket/some/c.lance")
    file = lancet.open("s3://bucket/some/c.lance", storage_options={"region": "x"})
    assert file.take([4, 0])["name"].to_pylist() == ["Turin", "Basel"]
    assert file.read().to_pyarrow().equals(cities()) and file.count(lancet.col("id") > 30) == 2
    assert file.path == "s3://bucket/some/c.lance"
    with pytest.raises(FileNotFoundError):
        lancet.open("s3://bucket/missing.lance")
    with pytest.raises(ValueError, match="URLs"):
        lancet.open(written(cities()), storage_options={"a": "b"})


def test_stores_that_were_made_before(tmp_path: Path) -> None:
    """A store of obstore, and any object that has as much of it as is used."""
    from obstore.store import LocalStore, MemoryStore

    (tmp_path / "c.lance").write_bytes(written(cities()))

    class Mine:
        asked: ClassVar[list[str]] = []

        def head(self, path: str) -> dict[str, Any]:
            return {"size": (tmp_path / path).stat().st_size}

        def get_ranges(self, path: str, *, starts: list[int], ends: list[int]) -> list[memoryview]:
            self.asked.append(path)
            data = (tmp_path / path).read_bytes()
            return [memoryview(data)[start:end] for start, end in zip(starts, ends)]

    memory = MemoryStore()
    memory.put("c.lance", written(cities()))
    for store in (Mine(), LocalStore(tmp_path), memory):
        file = lancet.open((store, "c.lance"))
        assert file.read().to_pyarrow().equals(cities())
        assert file.take([4, 0])["name"].to_pylist() == ["Turin", "Basel"]
    assert set(Mine.asked) == {"c.lance"} and file.path is None
    again = pickle.loads(pickle.dumps(lancet.open((LocalStore(tmp_path), "c.lance"))))
    assert again.num_rows == 5
    lancet.write_table(cities().slice(1), tmp_path / "c.lance")
    with pytest.raises(lancet.Error, match="has changed since"):
        pickle.loads(pickle.dumps(again))
    with pytest.raises(TypeError, match="a pair of a store"):
        lancet.open((object(), "c.lance"))


def test_objects_that_are_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    import obstore.store

    store = Store().store
    monkeypatch.setattr(obstore.store, "from_url", lambda url, config=None, client_options=None: store)
    lancet.write_table(cities(), "s3://bucket/c.lance")
    file = lancet.open("s3://bucket/c.lance")
    sent = pickle.dumps(file)
    assert pickle.loads(sent).num_rows == 5
    obstore.put(store, "c.lance", obstore.get(store, "c.lance").bytes())
    for again in (lambda: pickle.loads(sent), lambda: file._with_threads(2)):
        with pytest.raises(lancet.Error, match="has changed"):
            again()


def test_stores_after_a_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others would wait for threads that are not there, or end with what is no `Exception`."""
    import obstore.store

    store = Store().store
    monkeypatch.setattr(obstore.store, "from_url", lambda url, config=None, client_options=None: store)
    lancet.write_table(cities(), "s3://bucket/c.lance")
    file = lancet.open("s3://bucket/c.lance")
    acts = [file.read, lambda: file._with_threads(2), lambda: lancet.open("s3://bucket/c.lance")]
    for act in [*acts, lambda: lancet.Writer("s3://bucket/d.lance", file.schema)]:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                act()
            except OSError as error:
                code = 0 if "forkserver" in str(error) else 2
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
    assert file.read().num_rows == 5


class Pages(http.server.BaseHTTPRequestHandler):
    """One file, in ranges."""

    data = b""
    seen: ClassVar[list[str | None]] = []

    def do_HEAD(self) -> None:
        self.answer(self.data, None)

    def do_GET(self) -> None:
        start, _, end = self.headers["Range"].removeprefix("bytes=").partition("-")
        self.answer(self.data[int(start) : int(end) + 1], f"bytes {start}-{end}/{len(self.data)}")

    def answer(self, data: bytes, part: str | None) -> None:
        self.seen.append(self.headers["X-Key"])
        self.send_response(200 if part is None else 206)
        if part is not None:
            self.send_header("Content-Range", part)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Last-Modified", "Wed, 21 Oct 2015 07:28:00 GMT")
        self.end_headers()
        if part is not None:
            self.wfile.write(data)

    def log_message(self, format: str, *_: object) -> None:
        pass


def test_options_of_web_servers() -> None:
    Pages.data = written(cities())
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        options: Any = {"allow_http": True, "default_headers": {"X-Key": "secret"}}
        file = lancet.open(f"http://127.0.0.1:{server.server_port}/c.lance", storage_options=options)
        assert file.read().to_pyarrow().equals(cities())
        server.shutdown()
    assert set(Pages.seen) == {"secret"}


def test_conditions_for_ray(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With as much of Ray as it takes."""
    ray, data, block = (types.ModuleType(name) for name in ("ray", "ray.data", "ray.data.block"))

    class Datasource:
        predicate: Any = None

        def get_current_predicate(self) -> Any:
            return self.predicate

    data.Datasource, data.ReadTask, data.read_datasource = Datasource, lambda read, _: read, lambda source: source  # type: ignore[attr-defined]
    block.BlockMetadata = dict  # type: ignore[attr-defined]
    for module in (ray, data, block):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.delitem(sys.modules, "lancet.ray", raising=False)
    import lancet.ray

    for condition in (("id", ">=", 49_990), [("id", ">=", 49_990)], lancet.col("id") >= 49_990):
        source = lancet.ray.read_lancet(path, columns=["id"], filter=condition)
        found = [row for read in source.get_read_tasks(3) for table in read() for row in table["id"].to_pylist()]
        assert found == list(range(49_990, 50_000))

    # Expressions of Ray as far as they are looked at.
    def column(name: str) -> Any:
        return types.SimpleNamespace(name=name)

    def joined(op: str, left: Any, right: Any) -> Any:
        right = right if isinstance(right, types.SimpleNamespace) else types.SimpleNamespace(value=right)
        return types.SimpleNamespace(op=types.SimpleNamespace(value=op), left=left, right=right)

    def known(op: str, operand: Any) -> Any:
        return types.SimpleNamespace(op=types.SimpleNamespace(value=op), operand=operand)

    late, third = joined("ge", column("id"), 49_990), joined("eq", joined("mod", column("id"), 3), 0)
    cases = {
        "(id >= 49990)": [late, joined("and", third, late), joined("le", types.SimpleNamespace(value=49_990), column("id"))],
        "None": [third, joined("or", third, late), joined("gt", column("f32"), 0.5), joined("lt", column("f"), 0.0), known("not", late)],
        "((id >= 49990) | (s is null))": [joined("or", late, known("is_null", column("s")))],
        "(~(s is null) & (s != '007'))": [joined("and", known("is_not_null", column("s")), joined("ne", column("s"), "007"))],
        "((f < 0.5) & (id in [1, 2]))": [joined("and", joined("lt", column("f"), 0.5), joined("in", column("id"), [1, 2]))],
    }
    kinds = lancet.ray._types(lancet.open(path))
    for shown, predicates in cases.items():
        for predicate in predicates:
            assert repr(lancet.ray.weaker(predicate, kinds)) == shown
    source = lancet.ray.read_lancet(path, columns=["id"], filter=lancet.col("id") >= 20)
    source.predicate = joined("and", third, late)
    source.predicate.to_pyarrow = lambda: (pa.compute.field("id") >= 49_990) & (pa.compute.field("id") <= 49_992)
    found = [row for read in source.get_read_tasks(3) for table in read() for row in table["id"].to_pylist()]
    assert source.supports_predicate_pushdown() and found == [49_990, 49_991, 49_992]
    monkeypatch.delitem(sys.modules, "lancet.ray")


@pytest.mark.extra
def test_ray(path: Path) -> None:
    import lancet.ray

    dataset = lancet.ray.read_lancet(path, columns=["id"], filter=lancet.col("id") >= 49_990)
    assert sorted(row["id"] for row in dataset.take_all()) == list(range(49_990, 50_000))
    from ray.data.expressions import col

    dataset = lancet.ray.read_lancet(path, columns=["id", "f"]).filter(expr=(col("id") >= 49_990) & (col("f") * 2 > 0))
    wanted = lancet.open(path).read(filter=(lancet.col("id") >= 49_990) & (lancet.col("f") > 0)).to_pylist()
    assert sorted(row["id"] for row in dataset.take_all()) == [row["id"] for row in wanted]
