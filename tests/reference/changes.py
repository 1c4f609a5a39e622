"""Random histories of tables in which lancet and the reference take turns.

    changes.py --change change_table --dump dump_table [--seeds 0..60] [--keep FOLDER]

There are two tables. One is changed by lancet and by the reference in turn, the other one in the same way by the reference
alone. After every step the two must hold the same rows with the same ids and versions, for the reference; in the end, every
version of the first is read by lancet, too. Then the reference compacts it, merges into it, builds an index, searches it
and cleans it up.
"""
import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

import lance
import pyarrow as pa
import pyarrow.compute

from compare import difference
from drive import Failed, write_arrow
from histories import COLUMNS, VERSION_COLUMNS, Column, RowMaker, check, run_seeds, word


class Program:
    """`change_table`, one process for a whole history."""

    def __init__(self, path, folder):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.folder, self.files = Path(folder), 0

    def rows(self, table):
        """A file with some rows."""
        self.files += 1
        path = self.folder / f'rows-{self.files}.arrow'
        write_arrow(path, table.schema, table.to_batches(max_chunksize=11))
        return str(path)

    def __call__(self, **command):
        self.process.stdin.write(json.dumps(command) + '\n')
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise Failed(f'change_table ended: {command}')
        answer = json.loads(line)
        if 'error' in answer:
            raise Failed(f'change_table: {answer["error"]}: {command}')
        return answer

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Twins(RowMaker):
    """Two tables, and what may happen to both."""

    def __init__(self, place, seed, program):
        self.root, self.twin = str(place / 'table.lance'), str(place / 'twin.lance')
        self.program = program
        self.choose(seed, most_columns=4)
        self.create()

    def create(self):
        count, most = int(self.rng.choice([0, 1, 30, 200], p=[0.05, 0.05, 0.6, 0.3])), int(self.rng.choice([7, 50]))
        rows = self.rows(count)
        lance.write_dataset(rows, self.twin, data_storage_version=self.storage, enable_stable_row_ids=self.stable,
                            max_rows_per_file=most)
        if self.is_ours():
            options = {'version': self.storage, 'stable': self.stable, 'max_rows': most}
            self.program(do='create', table=self.root, rows=self.program.rows(rows), options=options)
        else:
            lance.write_dataset(rows, self.root, data_storage_version=self.storage, enable_stable_row_ids=self.stable,
                                max_rows_per_file=most)

    def is_ours(self):
        """Whose turn it is."""
        ours = bool(self.rng.random() < 0.6)
        self.log[-1] += ' (lancet)' if ours else ''
        return ours

    def both(self, theirs, ours=None):
        """One step on both tables: `theirs` by the reference, `ours` by lancet, if that has its turn."""
        theirs(self.twin)
        if ours is not None and self.is_ours():
            ours()
        else:
            theirs(self.root)

    def old(self):
        """Sometimes lancet has read an older version."""
        version = lance.dataset(self.root).version
        return {'at': version - 1} if version > 2 and self.rng.random() < 0.2 and self.may_be_old else {}

    def append(self):
        names = None
        if self.rng.random() < 0.3 and len(self.kinds) > 1:
            names = {'k', *self.rng.choice([n for n in self.kinds if n != 'k'], 1)}
        rows, most = self.rows(int(self.rng.choice([1, 5, 60])), names), int(self.rng.choice([9, 1000]))
        # Columns may come in any order.
        given = rows.select(list(self.rng.permutation(rows.column_names)))

        def ours():
            self.program(do='append', table=self.root, rows=self.program.rows(given), options={'max_rows': most},
                         **self.old())

        self.both(lambda root: lance.write_dataset(rows, root, mode='append', max_rows_per_file=most), ours)

    def overwrite(self):
        self.kinds = {'k': None, **{self.new_name(): self.choose_kind() for _ in range(int(self.rng.integers(1, 4)))}}
        rows, most = self.rows(20), int(self.rng.choice([9, 1000]))

        def theirs(root):
            lance.write_dataset(rows, root, mode='overwrite', max_rows_per_file=most, data_storage_version=self.storage)

        self.both(theirs, lambda: self.program(do='overwrite', table=self.root, rows=self.program.rows(rows),
                                               options={'max_rows': most}))

    def condition(self):
        choices = [
            f'k % {int(self.rng.integers(2, 9))} = {int(self.rng.integers(0, 3))}',
            f'k between {int(self.rng.integers(0, self.next_key + 1))} and {int(self.rng.integers(0, self.next_key + 9))}',
            f'k in ({", ".join(str(int(n)) for n in self.rng.integers(0, self.next_key + 1, 4))})',
            f'k < {int(self.rng.integers(0, self.next_key + 1))}',
        ]
        return str(self.rng.choice(choices))

    def found(self, condition):
        """The rows that a condition is true for, in the order of the table: as lancet is told them, and their keys."""
        table = lance.dataset(self.root)
        found = table.scanner(columns=['k'], filter=condition, with_row_id=True, with_row_address=True).to_table()
        keys = found['k'].to_pylist()
        kind = str(self.rng.choice(['ids', 'addresses', 'numbers']))
        if kind == 'numbers':
            numbers = {key: number for number, key in enumerate(table.to_table(columns=['k'])['k'].to_pylist())}
            return {kind: [numbers[key] for key in keys]}, keys
        return {kind: found['_rowid' if kind == 'ids' else '_rowaddr'].to_pylist()}, keys

    def delete(self):
        condition = self.condition()
        which, keys = self.found(condition)
        if keys:  # lancet makes no version where nothing changes
            self.both(lambda root: lance.dataset(root).delete(condition),
                      lambda: self.program(do='delete', table=self.root, **which))

    def update(self):
        condition = self.condition()
        which, keys = self.found(condition)
        if keys:
            values = pa.table({'k': pa.array([key + 100_000 for key in keys], pa.int64())})
            self.both(lambda root: lance.dataset(root).update({'k': 'k + 100000'}, where=condition),
                      lambda: self.program(do='update', table=self.root, rows=self.program.rows(values), **which))

    def merge(self):
        known = lance.dataset(self.root).to_table(columns=['k'])['k'].to_pylist()
        some = [int(k) for k in self.rng.choice(known, min(len(known), 5), replace=False)] if known else []
        new = list(range(self.next_key, self.next_key + 3))
        self.next_key += 3
        keys = some + new
        source = self.rows(len(keys), None, keys)
        condition = f'k in ({", ".join(map(str, some))})' if some else 'false'
        which, keys = self.found(condition)
        order = [some.index(key) for key in keys]

        def theirs(root):
            merge = lance.dataset(root).merge_insert('k').when_matched_update_all().when_not_matched_insert_all()
            merge.execute(source)

        def ours():
            values, inserts = source.take(pa.array(order, pa.int64())), source.slice(len(some))
            self.program(do='merge', table=self.root, rows=self.program.rows(values),
                         inserts=self.program.rows(inserts), **which)

        self.both(theirs, ours)

    def add_values(self):
        name, values = self.new_name(), str(self.rng.choice(['cast(k * 2 as int)', 'cast(k % 5 as int)']))
        self.both(lambda root: lance.dataset(root).add_columns({name: values}))
        self.kinds[name] = COLUMNS[0]

    def add_nulls(self):
        name, kind = self.new_name(), self.choose_kind()
        self.both(lambda root: lance.dataset(root).add_columns(pa.schema([pa.field(name, kind.kind)])))
        self.kinds[name] = kind

    def drop(self):
        names = [n for n in self.kinds if n != 'k']
        if len(names) > 1:
            name = str(self.rng.choice(names))
            self.both(lambda root: lance.dataset(root).drop_columns([name]))
            del self.kinds[name]

    def rename(self):
        names = [n for n in self.kinds if n != 'k']
        if names:
            old, new = str(self.rng.choice(names)), self.new_name()
            self.both(lambda root: lance.dataset(root).alter_columns({'path': old, 'name': new}))
            self.kinds = {new if n == old else n: kind for n, kind in self.kinds.items()}

    def cast(self):
        names = [n for n, kind in self.kinds.items() if kind is not None and kind.kind == pa.string()]
        if names:
            name = str(self.rng.choice(names))
            self.both(lambda root: lance.dataset(root).alter_columns({'path': name, 'data_type': pa.large_string()}))
            self.kinds[name] = Column(pa.large_string(), word)

    def compact(self):
        rows = int(self.rng.choice([40, 10_000]))
        self.both(lambda root: lance.dataset(root).optimize.compact_files(target_rows_per_fragment=rows))

    def restore(self):
        versions = [v['version'] for v in lance.dataset(self.root).versions()]
        version = int(self.rng.choice(versions))
        self.both(lambda root: lance.dataset(root, version=version).restore())
        known = {c.kind: c for c in [*COLUMNS, Column(pa.large_string(), word)]}
        self.kinds = {f.name: None if f.name == 'k' else known[f.type] for f in lance.dataset(self.root).schema}

    def step(self):
        steps = [self.append] * 3 + [self.delete] * 3 + [self.update] * 3 + [self.merge] * 2 + [
            self.overwrite, self.add_values, self.add_nulls, self.drop, self.rename, self.cast, self.compact,
            self.restore]
        step = steps[int(self.rng.integers(len(steps)))]
        self.log.append(step.__name__)
        before = lance.dataset(self.root).version
        kinds = dict(self.kinds)
        try:
            step()
        except Failed:
            raise
        except BaseException as error:  # panics of the reference are no `Exception`
            if isinstance(error, (KeyboardInterrupt, SystemExit)):
                raise
            # What the reference refuses must not have happened to one of the two only.
            self.log[-1] += f' (refused: {str(error)[:80]})'
            self.kinds = kinds
            if lance.dataset(self.twin).version != before or lance.dataset(self.root).version != before:
                raise Failed('the reference refused for one table only') from None
        # An append that has read the version before makes sense if that had the same columns. A step may make no version.
        if lance.dataset(self.root).version != before:
            self.may_be_old = step in (self.append, self.delete, self.update, self.merge, self.compact)
        self.compare()

    def compare(self):
        one, other = lance.dataset(self.root), lance.dataset(self.twin)
        if one.version != other.version:
            raise Failed(f'version {one.version} instead of {other.version}')
        got, want = (rows_of(table, self.stable) for table in (one, other))
        found = difference(got, want)
        if found:
            raise Failed(f'version {one.version}, read by the reference: {found}')

    may_be_old = True


def rows_of(table, stable):
    """All rows by their keys, with their ids and versions where they are stable."""
    columns = [field.name for field in table.schema] + (['_rowid', *VERSION_COLUMNS] if stable else [])
    rows = table.to_table(columns=columns)
    return rows.take(pa.compute.sort_indices(rows, [('k', 'ascending')]))


def maintain(history):
    """What the reference does to tables that lancet has written."""
    root = history.root
    table = lance.dataset(root)
    before = rows_of(table, False)
    if before.num_rows == 0:
        return
    table.optimize.compact_files()
    table = lance.dataset(root)
    keys = before['k'].to_pylist()
    same('compacted', rows_of(table, False), before)
    table.create_scalar_index('k', 'BTREE')
    table = lance.dataset(root)
    found = table.to_table(filter=f'k = {keys[len(keys) // 2]}').num_rows
    if found != 1:
        raise Failed(f'an index finds {found} rows')
    source = before.slice(0, min(3, len(keys)))
    table.merge_insert('k').when_matched_update_all().when_not_matched_insert_all().execute(source)
    same('merged', rows_of(lance.dataset(root), False), before)
    lance.dataset(root).cleanup_old_versions(older_than=timedelta(seconds=0), delete_unverified=True)
    same('cleaned up', rows_of(lance.dataset(root), False), before)


def same(what, got, want):
    found = difference(got, want)
    if found:
        raise Failed(f'{what} by the reference: {found}')


def run(seed, options):
    place = Path(tempfile.mkdtemp(prefix='changes-'))
    (place / 'out').mkdir()
    program = Program(options.change, place)
    history = None
    try:
        history = Twins(place, seed, program)
        history.compare()
        for _ in range(int(history.rng.integers(3, 16))):
            history.step()
        versions = check(history, options.dump, str(place / 'out'))
        maintain(history)
        return versions
    except Failed as failed:
        if options.keep:
            shutil.copytree(place, Path(options.keep) / f'seed-{seed}', dirs_exist_ok=True)
        log = '; '.join(history.log) if history else ''
        raise Failed(f'seed {seed}: {failed}\n  {log}') from None
    finally:
        program.close()
        shutil.rmtree(place)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--change', required=True)
    parser.add_argument('--dump', required=True)
    parser.add_argument('--seeds', default='0..60')
    parser.add_argument('--keep')
    return run_seeds(run, parser.parse_args(), 'histories')


if __name__ == '__main__':
    sys.exit(main())
