"""Random histories of tables that the reference writes, read by lancet at every version.

    histories.py --example dump_table [--seeds 0..60] [--keep FOLDER]

A table is made in one of the storage versions, with or without stable row ids, and then appended to, deleted from,
updated, merged into, given other columns, compacted, tagged and restored, in any order. `dump_table` reads every
version by scan and compares takes with that; what the scan gives must be what the reference gives.
"""
import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import lance
import numpy as np
import pyarrow as pa

from compare import difference
from drive import Failed, read_arrow, reference

WORDS = ['', 'a', 'Basel', 'Lyon', 'Turin', 'a longer one that does not fit where short ones do', 'ä€']
VERSION_COLUMNS = ['_row_created_at_version', '_row_last_updated_at_version']


def some_nulls(rng, values, share=0.15):
    return [None if rng.random() < share else value for value in values]


class Column:
    """A kind of column: its type, and values for it."""

    def __init__(self, kind, value):
        self.kind, self.value = kind, value

    def array(self, rng, count):
        return pa.array(some_nulls(rng, [self.value(rng) for _ in range(count)]), self.kind)


def word(rng):
    return str(rng.choice(WORDS))


COLUMNS = [
    Column(pa.int32(), lambda rng: int(rng.integers(-1000, 1000))),
    Column(pa.float64(), lambda rng: float(rng.normal())),
    Column(pa.string(), word),
    Column(pa.bool_(), lambda rng: bool(rng.random() < 0.5)),
    Column(pa.list_(pa.int16()), lambda rng: [int(n) for n in rng.integers(0, 99, int(rng.integers(0, 4)))]),
    Column(pa.list_(pa.float32(), 3), lambda rng: [float(n) for n in rng.integers(0, 9, 3)]),
    Column(pa.struct([('x', pa.int32()), ('y', pa.string())]),
           lambda rng: {'x': int(rng.integers(0, 99)), 'y': word(rng)}),
    Column(pa.list_(pa.struct([('a', pa.int64()), ('b', pa.string())])),
           lambda rng: [{'a': int(n), 'b': word(rng)} for n in rng.integers(0, 99, int(rng.integers(0, 3)))]),
    Column(pa.timestamp('us', 'UTC'), lambda rng: int(rng.integers(0, 10**15))),
    Column(pa.binary(), lambda rng: rng.bytes(int(rng.integers(0, 9)))),
]


class RowMaker:
    """Random columns, and rows of them with new keys."""

    def choose(self, seed, most_columns):
        """Draws a storage version, stable row ids or not, and columns."""
        self.rng = np.random.default_rng(seed)
        self.storage = str(self.rng.choice(['2.0', '2.1', '2.2']))
        self.stable = bool(self.rng.random() < 0.5)
        self.next_key, self.names, self.kinds = 0, 0, {'k': None}
        for _ in range(int(self.rng.integers(1, most_columns + 1))):
            self.kinds[self.new_name()] = self.choose_kind()
        self.log = [f'{self.storage}, stable {self.stable}']

    def choose_kind(self):
        # In 2.0 a struct cannot be null, also not where a column is missing.
        kinds = [c for c in COLUMNS if self.storage != '2.0' or 'struct' not in str(c.kind)]
        return kinds[int(self.rng.integers(len(kinds)))]

    def new_name(self):
        self.names += 1
        return f'c{self.names}'

    def rows(self, count, names=None, keys=None):
        if keys is None:
            keys = range(self.next_key, self.next_key + count)
            self.next_key += count
        arrays, fields = [], []
        for name, kind in self.kinds.items():
            if names is not None and name not in names:
                continue
            array = pa.array(list(keys), pa.int64()) if kind is None else kind.array(self.rng, count)
            arrays.append(array)
            fields.append(pa.field(name, array.type))
        return pa.table(arrays, schema=pa.schema(fields))


class History(RowMaker):
    """A table, and what may happen to it."""

    def __init__(self, root, seed):
        self.root = str(root)
        self.choose(seed, most_columns=5)
        count = int(self.rng.choice([0, 1, 30, 300], p=[0.05, 0.05, 0.6, 0.3]))
        lance.write_dataset(self.rows(count), self.root, data_storage_version=self.storage,
                            enable_stable_row_ids=self.stable, max_rows_per_file=int(self.rng.choice([7, 50, 1000])))

    def table(self):
        return lance.dataset(self.root)

    def condition(self):
        choices = [
            f'k % {int(self.rng.integers(2, 9))} = {int(self.rng.integers(0, 3))}',
            f'k between {int(self.rng.integers(0, self.next_key + 1))} and {int(self.rng.integers(0, self.next_key + 9))}',
            f'k in ({", ".join(str(int(n)) for n in self.rng.integers(0, self.next_key + 1, 4))})',
            f'k < {int(self.rng.integers(0, self.next_key + 1))}',
        ]
        return str(self.rng.choice(choices))

    def append(self):
        names = None
        if self.rng.random() < 0.3 and len(self.kinds) > 1:
            names = {'k', *self.rng.choice([n for n in self.kinds if n != 'k'], 1)}
        count = int(self.rng.choice([1, 5, 60]))
        lance.write_dataset(self.rows(count, names), self.root, mode='append',
                            max_rows_per_file=int(self.rng.choice([9, 1000])))

    def delete(self):
        self.table().delete(self.condition())

    def update(self):
        self.table().update({'k': 'k + 100000'}, where=self.condition())

    def update_null(self):
        names = [n for n, kind in self.kinds.items() if kind is not None and kind.kind == pa.int32()]
        if names:
            self.table().update({str(self.rng.choice(names)): 'k - 7'}, where=self.condition())

    def merge(self):
        known = self.table().to_table(columns=['k'])['k'].to_pylist()
        some = [int(k) for k in self.rng.choice(known, min(len(known), 5), replace=False)] if known else []
        keys = some + list(range(self.next_key, self.next_key + 3))
        self.next_key += 3
        source = self.rows(len(keys), None, keys)
        self.table().merge_insert('k').when_matched_update_all().when_not_matched_insert_all().execute(source)

    def add_values(self):
        name = self.new_name()
        self.table().add_columns({name: str(self.rng.choice(['cast(k * 2 as int)', 'cast(k % 5 as int)']))})
        self.kinds[name] = COLUMNS[0]

    def add_nulls(self):
        name, kind = self.new_name(), self.choose_kind()
        self.table().add_columns(pa.schema([pa.field(name, kind.kind)]))
        self.kinds[name] = kind

    def drop(self):
        names = [n for n in self.kinds if n != 'k']
        if len(names) > 1:
            name = str(self.rng.choice(names))
            self.table().drop_columns([name])
            del self.kinds[name]

    def rename(self):
        names = [n for n in self.kinds if n != 'k']
        if names:
            old, new = str(self.rng.choice(names)), self.new_name()
            self.table().alter_columns({'path': old, 'name': new})
            self.kinds = {new if n == old else n: kind for n, kind in self.kinds.items()}

    def cast(self):
        names = [n for n, kind in self.kinds.items() if kind is not None and kind.kind == pa.string()]
        if names:
            name = str(self.rng.choice(names))
            self.table().alter_columns({'path': name, 'data_type': pa.large_string()})
            self.kinds[name] = Column(pa.large_string(), word)

    def compact(self):
        self.table().optimize.compact_files(target_rows_per_fragment=int(self.rng.choice([40, 10_000])))

    def tag(self):
        table = self.table()
        table.tags.create(f't{self.names}-{len(table.versions())}', table.version)

    def restore(self):
        table = self.table()
        version = int(self.rng.choice([v['version'] for v in table.versions()]))
        lance.dataset(self.root, version=version).restore()
        fields = {field.name for field in self.table().schema}
        if fields != set(self.kinds):
            # Columns are as they were then; what they hold is asked of the table.
            numbers = Column(pa.int64(), lambda rng: int(rng.integers(0, 99)))
            known = {c.kind: c for c in [*COLUMNS, Column(pa.large_string(), word), numbers]}
            schema = self.table().schema
            self.kinds = {f.name: None if f.name == 'k' else known.get(f.type) for f in schema}
            if any(kind is None for name, kind in self.kinds.items() if name != 'k'):
                raise Failed('a column of an unknown type')

    def step(self):
        steps = [self.append, self.append, self.delete, self.delete, self.update, self.update_null, self.merge,
                 self.add_values, self.add_nulls, self.drop, self.rename, self.cast, self.compact, self.tag,
                 self.restore]
        step = steps[int(self.rng.integers(len(steps)))]
        self.log.append(step.__name__)
        try:
            step()
        except BaseException as error:  # panics of the reference are no `Exception`
            if isinstance(error, (KeyboardInterrupt, SystemExit, Failed)):
                raise
            # What the reference refuses leaves the table as it was.
            self.log[-1] += f' (refused: {str(error)[:60]})'


def expected(root, version, stable):
    table = lance.dataset(root, version=version)
    columns = [field.name for field in table.schema] + ['_rowid', '_rowaddr'] + (VERSION_COLUMNS if stable else [])
    return table.to_table(columns=columns)


def check(history, example, folder):
    done = subprocess.run([example, history.root, folder], capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise Failed(f'dump_table: {done.stderr.strip()[-1500:]}')
    for version in lance.dataset(history.root).versions():
        number = version['version']
        want = reference(f'version {number}', lambda: expected(history.root, number, history.stable))
        got = read_arrow(Path(folder) / f'v{number}.arrow')
        # The reference says of some columns of rows that they cannot be null, of others that they can.
        fields = [g.with_nullable(w.nullable) if g.name.startswith('_row') else g
                  for g, w in zip(got.schema, want.schema)]
        got = pa.table(got.columns, schema=pa.schema(fields, metadata=got.schema.metadata))
        found = difference(got, want)
        if found:
            raise Failed(f'version {number}: {found}')
    return len(lance.dataset(history.root).versions())


def run(seed, example, keep):
    place = Path(tempfile.mkdtemp(prefix='history-'))
    (place / 'out').mkdir()
    history = History(place / 'table.lance', seed)
    try:
        for _ in range(int(history.rng.integers(3, 16))):
            history.step()
        return check(history, example, str(place / 'out'))
    except Failed as failed:
        if keep:
            shutil.copytree(place, Path(keep) / f'seed-{seed}', dirs_exist_ok=True)
        raise Failed(f'seed {seed}: {failed}\n  {"; ".join(history.log)}') from None
    finally:
        shutil.rmtree(place)


def run_seeds(run, options, what, failures=0):
    """Runs a function of a seed, which gives how many versions it saw; the exit code, with the failures before."""
    first, end = map(int, options.seeds.split('..'))
    start, versions = time.time(), 0
    for seed in range(first, end):
        try:
            versions += run(seed, options)
        except Failed as failed:
            failures += 1
            print(failed, file=sys.stderr)
    print(f'{end - first} {what}, {versions} versions, {failures} failures, {time.time() - start:.0f} s')
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--example', required=True)
    parser.add_argument('--seeds', default='0..60')
    parser.add_argument('--keep')
    return run_seeds(lambda seed, given: run(seed, given.example, given.keep), parser.parse_args(), 'histories')


if __name__ == '__main__':
    sys.exit(main())
