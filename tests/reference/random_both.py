"""Random tables, both ways: what lancet writes the reference reads, and the other way round.

    random_both.py --lancet PROGRAM [--seeds 0..300] [--profile flat|nested|all] [--versions 2.1,2.2]
                   [--encoding fast|balanced|small|each] [--jobs 2] [--keep FOLDER]

Without `--encoding` the seeds take turns with the encoding profiles; `each` writes every table with all of them.
Every failure is printed with the command that repeats it. `--keep` leaves the files of failed seeds.
"""
import argparse
import os
import shutil
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from drive import (Failed, Lancet, check, check_reference_reads, random_rows, reference_write, write_arrow)
from compare import rows
from tables import PROFILES, VERSIONS, as_views, random_table

MOST_SHOWN = 20
# Share of tables on which the reference may fail.
MOST_ALONE = .15
ENCODINGS = ('fast', 'balanced', 'small')
# The file in which a worker says what it is at, for the case that it dies of it.
AT = 'at'
OWN_FILE = 'the reference at its own file'


def encodings(seed, version, wanted):
    """The encoding profiles to write a seed with."""
    if wanted is None:
        return [ENCODINGS[(seed + VERSIONS.index(version)) % len(ENCODINGS)]]
    return ENCODINGS if wanted == 'each' else [wanted]


def one(lancet, folder, seed, profile, version, wanted, can=True):
    """Checks one seed, without the reference unless it `can`; raises Failed.

    Tells whether the reference could do what the seed asks for.
    """
    made = random_table(seed, profile, version)
    table = made.table
    rng = np.random.default_rng([seed, 7])
    indices, (start, end) = random_rows(rng, table.num_rows)

    source, theirs = folder / 'source.arrow', folder / 'theirs.lance'
    # The reference panics over some sliced structs and fixed-size lists, so it gets the batches of the file.
    batches = write_arrow(source, table.schema, made.batches())
    at = folder / AT
    try:
        if can:
            at.write_text(OWN_FILE)
            reference_write(theirs, table.schema, batches, version, made.cache_bytes)
            check_reference_reads(theirs, table, indices, (start, end))
    except Failed:
        # Not a check of lancet: deep nestings lead the reference into defects and refusals of its own.
        can = False

    files = [('lancet reads the file of the reference', theirs)] if can else []
    pages = [] if made.page_bytes is None else ['--page-bytes', made.page_bytes]
    if seed % 3 == 0:
        # Stored as what they are views of.
        source = folder / 'views.arrow'
        write_arrow(source, *as_views(batches, table.schema))
    for encoding in encodings(seed, version, wanted):
        ours = folder / f'ours-{encoding}.lance'
        lancet.convert(source, ours, version, '--profile', encoding, *pages)
        try:
            if can:
                at.write_text(f'the reference at the file of lancet, {encoding}')
                check_reference_reads(ours, table, indices, (start, end))
        except Failed as failed:
            raise Failed(f'written {encoding}: {failed}') from None
        files.append((f'lancet reads its own file, {encoding}', ours))
    for what, path in files:
        check(what, lancet.cat(path, folder / 'cat.arrows'), table)
        if table.num_rows:
            got = lancet.take(path, folder / 'take.arrows', indices)
            check(f'{what}, rows {indices}', got, rows(table, indices))
            column = table.schema.names[int(rng.integers(table.num_columns))]
            got = lancet.cat(path, folder / 'range.arrows', '--columns', column, '--rows', f'{start}..{end}')
            check(f'{what}, rows {start}..{end} of {column}', got, table.select([column]).slice(start, end - start))
    return can


def run_one(program, folder, job, wanted, keep, can=True):
    """Checks one seed in a worker process; whether the reference took part, and None or the failure in words."""
    seed, profile, version = job
    folder = Path(folder) / f'{profile}-{seed}-{version}'
    folder.mkdir(exist_ok=True)
    try:
        return one(Lancet(program), folder, seed, profile, version, wanted, can), None
    except Failed as failed:
        if keep:
            shutil.copytree(folder, Path(keep) / folder.name, dirs_exist_ok=True)
        return True, str(failed)
    finally:
        shutil.rmtree(folder)


def run_all(options, jobs):
    """Yields (job, outcome of `run_one`) in order. The reference may take its worker with it; the others go on."""
    def submit(pool, job, can=True):
        return pool.submit(run_one, options.lancet, folder, job, options.encoding, options.keep, can)

    def workers(count):
        # Not forked: the reference has threads.
        return ProcessPoolExecutor(count, get_context('spawn'))

    def alone(job, can=True):
        """One job in a process of its own."""
        with workers(1) as pool:
            try:
                return submit(pool, job, can).result()
            except BrokenProcessPool:
                seed, profile, version = job
                at = (Path(folder) / f'{profile}-{seed}-{version}' / AT).read_text()
                if can and at == OWN_FILE:
                    return alone(job, can=False)
                return True, f'the process died: {at}'

    with tempfile.TemporaryDirectory(prefix='lancet-') as folder:
        done = 0
        while done < len(jobs):
            with workers(options.jobs) as pool:
                futures = [submit(pool, job) for job in jobs[done:]]
                try:
                    for future in futures:
                        outcome = future.result()
                        yield jobs[done], outcome
                        done += 1
                except BrokenProcessPool:
                    pass
            # Whichever worker died, its job was among the next ones.
            for job in jobs[done:][:2 * options.jobs]:
                yield job, alone(job)
                done += 1


def seeds(text):
    first, _, end = text.partition('..')
    return range(int(first), int(end) if end else int(first) + 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--lancet', required=True)
    parser.add_argument('--seeds', type=seeds, default=seeds('0..300'))
    parser.add_argument('--profile', choices=PROFILES, default='all')
    parser.add_argument('--versions', default=','.join(VERSIONS))
    parser.add_argument('--encoding', choices=(*ENCODINGS, 'each'))
    parser.add_argument('--jobs', type=int, default=os.cpu_count() or 2)
    parser.add_argument('--keep')
    options = parser.parse_args()
    versions = options.versions.split(',')
    if not set(versions) <= set(VERSIONS):
        parser.error(f'--versions: choose from {", ".join(VERSIONS)}')
    # The panics of the reference are told in one line each.
    os.environ['RUST_BACKTRACE'] = '0'
    jobs = [(seed, options.profile, version) for seed in options.seeds for version in versions]
    start, done, failures, alone = time.time(), 0, 0, 0
    for (seed, profile, version), (both, failure) in run_all(options, jobs):
        done += 1
        alone += not both
        if failure is None:
            continue
        failures += 1
        if failures <= MOST_SHOWN:
            print(f'\nseed {seed}, {profile}, {version}: {failure}\n'
                  f'  repeat: cargo xtask reference --seeds {seed} --profile {profile} --versions {version}'
                  + (f' --encoding {options.encoding}' if options.encoding else ''), flush=True)
    print(f'{done} of {len(jobs)} random tables ({options.profile}), {failures} failures, {time.time() - start:.0f} s')
    if alone:
        print(f'{alone} of them are beyond the reference: it refuses them or misreads its own file')
    # A generator that mostly asks for what the reference cannot do tests nothing.
    sys.exit(1 if failures or not jobs or alone > MOST_ALONE * done + 1 else 0)


if __name__ == '__main__':
    main()
