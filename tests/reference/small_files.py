"""Writes the small files that the corruption tests start from: each layout and codec in a few hundred bytes.

    small_files.py crates/lancet/tests/small

The files are kept in the repository; run this again only to add one.
"""
import os
import sys

import pyarrow as pa
from lance.file import LanceFileReader, LanceFileWriter

OLD, BOTH, NEW = ('2.0',), ('2.1', '2.2'), ('2.2',)


def field(name, data_type, nullable=True, **options):
    metadata = {f'lance-encoding:{key.replace("_", "-")}': value for key, value in options.items()}
    return pa.field(name, data_type, nullable, metadata=metadata or None)


def plain(data_type, **options):
    return field('x', data_type, **options)


def structure(*fields):
    return pa.struct([field(*f) for f in fields])


NESTED = [[{'a': 1, 'l': [1, None]}, None, {'a': None, 'l': None}, {'a': 2, 'l': []}], None, [], [{'a': 3, 'l': [2]}]]
CASES = [
    ('rle', BOTH, plain(pa.int32()), [7] * 40 + [None] + [9] * 3000),
    ('byte_stream_split', BOTH, plain(pa.float32(), compression='zstd'), [1.0, 1.5, 2.0, 2.5] * 400),
    ('zstd_strings', BOTH, plain(pa.string(), compression='zstd', dict_divisor='100000'),
     [f'k{i % 7}' * 4 for i in range(700)]),
    ('lz4_strings', BOTH, plain(pa.large_string(), compression='lz4', dict_divisor='100000'),
     [f'k{i % 7}' * 4 for i in range(700)]),
    ('lz4_fixed', BOTH, plain(pa.int64(), compression='lz4', bss='off', rle_threshold='0.0'),
     [(i % 5) << 40 for i in range(600)]),
    ('fullzip_zstd', BOTH, plain(pa.binary(), structural_encoding='fullzip', compression='zstd',
                                 dict_divisor='100000'), [b'ab' * 9000, None, b'cd' * 9000, b'']),
    ('fullzip_strings', BOTH, plain(pa.string(), structural_encoding='fullzip'), ['abc', None, '', 'hello']),
    ('fullzip_list', BOTH, plain(pa.list_(pa.int32()), structural_encoding='fullzip'),
     [[1, 2], None, [], [3, None, 4], [5]]),
    ('fullzip_list_strings', BOTH, plain(pa.list_(pa.string()), structural_encoding='fullzip'),
     [['a', None], None, [], ['bc']]),
    ('fullzip_fixed', BOTH, plain(pa.int32(), structural_encoding='fullzip'), [1, None, 3, 4]),
    ('fullzip_vectors', BOTH, plain(pa.list_(pa.float32(), 8), structural_encoding='fullzip'),
     [[float(i)] * 8 for i in range(5)] + [None]),
    ('fullzip_null_items', BOTH, plain(pa.list_(pa.int16(), 3), structural_encoding='fullzip'),
     [[1, None, 3], None, [4, 5, 6]]),
    ('vectors', BOTH, plain(pa.list_(pa.int16(), 3)), [[1, None, 3], None, [4, 5, 6]]),
    ('dictionary', BOTH, plain(pa.string()), ['red', 'green', None, 'blue'] * 40),
    ('dictionary_fixed', NEW, plain(pa.int64()), [1 << 50, 5, None, 7] * 40),
    ('dictionary_list', BOTH, plain(pa.list_(pa.string())), [['red', 'green'], None, [], ['blue', 'red', None]] * 40),
    ('dictionary_type', BOTH, plain(pa.dictionary(pa.int8(), pa.string())), ['a', 'b', None, 'a'] * 5),
    ('bitpacked', BOTH, plain(pa.int16()), [i % 3 for i in range(1100)]),
    ('levels_packed', BOTH, plain(pa.list_(pa.int8())), [[1, 2], None, [], [3]] * 300),
    ('out_of_line_levels', BOTH, plain(pa.int8()), [None if i % 3 else i % 100 for i in range(1200)]),
    ('nested', BOTH, plain(pa.list_(structure(('a', pa.int32()), ('l', pa.list_(pa.int16()))))), NESTED),
    ('chunks_across_rows', BOTH, plain(pa.list_(pa.binary(200)), structural_encoding='miniblock'),
     [[b'%03d' % i + b'x' * 197 for i in range(n)] for n in (2, 1, 9, 0, 1, 2)]),
    ('packed', BOTH, plain(structure(('a', pa.int32(), False), ('b', pa.int16(), False)), packed='true'),
     [{'a': 1, 'b': 2}, None, {'a': 3, 'b': 4}]),
    ('packed_variable', NEW, plain(structure(('a', pa.int32(), False), ('b', pa.string(), False)), packed='true'),
     [{'a': 1, 'b': 'ab'}, {'a': 3, 'b': 'cde'}]),
    ('constant', NEW, plain(pa.int32()), [7, None, 7]),
    ('constant_string', NEW, plain(pa.string()), ['abc', 'abc']),
    ('constant_list', NEW, plain(pa.list_(pa.int32())), [[7], [7, 7], None, []]),
    ('all_null', BOTH, plain(pa.int32()), [None] * 4),
    ('all_null_struct', BOTH, plain(structure(('a', pa.int32()))), [None, {'a': None}, {'a': None}, None]),
    ('all_null_lists', BOTH, plain(pa.list_(pa.int32())), [[], None, [], []]),
    ('blob', BOTH, plain(pa.large_binary(), blob='true'), [b'hello', None, b'', b'world!!']),
    ('map', NEW, plain(pa.map_(pa.string(), pa.int32())), [[('k', 1), ('j', None)], None, [], [('z', 3)]]),
    ('fixed_size_list_of_struct', NEW, plain(pa.list_(structure(('a', pa.int32())), 2)),
     [[{'a': 1}, {'a': 2}], [{'a': 3}, {'a': None}], None]),
    ('booleans', BOTH, plain(pa.bool_()), [True, None, False] * 5),
    ('decimals', BOTH, plain(pa.decimal128(20, 2)), [1, None, 3]),
    ('null_type', BOTH, plain(pa.null()), [None] * 3),
    ('fsst_verbatim', ('2.1',), plain(pa.string(), compression='fsst', dict_divisor='100000'),
     [f'hello {i}' for i in range(20)]),
    ('fsst', NEW, plain(pa.string(), compression='fsst', dict_divisor='1000000'),
     ['the same words again and again' * 40 + str(i) for i in range(30)]),
    ('numbers', OLD, plain(pa.int32()), [1, None, 3]),
    ('booleans', OLD, plain(pa.bool_()), [True, None, False] * 5),
    ('strings', OLD, plain(pa.string()), ['abc', None, '', 'hello']),
    ('zstd_strings', OLD, plain(pa.string(), compression='zstd'), [f'k{i % 7}' * 4 for i in range(30)]),
    ('lz4_strings', OLD, plain(pa.large_string(), compression='lz4'), [f'k{i % 7}' * 4 for i in range(30)]),
    ('fsst_verbatim', OLD, plain(pa.string(), compression='fsst'), [f'hello {i}' for i in range(20)]),
    ('dictionary', OLD, plain(pa.string()), ['red', 'green', None, 'blue'] * 30),
    ('dictionary_type', OLD, plain(pa.dictionary(pa.int8(), pa.string())), ['a', 'b', None, 'a'] * 5),
    ('vectors', OLD, plain(pa.list_(pa.int16(), 3)), [[1, None, 3], None, [4, 5, 6]]),
    ('lists_of_strings', OLD, plain(pa.list_(pa.string())), [['a', None], None, [], ['bc']]),
    ('nested', OLD, plain(pa.list_(structure(('a', pa.int32()), ('l', pa.list_(pa.int16()))))),
     [[{'a': 1, 'l': [1, None]}, {'a': None, 'l': None}, {'a': 2, 'l': []}], None, [], [{'a': 3, 'l': [2]}]]),
    ('packed', OLD, plain(structure(('a', pa.int32(), False), ('b', pa.int16(), False)), packed='true'),
     [{'a': 1, 'b': 2}, {'a': 3, 'b': 4}]),
    ('blob', OLD, plain(pa.large_binary(), blob='true'), [b'hello', None, b'', b'world!!']),
    ('all_null', OLD, plain(pa.int32()), [None] * 4),
]


def main():
    folder = sys.argv[1]
    for name, versions, kind, values in CASES:
        table = pa.table([pa.array(values, kind.type)], schema=pa.schema([kind]))
        for version in versions:
            path = os.path.join(folder, f'{name}_v{version.replace(".", "")}.lance')
            with LanceFileWriter(path, table.schema, version=version) as writer:
                writer.write_batch(table)
            assert LanceFileReader(path).read_all().to_table().to_pylist() == table.to_pylist(), path


if __name__ == '__main__':
    main()
