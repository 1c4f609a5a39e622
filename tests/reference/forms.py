"""Every form that lancet writes, forced by options, in both versions: read back by the reference and by lancet.

    forms.py --lancet PROGRAM

A cell is a table, the options that force its form, and words that must stand in what `--explain` says. Each is
written plain, with nulls, and inside lists, so that every form meets every kind of levels.
"""
import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

from compare import rows
from drive import Failed, Lancet, check, check_reference_reads, random_rows, write_arrow
from tables import LAYOUT_VERSIONS

ROWS = 6000
NO_DICTIONARY = 'dict-divisor=1000000'


def rng(*seed):
    return np.random.default_rng([11, *seed])


def numbers(kind, most):
    return pa.array(rng(most).integers(0, most, ROWS), kind)


def runs(kind):
    values = np.repeat(rng(1).integers(0, 100, ROWS), rng(2).integers(1, 50, ROWS))[:ROWS]
    return pa.array(values, kind)


def long_runs(kind):
    return pa.array(np.repeat(np.arange(100), 3000)[:200_000], kind)


def noise(kind):
    """Looks like nothing that packs, but the upper bytes are alike."""
    high = {pa.float32(): np.float32, pa.float64(): np.float64}.get(kind)
    if high:
        return pa.array((rng(3).random(ROWS) + 1).astype(high))
    return pa.array(rng(3).integers(0, 1 << 12, ROWS) + (1 << 28), kind)


def distinct(count, make):
    """All of `count` values, and some again; enough rows that each comes up."""
    picks = np.concatenate([np.arange(count), rng(count).integers(0, count, max(3 * count, ROWS))])
    return make(rng(4).permutation(picks))


def strings(picks, kind=pa.utf8()):
    return pa.array([f'value number {p}' for p in picks], kind)


def sentences():
    picks = rng(5).integers(0, 40, (ROWS, 6))
    return [' '.join(f'word{w}' for w in row) for row in picks]


def decimals(picks):
    data = np.zeros((len(picks), 2), np.int64)
    data[:, 0] = picks * 1_000_003
    return pa.Array.from_buffers(pa.decimal128(20, 2), len(picks), [None, pa.py_buffer(data.tobytes())])


def documents(size):
    lines = sentences()
    return pa.array([' '.join(lines[i % 50:i % 50 + 20])[:size] + str(i) for i in range(400)])


def fixed_size_lists(width, kind=pa.float32()):
    items = pa.array(rng(6).integers(0, 10, ROWS * width), pa.int32()).cast(kind)
    return pa.FixedSizeListArray.from_arrays(items, width)


def packed(*children):
    return pa.StructArray.from_arrays(list(children), [f'f{i}' for i in range(len(children))])


def cells():
    """(name, array, options, profile, words expected, versions, kinds of levels)"""
    every = ('plain', 'null', 'list')

    def cell(name, array, options='', profile='fast', words='', versions=LAYOUT_VERSIONS, levels=every):
        return name, array, options.split(), profile, words, versions, levels

    for kind in (pa.int8(), pa.uint16(), pa.int32(), pa.int64(), pa.float32(), pa.float64()):
        yield cell(f'flat {kind}', numbers(pa.int8(), 100).cast(kind), f'compression=none {NO_DICTIONARY}',
                   words=f'mini-block, flat {kind.bit_width}-bit')
    yield cell('flat bool', numbers(pa.int8(), 2).cast(pa.bool_()), 'compression=none', words='flat 1-bit')
    yield cell('variable', strings(range(ROWS)), 'compression=none', words='mini-block, variable (32-bit offsets)')
    yield cell('variable 64', strings(range(ROWS), pa.large_utf8()), 'compression=none', words='variable (64-bit offsets)')
    for kind in (pa.uint8(), pa.int16(), pa.int32(), pa.uint64()):
        yield cell(f'packed {kind}', numbers(kind, 100), NO_DICTIONARY, words=f'bit-packed {kind.bit_width}-bit')
        yield cell(f'runs {kind}', runs(kind), NO_DICTIONARY, words=f'run-length {kind.bit_width}-bit')
        yield cell(f'long runs {kind}', long_runs(kind), NO_DICTIONARY, words=f'run-length {kind.bit_width}-bit')
    yield cell('symbols', pa.array(sentences()), 'compression=fsst', words='mini-block, fsst over variable')
    yield cell('symbols 64', pa.array(sentences(), pa.large_utf8()), 'compression=fsst', words='fsst over variable (64')
    for scheme in ('lz4', 'zstd'):
        general = f'compression={scheme} {NO_DICTIONARY}'
        for kind in (pa.int32(), pa.float32(), pa.int64(), pa.float64()):
            yield cell(f'split {kind} {scheme}', noise(kind), f'{general} bss=on', words=f'{scheme} over byte stream split')
        yield cell(f'{scheme} flat', decimals(numbers(pa.int32(), 9000).to_numpy()), general, words=f'{scheme} over flat 128-bit')
        yield cell(f'{scheme} bool', runs(pa.int32()).cast(pa.bool_()), general, words=f'{scheme} over flat 1-bit')
        yield cell(f'{scheme} runs', long_runs(pa.int64()), f'{general} bss=off', words=f'{scheme} over run-length')
        yield cell(f'{scheme} variable', pa.array(sentences()), general, words=f'{scheme} over variable')
        yield cell(f'{scheme} large chunks', pa.array(sentences() * 4), f'{general} minichunk-size=200000', words=f'{scheme} over variable')
        yield cell(f'{scheme} lists', fixed_size_lists(5), general, words=f'{scheme} over fixed-size list')
        yield cell(f'{scheme} packed struct', packed(numbers(pa.int32(), 9), numbers(pa.int16(), 5)), f'packed=true {general}',
                   words=f'{scheme} over packed struct', levels=('plain',))
        rows_general = f'structural-encoding=fullzip {general}'
        yield cell(f'rows {scheme}', documents(1500), rows_general, words=f'full-zip, {scheme} over variable', levels=('plain',))
        if scheme == 'zstd':
            yield cell('rows zstd levels', documents(1500), rows_general, words='full-zip, zstd over variable', levels=('null', 'list'))
        for what, array in (('strings', distinct(300, strings)), ('numbers', distinct(300, lambda p: pa.array(p * 1_000_003)))):
            yield cell(f'dictionary {what} {scheme}', array, f'dict-values-compression={scheme}', words=f'({scheme} over', levels=('plain',))
        yield cell(f'{scheme} indices', distinct(300, lambda p: strings(np.sort(p))), f'compression={scheme}',
                   words=f'indices {scheme} over')
    yield cell('split alone', noise(pa.float64()), f'bss=on {NO_DICTIONARY}', words='mini-block, byte stream split 64-bit')
    yield cell('dictionary uncompressed', distinct(300, strings), 'compression=none', words='indices flat 16-bit', levels=('plain',))
    for count, bits in ((1, 8), (2, 8), (255, 8), (256, 8), (257, 16), (65_535, 16), (65_536, 16), (65_537, 32)):
        # Where every bit of a narrow index is in use there is nothing to pack. Nulls take entries away.
        packing = 'flat' if count in (255, 256, 65_535, 65_536) else 'bit-packed'
        levels = every if count < 300 else ('plain',) if count > 65_536 else ('plain', 'null')
        yield cell(f'dictionary of {count}', distinct(count, strings), words=f'indices {packing} {bits}-bit' if count > 1 else '',
                   levels=levels)
    for name, kind, factor in (('int16', pa.int16(), 113), ('int32', pa.int32(), 8_000_009), ('float32', pa.float32(), 1.1),
                               ('int64', pa.int64(), 10**15 + 37), ('float64', pa.float64(), 1.1)):
        array = distinct(200, lambda p: pa.array((p * factor).astype(kind.to_pandas_dtype()), kind))
        yield cell(f'dictionary {name}', array, words='dictionary of')
        array = distinct(200, lambda p: pa.array((np.sort(p) * factor).astype(kind.to_pandas_dtype()), kind))
        yield cell(f'dictionary runs {name}', array, 'rle-threshold=1', words='')
    yield cell('dictionary decimal', distinct(200, decimals), words='dictionary of 200')
    yield cell('dictionary 3000 numbers', distinct(3000, lambda p: pa.array(p * 1_000_003)), words='dictionary of ')
    yield cell('dictionary large strings', distinct(30, lambda p: strings(p, pa.large_utf8())), words='dictionary of 30')
    yield cell('dictionary bytes', distinct(30, lambda p: strings(p, pa.binary())), words='dictionary of 30')
    yield cell('dictionary wide', distinct(30, lambda p: pa.array([f'{q:03d}' * 200 for q in p])), words='dictionary of 30')
    yield cell('lists', fixed_size_lists(3), words='mini-block, fixed-size list of 3')
    yield cell('rows lists', fixed_size_lists(70), words='full-zip, fixed-size list of 70')
    yield cell('packed struct', packed(numbers(pa.int32(), 9), numbers(pa.int16(), 5)), 'packed=true', words='mini-block, packed struct',
               levels=('plain',))
    yield cell('rows packed struct', packed(numbers(pa.int32(), 9), numbers(pa.int16(), 5)), 'packed=true structural-encoding=fullzip',
               words='full-zip, packed struct', levels=('plain',))
    yield cell('rows packed strings', packed(numbers(pa.int32(), 9), pa.array(sentences())), 'packed=true', words='full-zip, packed struct',
               versions=('2.2',), levels=('plain',))
    for kind in (pa.bool_(), pa.int8(), pa.int32(), pa.float64()):
        yield cell(f'rows {kind}', numbers(pa.int8(), 2).cast(kind), 'structural-encoding=fullzip', words='full-zip, flat')
    yield cell('rows decimal', distinct(200, decimals), 'structural-encoding=fullzip', words='full-zip, flat 128-bit')
    yield cell('rows variable', documents(600), 'compression=none', words='full-zip, variable')
    yield cell('rows symbols', documents(600), 'compression=fsst', words='full-zip, fsst over variable')
    yield cell('long strings in chunks', documents(600), 'structural-encoding=miniblock', words='mini-block')
    yield cell('constant', pa.array([7] * ROWS), words='constant', versions=('2.2',))
    yield cell('constant 2.1', pa.array([7] * ROWS), words='run-length', versions=('2.1',))
    yield cell('constant string', pa.array(['seven'] * ROWS), words='constant', versions=('2.2',))
    yield cell('null', pa.nulls(ROWS, pa.int32()), words='all null', levels=('plain', 'list'))


def with_levels(array, levels):
    """The array as it is, with every seventh value null, or in lists of any length, some null and some empty."""
    if levels == 'plain':
        return array
    if levels == 'null':
        mask = np.arange(len(array)) % 7 == 3
        if isinstance(array, pa.FixedSizeListArray):
            return pa.FixedSizeListArray.from_arrays(array.values, array.type.list_size, mask=pa.array(mask))
        return pa.concat_arrays([pa.nulls(1, array.type) if mask[0] else array.slice(0, 1)] + [
            pa.nulls(1, array.type) if null else array.slice(i + 1, 1) for i, null in enumerate(mask[1:])])
    lengths = rng(8).integers(0, 6, len(array))
    ends = np.cumsum(lengths)
    count = int(np.searchsorted(ends, len(array), 'right'))
    offsets = np.concatenate([[0], ends[:count]]).astype(np.int32)
    mask = (np.diff(offsets) == 0) & (np.arange(count) % 3 == 0)
    return pa.ListArray.from_arrays(pa.array(offsets), array.slice(0, offsets[-1]), mask=pa.array(mask))


def one(lancet, folder, cell, version, levels):
    """Writes a cell, says whether it has its form, reads it in both ways; raises Failed."""
    name, array, options, profile, expected, _, _ = cell
    table = pa.table({'c': with_levels(array, levels)})
    source, ours = folder / 'source.arrow', folder / 'ours.lance'
    write_arrow(source, table.schema, table.combine_chunks().to_batches())
    sets = [word for option in options for word in ('--set', f'c.{option}')]
    explained = lancet.convert(source, ours, version, '--profile', profile, '--explain', *sets)
    if expected not in explained:
        raise Failed(f'is not "{expected}":\n{explained}')
    if 'packed=true' in options:
        table = table.cast(pa.schema([table.schema.field(0).with_metadata({'lance-encoding:packed': 'true'})]))
    indices, some_range = random_rows(rng(9), table.num_rows)
    check_reference_reads(ours, table, indices, some_range)
    check('lancet', lancet.cat(ours, folder / 'cat.arrow'), table)
    check('lancet, rows', lancet.take(ours, folder / 'take.arrow', indices), rows(table, indices))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--lancet', required=True)
    lancet = Lancet(parser.parse_args().lancet)
    start, done, failures = time.time(), 0, 0
    with tempfile.TemporaryDirectory(prefix='lancet-') as folder:
        for cell in cells():
            for version in cell[5]:
                for levels in cell[6]:
                    done += 1
                    try:
                        one(lancet, Path(folder), cell, version, levels)
                    except Failed as failed:
                        failures += 1
                        print(f'{cell[0]}, {levels}, {version}: {failed}', flush=True)
    print(f'{done} forms written by lancet, {failures} failures, {time.time() - start:.0f} s')
    sys.exit(1 if failures or not done else 0)


if __name__ == '__main__':
    main()
