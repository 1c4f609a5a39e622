"""The Python package beside pylance, vortex-data and pyarrow: sizes, imports, takes, reads, loaders, memory, forks.

    python measure.py                     all of it; --quick for smaller tables and fewer repeats
    python measure.py --wheel lancet_io-*.whl --json results.json
    python measure.py --only "take 32" --tables E --json results.json     a part, added to the figures that are there
    python measure.py --only nothing --json results.json --report measure.md      what is there, as a text
    python measure.py --forks 1000        only: forks after use, and whether one hangs

It needs numpy, pyarrow, and of the peers those that are to be measured: one that is not installed is left out. What it prints is
a table of Markdown for `bench/RESULTS.md`; behind the peers stand the time, or the memory, of lancet as a share of pylance's
and of the best peer's, and the aims where there are such. A figure that could not be had is a dash, and why goes to stderr.

Each figure is the median of several processes, which take turns; within one, of several calls after a first one, for two seconds
at most but three calls at least. Files are read into the page cache before. Rows that are taken are drawn at random and asked
for in the order of the file: lancet gives them in any order, pylance and vortex in no other. All give texts as strings and
images as bytes to numpy, and vectors in two dimensions. Tables:

| table | rows | columns |
|---|---:|---|
| E | 100,000 | a vector of 768 floats, an id, 200 bytes of text |
| I | 30,000 | an image of 20 KB, an id |
| T | 1,000,000 | 20 columns of numbers and short texts |
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

PEERS = ["lancet", "pylance", "vortex", "parquet"]
TABLES = ["E", "I", "T"]
SCALE = {"E": 100_000, "I": 30_000, "T": 1_000_000}
ENDINGS = {"lancet": "lance", "pylance": "pylance.lance", "vortex": "vortex", "parquet": "parquet"}
MODULES = {"lancet": "lancet", "pylance": "lance", "vortex": "vortex", "parquet": "pyarrow.parquet"}
#: Shares of pylance's figure, and of the best peer's.
AIMS = {
    "take": (0.2, 0.5),
    "read to pyarrow": (None, 1.0),
    "read to numpy": (None, 1.0),
    "memory": (0.5, None),
    "loader": (5.0, None),
}
#: Calls of one process take so long together at most.
MOST_SECONDS = 2
OPERATIONS = ["open", "take 1", "take 32", "take 256", "read to pyarrow", "read to numpy", "memory"]


# The tables.


def table(name: str, rows: int) -> Any:
    import numpy as np
    import pyarrow as pa

    rng = np.random.default_rng(7)
    ids = pa.array(np.arange(rows))
    if name == "E":
        vectors = pa.FixedSizeListArray.from_arrays(pa.array(rng.random(rows * 768, dtype=np.float32)), 768)
        text = [rng.bytes(100).hex() for _ in range(rows)]
        return pa.table({"id": ids, "vector": vectors, "text": text})
    if name == "I":
        return pa.table({"id": ids, "image": pa.array([rng.bytes(20_000) for _ in range(rows)], pa.binary())})
    columns: dict[str, Any] = {"id": ids}
    for number in range(7):
        columns[f"int{number}"] = rng.integers(0, 10 ** (number + 2), rows)
        columns[f"float{number}"] = rng.normal(size=rows)
    for number in range(5):
        words = np.array([f"word {number} {word}" for word in range(10 ** (number + 1))])
        columns[f"text{number}"] = pa.array(words[rng.integers(0, len(words), rows)])
    return pa.table(columns)


def write(peer: str, rows: Any, path: str) -> None:
    if peer == "lancet":
        import lancet

        lancet.write_table(rows, path)
    elif peer == "pylance":
        from lance.file import LanceFileWriter

        with LanceFileWriter(path, rows.schema, version="2.2") as writer:
            writer.write_batch(rows)
    elif peer == "vortex":
        import vortex

        vortex.io.write(rows, path)
    else:
        import pyarrow.parquet

        pyarrow.parquet.write_table(rows, path, row_group_size=4_096)


# What is measured, in a process of its own.


class Lancet:
    def __init__(self, path: str) -> None:
        import lancet

        self.file = lancet.open(path)

    def rows(self) -> int:
        return len(self.file)

    def take(self, rows: Any) -> Any:
        return self.file.take(rows)

    def to_numpy(self, taken: Any) -> Any:
        return taken.to_numpy()

    def read(self) -> Any:
        return self.file.read().to_pyarrow()

    def read_numpy(self) -> Any:
        return self.file.to_numpy()

    def iterate(self) -> int:
        return sum(len(batch) for batch in self.file.scan())


class Arrow:
    """What those have in common that give tables of pyarrow."""

    def to_numpy(self, taken: Any) -> Any:
        return columns_to_numpy(taken)

    def read_numpy(self) -> Any:
        return columns_to_numpy(self.read())

    def read(self) -> Any:
        raise NotImplementedError


def columns_to_numpy(rows: Any) -> Any:
    import pyarrow as pa

    arrays = {}
    for name in rows.schema.names:
        column = rows.column(name)
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = pa.concat_arrays(column.chunks)
        if pa.types.is_fixed_size_list(column.type):
            arrays[name] = column.flatten().to_numpy(zero_copy_only=False).reshape(len(column), -1)
        else:
            arrays[name] = column.to_numpy(zero_copy_only=False)
    return arrays


class Pylance(Arrow):
    def __init__(self, path: str) -> None:
        from lance.file import LanceFileReader

        self.file = LanceFileReader(path)

    def rows(self) -> int:
        return self.file.num_rows()

    def take(self, rows: Any) -> Any:
        return self.file.take_rows(rows.tolist()).to_table()

    def read(self) -> Any:
        return self.file.read_all().to_table()

    def iterate(self) -> int:
        return sum(len(batch) for batch in self.file.read_all().to_batches())


class Vortex(Arrow):
    def __init__(self, path: str) -> None:
        import vortex

        self.vortex, self.file = vortex, vortex.open(path)

    def rows(self) -> int:
        return len(self.file)

    def take(self, rows: Any) -> Any:
        indices = self.vortex.array(self._arrow(rows))
        return self.file.scan(indices=indices).read_all().to_arrow_table()

    @staticmethod
    def _arrow(rows: Any) -> Any:
        import pyarrow as pa

        return pa.array(rows.astype("u8"))

    def read(self) -> Any:
        return self.file.scan().read_all().to_arrow_table()

    def iterate(self) -> int:
        return sum(len(batch) for batch in self.file.to_arrow())


class Parquet(Arrow):
    def __init__(self, path: str) -> None:
        import pyarrow.parquet

        self.file = pyarrow.parquet.ParquetFile(path)

    def rows(self) -> int:
        return int(self.file.metadata.num_rows)

    def take(self, rows: Any) -> Any:
        import numpy as np

        groups = rows // 4_096
        found = self.file.read_row_groups(np.unique(groups).tolist())
        starts = {group: 4_096 * at for at, group in enumerate(np.unique(groups).tolist())}
        return found.take([starts[int(group)] + int(row) % 4_096 for row, group in zip(rows, groups)])

    def read(self) -> Any:
        return self.file.read()

    def iterate(self) -> int:
        return sum(len(batch) for batch in self.file.iter_batches())


READERS: dict[str, Any] = {"lancet": Lancet, "pylance": Pylance, "vortex": Vortex, "parquet": Parquet}


def resident() -> float:
    """Most memory that this process has held, in MB. What `getrusage` tells counts the process that has started it, too."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024


def operation(peer: str, path: str, what: str, repeats: int) -> dict[str, float]:
    import numpy as np

    reader = READERS[peer]
    if what == "open":
        reader(path).take(np.array([0]))
        return median(lambda: reader(path).take(np.array([77])), repeats)
    opened = reader(path)
    if what == "memory":
        before = resident()
        opened.iterate()
        return {"mb": resident(), "before": before}
    # Opened again for every read: some keep what they have read.
    if what == "read to pyarrow":
        return median(lambda: reader(path).read(), max(3, repeats // 4))
    if what == "read to numpy":
        return median(lambda: reader(path).read_numpy(), max(3, repeats // 4))
    count = int(what.split()[1])
    rng, total = np.random.default_rng(os.getpid()), opened.rows()
    draws = [np.sort(rng.choice(total, count, replace=False)) for _ in range(repeats + 1)]
    turns = iter(draws)
    take = (lambda: opened.to_numpy(opened.take(next(turns)))) if count == 256 else (lambda: opened.take(next(turns)))
    return median(take, repeats)


def median(call: Any, repeats: int) -> dict[str, float]:
    call()
    times: list[float] = []
    while len(times) < repeats and (sum(times) < MOST_SECONDS or len(times) < 3):
        start = time.perf_counter()
        kept = call()
        times.append(time.perf_counter() - start)
        del kept
    return {"ms": statistics.median(times) * 1_000}


# Training: two forked workers, batches of 256 random rows.


def loader(peer: str, path: str, seconds: float) -> dict[str, float]:
    import multiprocessing

    # Those that are not safe after a fork are imported and opened behind it.
    context = multiprocessing.get_context("fork")
    queue: Any = context.Queue()
    opened = None
    if peer == "lancet":
        opened = Lancet(path).file
        opened.take([0])
    workers = [context.Process(target=work, args=(peer, path, opened, number, seconds, queue)) for number in range(2)]
    for worker in workers:
        worker.start()
    rates = [queue.get(timeout=seconds * 10 + 120) for _ in workers]
    for worker in workers:
        worker.join(30)
    return {"rows_per_s": sum(rates)}


def work(peer: str, path: str, opened: Any, number: int, seconds: float, queue: Any) -> None:
    import numpy as np

    reader = READERS[peer](path) if opened is None else Lancet.__new__(Lancet)
    if opened is not None:
        reader.file = opened._with_threads(1)
    rng, total = np.random.default_rng(number), reader.rows()
    draw = lambda: np.sort(rng.choice(total, 256, replace=False))  # noqa: E731
    reader.to_numpy(reader.take(draw()))
    rows, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        reader.to_numpy(reader.take(draw()))
        rows += 256
    queue.put(rows / (time.perf_counter() - start))


def forks(path: str, count: int) -> dict[str, float]:
    """Forks after all of it was used; how many of them hang or die."""
    import signal

    import lancet

    file = lancet.open(path)
    file.read()
    list(file.scan())
    failed = 0
    for number in range(count):
        file.take(range(256))
        child = os.fork()
        if child == 0:
            signal.alarm(30)
            file.take(range(number % 100, number % 100 + 256))
            next(iter(file.scan()))
            if number % 10 == 0:
                lancet.write_table(file.take(range(1_000)), f"{path}.{os.getpid()}")
                os.unlink(f"{path}.{os.getpid()}")
            os._exit(0)
        failed += os.waitpid(child, 0)[1] != 0
    return {"runs": count, "failed": failed}


def imports(module: str) -> dict[str, float]:
    start = time.perf_counter()
    __import__(module)
    return {"ms": (time.perf_counter() - start) * 1_000, "mb": resident()}


# The whole run: every figure out of fresh processes.


def fresh(*words: Any) -> dict[str, float]:
    command = [sys.executable, __file__, "--one", *map(str, words)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=1_800)
    except subprocess.TimeoutExpired:
        print(f"{words}: no end within half an hour", file=sys.stderr)
        return {}
    if done.returncode != 0 or not done.stdout.strip():
        print(f"{words}: exit code {done.returncode}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return {}
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def warm(path: Path) -> None:
    """Brings a file into the page cache: some systems take out what nobody has read for a minute."""
    with path.open("rb", buffering=0) as file:
        while file.read(1 << 20):
            pass


def installed(peers: list[str]) -> list[str]:
    """Those of the peers that are there. None of them is imported: forks come later."""
    import importlib.util

    found = [peer for peer in peers if importlib.util.find_spec(MODULES[peer].split(".")[0]) is not None]
    for peer in set(peers) - set(found):
        print(f"{peer} is not installed, and left out", file=sys.stderr)
    return found


def one(words: list[str]) -> dict[str, float]:
    what, *rest = words
    if what == "import":
        return imports(rest[0])
    if what == "write":
        peer, name, count, path = rest
        # Under another name first: what is there is complete.
        write(peer, table(name, int(count)), f"{path}.part")
        os.replace(f"{path}.part", path)
        return {"bytes": os.path.getsize(path)}
    if what == "loader":
        return loader(rest[0], rest[1], float(rest[2]))
    if what == "forks":
        return forks(rest[0], int(rest[1]))
    peer, path, name, repeats = rest
    return operation(peer, path, name, int(repeats))


def folder(quick: bool, tables: list[str], peers: list[str]) -> Path:
    place = Path(tempfile.gettempdir()) / f"lancet-bench-python-{'quick' if quick else 'whole'}"
    place.mkdir(exist_ok=True)
    for name in tables:
        for peer in peers:
            path = place / f"{name}.{ENDINGS[peer]}"
            if not path.exists():
                print(f"writing {path}", file=sys.stderr)
                fresh("write", peer, name, SCALE[name] // (20 if quick else 1), path)
    return place


def middle(results: list[dict[str, float]]) -> dict[str, float]:
    found = [result for result in results if result]
    return {key: statistics.median(result[key] for result in found) for key in (found[0] if found else {})}


def measure(options: argparse.Namespace, results: dict[str, Any]) -> None:
    """Adds what is asked for to the results."""
    place = folder(options.quick, sorted({*options.tables, "E", "T"}), options.peers)
    turns, repeats = (2, 10) if options.quick else (3, 40)
    wanted = options.only or ["import", *OPERATIONS, "loader", "forks"]
    if "import" in wanted:
        # The first of them brings the files into the page cache.
        found = {peer: middle([fresh("import", MODULES[peer]) for _ in range(turns + 1)][1:]) for peer in options.peers}
        results["import"] = found
    for name in options.tables:
        for what in OPERATIONS:
            if what not in wanted:
                continue
            rounds: dict[str, list[dict[str, float]]] = {peer: [] for peer in options.peers}
            for _ in range(turns):
                for peer in options.peers:
                    path = place / f"{name}.{ENDINGS[peer]}"
                    warm(path)
                    rounds[peer].append(fresh("operation", peer, path, what, repeats))
            results[f"{what}, {name}"] = {peer: middle(found) for peer, found in rounds.items()}
            print(f"{what}, {name}: {results[f'{what}, {name}']}", file=sys.stderr)
    if "loader" in wanted:
        rounds = {peer: [] for peer in options.peers}
        for _ in range(1 if options.quick else 3):
            for peer in options.peers:
                path = place / f"E.{ENDINGS[peer]}"
                warm(path)
                rounds[peer].append(fresh("loader", peer, path, 1 if options.quick else 3))
        results["loader"] = {peer: middle(found) for peer, found in rounds.items()}
    if "forks" in wanted:
        results["forks"] = fresh("forks", place / "T.lance", 20 if options.quick else 1_000)
    if options.wheel:
        results["wheel"] = {"mb": os.path.getsize(options.wheel) / 1e6}


def ordered(results: dict[str, Any]) -> dict[str, Any]:
    """The results in the order of a whole run, whichever part was measured last."""
    names = ["import", *(f"{what}, {name}" for name in TABLES for what in OPERATIONS), "loader", "forks", "wheel"]
    return {name: results[name] for name in names if name in results}


UNITS = {"ms": "ms", "mb": "MB", "rows_per_s": "rows/s"}


def shown(results: dict[str, Any], peers: list[str]) -> str:
    """A table of Markdown."""
    lines = [f"| | {' | '.join(peers)} | of pylance's | of the best peer's | aim |", f"|---|{'---:|' * len(peers)}---:|---:|---|"]
    for what, found in results.items():
        if what in ("forks", "wheel"):
            continue
        for unit in ("ms", "mb", "rows_per_s"):
            cells = [found.get(peer, {}).get(unit) for peer in peers]
            if all(cell is None for cell in cells):
                continue
            row = " | ".join("–" if cell is None else f"{cell:,.4g}" for cell in cells)
            lines.append(f"| {what}, {UNITS[unit]} | {row} | {' | '.join(compared(what, unit, dict(zip(peers, cells))))} |")
    lines.append("")
    if results.get("wheel"):
        lines.append(f"Wheel: {results['wheel']['mb']:.2f} MB (aim: 8).")
    if results.get("forks"):
        lines.append(f"Forks after use: {results['forks']['failed']:.0f} of {results['forks']['runs']:.0f} failed or hung (aim: 0).")
    return "\n".join(lines)


def compared(what: str, unit: str, figures: dict[str, float | None]) -> list[str]:
    """What lancet's figure is of pylance's, and of the best peer's, and what it is to be."""
    mine = figures.pop("lancet", None)
    others = [figure for figure in figures.values() if figure is not None]
    if mine is None or not others:
        return ["–", "–", ""]
    best = max(others) if unit == "rows_per_s" else min(others)
    pylance = figures.get("pylance")
    shares = ["–" if other is None else f"{mine / other:.2f}" for other in (pylance, best)]
    if what == "import":
        return [*shares, "≤ 10 ms" if unit == "ms" else ""]
    aims = next((aims for start, aims in AIMS.items() if what.startswith(start)), (None, None))
    sign = "≥" if unit == "rows_per_s" else "≤"
    named = [f"{sign} {aim:g} of {whose}" for aim, whose in zip(aims, ("pylance's", "the best")) if aim is not None]
    return [*shares, ", ".join(named)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller tables, fewer repeats")
    parser.add_argument("--peers", nargs="+", default=PEERS, choices=PEERS)
    parser.add_argument("--tables", nargs="+", default=TABLES, choices=TABLES)
    parser.add_argument("--wheel", help="the wheel whose size is told")
    parser.add_argument("--json", help="where the figures go, too; those that are there stay, unless they are measured again")
    parser.add_argument("--only", nargs="+", help="only these operations, or import, loader, forks, nothing")
    parser.add_argument("--report", help="where the table goes, too")
    parser.add_argument("--forks", type=int, help="only so many forks after use")
    parser.add_argument("--one", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(options.one)))
        return
    if options.forks:
        print(fresh("forks", folder(options.quick, ["T"], ["lancet"]) / "T.lance", options.forks))
        return
    options.peers = installed(options.peers)
    kept = Path(options.json) if options.json else None
    results: dict[str, Any] = json.loads(kept.read_text()) if kept and kept.exists() else {}
    measure(options, results)
    results = ordered(results)
    if kept:
        kept.write_text(json.dumps(results, indent=1))
    text = shown(results, options.peers)
    if options.report:
        Path(options.report).write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
