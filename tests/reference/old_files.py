"""Writes the files of old releases that lancet must read, and what those releases read from them.

    old_files.py crates/lancet/tests/data/old

Run it with the Python of a virtual environment that holds one release, for example

    python -m venv old && old/bin/pip install pylance==0.20.0 'pyarrow<18' 'numpy<2'

The files are kept in the repository; run this again only to add some. Each is called NAME-RELEASE-VERSION.lance,
after the release that wrote it and the format version it was asked for; NAME-RELEASE-VERSION.arrow is what that
release reads, or what it was given where it cannot read its own file. What a release cannot do is told.
"""
import multiprocessing
import os
import struct
import sys
from datetime import date, datetime
from decimal import Decimal

import lance
import pyarrow as pa
from lance.file import LanceFileReader, LanceFileWriter

RELEASE = lance.__version__
# The first release knows only 2.0, and does not say so.
VERSIONS = [None] if RELEASE.startswith('0.12.') else ['2.0', '2.1'] if RELEASE.startswith('0.30.') else ['2.0']


def encoded(name, data_type, **options):
    metadata = {f'lance-encoding:{key.replace("_", "-")}': value for key, value in options.items()}
    return pa.field(name, data_type, metadata=metadata)


def some(values, every=5):
    """The values with nulls among them."""
    return [None if i % every == 3 else value for i, value in enumerate(values)]


def numbers():
    rows = 70
    yield pa.field('i8', pa.int8()), some(range(-35, 35))
    yield pa.field('u16', pa.uint16()), [i * 13 for i in range(rows)]
    yield pa.field('i32', pa.int32()), some(i * 1000 for i in range(rows))
    yield pa.field('i64', pa.int64()), [-(1 << 40) + i for i in range(rows)]
    yield pa.field('small', pa.uint64()), [i % 5 for i in range(rows)]
    yield pa.field('f32', pa.float32()), some(i / 4 for i in range(rows))
    yield pa.field('f64', pa.float64()), [i / 3 for i in range(rows)]
    yield pa.field('b', pa.bool_()), some(i % 3 == 0 for i in range(rows))
    yield pa.field('none', pa.int32()), [None] * rows
    yield pa.field('d', pa.date32()), some(date(2020, 1, 1 + i % 28) for i in range(rows))
    yield pa.field('t', pa.timestamp('us')), [datetime(2024, 1, 1, 0, 0, i % 60) for i in range(rows)]
    yield pa.field('dec', pa.decimal128(20, 2)), some(Decimal(i) / 4 for i in range(rows))
    yield pa.field('fsb', pa.binary(3)), [b'%03d' % i for i in range(rows)]


def strings():
    rows = 40
    yield pa.field('s', pa.string()), some(f'text {i}' * (i % 4) for i in range(rows))
    yield pa.field('full', pa.string()), [f'{i:04}' for i in range(rows)]
    yield pa.field('b', pa.binary()), some(bytes(range(i)) for i in range(rows))
    yield pa.field('none', pa.string()), [None] * rows


def large_strings():
    yield pa.field('ls', pa.large_string()), some(f'large {i}' for i in range(40))


def nested():
    rows = 30
    lists = [None if i % 7 == 2 else list(range(i % 4)) for i in range(rows)]
    yield pa.field('l', pa.list_(pa.int32())), lists
    yield pa.field('ls', pa.list_(pa.string())), [None if row is None else some(map(str, row)) for row in lists]
    pair = pa.struct([pa.field('x', pa.int16()), pa.field('y', pa.string())])
    pairs = [{'x': i, 'y': None if i % 4 == 1 else f'y{i}'} for i in range(rows)]
    yield pa.field('st', pair), pairs
    yield pa.field('lst', pa.list_(pair)), [pairs[i:i + i % 3] for i in range(rows)]
    yield pa.field('end', pa.int8()), list(range(rows))


def lists_of_lists():
    yield pa.field('lol', pa.list_(pa.list_(pa.int16()))), [[[1, 2], None, []][:i % 4] for i in range(30)]


def large_lists():
    yield pa.field('ll', pa.large_list(pa.float64())), [[i / 2, None] * (i % 3) for i in range(20)]


def vectors():
    rows = 20
    yield pa.field('v', pa.list_(pa.float32(), 4)), [[i / 2] * 4 for i in range(rows)]
    yield pa.field('n', pa.list_(pa.int32(), 2)), some([i, -i] for i in range(rows))
    yield pa.field('b', pa.list_(pa.bool_(), 3)), [[i % 2 == 0, True, False] for i in range(rows)]


def dictionary():
    rows = 50
    words = ['red', 'green', 'blue']
    yield pa.field('d', pa.dictionary(pa.int8(), pa.string())), [words[i % 3] for i in range(rows)]
    yield pa.field('k', pa.dictionary(pa.int32(), pa.string())), [words[i % 2] for i in range(rows)]


def dictionary_nulls():
    words = ['red', 'green', None]
    yield pa.field('n', pa.dictionary(pa.int8(), pa.string())), [words[i % 3] for i in range(20)]


def repeated():
    words = [f'word {i}' for i in range(7)] + [None]
    yield pa.field('s', pa.string()), [words[i % 8] for i in range(240)]
    yield pa.field('l', pa.list_(pa.string())), [[words[i % 8]] * (i % 3) for i in range(240)]


def texts():
    return some(f'some text {i % 50} of {i}' for i in range(120))


def zstd():
    yield encoded('s', pa.string(), compression='zstd'), texts()


def lz4():
    yield encoded('s', pa.string(), compression='lz4'), texts()


def fsst():
    yield encoded('s', pa.string(), compression='fsst'), texts()


def packed():
    pair = pa.struct([pa.field('x', pa.int16()), pa.field('y', pa.float64())])
    yield pa.field('p', pair, metadata={'packed': 'true'}), [{'x': i, 'y': i / 2} for i in range(20)]
    yield pa.field('after', pa.int32()), list(range(20))


def blobs():
    yield encoded('b', pa.large_binary(), blob='true'), [b'hello', None, b'', b'world!' * 20]


def wide():
    yield pa.field('v', pa.list_(pa.float32(), 40)), some([i / 2] * 40 for i in range(30))
    yield pa.field('s', pa.string()), [f'{i}' * 300 for i in range(10)] * 3


def short_strings():
    yield pa.field('s', pa.string()), [f'{i:04}' for i in range(60)]


def large_numbers():
    yield pa.field('u', pa.uint32()), [i % 700 for i in range(1500)]
    yield pa.field('i', pa.int16()), [i % 90 - 40 for i in range(1500)]


CASES = [numbers, strings, large_strings, nested, lists_of_lists, large_lists, vectors, dictionary, dictionary_nulls, repeated, zstd, lz4,
         fsst, packed, blobs, wide]
SPLIT = [numbers, strings, nested, repeated]
# What releases in the middle are asked for: where they may differ from those before and after.
MIDDLE = ['numbers', 'strings', 'nested', 'dictionary', 'dictionary_nulls', 'zstd', 'lz4', 'fsst', 'packed', 'blobs']


def table_of(columns, rows):
    # Not slices: old releases wrote all of a struct's fields for a slice of it.
    arrays = [pa.array(values[rows], field.type) for field, values in columns]
    return pa.table(arrays, schema=pa.schema([field for field, _ in columns]))


def write(path, columns, version, batches):
    options = {} if version is None else {'version': version}
    if batches > 1:
        options['data_cache_bytes'] = 1
    num_rows = len(columns[0][1])
    with LanceFileWriter(path, table_of(columns, slice(0)).schema, **options) as writer:
        for batch in range(batches):
            rows = slice(batch * num_rows // batches, (batch + 1) * num_rows // batches)
            writer.write_batch(table_of(columns, rows))


def keep(path, table):
    with pa.OSFile(path, 'wb') as sink, pa.ipc.new_file(sink, table.schema) as out:
        out.write_table(table.combine_chunks())


def make(path, case, version, batches):
    columns = [(field, list(values)) for field, values in case()]
    write(f'{path}.lance', columns, version, batches)
    # What the release should read, for the case that it cannot.
    keep(f'{path}.arrow', table_of(columns, slice(None)))
    keep(f'{path}.arrow', LanceFileReader(f'{path}.lance').read_all().to_table())


def restamp(path):
    """Makes a file of the 2.1 of these releases one of 2.0. Their pages are those of 2.0, with a few encodings more
    that today's reference reads in 2.0 and no release wrote there; only the version in the footer differs."""
    with open(path, 'r+b') as file:
        file.seek(-8, os.SEEK_END)
        file.write(struct.pack('<HH', 0, 3))


def make_restamped(path, case):
    columns = [(field, list(values)) for field, values in case()]
    write(f'{path}.lance', columns, '2.1', 1)
    restamp(f'{path}.lance')
    keep(f'{path}.arrow', table_of(columns, slice(None)))


def run(target, *args):
    """Runs a function in a process of its own: some releases end the process where they should fail."""
    process = multiprocessing.get_context('spawn').Process(target=target, args=args)
    process.start()
    process.join()
    return process.exitcode == 0


def main():
    folder = os.path.abspath(sys.argv[1])
    jobs = [(case.__name__, case, 1) for case in CASES] + [(f'{case.__name__}_pages', case, 3) for case in SPLIT]
    for name, case, batches in jobs:
        for version in VERSIONS:
            if RELEASE >= '0.18' and version == '2.0' and name not in MIDDLE:
                continue
            path = os.path.join(folder, f'{name}-{RELEASE}-{version or "2.0"}')
            read = run(make, path, case, version, batches)
            if not os.path.exists(f'{path}.arrow'):
                print(f'{path}: the release cannot write it')
                if os.path.exists(f'{path}.lance'):
                    os.remove(f'{path}.lance')
            elif not read:
                print(f'{path}: the release cannot read it; kept with what was written')
    if RELEASE.startswith(('0.16.', '0.18.')):
        for case in (numbers, short_strings, large_numbers):
            run(make_restamped, os.path.join(folder, f'{case.__name__}-{RELEASE}-restamped'), case)


if __name__ == '__main__':
    main()
