"""Writes a file, takes rows, filters, scans.

    python quick.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import polars as pl

import lancet


def main() -> None:
    """All of it in a folder that is removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "numbers.lance"
        frame = pl.DataFrame({"n": range(10_000), "text": [f"number {n}" for n in range(10_000)]})
        summary = lancet.write_table(frame, path)
        print(f"{summary.num_rows} rows, {summary.file_bytes} bytes")

        file = lancet.open(path)
        print(file.take([9_999, 7], columns=["text"])["text"].to_pylist())

        large = (lancet.col("n") >= 5_000) & lancet.col("text").starts_with("number 99")
        print(file.count(large), "match;", file.read(filter=large, limit=3).to_polars()["n"].to_list())

        total = 0
        for batch in file.scan(columns=["n"], batch_rows=4_096):
            total += int(batch["n"].to_numpy().sum())
        print("sum", total)


if __name__ == "__main__":
    main()
