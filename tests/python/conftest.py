"""What the tests share: a folder with small files and a table, as the examples of the documentation have them."""

from __future__ import annotations

import io
import os
import shutil
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import lancet

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


def cities() -> pa.Table:
    """Five cities."""
    return pa.table(
        {
            "id": [10, 20, 30, 40, 50],
            "name": ["Basel", "Lyon", "Milan", "Rome", "Turin"],
            "population": [173_552, 522_250, 1_354_196, 2_746_984, 841_600],
        }
    )


def photos() -> pa.Table:
    """Three blobs, one of them null."""
    field = pa.field("photo", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
    return pa.table({"photo": [b"one long photo", None, b"two long photos"]}, schema=pa.schema([field]))


def stock(folder: Path) -> None:
    """The table `stock`, which examples change, as it was."""
    shutil.rmtree(folder / "stock", ignore_errors=True)
    lancet.create_table({"item": ["bolt", "screw", "saw"], "price": [3, 4, 20]}, folder / "stock")


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `cities.lance`, `photos.lance`, `numbers.lance` and the table `orders`, which the reference writes."""
    import lance

    folder = tmp_path_factory.mktemp("samples")
    lancet.write_table(cities(), folder / "cities.lance")
    lancet.write_table(photos(), folder / "photos.lance")
    lancet.write_table(pa.table({"n": range(100_000)}), folder / "numbers.lance")
    lance.write_dataset(pa.table({"id": [1, 2, 3]}), folder / "orders")
    lance.write_dataset(pa.table({"id": [4, 5]}), folder / "orders", mode="append")
    return folder


@pytest.fixture
def in_samples(samples: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, as the current folder."""
    monkeypatch.chdir(samples)
    return samples


@pytest.fixture
def stub_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """As much of torch as `lancet.torch` uses. The real one is 3 GB."""
    monkeypatch.syspath_prepend(str(HERE / "stubs"))
    paths = [str(HERE / "stubs"), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
    for name in [name for name in sys.modules if name.split(".")[0] == "torch" or name == "lancet.torch"]:
        monkeypatch.delitem(sys.modules, name)


def written(table: object, **options: object) -> bytes:
    """The bytes of a file."""
    file = io.BytesIO()
    lancet.write_table(table, file, **options)  # type: ignore[arg-type]
    return file.getvalue()
