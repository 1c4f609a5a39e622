"""Row ids of tables that the reference writes, read by lancet.

    row_ids.py --lancet PROGRAM [--tables 12]

Each table has stable row ids and goes through appends, deletes, updates, merges and compactions. For every version
the row id sequence of every fragment is taken out of the manifest and given to `lancet row-ids`; the ids must be
those that the reference reports for the same rows.
"""
import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import lance
import numpy as np
import pyarrow as pa

from drive import Failed, Lancet, reference

KINDS = {'range', 'range_with_holes', 'range_with_bitmap', 'sorted_array', 'array'}


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 0x80:
            return value, at


def fields(data):
    """Number and value of each field of a protobuf message."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            raise Failed(f'the manifest has a field of wire type {key & 7}')
        yield key >> 3, value


def fragments(root, version):
    """Id, physical rows and serialized row ids of each fragment, out of the manifest."""
    data = (root / '_versions' / f'{2**64 - 1 - version:020}.manifest').read_bytes()
    start = int.from_bytes(data[-16:-8], 'little')
    size = int.from_bytes(data[start:start + 4], 'little')
    for number, value in fields(data[start + 4:start + 4 + size]):
        if number == 2:
            fragment = dict(fields(value))
            yield fragment.get(1, 0), fragment[4], fragment[5]


def rows(rng, first, count):
    keys = np.arange(first, first + count)
    return pa.table({'k': pa.array(keys), 'v': pa.array(rng.integers(0, 1000, count))})


class Table:
    """A table with stable row ids, and what may happen to it."""

    def __init__(self, root, rng):
        self.root, self.rng = root, rng
        self.count = int(rng.integers(50, 4000))
        self.table = lance.write_dataset(
            rows(rng, 0, self.count), str(root), enable_stable_row_ids=True,
            max_rows_per_file=int(rng.integers(20, 2500)), data_storage_version=str(rng.choice(['2.1', '2.2'])))
        if rng.random() < 0.3:
            self.table.update_config({'lance.row_ids.range_segments': 'true'})

    def condition(self):
        low = int(self.rng.integers(0, self.count))
        high = low + int(self.rng.choice([3, 40, 600, 3000]))
        every = int(self.rng.choice([1, 2, 3, 7, 90]))
        return f'k >= {low} and k < {high} and k % {every} = 0'

    def append(self):
        added = int(self.rng.integers(1, 800))
        self.table = lance.write_dataset(rows(self.rng, self.count, added), str(self.root), mode='append')
        self.count += added

    def delete(self):
        self.table.delete(self.condition())

    def update(self):
        self.table.update({'v': 'v + 1'}, where=self.condition())

    def merge(self):
        keys = np.unique(self.rng.integers(0, self.count + 200, int(self.rng.integers(1, 300))))
        self.rng.shuffle(keys)
        new = pa.table({'k': pa.array(keys), 'v': pa.array(keys * 2)})
        self.table.merge_insert('k').when_matched_update_all().when_not_matched_insert_all().execute(new)
        self.count += 200

    def compact(self):
        self.table.optimize.compact_files(target_rows_per_fragment=int(self.rng.choice([500, 1500, 100000])))

    def change(self):
        steps = [self.append, self.delete, self.delete, self.update, self.update, self.merge, self.compact]
        step = steps[self.rng.integers(len(steps))]
        reference(step.__name__, step)


def check_version(lancet, table, file, kinds):
    """Compares every live row of the table's version; returns how many there were."""
    version = table.version
    found = reference('scanning', lambda: table.to_table(columns=['k'], with_row_id=True, with_row_address=True))
    addresses, row_ids = found['_rowaddr'].to_numpy(), found['_rowid'].to_numpy()
    for fragment, physical_rows, serialized in fragments(Path(table.uri), version):
        file.write_bytes(serialized)
        report = json.loads(lancet.output('row-ids', file, '--json'))
        kinds.update(segment['kind'] for segment in report['segments'])
        ids = np.array(lancet.output('row-ids', file, '--ids').split(), dtype=np.uint64)
        if not len(ids) == report['rows'] == physical_rows:
            raise Failed(f'version {version}, fragment {fragment}: {len(ids)} row ids for {physical_rows} rows')
        here = addresses >> np.uint64(32) == fragment
        if not np.array_equal(ids[addresses[here] & np.uint64(0xffffffff)], row_ids[here]):
            raise Failed(f'version {version}, fragment {fragment}: other row ids than the reference reports')
    return len(row_ids)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--lancet', required=True)
    parser.add_argument('--tables', type=int, default=12)
    options = parser.parse_args()
    lancet, kinds, checked, failures = Lancet(options.lancet), set(), 0, 0
    start = time.time()
    for seed in range(options.tables):
        with tempfile.TemporaryDirectory(prefix='lancet-') as folder:
            try:
                table = Table(Path(folder) / 'table', np.random.default_rng(seed))
                for _ in range(8):
                    checked += check_version(lancet, table.table, Path(folder) / 'ids.bin', kinds)
                    table.change()
                checked += check_version(lancet, table.table, Path(folder) / 'ids.bin', kinds)
            except Failed as failed:
                failures += 1
                print(f'table {seed}: {failed}', flush=True)
    if kinds != KINDS:
        failures += 1
        print(f'no segment of kind {", ".join(sorted(KINDS - kinds))} was met')
    print(f'{checked} rows of {options.tables} tables, {failures} failures, {time.time() - start:.0f} s')
    sys.exit(1 if failures or not checked else 0)


if __name__ == '__main__':
    main()
