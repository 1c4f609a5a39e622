"""Sizes and times of typical columns: the reference with its defaults against lancet in each profile.

    sizes.py --lancet PROGRAM --times STOPWATCH [--columns id,ts] [--profiles balanced,small] [--rows 1000000] [--no-times]

Columns are made by seed. Every file of lancet is read back by the reference and compared. Sizes are exact; times
are the least of several runs on one core, and mean something only on a quiet machine.
"""
import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# Before the reference is loaded: one core for everybody.
ONE_CORE = {'LANCE_CPU_THREADS': '1', 'LANCE_IO_THREADS': '1', 'TOKIO_WORKER_THREADS': '1'}
os.environ.update(ONE_CORE)

import numpy as np
import pyarrow as pa
from lance.file import LanceFileReader, LanceFileWriter

from drive import check, write_arrow

VERSIONS = ('2.1', '2.2')
PROFILES = ('fast', 'balanced', 'small')
NUMBERS = ('id', 'ts', 'code', 'runs', 'measure', 'price', 'walk', 'date', 'flags')
RUNS = 5

WORDS = ('the quick brown fox jumps over a lazy dog while many small birds sing about summer rain and old stories of '
         'distant hills where rivers carry silver light toward an open sea').split()
PATHS = ('products', 'articles', 'users', 'search', 'images', 'help', 'news', 'orders')
CITIES = [f'{name} {kind}' for name in ('North', 'South', 'East', 'West', 'New', 'Old', 'Upper', 'Lower')
          for kind in ('Haven', 'Bridge', 'Field', 'Ford', 'Bury', 'Mouth', 'Hill', 'Wood', 'Gate', 'Well')]


def columns(rows):
    """Name and maker of each column."""
    seed = iter(range(1000))

    def rng():
        return np.random.default_rng([7, next(seed)])

    def nullable(array, r, share=.1):
        return pa.array(array.to_numpy(zero_copy_only=False), array.type, mask=r.random(len(array)) < share)

    def ts(r):
        gaps = r.integers(500_000, 1_500_000, rows)
        return pa.array(1_700_000_000_000_000 + np.cumsum(gaps), pa.timestamp('us'))

    def runs(r):
        return pa.array(np.repeat(r.integers(0, 1 << 20, rows), r.integers(1, 80, rows))[:rows], pa.int32())

    def decimals(r):
        cents = r.integers(90_000, 10_500_000, rows)
        data = np.zeros((rows, 2), np.int64)
        data[:, 0] = cents
        return pa.Array.from_buffers(pa.decimal128(15, 2), rows, [None, pa.py_buffer(data.tobytes())])

    def urls(r):
        host, path = r.integers(0, 40, rows), r.integers(0, len(PATHS), rows)
        return pa.array([f'https://www.shop{h}.example.com/{PATHS[p]}/{i:07d}?ref={q}'
                         for h, p, i, q in zip(host, path, r.integers(0, 5_000_000, rows), r.integers(0, 50, rows))])

    def sentences(r):
        picks, lengths = r.zipf(1.3, rows * 9) % len(WORDS), r.integers(4, 10, rows)
        ends = np.cumsum(lengths)
        return pa.array([' '.join(WORDS[w] for w in picks[e - n:e]) for e, n in zip(ends, lengths)])

    def uuids(r):
        raw = r.integers(0, 256, (rows, 16), np.uint8).tobytes().hex()
        return pa.array([f'{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}'
                         for h in (raw[i * 32:i * 32 + 32] for i in range(rows))])

    def lists(r):
        lengths = r.integers(0, 8, rows)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        return pa.ListArray.from_arrays(pa.array(offsets), pa.array(r.integers(0, 1000, offsets[-1]), pa.int32()))

    def structs(r):
        parts = [nullable(pa.array(r.normal(20, 5, rows).round(2)), r), nullable(pa.array(r.integers(0, 100, rows)), r),
                 nullable(pa.array(r.choice(CITIES, rows)), r)]
        return pa.StructArray.from_arrays(parts, ['x', 'n', 'city'], mask=pa.array(r.random(rows) < .05))

    def documents(r):
        picks = r.zipf(1.2, (max(rows // 40, 10), 700)) % 3000
        return pa.array([' '.join(f'{WORDS[w % len(WORDS)]}{w}' for w in row)[:4096] for row in picks])

    return {
        'id': lambda: pa.array(np.arange(rows, dtype=np.int64) + 10_000),
        'ts': lambda: ts(rng()),
        'code': lambda: pa.array(rng().integers(0, 5000, rows), pa.int32()),
        'runs': lambda: runs(rng()),
        'measure': lambda: pa.array((rng().integers(-4000, 6000, rows) / 100).astype(np.float32)),
        'price': lambda: pa.array(rng().lognormal(3, 1, rows).round(2)),
        'walk': lambda: pa.array(np.cumsum(rng().normal(0, 1, rows)) + 1000),
        'date': lambda: pa.array(rng().integers(8000, 10_500, rows).astype(np.int32), pa.date32()),
        'flags': lambda: pa.array(rng().integers(0, 7, rows), pa.int64()),
        'decimal': lambda: decimals(rng()),
        'status': lambda: pa.array(rng().choice(['A', 'N', 'R'], rows, p=[.25, .5, .25])),
        'category': lambda: pa.array(rng().choice(CITIES, rows)),
        'url': lambda: urls(rng()),
        'sentence': lambda: sentences(rng()),
        'uuid': lambda: uuids(rng()),
        'list': lambda: lists(rng()),
        'struct': lambda: structs(rng()),
        'document': lambda: documents(rng()),
    }


def reference_write(path, table, version):
    with LanceFileWriter(str(path), table.schema, version=version) as writer:
        for batch in table.to_batches(8192):
            writer.write_batch(batch)


def reference_scan(path):
    reader = LanceFileReader(str(path))
    best = math.inf
    for _ in range(RUNS):
        start = time.perf_counter()
        for _ in reader.read_all(batch_size=8192).to_batches():
            pass
        best = min(best, time.perf_counter() - start)
    return best


class Program:
    """The program lancet and its stop watch, on one core."""

    def __init__(self, path, times):
        self.path = path
        self.times = times

    def run(self, *arguments):
        done = subprocess.run(list(map(str, arguments)), capture_output=True, text=True, env={**os.environ, **ONE_CORE})
        if done.returncode:
            sys.exit(f'{arguments}: {done.stderr}')
        return done.stdout

    def convert(self, source, target, version, profile):
        self.run(self.path, 'convert', '-q', source, target, '--format-version', version, '--profile', profile, '--threads', 1)

    def seconds(self, source, target, version, profile):
        """Writing and scanning."""
        _, write, _, scan = self.run(self.times, source, target, version, profile, RUNS, 1).split()
        return float(write), float(scan)


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def measure(program, folder, name, table, version, profiles, with_times):
    """One line of the table for each profile."""
    source, theirs = folder / 'source.arrow', folder / 'theirs.lance'
    write_arrow(source, table.schema, table.to_batches(8192))
    reference_write(theirs, table, version)
    size, arrow = theirs.stat().st_size, table.nbytes
    their_scan = reference_scan(theirs) if with_times else 0
    for profile in profiles:
        ours = folder / 'ours.lance'
        program.convert(source, ours, version, profile)
        check(name, LanceFileReader(str(ours)).read_all().to_table(), table)
        line = {'column': name, 'version': version, 'profile': profile, 'arrow': arrow / 1e6, 'theirs': size / 1e6,
                'ours': ours.stat().st_size / 1e6, 'ratio': ours.stat().st_size / size}
        if with_times:
            write, scan = program.seconds(source, ours, version, profile)
            line |= {'encode': arrow / 1e6 / write, 'scan': scan * 1e3, 'reference on ours': reference_scan(ours) * 1e3,
                     'reference on its own': their_scan * 1e3}
        yield line


def shown(line):
    text = f'{line["column"]:<10}{line["version"]:<5}{line["profile"]:<10}'
    text += ''.join(f'{line[key]:>9.2f}' for key in ('arrow', 'theirs', 'ours'))
    text += f'{line["ratio"]:>8.3f}'
    if 'scan' in line:
        text += f'{line["encode"]:>9.0f}{line["scan"]:>9.1f}{line["reference on its own"]:>11.1f}{line["reference on ours"]:>11.1f}'
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--lancet', required=True)
    parser.add_argument('--times', required=True)
    parser.add_argument('--columns', default='')
    parser.add_argument('--versions', default=','.join(VERSIONS))
    parser.add_argument('--profiles', default=','.join(PROFILES))
    parser.add_argument('--rows', type=int, default=1_000_000)
    parser.add_argument('--no-times', action='store_true')
    options = parser.parse_args()
    made = columns(options.rows)
    names = options.columns.split(',') if options.columns else list(made)
    program = Program(options.lancet, options.times)
    print(f'{"column":<10}{"":<5}{"profile":<10}{"Arrow MB":>9}{"theirs":>9}{"ours":>9}{"ratio":>8}'
          + ('' if options.no_times else f'{"enc MB/s":>9}{"scan ms":>9}{"ref/its own":>11}{"ref/ours":>11}'))
    lines = []
    with tempfile.TemporaryDirectory(prefix='lancet-') as folder:
        for name in names:
            table = pa.table({name: made[name]()}).combine_chunks()
            for version in options.versions.split(','):
                for line in measure(program, Path(folder), name, table, version, options.profiles.split(','), not options.no_times):
                    lines.append(line)
                    print(shown(line), flush=True)
    for profile in options.profiles.split(','):
        of_profile = [line for line in lines if line['profile'] == profile]
        worst = max(of_profile, key=lambda line: line['ratio'])
        text = (f'{profile}: geometric mean of the ratios {geometric_mean([line["ratio"] for line in of_profile]):.3f}, '
                f'worst {worst["ratio"]:.3f} ({worst["column"]} {worst["version"]})')
        if not options.no_times:
            numbers = [line for line in of_profile if line['column'] in NUMBERS]
            if numbers:
                speed = sum(line['arrow'] for line in numbers) / sum(line['arrow'] / line['encode'] for line in numbers)
                text += f', numbers encoded at {speed:.0f} MB/s'
            ours, theirs = sum(line['scan'] for line in of_profile), sum(line['reference on its own'] for line in of_profile)
            text += f', scans {ours:.0f} ms against {theirs:.0f} ms'
        print(text)


if __name__ == '__main__':
    main()
