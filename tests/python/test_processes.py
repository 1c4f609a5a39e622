"""Forks, spawns, threads and Ctrl-C: nothing hangs."""

from __future__ import annotations

import concurrent.futures
import ctypes
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


def lets_others_run(work: Callable[[], object]) -> bool:
    """Whether another thread gets the interpreter while some work is done. It does not ask for it: it takes what is let go."""
    ran = []
    turn = threading.Lock()

    def other() -> None:
        with turn:
            ran.append(True)

    waiting = threading.Thread(target=other)
    before = sys.getswitchinterval()
    sys.setswitchinterval(10_000)
    try:
        with turn:
            waiting.start()
        for _ in range(100):
            work()
            if ran:
                return True
        return False
    finally:
        sys.setswitchinterval(before)
        waiting.join()


def test_the_interpreter_is_free_meanwhile(path: Path) -> None:
    file = lancet.open(path, threads=1)
    rows = list(range(0, ROWS, 7))
    assert not lets_others_run(lambda: sum(rows))
    for work in (file.read, lambda: file.take(rows), lambda: list(file.scan())):
        assert lets_others_run(work)


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


FINISHED = """
import os, signal, sys, threading, time
import numpy as np
import lancet

path = sys.argv[1]
rng = np.random.default_rng(1)
words = np.array([f"some word {n}" for n in range(50_000)])
rows = {f"c{n}": words[rng.integers(0, 50_000, 300_000)].tolist() for n in range(8)}
writer = lancet.Writer(path, lancet.Table(rows).schema, profile="small", page_bytes=1 << 28, threads=1)
writer.write(rows)

def interrupt():
    time.sleep(0.1)
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt).start()
try:
    writer.finish()
except KeyboardInterrupt as error:
    # What was left behind would have ended by then.
    for _ in range(100):
        time.sleep(0.1)
        if os.path.exists(path):
            break
    print("stopped", getattr(error, "__notes__", []), os.listdir(os.path.dirname(path)))
"""


def test_ctrl_c_while_a_file_is_finished(tmp_path: Path) -> None:
    script = [sys.executable, "-c", FINISHED, str(tmp_path / "f.lance")]
    done = subprocess.run(script, capture_output=True, text=True, timeout=120)
    assert done.stdout == "stopped [] []\n", done.stdout + done.stderr


def test_a_fork_while_a_file_is_written(path: Path, tmp_path: Path) -> None:
    """It is the file of the parent: a child neither removes it nor writes what both have in memory."""
    rows = lancet.open(path).read()
    target = tmp_path / "f.lance"
    with lancet.Writer(target, rows.schema, page_bytes=1 << 16) as writer:
        writer.write(rows)
        for end in (lambda: writer.abandon(), lambda: writer.finish(), lambda: writer.write(rows)):
            child = os.fork()
            if child == 0:
                try:
                    end()
                    writer.abandon()
                except OSError:
                    pass
                finally:
                    os._exit(0)
            os.waitpid(child, 0)
            assert len(list(tmp_path.iterdir())) == 1
        writer.write(rows)
    file = lancet.open(target)
    assert file.verify() and file.num_rows == 2 * ROWS


PULLED = """
import io, sys
import lancet
from test_processes import pulled

data = open(sys.argv[1], "rb").read()
for _ in range(20):
    file = lancet.open(io.BytesIO(data), threads=4)
    assert pulled(file.scan(threads=4)) == pulled(file) == 60_000
print("done")
"""


def pulled(rows: Any) -> int:
    """How many rows a stream has, for one that pulls it and holds the interpreter all the time."""
    capsule = rows.__arrow_c_stream__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    stream = pointer(capsule, b"arrow_array_stream")
    get_next = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)((ctypes.c_void_p * 5).from_address(stream)[1])
    count = 0
    while True:
        array = (ctypes.c_void_p * 10)()
        assert get_next(stream, ctypes.addressof(array)) == 0
        if array[8] is None:
            return count
        count += array[0] or 0
        ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(array[8])(ctypes.addressof(array))


def test_streams_of_objects_end(path: Path) -> None:
    """A library that pulls a stream may hold the interpreter, which the object needs that reads the file."""
    script = [sys.executable, "-c", PULLED, str(path)]
    done = subprocess.run(script, capture_output=True, text=True, timeout=60, cwd=Path(__file__).parent)
    assert done.stdout == "done\n", done.stderr


def test_the_interpreter_is_free_while_others_pull(path: Path) -> None:
    file = lancet.open(path, threads=1)
    assert lets_others_run(lambda: pulled(file.scan(columns=["text"], batch_rows=60_000)))


class Stop(BaseException):
    """An exception that takes no notes, as those of Python 3.10."""

    add_note = None


@pytest.mark.parametrize("kind", [KeyboardInterrupt, Stop])
def test_notes_of_interrupts(path: Path, kind: type[BaseException]) -> None:
    rows = lancet.open(path).read(rows=range(100))

    class Full:
        def write(self, data: bytes) -> int:
            if finishing:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.5)
                raise OSError("the disk is full")
            return len(data)

    def interrupt(*_: object) -> None:
        raise kind

    finishing = False
    writer = lancet.Writer(Full(), rows.schema)  # type: ignore[arg-type]
    writer.write(rows)
    finishing = True
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        with pytest.raises(kind) as caught:
            writer.finish()
    finally:
        signal.signal(signal.SIGINT, before)
    (note,) = caught.value.__notes__
    assert "the disk is full" in note and (kind is KeyboardInterrupt or caught.value.args == (note,))
