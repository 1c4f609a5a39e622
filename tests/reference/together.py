"""Processes of lancet and of the reference that change one table at the same time; those of lancet are killed now and then.

    together.py --change change_table [--seconds 20] [--writers 4] [--seed N]

Every writer adds rows under keys of its own, deletes some of them again and compacts the table. What was acknowledged is noted. In the end every row that was added and not deleted must be there once, and none that was deleted.
"""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import lance
import pyarrow as pa

from drive import Failed, write_arrow

# Keys of a writer are below each other's by this much.
SHARE = 10**9
SCHEMA = pa.schema([pa.field('k', pa.int64()), pa.field('name', pa.string())])


def rows(keys):
    return pa.table([pa.array(keys, pa.int64()), pa.array([f'row {key}' for key in keys])], schema=SCHEMA)


class Notes:
    """What a writer was told, and what it cannot know."""

    def __init__(self, path):
        self.file = open(path, 'a')
        self.present, self.next = [], 0

    def write(self, what, keys):
        self.file.write(json.dumps([what, keys]) + '\n')
        self.file.flush()

    def new_keys(self, index):
        count = random.randint(1, 6)
        self.next += count
        return [index * SHARE + key for key in range(self.next - count, self.next)]

    def some_present(self):
        random.shuffle(self.present)
        return self.present[:random.randint(1, 4)]

    def added(self, keys):
        self.write('added', keys)
        self.present.extend(keys)

    def deleted(self, keys):
        self.write('deleted', keys)
        self.forget(keys)

    def unknown(self, keys):
        """Rows that may be there or not."""
        self.write('unknown', keys)
        self.forget(keys)

    def forget(self, keys):
        self.present = [key for key in self.present if key not in set(keys)]


class Lancet:
    """A writer that is killed now and then."""

    def __init__(self, options):
        self.options, self.files, self.process = options, 0, None
        self.kills = 0

    def rows(self, table):
        self.files += 1
        path = Path(self.options.folder) / f'rows-{self.options.index}-{self.files}.arrow'
        write_arrow(path, table.schema, table.to_batches())
        return str(path)

    def run(self, **command):
        """The answer; none if the process was killed before."""
        if self.process is None:
            self.process = subprocess.Popen([self.options.change], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        process, timer = self.process, None
        if random.random() < 0.15:
            timer = threading.Timer(random.random() * 0.04, process.kill)
            timer.start()
        try:
            process.stdin.write(json.dumps({'table': self.options.table, **command}) + '\n')
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ''
        if timer is not None:
            timer.join()
            process.wait()
            self.process = None
            self.kills += 1
        return json.loads(line) if line.endswith('\n') else None

    def append(self, notes):
        keys = notes.new_keys(self.options.index)
        answer = self.run(do='append', rows=self.rows(rows(keys)))
        if answer is None or 'error' in answer:
            notes.unknown(keys)
            complain(answer)
        else:
            notes.added(keys)

    def delete(self, notes):
        keys = notes.some_present()
        table = lance.dataset(self.options.table)
        found = table.scanner(columns=['k'], filter=f'k in ({", ".join(map(str, keys))})', with_row_id=True).to_table()
        answer = self.run(do='delete', ids=found['_rowid'].to_pylist(), at=table.version)
        if answer is not None and answer.get('can_retry'):
            return
        if answer is None or 'error' in answer:
            notes.unknown(keys)
            complain(answer)
        else:
            notes.deleted(keys)

    def step(self, notes):
        chance = random.random()
        if chance < 0.1:
            answer = self.run(do='compact', target=200)
            if answer is not None and 'error' in answer and not answer['can_retry']:
                complain(answer)
        elif notes.present and chance < 0.45:
            self.delete(notes)
        else:
            self.append(notes)


def complain(answer):
    if answer is not None and 'attempts' not in answer['error']:
        print(f'lancet: {answer["error"]}', file=sys.stderr)


class Reference:
    """A writer that also compacts."""

    def __init__(self, options):
        self.options, self.kills = options, 0

    def step(self, notes):
        root = self.options.table
        chance = random.random()
        try:
            if chance < 0.1:
                lance.dataset(root).optimize.compact_files(target_rows_per_fragment=200)
            elif notes.present and chance < 0.45:
                keys = notes.some_present()
                try:
                    lance.dataset(root).delete(f'k in ({", ".join(map(str, keys))})')
                    notes.deleted(keys)
                except BaseException:
                    notes.unknown(keys)
                    raise
            else:
                keys = notes.new_keys(self.options.index)
                try:
                    lance.write_dataset(rows(keys), root, mode='append')
                    notes.added(keys)
                except BaseException:
                    notes.unknown(keys)
                    raise
        except BaseException as error:  # panics of the reference are no `Exception`
            if isinstance(error, (KeyboardInterrupt, SystemExit)):
                raise


def work(options):
    random.seed(options.seed * 1000 + options.index)
    notes = Notes(Path(options.folder) / f'notes-{options.index}')
    writer = Lancet(options) if options.worker == 'lancet' else Reference(options)
    end = time.time() + options.seconds
    while time.time() < end:
        writer.step(notes)
    notes.write('kills', [writer.kills])


def check(options, place, root):
    added, deleted, unknown, kills = set(), set(), set(), 0
    for path in place.glob('notes-*'):
        for line in path.read_text().splitlines():
            what, keys = json.loads(line)
            if what == 'kills':
                kills += keys[0]
            else:
                {'added': added, 'deleted': deleted, 'unknown': unknown}[what].update(keys)
    table = lance.dataset(root)
    found = table.to_table()
    keys = found['k'].to_pylist()
    if len(keys) != len(set(keys)):
        raise Failed('a row is there twice')
    if any(name != f'row {key}' for key, name in zip(keys, found['name'].to_pylist())):
        raise Failed('a row has the name of another')
    lost = added - deleted - unknown - set(keys)
    if lost:
        raise Failed(f'{len(lost)} rows that were acknowledged are gone: {sorted(lost)[:5]}')
    back = (deleted - unknown) & set(keys)
    if back:
        raise Failed(f'{len(back)} deleted rows are there: {sorted(back)[:5]}')
    strange = set(keys) - added - unknown
    if strange:
        raise Failed(f'{len(strange)} rows that nobody added: {sorted(strange)[:5]}')
    done = subprocess.run([options.change], input=json.dumps({'do': 'verify', 'table': root}) + '\n',
                          capture_output=True, text=True, timeout=300)
    answer = json.loads(done.stdout)
    if answer.get('problems') != [] or answer['rows'] != len(keys) or answer['version'] != table.version:
        raise Failed(f'lancet finds {answer}')
    numbers = [version['version'] for version in table.versions()]
    if numbers != list(range(1, len(numbers) + 1)):
        raise Failed('a version is missing')
    return f'{len(numbers)} versions, {len(added)} rows added, {len(deleted)} deleted, {len(unknown)} unknown, {kills} kills'


def run(options):
    place = Path(tempfile.mkdtemp(prefix='together-'))
    root = str(place / 'table.lance')
    try:
        stable = options.seed % 2 == 0
        lance.write_dataset(rows([]), root, enable_stable_row_ids=stable)
        workers = []
        for index in range(2 * options.writers):
            kind = 'lancet' if index % 2 == 0 else 'reference'
            workers.append(subprocess.Popen([
                sys.executable, __file__, '--change', options.change, '--worker', kind, '--index', str(index + 1),
                '--table', root, '--folder', str(place), '--seconds', str(options.seconds), '--seed', str(options.seed)],
                env={**os.environ, 'LANCE_LOG': 'error'}))  # it tells of every conflict
        failed = [worker.wait() for worker in workers]
        if any(failed):
            raise Failed(f'writers ended with {failed}')
        return f'seed {options.seed}, stable {stable}: {check(options, place, root)}'
    finally:
        shutil.rmtree(place)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--change', required=True)
    parser.add_argument('--seconds', type=float, default=20)
    parser.add_argument('--writers', type=int, default=4)
    parser.add_argument('--seed', type=int, help='even: with stable row ids; by default both')
    parser.add_argument('--worker')
    parser.add_argument('--index', type=int)
    parser.add_argument('--table')
    parser.add_argument('--folder')
    options = parser.parse_args()
    if options.worker:
        work(options)
        return 0
    for seed in [0, 1] if options.seed is None else [options.seed]:
        options.seed = seed
        try:
            print(run(options))
        except Failed as failed:
            print(f'seed {seed}: {failed}', file=sys.stderr)
            return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
