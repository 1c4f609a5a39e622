"""Tables of many fragments, beside pylance: opening, takes, filtered scans, commits.

    python tables.py                      1,000 fragments of 1,000 rows; --quick for 50 of 100
    python tables.py --json tables.json
    python tables.py --large              only: 1 GB appended at once, beside a file written of the same rows

The table has 10 columns, one of them sorted and one a vector of 64 floats; 20 rows of every tenth fragment are deleted. Both
libraries read the same table, which pylance has written; of commits, each has a copy of its own. Each figure is the median of
several processes, which take turns; within one, of several calls after a first one, commits and openings on tables that nobody
has open. Files are in the page cache, but for cold takes: there the table is opened, its data files are dropped from the cache,
and the clock runs for the take alone. lancet's commits are on disk when they return, those of pylance are in the page cache; "on disk" has
it wait for the same files and folders that lancet waits for. Copies have links to the same data files:
ext4 looks at every file that was deleted in the last minute before it makes a new one, so that to delete thousands of copied files
would cost each commit behind it milliseconds. What it prints is a table of Markdown for `bench/RESULTS.md`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

PEERS = ["lancet", "pylance"]
#: What is done, and the share of pylance's time that it may take.
AIMS = {
    "open": 0.3,
    "take 100 rows": 0.2,
    "take 100 rows, cold": 0.5,
    "scan 1 % by a filter": 0.5,
    "append 10 rows": 0.3,
    "append 10 rows, on disk": 0.3,
}


def rows(start: int, count: int) -> Any:
    import numpy as np
    import pyarrow as pa

    rng = np.random.default_rng(start)
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(rng.random(count * 64, dtype=np.float32)), 64)
    columns: dict[str, Any] = {"id": np.arange(start, start + count), "vector": vectors}
    for number in range(4):
        columns[f"int{number}"] = rng.integers(0, 10 ** (number + 2), count)
    for number in range(3):
        columns[f"float{number}"] = rng.normal(size=count)
    columns["text"] = pa.array([f"text {n % 97}" for n in range(start, start + count)])
    return pa.table(columns)


def make(path: Path, fragments: int, each: int) -> None:
    import lance
    import pyarrow as pa

    whole = pa.concat_tables(rows(number * each, each) for number in range(fragments))
    table = lance.write_dataset(whole, path, max_rows_per_file=each, max_rows_per_group=each, data_storage_version="2.2")
    # A deletion file in every tenth fragment.
    first = ", ".join(str(number * each + row * 3) for number in range(0, fragments, 10) for row in range(20))
    table.delete(f"id in ({first})")
    found = lance.dataset(path)
    assert len(found.get_fragments()) == fragments, len(found.get_fragments())


def link_data(source: str, target: str) -> None:
    """Copies a file of a table; data files, which nobody changes, are shared."""
    copy = os.link if Path(source).parent.name == "data" else shutil.copy2
    copy(source, target)


def evict(path: Path) -> None:
    """Drops the data files of a table from the page cache."""
    for file in os.scandir(path / "data"):
        number = os.open(file.path, os.O_RDONLY)
        os.posix_fadvise(number, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(number)


def names(path: Path) -> set[Path]:
    """The files that a commit adds to and that must not be lost."""
    return {Path(file) for folder in ("data", "_versions") for file in os.scandir(path / folder)}


def sync(files: set[Path]) -> None:
    """Waits until files and their names are on disk."""
    for path in files | {file.parent for file in files}:
        number = os.open(path, os.O_RDONLY)
        os.fsync(number)
        os.close(number)


# What is measured, in a process of its own.


class Lancet:
    def open(self, path: str) -> Any:
        import lancet

        return lancet.open_table(path)

    def take(self, table: Any, numbers: Any) -> int:
        return len(table.take(numbers).to_pyarrow())

    def scan(self, table: Any, low: int, high: int) -> int:
        import lancet

        return len(table.read(filter=lancet.col("id").between(low, high)).to_pyarrow())

    def append(self, table: Any, new: Any) -> Any:
        table.append(new)
        return table


class Pylance:
    def open(self, path: str) -> Any:
        import lance

        return lance.dataset(path)

    def take(self, table: Any, numbers: Any) -> int:
        return len(table.take(numbers.tolist()))

    def scan(self, table: Any, low: int, high: int) -> int:
        return len(table.to_table(filter=f"id >= {low} and id <= {high}"))

    def append(self, table: Any, new: Any) -> Any:
        import lance

        return lance.write_dataset(new, table, mode="append", data_storage_version="2.2")


def appended(path: str, megabytes: int) -> dict[str, float]:
    """Appends rows of so many bytes to a table of few, and writes them to a file, in turns: what a table costs beside a file."""
    import lancet
    import numpy as np
    import pyarrow as pa

    count = megabytes * 1_000_000 // (256 * 4 + 8)
    rng = np.random.default_rng(1)
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(rng.random(count * 256, dtype=np.float32)), 256)
    new = pa.table({"id": np.arange(count), "vector": vectors})
    times: dict[str, list[float]] = {"table": [], "file": []}
    for turn in range(6):
        folder, file = Path(path) / f"{turn}.lance", Path(path) / f"{turn}-file.lance"
        table = lancet.create_table(new.slice(0, 1_000), folder)
        for what in (list(times), list(times)[::-1])[turn % 2]:
            os.sync()
            start = time.perf_counter()
            if what == "table":
                table.append(new)
            else:
                lancet.write_table(new, file)
            times[what].append(time.perf_counter() - start)
        shutil.rmtree(folder)
        file.unlink()
    found = {what: statistics.median(seconds[1:]) for what, seconds in times.items()}
    return {**found, "share": found["table"] / found["file"], "megabytes": new.nbytes / 1e6}


LIBRARIES: dict[str, Any] = {"lancet": Lancet, "pylance": Pylance}


def one(peer: str, what: str, path: str, repeats: int) -> dict[str, float]:
    import numpy as np

    library = LIBRARIES[peer]()
    table = library.open(path)
    total = len(table) if peer == "lancet" else table.count_rows()
    rng, found, times = np.random.default_rng(os.getpid()), [], []
    for turn in range(repeats + 1):
        numbers, low = rng.choice(total, 100, replace=False), int(rng.integers(0, total - total // 100))
        new = rows(total + turn * 10, 10)
        before = names(Path(path)) if what.endswith("on disk") else set()
        if what.endswith("cold"):
            table = library.open(path)
            evict(Path(path))
        start = time.perf_counter()
        if what == "open":
            library.open(path)
        elif what.startswith("take"):
            found.append(library.take(table, numbers))
        elif what.startswith("scan"):
            found.append(library.scan(table, low, low + total // 100 - 1))
        else:
            table = library.append(table, new)
        taken = time.perf_counter() - start
        if what.endswith("on disk") and peer == "pylance":
            added = names(Path(path)) - before
            start = time.perf_counter()
            sync(added)
            taken += time.perf_counter() - start
        # The first one fills caches; of commits there are few, and each is one.
        if turn or what.startswith("append"):
            times.append(taken)
    return {"ms": statistics.median(times) * 1_000, "rows": statistics.fmean(found) if found else 0}


def fresh(peer: str, what: str, path: Path, repeats: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--one", peer, what, str(path), str(repeats)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=1_800)
    except subprocess.TimeoutExpired:
        print(f"{peer}, {what}: no end within half an hour", file=sys.stderr)
        return {}
    if done.returncode != 0 or not done.stdout.strip():
        print(f"{peer}, {what}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return {}
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def measure(options: argparse.Namespace) -> dict[str, dict[str, float | None]]:
    fragments, each = (50, 100) if options.quick else (1_000, 1_000)
    place = Path(tempfile.gettempdir()) / f"lancet-bench-tables-{fragments}-{each}"
    whole = place / "table.lance"
    if not whole.exists():
        print(f"writing {whole}", file=sys.stderr)
        shutil.rmtree(place, ignore_errors=True)
        make(place / "part.lance", fragments, each)
        os.replace(place / "part.lance", whole)
    turns, repeats = (2, 5) if options.quick else (5, 20)
    results: dict[str, dict[str, float | None]] = {}
    for what in AIMS:
        found: dict[str, list[dict[str, float]]] = {peer: [] for peer in PEERS}
        for turn in range(turns):
            for peer in PEERS:
                path = whole
                if what.startswith("append"):
                    path = place / f"{peer}-{turn}.lance"
                    shutil.rmtree(path, ignore_errors=True)
                    shutil.copytree(whole, path, copy_function=link_data)
                result = fresh(peer, what, path, repeats)
                if path != whole:
                    shutil.rmtree(path, ignore_errors=True)
                found[peer].append(result)
        known = {peer: [result["ms"] for result in results if result] for peer, results in found.items()}
        results[what] = {peer: statistics.median(times) if times else None for peer, times in known.items()}
        counts = {peer: [result.get("rows") for result in results] for peer, results in found.items()}
        print(f"{what}: {results[what]} ms; rows {counts}", file=sys.stderr)
    return results


def shown(results: dict[str, dict[str, float | None]]) -> str:
    lines = ["| ms | lancet | pylance | of pylance's | aim |", "|---|---:|---:|---:|---:|"]
    for what, found in results.items():
        mine, theirs = found["lancet"], found["pylance"]
        cells = ["–" if figure is None else f"{figure:,.3g}" for figure in (mine, theirs)]
        share = f"{mine / theirs:.2f}" if mine and theirs else "–"
        lines.append(f"| {what} | {' | '.join(cells)} | {share} | ≤ {AIMS[what]} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a smaller table, fewer repeats")
    parser.add_argument("--large", action="store_true", help="only: 1 GB appended to a table, beside a file written")
    parser.add_argument("--json", help="where the figures go, too")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        peer, what, path, repeats = options.one
        print(json.dumps(one(peer, what, path, int(repeats))))
        return
    if options.large:
        with tempfile.TemporaryDirectory() as folder:
            found = appended(folder, 100 if options.quick else 1_000)
        print("append {megabytes:.0f} MB: {table:.2f} s; a file of the same rows: {file:.2f} s; {share:.2f}".format(**found))
        return
    results = measure(options)
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1))
    print(shown(results))


if __name__ == "__main__":
    main()
