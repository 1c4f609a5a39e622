"""A writer that is killed again and again, at any moment of any change.

    kills.py --change change_table --maintain maintain_table [--count 1000] [--seed 0] [--keep FOLDER]

A table is changed by lancet: rows and columns come and go, rows move, versions are named, restored and cleaned up. Every now
and then the process is killed (SIGKILL) while it is at it. The table must open then, for lancet and for the reference; a change
that was acknowledged is there, one that was not is there as a whole or not at all. `--count` counts processes that were killed
before they answered.
"""
import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import lance
import pyarrow as pa

from drive import Failed, write_arrow

BATCH = pa.schema([pa.field('k', pa.int64()), pa.field('v', pa.int64())])
# Rows above which the table begins anew, and versions above which it is cleaned up.
MOST_ROWS, MOST_VERSIONS = 400, 40
# How long a change takes, before it is known.
GUESS = 0.02


class Killed(Exception):
    """The process was killed before it answered."""


class Writer:
    """lancet: rows through a process that stays, everything else through one process each."""

    def __init__(self, options, place):
        self.options, self.root, self.place = options, str(place / 'table.lance'), place
        self.process, self.typical = None, {}
        self.kills, self.late = Counter(), 0

    def rows(self, rows):
        path = self.place / 'rows.arrow'
        keys, values = ([row[at] for row in rows] for at in (0, 1))
        table = pa.table([pa.array(keys, pa.int64()), pa.array(values, pa.int64())], schema=BATCH)
        write_arrow(path, table.schema, table.to_batches(max_chunksize=7))
        return str(path)

    def change(self, may_kill=True, **command):
        """A change of rows."""
        if self.process is None:
            self.process = subprocess.Popen([self.options.change], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        command = json.dumps({'table': self.root, **command})
        return self.ask(command, self.process, may_kill)

    def maintain(self, **command):
        """A change of columns, files or names. What it writes goes to a file: a process that is killed leaves a part."""
        with open(self.place / 'answer', 'w+') as answer:
            process = subprocess.Popen([self.options.maintain, self.root, json.dumps(command)], stdout=answer,
                                       stderr=subprocess.PIPE, text=True)
            begin, timer = self.begin(command['do'], process, True)
            errors = process.communicate()[1]
            is_done = process.returncode == 0
            self.end(command['do'], begin, timer, process, is_done or process.returncode == 1)
            if process.returncode == 1:
                raise Failed(f'{command}: {errors.strip()}')
            if not is_done:
                raise Killed()

    def ask(self, command, process, may_kill):
        verb = json.loads(command)['do']
        begin, timer = self.begin(verb, process, may_kill)
        try:
            process.stdin.write(command + '\n')
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ''
        is_done = line.endswith('\n')
        self.end(verb, begin, timer, process, is_done)
        if timer is not None:
            self.process = None
        if not is_done:
            raise Killed()
        answer = json.loads(line)
        if 'error' in answer:
            raise Failed(f'{command}: {answer["error"]}')
        return answer

    def begin(self, verb, process, may_kill):
        timer = None
        if may_kill and random.random() < 0.8:
            timer = threading.Timer(random.random() * 1.1 * self.typical.get(verb, GUESS), process.kill)
            timer.start()
        return time.monotonic(), timer

    def end(self, verb, begin, timer, process, is_done):
        if timer is None:
            taken = time.monotonic() - begin
            self.typical[verb] = taken if verb not in self.typical else 0.7 * self.typical[verb] + 0.3 * taken
            return
        timer.join()
        process.wait()
        if is_done:
            self.late += 1
        else:
            self.kills[verb] += 1


class History:
    """The table as it must be: rows by their keys, and what versions were."""

    def __init__(self, writer):
        self.writer, self.next_key, self.columns = writer, 0, 0
        self.rows, self.extra, self.versions, self.tags = {}, [], {}, {}
        self.create()

    def create(self):
        rows = self.new_rows(20)
        options = {'stable': bool(self.writer.options.seed % 2 == 0), 'max_rows': 7}
        self.writer.change(do='create', rows=self.writer.rows(rows), options=options, may_kill=False)
        self.rows = {key: {'v': value} for key, value in rows}
        self.versions[1] = self.state()

    def state(self):
        return {'extra': list(self.extra), 'rows': {key: dict(row) for key, row in self.rows.items()}}

    def new_rows(self, count):
        self.next_key += count
        return [(key, random.randrange(10**6)) for key in range(self.next_key - count, self.next_key)]

    def found(self, table):
        """What a version holds, for the reference."""
        rows = table.to_table().to_pylist()
        extra = [name for name in table.schema.names if name not in ('k', 'v')]
        by_key = {row['k']: {name: row[name] for name in ('v', *extra)} for row in rows}
        if len(by_key) != len(rows):
            raise Failed('a row is there twice')
        return {'extra': extra, 'rows': by_key}

    def some(self):
        keys = random.sample(sorted(self.rows), min(len(self.rows), random.randint(1, 9)))
        table = lance.dataset(self.writer.root)
        wanted = f'k in ({", ".join(map(str, keys))})'
        found = table.scanner(columns=['k'], filter=wanted, with_row_id=True).to_table()
        return found['k'].to_pylist(), found['_rowid'].to_pylist()

    def step(self):
        """One change; whatever becomes of it, the table is looked at."""
        verbs = [self.append] * 4 + [self.compact, self.tag, self.restore, self.branch]
        verbs += [self.add_column] if len(self.extra) < 3 else []
        verbs += [self.delete] * 3 + [self.update] * 3 + [self.merge] * 2 if self.rows else []
        verbs += [self.drop_column, self.rename_column] if self.extra else []
        verb = random.choice(verbs)
        if len(self.rows) > MOST_ROWS:
            verb = self.overwrite
        elif len(self.versions) > MOST_VERSIONS:
            verb = self.cleanup
        before, tags = self.state(), dict(self.tags)
        try:
            verb()
            allowed = [self.state()]
        except Killed:
            allowed = [before, self.state()]
            tags = None
        self.check(verb.__name__, allowed, tags)

    def check(self, what, allowed, tags):
        table = lance.dataset(self.writer.root)
        state = self.found(table)
        if state not in allowed:
            raise Failed(f'after {what}: version {table.version} is none of the {len(allowed)} that it may be')
        self.extra, self.rows = state['extra'], state['rows']
        self.versions[table.version] = self.state()
        answer = self.writer.change(do='verify', may_kill=False)
        if answer['problems'] or answer['rows'] != len(self.rows) or answer['version'] != table.version:
            raise Failed(f'after {what}: lancet finds {answer}')
        there = {name: tag['version'] for name, tag in table.tags.list().items() if not name.startswith('restoring-')}
        if tags is not None and what != 'tag' and there != tags:
            raise Failed(f'after {what}: tags are {there}, not {tags}')
        for name, version in list(there.items()) + [(None, random.choice(sorted(self.versions)))]:
            try:
                old = lance.dataset(self.writer.root, version=version)
            except ValueError:
                if name is not None:
                    raise Failed(f'after {what}: version {version} of tag {name} is gone') from None
                del self.versions[version]  # cleaned up
                continue
            if self.found(old) != self.versions[version]:
                raise Failed(f'after {what}: version {version} is another')
        self.tags = there

    def append(self):
        rows = self.new_rows(random.randint(1, 20))
        command = {'do': 'append', 'rows': self.writer.rows(rows), 'options': {'max_rows': 7}}
        self.set(rows, new=True)
        self.writer.change(**command)

    def set(self, rows, new):
        for key, value in rows:
            known = dict.fromkeys(self.extra) if new else self.rows[key]
            self.rows[key] = {'v': value, **{name: known[name] for name in self.extra}}

    def overwrite(self):
        rows = self.new_rows(20)
        self.extra, self.rows = [], {}
        self.set(rows, new=True)
        self.writer.change(do='overwrite', rows=self.writer.rows(rows), options={'max_rows': 7})

    def delete(self):
        keys, ids = self.some()
        for key in keys:
            del self.rows[key]
        self.writer.change(do='delete', ids=ids)

    def update(self):
        keys, ids = self.some()
        rows = [(key, random.randrange(10**6)) for key in keys]
        self.set(rows, new=False)
        self.writer.change(do='update', ids=ids, rows=self.writer.rows(rows))

    def merge(self):
        keys, ids = self.some()
        rows, new = [(key, -key) for key in keys], self.new_rows(3)
        self.set(rows, new=False)
        self.set(new, new=True)
        path = Path(self.writer.rows(new)).rename(self.writer.place / 'inserts.arrow')
        self.writer.change(do='merge', ids=ids, rows=self.writer.rows(rows), inserts=str(path))

    def compact(self):
        self.writer.change(do='compact', target=random.choice([30, 1000]))

    def add_column(self):
        self.columns += 1
        name, times = f'c{self.columns}', random.randint(2, 9)
        self.extra.append(name)
        for key, row in self.rows.items():
            row[name] = key * times
        self.writer.maintain(do='add_multiple', name=name, of='k', times=times)

    def drop_column(self):
        name = random.choice(self.extra)
        self.extra.remove(name)
        for row in self.rows.values():
            del row[name]
        self.writer.maintain(do='drop', names=[name])

    def rename_column(self):
        self.columns += 1
        old, new = random.choice(self.extra), f'c{self.columns}'
        self.extra[self.extra.index(old)] = new
        for row in self.rows.values():
            row[new] = row.pop(old)
        self.writer.maintain(do='rename', name=old, to=new)

    def restore(self):
        there = {version['version'] for version in lance.dataset(self.writer.root).versions()}
        version = random.choice(sorted(there & set(self.versions)))
        then = self.versions[version]
        self.extra, self.rows = list(then['extra']), {key: dict(row) for key, row in then['rows'].items()}
        self.writer.maintain(do='restore', version=version)

    def tag(self):
        if len(self.tags) > 3:
            self.writer.maintain(do='untag', name=random.choice(sorted(self.tags)))
            return
        self.columns += 1
        self.writer.maintain(do='tag', name=f't{self.columns}')

    def branch(self):
        """A branch that is made, or what is left of one, can be deleted."""
        try:
            self.writer.maintain(do='branch', name='side')
            side = lance.dataset(self.writer.root).checkout_version(('side', None))
            if self.found(side) != self.state():
                raise Failed('a branch holds other rows')
        except Failed as failed:
            if 'already' not in str(failed):
                raise
        try:
            self.writer.maintain(do='delete_branch', name='side')
        except Failed as failed:
            if 'no branch' not in str(failed):
                raise

    def cleanup(self):
        self.writer.maintain(do='cleanup', older_than=0)
        there = {version['version'] for version in lance.dataset(self.writer.root).versions()}
        self.versions = {version: state for version, state in self.versions.items() if version in there}


def run(options, place):
    random.seed(options.seed)
    writer = Writer(options, place)
    history = History(writer)
    steps, told, begin = 0, 0, time.monotonic()
    while sum(writer.kills.values()) < options.count:
        history.step()
        steps += 1
        if sum(writer.kills.values()) >= told + 100:
            told = sum(writer.kills.values())
            print(f'{told} kills, {steps} changes', flush=True)
    if writer.process is not None:
        writer.process.stdin.close()
        writer.process.wait()
    kills = ', '.join(f'{verb} {count}' for verb, count in writer.kills.most_common())
    return (f'seed {options.seed}: {sum(writer.kills.values())} kills in {steps} changes and {time.monotonic() - begin:.0f} s '
            f'({kills}), {writer.late} more just after the answer; version {lance.dataset(writer.root).version}')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--change', required=True)
    parser.add_argument('--maintain', required=True)
    parser.add_argument('--count', type=int, default=100)
    parser.add_argument('--seed', type=int, default=0, help='even: with stable row ids')
    parser.add_argument('--keep', help='a folder for the table if something is wrong')
    options = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix='kills-'))
    try:
        print(run(options, place))
        return 0
    except Failed as failed:
        print(f'seed {options.seed}: {failed}', file=sys.stderr)
        if options.keep:
            shutil.copytree(place, options.keep)
        return 1
    finally:
        shutil.rmtree(place)


if __name__ == '__main__':
    sys.exit(main())
