"""Files with zone maps: the reference reads them as if they had none, and their bounds are those that pyarrow finds.

    zone_maps.py --lancet PROGRAM
"""
import argparse
import json
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from drive import Failed, Lancet, check_reference_reads, random_rows, write_arrow
from tables import VERSIONS

ROWS = 40_000
ZONE = 8192


def table(version):
    """A column of each kind that has a map, wide enough for one; structs are null where the version can tell."""
    rng = np.random.default_rng(7)
    numbers = rng.integers(-2**62, 2**62, ROWS)
    nulls = rng.random(ROWS) < .2
    words = [f'{n:x}' * (1 + n % 7) for n in abs(numbers)]
    columns = {
        'int8': pa.array(numbers % 100, pa.int8(), mask=nulls),
        'uint64': pa.array(numbers.astype(np.uint64)),
        'int64': pa.array(np.sort(numbers)),
        'float16': pa.array(rng.random(ROWS).astype(np.float16)),
        'float32': pa.array(rng.random(ROWS).astype(np.float32), mask=nulls),
        'float64': pa.array(rng.random(ROWS)),
        'bool': pa.array(numbers % 3 == 0, mask=nulls),
        'decimal128': pa.array([Decimal(int(n)) for n in numbers], pa.decimal128(30, 0)),
        'decimal256': pa.array([Decimal(int(n)) for n in numbers], pa.decimal256(50, 0)),
        'date32': pa.array((numbers % 40_000).astype(np.int32), pa.date32()),
        'time64': pa.array(abs(numbers) % 86_400_000_000, pa.time64('us')),
        'timestamp': pa.array(numbers, pa.timestamp('ns', 'UTC')),
        'duration': pa.array(numbers, pa.duration('ms')),
        'string': pa.array(words, mask=nulls),
        'large_string': pa.array(words, pa.large_string()),
        'binary': pa.array([word.encode() for word in words], pa.binary()),
        'dictionary': pa.array([f'word {n % 300}' for n in numbers], mask=nulls).dictionary_encode(),
        'all_null': pa.array([None] * ROWS, pa.int64()),
    }
    structs = None if version == '2.0' else pa.array(rng.random(ROWS) < .3)
    inner = pa.StructArray.from_arrays([columns['int64'], columns['string']], ['n', 's'], mask=structs)
    columns['struct'] = pa.StructArray.from_arrays([inner, columns['float64']], ['inner', 'f'])
    return pa.table(columns)


def leaves(table):
    """Names and arrays of all leaves, null where a struct around them is."""
    for name, column in zip(table.column_names, table.columns):
        todo = [(name, column.combine_chunks())]
        while todo:
            name, array = todo.pop()
            if pa.types.is_struct(array.type):
                todo += [(f'{name}.{f.name}', child) for f, child in zip(array.type, array.flatten())]
            else:
                yield name, array


def check_counts(lancet, path, table):
    """Nulls of every zone and bounds of whole numbers are those of pyarrow; returns the number of maps."""
    stats = json.loads(lancet.output('stats', path, '--json', '--zones'))
    found = {column['name']: column for column in stats['columns']}
    maps = 0
    for name, array in leaves(table):
        column = found[name]
        if column['zones'] is None:
            continue
        maps += 1
        for index, zone in enumerate(column['each_zone']):
            part = array.slice(index * ZONE, ZONE)
            if zone['nulls'] != part.null_count or zone['rows'] != len(part):
                raise Failed(f'zone {index} of {name}: {zone}, but {part.null_count} nulls')
            if pa.types.is_integer(part.type) and part.null_count < len(part):
                want = pc.min_max(part).as_py()
                if (zone['min'], zone['max']) != (want['min'], want['max']):
                    raise Failed(f'zone {index} of {name}: {zone} instead of {want}')
    return maps


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--lancet', required=True)
    lancet, failures = Lancet(parser.parse_args().lancet), 0
    for version in VERSIONS:
        with tempfile.TemporaryDirectory(prefix='lancet-') as folder:
            try:
                made = table(version)
                source, path = Path(folder) / 'source.arrow', Path(folder) / 'mapped.lance'
                write_arrow(source, made.schema, made.to_batches())
                lancet.convert(source, path, version)
                lancet.output('verify', path)
                indices, some_range = random_rows(np.random.default_rng(1), ROWS)
                check_reference_reads(path, made, indices, some_range)
                maps = check_counts(lancet, path, made)
                print(f'{version}: {maps} zone maps', flush=True)
                if maps < 15:
                    raise Failed('too few zone maps')
            except Failed as failed:
                failures += 1
                print(f'{version}: {failed}', flush=True)
    sys.exit(1 if failures else 0)


if __name__ == '__main__':
    main()
