"""The two sides of every comparison: the program `lancet`, and the reference through `pylance`."""
import subprocess

import pyarrow as pa
from lance.file import LanceFileReader, LanceFileWriter

from compare import difference, rows

# Rows that the reference takes one by one.
ALONE = 8


class Failed(Exception):
    """What went wrong, in words."""


class Lancet:
    """The program, one process for each call."""

    def __init__(self, path):
        self.path = path

    def output(self, *arguments):
        """Runs a command and returns what it prints."""
        done = subprocess.run([self.path, *map(str, arguments)], capture_output=True, text=True, timeout=300)
        if done.returncode:
            raise Failed(f'lancet {" ".join(map(str, arguments))}: exit {done.returncode}: {done.stderr.strip()[-2000:]}')
        return done.stdout

    def convert(self, source, target, version, *options):
        """Writes a file; returns what is printed."""
        return self.output('convert', source, target, '--format-version', version, *options)

    def cat(self, source, target, *options):
        self.output('cat', source, *options, '-o', target)
        return read_arrow(target)

    def take(self, source, target, indices, *options):
        self.output('take', source, '--rows', ','.join(map(str, indices)), *options, '-o', target)
        return read_arrow(target)


def read_arrow(path):
    """Reads an Arrow file, or a stream (`.arrows`), whose dictionaries may change from batch to batch."""
    with pa.memory_map(str(path)) as source:
        stream = path.suffix == '.arrows'
        return (pa.ipc.open_stream if stream else pa.ipc.open_file)(source).read_all()


def write_arrow(path, schema, batches):
    """Writes an Arrow file; returns its batches, which are no longer slices of one another."""
    with pa.ipc.new_file(str(path), schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    with pa.memory_map(str(path)) as source:
        reader = pa.ipc.open_file(source)
        return [reader.get_batch(index) for index in range(reader.num_record_batches)]


def reference(what, call):
    """Calls the reference. Its panics are no `Exception`, so everything is caught but the wish to stop."""
    try:
        return call()
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        raise Failed(f'the reference, {what}: {type(error).__name__}: {str(error)[:1500]}') from None


def reference_write(path, schema, batches, version, cache_bytes):
    def write():
        with LanceFileWriter(str(path), schema, version=version, data_cache_bytes=cache_bytes) as writer:
            for batch in batches:
                writer.write_batch(batch)
    reference('writing', write)


def check_reference_reads(path, table, some_rows, some_range):
    """The reference reads the file as the table: whole, by rows and by range."""
    reader = reference('opening', lambda: LanceFileReader(str(path)))
    check('the reference, whole', reference('reading', lambda: reader.read_all().to_table()), table)
    if table.num_rows:
        indices = sorted(set(some_rows))
        got = reference(f'taking {indices}', lambda: reader.take_rows(indices).to_table())
        check(f'the reference, rows {indices}', got, rows(table, indices))
        # A row without any value is more than the reference can do in some forms, its own included.
        for index in indices[:ALONE]:
            got = reference(f'taking {index}', lambda: reader.take_rows([index]).to_table())
            check(f'the reference, row {index}', got, rows(table, [index]))
        start, end = some_range
        got = reference(f'reading {start}..{end}', lambda: reader.read_range(start, end - start).to_table())
        check(f'the reference, rows {start}..{end}', got, table.slice(start, end - start))


def check(what, got, want):
    found = difference(got, want)
    if found:
        raise Failed(f'{what}: {found}')


def random_rows(rng, count):
    """Some rows in any order, with duplicates and both ends, and a range that is not empty."""
    if count == 0:
        return [], (0, 0)
    indices = [count - 1, 0, *rng.integers(0, count, 20).tolist()]
    start = int(rng.integers(0, count))
    return indices, (start, int(rng.integers(start + 1, count + 1)))
