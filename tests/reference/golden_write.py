"""Every table of the golden corpus, written by lancet in all versions and read by the reference.

    golden_write.py --lancet PROGRAM

Takes the whole corpus where it lies beside the repository, otherwise the part kept in it. Skips what
`unsupported_cases.txt` says lancet does not write; the golden tests hold that list to its word.
"""
import argparse
import json
import sys
import tempfile
import time
import zlib
from pathlib import Path

import numpy as np

from drive import Failed, Lancet, check_reference_reads, random_rows, read_arrow
from tables import VERSIONS

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / 'crates/lancet/tests'
SHARED = ROOT / '../shared/golden/lance'


def corpus():
    """Base name of each case, and the table it holds; versions of one case hold the same."""
    folder = SHARED if (SHARED / 'index.json').exists() else TESTS / 'golden'
    cases = json.loads((folder / 'index.json').read_text())['cases']
    return {case['name'].rpartition('_v')[0]: folder / f'{case["name"]}.arrow' for case in cases}


def not_written():
    """The names in the section [write] of the list of unsupported cases."""
    names, section = set(), None
    for line in (TESTS / 'unsupported_cases.txt').read_text().splitlines():
        line = line.strip()
        if line.startswith('['):
            section = line
        elif line and not line.startswith('#') and section == '[write]':
            names.add(line.split(': ')[0])
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--lancet', required=True)
    lancet = Lancet(parser.parse_args().lancet)
    start, done, failures, skipped = time.time(), 0, 0, not_written()
    with tempfile.TemporaryDirectory(prefix='lancet-') as folder:
        target = Path(folder) / 'written.lance'
        for name, source in corpus().items():
            table = read_arrow(source)
            some_rows = random_rows(np.random.default_rng(zlib.crc32(name.encode())), table.num_rows)
            for version in VERSIONS:
                if f'{name} {version}' in skipped:
                    continue
                done += 1
                try:
                    lancet.convert(source, target, version)
                    check_reference_reads(target, table, *some_rows)
                except Failed as failed:
                    failures += 1
                    print(f'{name} {version}: {failed}', flush=True)
    print(f'{done} golden tables written by lancet, {failures} failures, {len(skipped)} not supported, '
          f'{time.time() - start:.0f} s')
    sys.exit(1 if failures or not done else 0)


if __name__ == '__main__':
    main()
