"""What lancet does to tables of the reference, beside the reference doing the same.

    maintenance.py --dump dump_table --change maintain_table [--seeds 0..40] [--keep FOLDER]

A random history of the reference is copied twice. On one copy lancet changes columns, compacts, restores, tags, branches,
clones or cleans up; on the other the reference does. Both must then hold the same rows with the same ids and versions,
read by either; and the reference must be able to go on with lancet's copy: append, delete, update, merge, compact, clean up.
"""
import argparse
import datetime
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import lance
import pyarrow as pa

from compare import difference
from drive import Failed, reference, write_arrow
from histories import Column, History, VERSION_COLUMNS, check, run_seeds, word


class Lancet:
    """The program that carries out commands, one process a command."""

    def __init__(self, path):
        self.path = path

    def __call__(self, table, **command):
        done = subprocess.run([self.path, str(table), json.dumps(command)], capture_output=True, text=True, timeout=300)
        if done.returncode:
            raise Failed(f'lancet {command}: {done.stderr.strip()[-1500:]}')
        return json.loads(done.stdout)


def contents(root, stable, addresses=False, **at):
    """All rows in their order, with ids and versions."""
    table = lance.dataset(str(root), **at)
    columns = [field.name for field in table.schema]
    columns += ['_rowid'] if stable or addresses else []
    columns += VERSION_COLUMNS if stable else []
    return table.to_table(columns=columns)


def same(what, got, want):
    found = difference(got, want)
    if found:
        raise Failed(f'{what}: {found}')


class Copies:
    """A table of the reference, twice."""

    def __init__(self, history, place, lancet):
        self.history, self.rng, self.lancet = history, history.rng, lancet
        self.ours, self.theirs, self.place = place / 'ours', place / 'theirs', place
        self.clones = 0
        for copy in (self.ours, self.theirs):
            shutil.copytree(history.root, copy)

    def table(self):
        return lance.dataset(str(self.theirs))

    def versions(self):
        """Versions that both have: lancet's copy may have been cleaned up."""
        return [v['version'] for v in lance.dataset(str(self.ours)).versions()]

    def compare(self, addresses=False):
        stable = self.history.stable
        same('the reference, on both', contents(self.ours, stable, addresses), contents(self.theirs, stable, addresses))

    def compact(self):
        target = int(self.rng.choice([10, 40, 10_000]))
        before = {fragment.fragment_id for fragment in lance.dataset(str(self.ours)).get_fragments()}
        done = self.lancet(self.ours, do='compact', target=target)
        self.table().optimize.compact_files(target_rows_per_fragment=target)
        self.compare()
        # The reference makes two versions of it, and cuts elsewhere: what follows begins with lancet's.
        shutil.rmtree(self.theirs)
        shutil.copytree(self.ours, self.theirs)
        again = self.lancet(self.ours, do='compact', target=target)
        if done['fragments_removed'] and again['version'] < done['version']:
            raise Failed('a version was lost')
        for fragment in lance.dataset(str(self.ours)).get_fragments():
            if fragment.fragment_id not in before and fragment.metadata.physical_rows > target:
                raise Failed(f'a fragment of {fragment.metadata.physical_rows} rows, the target is {target}')

    def add_nulls(self):
        name, kind = self.history.new_name(), self.history.choose_kind()
        field = pa.schema([pa.field(name, kind.kind)])
        self.lancet(self.ours, do='add_nulls', schema=field.serialize().to_pybytes().hex())
        self.table().add_columns(field)
        self.history.kinds[name] = kind
        self.compare(True)

    def add_values(self):
        name = self.history.new_name()
        self.lancet(self.ours, do='add_multiple', name=name, of='k', times=3)
        self.table().add_columns({name: 'k * 3'})
        self.history.kinds[name] = Column(pa.int64(), lambda rng: int(rng.integers(0, 99)))
        self.compare(True)

    def add_constant(self):
        name = self.history.new_name()
        self.lancet(self.ours, do='add_constant', name=name, value=7)
        self.table().add_columns({name: 'cast(7 as int)'})
        self.history.kinds[name] = Column(pa.int32(), lambda rng: int(rng.integers(0, 99)))
        self.compare(True)

    def some_column(self, kind=None):
        names = [n for n, k in self.history.kinds.items() if n != 'k' and (kind is None or k.kind == kind)]
        return str(self.rng.choice(names)) if names else None

    def drop(self):
        name = self.some_column()
        if len(self.history.kinds) < 3:
            return
        self.lancet(self.ours, do='drop', names=[name])
        self.table().drop_columns([name])
        del self.history.kinds[name]
        self.compare(True)

    def rename(self):
        old, new = self.some_column(), self.history.new_name()
        if old is None:
            return
        self.lancet(self.ours, do='rename', name=old, to=new)
        self.table().alter_columns({'path': old, 'name': new})
        self.history.kinds = {new if n == old else n: kind for n, kind in self.history.kinds.items()}
        self.compare(True)

    def retype(self):
        name = self.some_column(pa.int32())
        if name is None:
            return
        self.lancet(self.ours, do='widen', name=name)
        self.table().alter_columns({'path': name, 'data_type': pa.int64()})
        self.history.kinds[name] = Column(pa.int64(), lambda rng: int(rng.integers(0, 99)))
        self.compare(True)

    def restore(self):
        version = int(self.rng.choice(self.versions()))
        self.lancet(self.ours, do='restore', version=version)
        lance.dataset(str(self.theirs), version=version).restore()
        self.compare(True)
        self.history.kinds = None

    def tags(self):
        first, second = (int(v) for v in self.rng.choice(self.versions(), 2))
        self.lancet(self.ours, do='tag', name='w2-a', version=first)
        self.lancet(self.ours, do='tag', name='w2-b', version=first)
        self.lancet(self.ours, do='retag', name='w2-a', version=second)
        self.lancet(self.ours, do='untag', name='w2-b')
        table = lance.dataset(str(self.ours))
        tags = {name: tag['version'] for name, tag in table.tags.list().items() if name.startswith('w2-')}
        if tags != {'w2-a': second}:
            raise Failed(f'tags {tags}')
        want = contents(self.theirs, self.history.stable, version=second)
        same('by tag', table.checkout_version('w2-a').to_table(columns=want.column_names), want)
        table.tags.update('w2-a', first)
        table.tags.delete('w2-a')

    def branch(self):
        version = int(self.rng.choice(self.versions()))
        self.lancet(self.ours, do='branch', name='dev/w2', version=version)
        want = contents(self.theirs, self.history.stable, True, version=version)
        table = lance.dataset(str(self.ours))
        found = reference('branches', lambda: table.branches.list())
        if 'dev/w2' not in found:
            raise Failed(f'branches {found}')
        got = table.checkout_version(('dev/w2', None))
        same('on the branch', got.to_table(columns=want.column_names), want)
        got.delete('k % 2 = 0')
        same('main, after a delete on the branch', contents(self.ours, self.history.stable, True),
             contents(self.theirs, self.history.stable, True))
        self.lancet(self.ours, do='branch', name='deep', of='dev/w2')
        deep = lance.dataset(str(self.ours)).checkout_version(('deep', None))
        same('on a branch of the branch', deep.to_table(), got.to_table())
        self.lancet(self.ours, do='delete_branch', name='deep')
        self.lancet(self.ours, do='delete_branch', name='dev/w2')
        if lance.dataset(str(self.ours)).branches.list():
            raise Failed('branches are left')

    def clone(self):
        version = int(self.rng.choice(self.versions()))
        self.clones += 1
        clone = self.place / f'clone{self.clones}'
        self.lancet(self.ours, do='clone', version=version, to=str(clone))
        want = contents(self.theirs, self.history.stable, True, version=version)
        same('the clone', contents(clone, self.history.stable, True), want)
        table = lance.dataset(str(clone))
        table.delete('k % 3 = 0')
        table.optimize.compact_files()
        same('the source of the clone', contents(self.ours, self.history.stable, True),
             contents(self.theirs, self.history.stable, True))

    def cleanup(self):
        """Files of all versions but the newest go; those that tags and branches need stay."""
        tagged = int(self.rng.choice(self.versions()))
        self.lancet(self.ours, do='tag', name='w2-keep', version=tagged)
        before = files(self.ours)
        dry = self.lancet(self.ours, do='cleanup', older_than=0, dry_run=True)
        if files(self.ours) != before:
            raise Failed('a dry run changed something')
        done = self.lancet(self.ours, do='cleanup', older_than=0)
        if dry['versions'] != done['versions'] or dry['files'] != done['files']:
            raise Failed(f'the dry run said {dry}, but {done}')
        if set(done['files']) != {path for path in before - files(self.ours) if '_versions' not in path}:
            raise Failed(f'it says {done}, but {before - files(self.ours)} went')
        same('by tag, cleaned up', contents(self.ours, self.history.stable, True, version=tagged),
             contents(self.theirs, self.history.stable, True, version=tagged))
        # What is left for the reference to clean up: nothing but what only age keeps.
        stats = lance.dataset(str(self.ours)).cleanup_old_versions(
            older_than=datetime.timedelta(0), error_if_tagged_old_versions=False)
        if stats.old_versions:
            raise Failed(f'the reference still finds {stats.old_versions} old versions')
        lance.dataset(str(self.ours)).tags.delete('w2-keep')
        self.compare(True)

    def step(self):
        steps = [self.compact, self.compact, self.add_nulls, self.add_values, self.add_constant, self.drop, self.rename,
                 self.retype, self.restore, self.tags, self.branch, self.clone, self.cleanup]
        step = steps[int(self.rng.integers(len(steps)))]
        self.history.log.append(f'lancet: {step.__name__}')
        step()


def files(root):
    return {os.path.relpath(os.path.join(folder, name), root) for folder, _, names in os.walk(root) for name in names
            if name != 'latest_version_hint.json'}


def blob(key):
    return [None, b'', bytes([key % 251]) * 100_000, str(key).encode(), bytes([key % 7]) * 5_000_000][key % 5]


def blob_rows(keys):
    field = pa.field('b', pa.large_binary(), metadata={'lance-encoding:blob': 'true'})
    schema = pa.schema([pa.field('k', pa.int64()), field])
    return pa.table([pa.array(keys, pa.int64()), pa.array([blob(k) for k in keys], pa.large_binary())], schema=schema)


def check_blobs(what, root, keys):
    table = lance.dataset(str(root))
    found = table.to_table(columns=['k', 'b'])
    there = [row for row, described in enumerate(found['b'].to_pylist()) if described is not None]
    bytes_of = dict(zip(there, table.take_blobs('b', indices=there)))
    got = {key: bytes_of[row].readall() if row in bytes_of else None for row, key in enumerate(found['k'].to_pylist())}
    if got != {key: blob(key) for key in keys}:
        raise Failed(f'{what}: other blobs')


def blobs(options):
    """Blobs in files beside the data files: written by either, compacted by either."""
    with tempfile.TemporaryDirectory() as place:
        theirs, ours = Path(place) / 'theirs', Path(place) / 'ours'
        lance.write_dataset(blob_rows(range(10)), str(theirs), data_storage_version='2.2')
        lance.write_dataset(blob_rows(range(10, 16)), str(theirs), mode='append')
        lance.dataset(str(theirs)).delete('k % 3 = 1')
        Lancet(options.change)(theirs, do='compact')
        keys = [k for k in range(16) if k % 3 != 1]
        check_blobs('compacted by lancet', theirs, keys)
        lance.write_dataset(blob_rows(range(16, 22)), str(theirs), mode='append')
        lance.dataset(str(theirs)).optimize.compact_files()
        check_blobs('compacted by the reference', theirs, keys + list(range(16, 22)))
        rows = Path(place) / 'rows.arrow'
        write_arrow(rows, blob_rows([]).schema, blob_rows(range(10)).to_batches())
        Lancet(options.change)(ours, do='create', rows=str(rows))
        check_blobs('written by lancet', ours, range(10))
        lance.write_dataset(blob_rows(range(10, 13)), str(ours), mode='append')
        lance.dataset(str(ours)).optimize.compact_files()
        check_blobs('written by both', ours, range(13))


def indexes(options):
    """An index finds all rows after a compaction of lancet, and can be built up again."""
    for stable in (False, True):
        with tempfile.TemporaryDirectory() as place:
            lancet = Lancet(options.change)
            keys = lambda start, end: pa.table({'k': pa.array(range(start, end), pa.int64())})
            lance.write_dataset(keys(0, 100), place, max_rows_per_file=40, enable_stable_row_ids=stable)
            lance.dataset(place).create_scalar_index('k', 'BTREE')
            lance.write_dataset(keys(100, 130), place, mode='append')
            lance.dataset(place).delete('k % 10 = 3')
            done = lancet(place, do='compact', target=1000)
            if done['indexes'] != [['k_idx', 90]]:
                raise Failed(f'coverage that was lost: {done}')
            for _ in range(2):
                table = lance.dataset(place)
                for key in (0, 3, 50, 99, 100, 113, 129):
                    found = table.to_table(filter=f'k = {key}')['k'].to_pylist()
                    if found != ([] if key % 10 == 3 else [key]):
                        raise Failed(f'the index finds {found} for {key}')
                table.optimize.optimize_indices()
            lancet(place, do='cleanup', older_than=0)
            if lance.dataset(place).to_table(filter='k >= 90').num_rows != 36:
                raise Failed('rows are missing after a cleanup')


def run(seed, options):
    place = Path(tempfile.mkdtemp(prefix='maintenance-'))
    (place / 'out').mkdir()
    history = History(place / 'table.lance', seed)
    try:
        for _ in range(int(history.rng.integers(2, 9))):
            history.step()
        copies = Copies(history, place, Lancet(options.change))
        for _ in range(int(history.rng.integers(1, 4))):
            copies.step()
            if history.kinds is None:
                break
        # The reference goes on with what lancet has left.
        history.root = str(copies.ours)
        if history.kinds is not None:
            for _ in range(3):
                history.step()
        return check(history, options.dump, str(place / 'out'))
    except Failed as failed:
        if options.keep:
            shutil.copytree(place, Path(options.keep) / f'seed-{seed}', dirs_exist_ok=True)
        raise Failed(f'seed {seed}: {failed}\n  {"; ".join(history.log)}') from None
    finally:
        shutil.rmtree(place)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--dump', required=True)
    parser.add_argument('--change', required=True)
    parser.add_argument('--seeds', default='0..40')
    parser.add_argument('--keep')
    options = parser.parse_args()
    failures = 0
    for fixed in (blobs, indexes):
        try:
            reference(fixed.__name__, lambda: fixed(options))
        except Failed as failed:
            failures += 1
            print(f'{fixed.__name__}: {failed}', file=sys.stderr)
    return run_seeds(run, options, 'tables', failures)


if __name__ == '__main__':
    sys.exit(main())
