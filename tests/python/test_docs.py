"""Every example in the documentation runs."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pyarrow as pa
import pytest
from conftest import ROOT, cities, stock

import lancet

#: What needs packages that are not among the tests' requirements, and has no examples.
OTHERS = {"lancet.ray", "lancet.torch", "lancet.__main__"}
MODULES = [found.name for found in pkgutil.iter_modules(lancet.__path__, "lancet.")]


@pytest.mark.parametrize("name", ["lancet", *sorted(set(MODULES) - OTHERS)])
def test_examples(in_samples: Path, name: str) -> None:
    module = importlib.import_module(name)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for test in doctest.DocTestFinder(exclude_empty=True).find(module, extraglobs={"lancet": lancet}):
        stock(in_samples)
        runner.run(test)
    assert runner.failures == 0


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder()
    parts = ["lancet", "lancet._file", "lancet._data", "lancet._readable", "lancet._dataset", "lancet._changes", "lancet._expr", "lancet._write"]
    examples = [test for part in parts for test in finder.find(importlib.import_module(part)) if test.examples]
    assert len(examples) > 20


def test_the_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import lance
    import polars

    monkeypatch.chdir(tmp_path)
    text = (ROOT / "crates/lancet-python/README.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 4
    doc = pa.array([{"title": "A tale"}] * 2_000)
    blob = pa.field("video", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
    table = pa.table({"id": range(2_000), "vector": pa.array([[1.0, 2.0]] * 2_000, pa.list_(pa.float32(), 2)), "doc": doc})
    names: dict[str, object] = {"df": polars.DataFrame(cities())}
    exec(blocks[0].replace("1_000]", "1]").replace("7, 1", "4, 1"), names)
    lancet.write_table(table.append_column(blob, pa.array([b"long"] * 2_000, pa.large_binary())), "data.lance")
    batch = lancet.open("data.lance").take([0], columns=["id", "vector"])
    names.update(batch=batch, schema=batch.schema)
    exec(blocks[1].replace("batch.to_torch(), ", ""), names)
    dataset = lance.write_dataset(pa.table({"id": range(200)}), "orders")
    lance.write_dataset(pa.table({"id": range(3)}), dataset, mode="append")
    exec(blocks[2], names)
    assert (tmp_path / "new.lance").exists()


def test_everything_public_is_documented() -> None:
    for name in lancet.__all__:
        thing = getattr(lancet, name)
        assert thing.__doc__, name
        if isinstance(thing, type):
            for member, value in vars(thing).items():
                if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                    assert value.__doc__, f"{name}.{member}"


def test_the_reference_is_up_to_date() -> None:
    from reference import TARGET, reference

    assert TARGET.read_text() == reference(), "run `python tests/python/reference.py`"
