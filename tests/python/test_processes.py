"""Forks, spawns, threads and Ctrl-C: nothing hangs."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import lancet

ROWS = 60_000


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("processes") / "p.lance"
    vectors = pa.FixedSizeListArray.from_arrays(np.arange(ROWS * 32, dtype=np.float32), 32)
    lancet.write_table(pa.table({"id": np.arange(ROWS), "text": [f"row {i}" for i in range(ROWS)], "v": vectors}), path)
    return path


def take(file: lancet.File) -> None:
    rows = np.random.default_rng(os.getpid()).integers(0, ROWS, 300)
    assert file.take(rows)["id"].to_numpy().tolist() == rows.tolist()


def read(file: lancet.File) -> None:
    assert file.read(columns=["id", "v"]).num_rows == ROWS


def scan(file: lancet.File) -> None:
    assert sum(len(batch) for batch in file.scan(columns=["text"], batch_rows=4_000)) == ROWS
    assert file.count(lancet.col("id") >= 50_000) == 10_000


def write(file: lancet.File) -> None:
    target = f"{file.path}.{os.getpid()}"
    lancet.write_table(file.scan(rows=range(20_000)), target)
    assert lancet.open(target).num_rows == 20_000
    os.unlink(target)


VERBS = {"take": take, "read": read, "scan": scan, "write": write}


def in_child(verb: str, file: lancet.File) -> None:
    VERBS[verb](file)


@pytest.mark.parametrize("verb", VERBS)
def test_after_a_fork(path: Path, verb: str) -> None:
    file = lancet.open(path)
    # All of it is in use before the fork.
    for used in VERBS.values():
        used(file)
    running = iter(file.scan(batch_rows=1_000))
    next(running)
    for _ in range(20):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                signal.alarm(60)
                VERBS[verb](file)
                if verb == "scan":
                    assert sum(len(batch) for batch in running) == ROWS - 1_000
                code = 0
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
    VERBS[verb](file)


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_other_processes(path: Path, method: str) -> None:
    file = lancet.open(path)
    take(file)
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        for done in [pool.submit(in_child, verb, file) for verb in VERBS for _ in range(20)]:
            done.result(timeout=120)


def test_threads(path: Path) -> None:
    file = lancet.open(path)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(VERBS[verb], file) for verb in ("take", "read", "scan") for _ in range(20)]:
            done.result(timeout=120)
    batches = file.scan()._start()
    list(batches)
    assert list(batches) == []


def test_the_interpreter_is_free_meanwhile(path: Path) -> None:
    file = lancet.open(path, threads=1)
    counted = 0
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        done = pool.submit(lambda: [file.read() for _ in range(10)])
        while not done.done():
            counted += 1
            time.sleep(0)
    assert counted > 20


INTERRUPTED = """
import os, signal, sys, threading, time
import pyarrow as pa
import lancet

path, what = sys.argv[1:]
file = lancet.open(path)
rows = list(range(60_000)) * 20
table = file.read()

def write():
    with lancet.Writer(path + ".new", file.schema) as writer:
        while True:
            writer.write(table)

work = {
    "read": lambda: [file.read() for _ in range(10_000)],
    "take": lambda: [file.take(rows) for _ in range(10_000)],
    "scan": lambda: [0 for _ in range(10_000) for _ in file.scan()],
    "count": lambda: [file.count(lancet.col("text") == "x") for _ in range(10_000)],
    "stream": lambda: [pa.RecordBatchReader.from_stream(file.scan()).read_all() for _ in range(10_000)],
    "verify": lambda: [file.verify() for _ in range(10_000)],
    "write": write,
}[what]
sent = []

def interrupt():
    time.sleep(0.3)
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt).start()
try:
    work()
except (KeyboardInterrupt, pa.ArrowInvalid) as error:
    # A library that pulls a stream makes an exception of its own.
    assert isinstance(error, KeyboardInterrupt) or what == "stream" and "Ctrl-C" in str(error)
    print("stopped after", time.perf_counter() - sent[0])
"""


@pytest.mark.parametrize("what", ["read", "take", "scan", "count", "stream", "verify", "write"])
def test_ctrl_c(path: Path, what: str) -> None:
    script = [sys.executable, "-c", INTERRUPTED, str(path), what]
    done = subprocess.run(script, capture_output=True, text=True, timeout=120)
    assert done.stdout.startswith("stopped after"), done.stderr
    # 100 ms on a machine that has nothing else to do.
    assert float(done.stdout.split()[-1]) < 1.0
    assert [entry.name for entry in path.parent.iterdir()] == ["p.lance"]
