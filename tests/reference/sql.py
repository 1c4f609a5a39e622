"""Queries of `lancet sql`, against DuckDB, over files of the reference and into files for it.

    sql.py --lancet PROGRAM

What COPY and `-o` write is read by the reference, and so are tables that statements have changed.
"""
import argparse
import datetime
import decimal
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import lance
import pyarrow as pa
import pyarrow.parquet as pq
from lance.file import LanceFileReader, LanceFileWriter

ROWS = 30_000

QUERIES = [
    'SELECT id, name FROM {t} WHERE id BETWEEN 777 AND 790 ORDER BY id',
    'SELECT day, count(*) AS n, sum(price) AS total FROM {t} WHERE price > 500 GROUP BY day ORDER BY day',
    "SELECT id FROM {t} WHERE name LIKE 'name 12%' AND flag ORDER BY id",
    'SELECT id FROM {t} WHERE name IS NULL AND id % 7 = 0 ORDER BY id',
    'SELECT count(*) AS n, min(number) AS low, max(number) AS high FROM {t} WHERE number IN (3, 17, 99)',
    "SELECT id, place['city'] AS city FROM {t} WHERE place['zip'] = 123 ORDER BY id",
]


# Statements that change a table, as DuckDB knows them too.
CHANGES = [
    'INSERT INTO {t} SELECT * FROM {f} WHERE id % 10 = 3',
    'UPDATE {t} SET number = number + 1, name = upper(name) WHERE number % 3 = 0',
    'DELETE FROM {t} WHERE number > 50 AND NOT flag',
    "UPDATE {t} SET price = price * 2, flag = NULL WHERE name LIKE 'NAME 1%' OR number IS NULL",
    'DELETE FROM {t} WHERE id IN (SELECT id FROM {f} WHERE id % 7 = 0)',
    'UPDATE {t} SET number = (SELECT max(number) FROM {f}) WHERE id > (SELECT avg(id) FROM {f})',
    'DELETE FROM {t} WHERE flag IS NULL AND name IS NOT NULL',
    # Format 2.0 has no structs that are null.
    'INSERT INTO {t} (place, id, day) SELECT place, id + 1000000, day FROM {t} WHERE id < 100',
]


def table():
    """Columns of many types; `id` is sorted."""
    pick = random.Random(5)
    maybe = lambda value: value if pick.random() > 0.1 else None
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(days=row // 1000) for row in range(ROWS)]
    return pa.table({
        'id': pa.array(range(ROWS), pa.int64()),
        'name': pa.array([maybe(f'name {row * 7 % ROWS}') for row in range(ROWS)]),
        'price': pa.array([decimal.Decimal(pick.randrange(100_000)) / 100 for _ in range(ROWS)], pa.decimal128(12, 2)),
        'number': pa.array([maybe(pick.randrange(100)) for _ in range(ROWS)], pa.int32()),
        'flag': pa.array([maybe(pick.random() > 0.5) for _ in range(ROWS)]),
        'day': pa.array(days),
        'place': pa.array([{'city': f'city {row % 50}', 'zip': row % 500} for row in range(ROWS)]),
        'list': pa.array([maybe(list(range(row % 5))) for row in range(ROWS)], pa.list_(pa.int32())),
    })


def sql(lancet, folder, query, *options):
    done = subprocess.run([lancet, 'sql', query, *options], cwd=folder, capture_output=True, timeout=120)
    if done.returncode:
        sys.exit(f'{query}: {done.stderr.decode()}')
    return done.stdout


def read_by_reference(path):
    return LanceFileReader(str(path)).read_all().to_table()


def sorted_rows(rows):
    return sorted(rows, key=lambda row: (row['id'], str(row)))


def changed_tables(lancet, folder, data):
    """A table of either writer goes through all statements; the reference reads each version. How many there were."""
    versions = 0
    for version, stable in [('2.0', False), ('2.1', True), ('2.2', True)]:
        path = folder / f'table-{version}.lance'
        if stable:
            lance.write_dataset(data, str(path), data_storage_version=version, enable_stable_row_ids=True,
                                max_rows_per_file=7_000)
        else:
            sql(lancet, folder, f"COPY (SELECT * FROM 'data.parquet') TO '{path.name}' "
                                f"OPTIONS (table true, version '{version}')")
        duck = duckdb.connect()
        duck.sql(f"CREATE TABLE t AS FROM '{folder}/data.parquet'")
        ids = None
        for change in CHANGES:
            sql(lancet, folder, change.format(t=f"'{path.name}'", f="'data.parquet'"), '-q')
            duck.sql(change.format(t='t', f=f"'{folder}/data.parquet'"))
            dataset = lance.dataset(str(path))
            dataset.validate()
            found = sorted_rows(dataset.to_table().to_pylist())
            expected = sorted_rows(duck.sql('FROM t').arrow().read_all().to_pylist())
            if found != expected:
                first = next(((a, b) for a, b in zip(found, expected) if a != b), (len(found), len(expected)))
                sys.exit(f'{path.name}, {change}: {first}')
            if dataset.count_rows('number = 7') != sum(row['number'] == 7 for row in expected):
                sys.exit(f'{path.name}, {change}: the reference counts other rows')
            if stable:
                now = {row['id']: row['_rowid'] for row in
                       dataset.to_table(columns=['id'], with_row_id=True).to_pylist() if row['id'] % 10 != 3}
                if ids is not None and any(ids.get(key, row_id) != row_id for key, row_id in now.items()):
                    sys.exit(f'{path.name}, {change}: rows have other ids')
                ids = now
            versions += 1
        dataset.optimize.compact_files()
        if sorted_rows(lance.dataset(str(path)).to_table().to_pylist()) != expected:
            sys.exit(f'{path.name}: the reference has compacted it to something else')
    return versions


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--lancet', required=True)
    lancet = str(Path(parser.parse_args().lancet).resolve())
    start = time.time()
    data = table()
    with tempfile.TemporaryDirectory(prefix='lancet-') as folder:
        folder = Path(folder)
        pq.write_table(data, folder / 'data.parquet')
        for version in ['2.0', '2.1', '2.2']:
            with LanceFileWriter(str(folder / f'{version}.lance'), data.schema, version=version) as writer:
                for batch in data.to_batches(5_000):
                    writer.write_batch(batch)
        sql(lancet, folder, "COPY (SELECT * FROM 'data.parquet') TO 'copied.lance'")
        sql(lancet, folder, "SELECT * FROM '2.1.lance'", '-o', 'out.lance')
        for name in ['copied', 'out']:
            if read_by_reference(folder / f'{name}.lance').to_pylist() != data.to_pylist():
                sys.exit(f'{name}.lance: the reference reads something else')
        duck = duckdb.connect()
        duck.register('t', data)
        for query in QUERIES:
            expected = duck.sql(query.format(t='t')).arrow().read_all().to_pylist()
            for name in ['2.0', '2.1', '2.2', 'copied']:
                sql(lancet, folder, query.format(t=f"'{name}.lance'"), '-o', 'answer.parquet', '-q')
                found = pq.read_table(folder / 'answer.parquet').to_pylist()
                if found != expected:
                    sys.exit(f'{query} over {name}.lance: {found[:3]} … instead of {expected[:3]} …')
        versions = changed_tables(lancet, folder, data)
    print(f'{len(QUERIES)} queries over 4 files, 2 files and {versions} versions of tables for the reference, '
          f'{time.time() - start:.0f} s')


if __name__ == '__main__':
    main()
