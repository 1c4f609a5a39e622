"""Pages of other Parquet writers, decoded by the example `decode` and encoded again by `encode`.

    parquet_pages.py --examples FOLDER [--seeds 0..6]

pyarrow writes every encoding and type, in data pages of version 1 and 2, with and without nulls. Its values must
come back, and `encode` must write the same bytes. DuckDB writes other block sizes; its values must come back.
"""
import argparse
import itertools
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from parquet_file import pages

SIZES = (1, 2, 31, 33, 129, 257, 1000, 5000)
DELTA_OF = {
    'INT32': ['DELTA_BINARY_PACKED'],
    'INT64': ['DELTA_BINARY_PACKED'],
    'BYTE_ARRAY': ['DELTA_LENGTH_BYTE_ARRAY', 'DELTA_BYTE_ARRAY'],
    'FIXED_LEN_BYTE_ARRAY': ['DELTA_BYTE_ARRAY'],
}
JULIAN_DAY_OF_1970, DAY_NS = 2_440_588, 86_400_000_000_000


def columns(rng, rows):
    """Name, physical type and values of each column; the names say the pattern."""
    wide = rng.integers(-2**63, 2**63, rows)
    narrow = (wide >> 32).astype(np.int32)
    steps = np.cumsum(rng.integers(0, 40, rows))
    extremes = rng.choice([-2**63, 2**63 - 1, 0, -1], rows)
    words = [bytes(rng.integers(97, 100, rng.integers(0, 9), dtype=np.uint8)) for _ in range(rows)]
    return [
        ('boolean', 'BOOLEAN', pa.array(rng.random(rows) < .5)),
        ('i32', 'INT32', pa.array(narrow)),
        ('i32 steps', 'INT32', pa.array(steps.astype(np.int32))),
        ('i32 constant', 'INT32', pa.array(np.full(rows, 7, np.int32))),
        ('i32 extremes', 'INT32', pa.array((extremes >> 32).astype(np.int32))),
        ('i64', 'INT64', pa.array(wide)),
        ('i64 steps', 'INT64', pa.array(steps)),
        ('i64 extremes', 'INT64', pa.array(extremes)),
        ('timestamp', 'INT96', pa.array(wide >> 2, pa.timestamp('ns'))),
        ('f32', 'FLOAT', pa.array(narrow.view(np.float32))),
        ('f64', 'DOUBLE', pa.array(wide.view(np.float64))),
        ('words', 'BYTE_ARRAY', pa.array(words, pa.binary())),
        ('sorted words', 'BYTE_ARRAY', pa.array(sorted(words), pa.binary())),
        ('addresses', 'BYTE_ARRAY', pa.array([b'https://example.com/%d' % n for n in steps], pa.binary())),
        ('fixed', 'FIXED_LEN_BYTE_ARRAY', pa.array([n.to_bytes(16, 'big') for n in map(int, steps)], pa.binary(16))),
    ]


def pyarrow_files(rng, folder):
    """Files that pyarrow writes: path, table, and the encoding that every column must have."""
    for version in ('1.0', '2.0'):
        for nullable in (False, True):
            rows = int(rng.choice(SIZES))
            kinds = columns(rng, rows)
            for choice in range(3):
                fields, arrays, wanted = [], [], {}
                for name, physical, array in kinds:
                    if nullable:
                        array = with_nulls(rng, array)
                    fields.append(pa.field(name, array.type, nullable))
                    arrays.append(array)
                    wanted[name] = (['PLAIN'] + DELTA_OF.get(physical, []))[min(choice, len(DELTA_OF.get(physical, [])))]
                table = pa.Table.from_arrays(arrays, schema=pa.schema(fields))
                path = folder / 'pyarrow.parquet'
                pq.write_table(table, path, use_dictionary=False, column_encoding=wanted, compression='none',
                               data_page_version=version, use_deprecated_int96_timestamps=True,
                               data_page_size=int(rng.choice([300, 1 << 20])), write_batch_size=100)
                yield path, table, wanted


def with_nulls(rng, array):
    return pc.if_else(pa.array(rng.random(len(array)) < .7), array, None)


def duckdb_file(rng, folder):
    """A file that DuckDB writes with delta encodings: path and table. Its INT32 deltas stay in 32 bits."""
    rows = int(rng.choice((33, 1000, 5000)))
    table = pa.table({
        'i32': pa.array(rng.integers(-2**30, 2**30, rows).astype(np.int32)),
        'i64': pa.array(rng.integers(-2**62, 2**62, rows)),
        'text': pa.array([f'text {n}' * int(n % 4) + str(i) for i, n in enumerate(rng.integers(0, 10**9, rows))]),
    })
    path = folder / 'duckdb.parquet'
    connection = duckdb.connect()
    connection.register('source', table)
    connection.execute(f"COPY source TO '{path}' (FORMAT parquet, PARQUET_VERSION v2, COMPRESSION uncompressed, "
                       'DICTIONARY_SIZE_LIMIT 1)')
    return path, table


def expected(type, value):
    """What `decode` prints for a value; floats as bits."""
    if type == 'BOOLEAN':
        return str(value).lower()
    if type == 'INT96':
        day, nanoseconds = divmod(value, DAY_NS)
        return struct.pack('<QI', nanoseconds, day + JULIAN_DAY_OF_1970).hex()
    if 'BYTE_ARRAY' in type:
        return (value.encode() if isinstance(value, str) else value).hex()
    return bits(type, value) if type in ('FLOAT', 'DOUBLE') else str(value)


def bits(type, value):
    number = np.float32(value) if type == 'FLOAT' else np.float64(value)
    # A NaN has many forms in bits, and one in text.
    return 'nan' if np.isnan(number) else number.tobytes().hex()


def values_of(table, column):
    array = table.column(column).combine_chunks()
    if pa.types.is_timestamp(array.type):
        array = array.cast(pa.int64())
    return [value for value in array.to_pylist() if value is not None]


class Checks:
    def __init__(self, examples, folder):
        self.examples, self.folder, self.done, self.failures = examples, folder, Counter(), 0

    def file(self, writer, path, table, wanted=None):
        rest = {name: iter(values_of(table, name)) for name in table.column_names}
        for page in pages(path):
            values = list(itertools.islice(rest[page.column], page.num_values))
            problem = self.page(page, values, same_bytes=writer == 'pyarrow')
            if wanted and wanted[page.column] != page.encoding:
                problem = f'the writer chose {page.encoding} instead of {wanted[page.column]}'
            self.done[writer, page.encoding, page.type.partition('(')[0]] += 1
            if problem:
                self.failures += 1
                print(f'FAILED {writer}, {page.column}, {page.encoding} {page.type}, v{page.version}: {problem}')
        for name, values in rest.items():
            if any(True for _ in values):
                self.failures += 1
                print(f'FAILED {writer}, {name}: values behind the last page')

    def page(self, page, values, same_bytes):
        """None, or what is wrong."""
        file = self.folder / 'page.bin'
        file.write_bytes(page.payload)
        ran = self.run('decode', page.encoding, page.type, str(page.num_values), str(file))
        if ran.returncode:
            return ran.stderr.decode().strip()
        got = ran.stdout.decode().splitlines()
        texts = [bits(page.type, text) for text in got] if page.type in ('FLOAT', 'DOUBLE') else got
        want = [expected(page.type, value) for value in values]
        if texts != want:
            at = next((i for i, (a, b) in enumerate(zip(texts, want)) if a != b), min(len(texts), len(want)))
            return f'value {at} of {len(want)} differs: {texts[at:at + 1]} instead of {want[at:at + 1]}'
        # The text of a NaN does not tell its bits.
        if same_bytes and 'nan' not in texts:
            ran = self.run('encode', page.encoding, page.type, stdin=ran.stdout)
            if ran.returncode:
                return ran.stderr.decode().strip()
            if ran.stdout != page.payload:
                return f'encoded again, {len(ran.stdout)} other bytes than the {len(page.payload)} of the page'
        return None

    def run(self, example, *arguments, stdin=b''):
        return subprocess.run([self.examples / example, *arguments], input=stdin, capture_output=True, timeout=60)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--examples', required=True, type=Path)
    parser.add_argument('--seeds', default='0..6')
    arguments = parser.parse_args()
    first, end = map(int, arguments.seeds.split('..'))
    start = time.time()
    with tempfile.TemporaryDirectory(prefix='lancet-') as folder:
        checks = Checks(arguments.examples, Path(folder))
        for seed in range(first, end):
            rng = np.random.default_rng([seed, 11])
            for path, table, wanted in pyarrow_files(rng, Path(folder)):
                checks.file('pyarrow', path, table, wanted)
            checks.file('DuckDB', *duckdb_file(rng, Path(folder)))
    for (writer, encoding, type), count in sorted(checks.done.items()):
        print(f'{count:6} pages  {writer}, {encoding} {type}')
    missing = [pair for pair in every_pair() if not checks.done['pyarrow', *pair]]
    missing += [pair for pair in DUCKDB_PAIRS if not checks.done['DuckDB', *pair]]
    for pair in missing:
        print(f'FAILED no page of {pair}')
    print(f'{sum(checks.done.values())} pages, {checks.failures} failures, {time.time() - start:.0f} s')
    return 1 if checks.failures or missing else 0


def every_pair():
    for type in ('BOOLEAN', 'INT32', 'INT64', 'INT96', 'FLOAT', 'DOUBLE', 'BYTE_ARRAY', 'FIXED_LEN_BYTE_ARRAY'):
        yield from ((encoding, type) for encoding in ['PLAIN'] + DELTA_OF.get(type, []))


DUCKDB_PAIRS = [('DELTA_BINARY_PACKED', 'INT32'), ('DELTA_BINARY_PACKED', 'INT64'),
                ('DELTA_LENGTH_BYTE_ARRAY', 'BYTE_ARRAY')]

if __name__ == '__main__':
    sys.exit(main())
