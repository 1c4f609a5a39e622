"""Random tables by seed: the same seed, profile and version give the same table everywhere.

Made is what the reference itself can write and read at that version, but for the defects that it shows with some deep
nestings.

| profile | columns |
|---|---|
| flat | every type without children, dictionaries included |
| nested | structs (null ones since 2.1), lists, fixed-size lists, maps (2.2), packed structs, blobs, over the flat types |
| all | both |
"""
import dataclasses

import numpy as np
import pyarrow as pa

PROFILES = ('flat', 'nested', 'all')
# Tables depend on the place of their version here: new ones come last.
VERSIONS = ('2.1', '2.2', '2.0')
# Those with page layouts.
LAYOUT_VERSIONS = ('2.1', '2.2')

INDEX_TYPES = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
FLOATS = [pa.float16(), pa.float32(), pa.float64()]
STRINGS = [pa.utf8(), pa.large_utf8(), pa.binary(), pa.large_binary()]
# Without float16: pyarrow goes wrong when it flattens lists of such dictionaries.
DICTIONARY_VALUES = INDEX_TYPES + FLOATS[1:] + STRINGS + [pa.bool_()]
UNITS = ('s', 'ms', 'us', 'ns')
ZONES = (None, 'UTC', '+08:00', 'Europe/Berlin')
DAY_MS = 86_400_000
# More than any of these tables holds.
ONE_PAGE = 256 << 20
SIZES = (0, 1, 2, 3, 7, 64, 100, 255, 256, 257, 500, 1000, 1023, 1024, 1025, 2048, 4095, 4096, 4097)


@dataclasses.dataclass
class Random:
    """A table to write, and how to write it."""
    table: pa.Table
    batch_rows: list
    # Where the reference, and lancet, cut pages.
    cache_bytes: int
    page_bytes: int

    def batches(self):
        """The table in its batches, each of one piece."""
        at = 0
        for count in self.batch_rows:
            yield from self.table.slice(at, count).combine_chunks().to_batches()
            at += count


def random_table(seed, profile, version):
    """The table of a seed."""
    rng = np.random.default_rng([seed, PROFILES.index(profile), VERSIONS.index(version)])
    # Small ones are quick and find as much; large ones meet several chunks and pages.
    rows = int(pick(rng, SIZES)) if rng.random() < .6 else int(rng.integers(0, 20_000 if rng.random() < .2 else 3000))
    if profile != 'flat' and version == '2.2' and rng.random() < .03:
        # The reference reads it only where it stands alone.
        fields = [fixed_size_list_of_struct(rng, rows)]
    elif profile != 'flat' and rng.random() < .01:
        rows, fields = sparse_table(rng, version)
    else:
        fields = [random_column(rng, f'c{i}', rows, profile, version) for i in range(rng.integers(1, 7))]
    metadata = {'made by': 'a seed', 'seed': str(seed)} if rng.random() < .2 else None
    schema = pa.schema([field for field, _ in fields], metadata=metadata)
    table = pa.Table.from_arrays([array for _, array in fields], schema=schema)
    cache_bytes = int(pick(rng, (1000, 20_000, ONE_PAGE)))
    page_bytes = int(pick(rng, (300, 5000, 100_000, ONE_PAGE, ONE_PAGE)))
    # The reference miscounts structs over lists, and fixed-size lists of structs, when it reads several pages at once
    # of which only some have nulls there. lancet writes all pages alike, but for structs below lists.
    types = [kind for field in schema for kind in below(field.type)]
    if any(pa.types.is_struct(kind) and has_list(kind) or is_list_of_structs(kind) for kind in types):
        cache_bytes = ONE_PAGE
    if any(is_list(kind) and any(pa.types.is_struct(inner) and has_list(inner) for inner in below(kind)) for kind in types):
        page_bytes = ONE_PAGE
    batches = random_batches(rng, rows)
    if any(has_many_entries(column.chunk(0)) for column in table.columns if column.num_chunks):
        # See `dictionary_array`: all rows in one page.
        cache_bytes = page_bytes = ONE_PAGE
        batches = [rows] if rows else []
    return Random(table, batches, cache_bytes, page_bytes)


def has_many_entries(array):
    """Whether dictionaries in it, one after the other, have more entries than their keys can number."""
    if pa.types.is_dictionary(array.type):
        return len(array.dictionary) > most_entries(array.type)
    if pa.types.is_struct(array.type):
        return any(has_many_entries(array.field(index)) for index in range(array.type.num_fields))
    if pa.types.is_map(array.type):
        return has_many_entries(array.items)
    is_list = is_a_list(array.type) or pa.types.is_fixed_size_list(array.type)
    return is_list and has_many_entries(array.values)


def below(kind):
    """A type and all types in it."""
    yield kind
    for index in range(kind.num_fields):
        yield from below(kind.field(index).type)


def is_list_of_structs(kind):
    return pa.types.is_fixed_size_list(kind) and pa.types.is_struct(kind.value_type)


def is_a_list(kind):
    return pa.types.is_list(kind) or pa.types.is_large_list(kind)


def is_list(kind):
    return pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_map(kind)


def has_list(kind):
    return any(map(is_list, below(kind)))


def random_batches(rng, rows):
    """Row counts of uneven batches."""
    cuts = np.sort(rng.integers(0, rows + 1, int(pick(rng, (0, 0, 1, 3, 8)))))
    counts = np.diff(np.concatenate([[0], cuts, [rows]]))
    return [int(count) for count in counts if count]


def random_column(rng, name, rows, profile, version):
    if profile == 'nested' or profile == 'all' and rng.random() < .5:
        return nested_column(rng, name, rows, version)
    return flat_column(rng, name, rows, version, hints=True)


def pick(rng, choices):
    return choices[int(rng.integers(len(choices)))]


# ------------------------------------------------------------------ views

def as_views(batches, schema):
    """The schema and the batches with views instead of strings and binaries, outside of maps and dictionaries."""
    schema = pa.schema([view_field(field) for field in schema], metadata=schema.metadata)
    return schema, [pa.RecordBatch.from_arrays([view(array) for array in batch.columns], schema=schema) for batch in batches]


def view_field(field):
    return field.with_type(view_type(field.type))


def view_type(kind):
    if kind == pa.utf8():
        return pa.string_view()
    if kind == pa.binary():
        return pa.binary_view()
    if pa.types.is_struct(kind):
        return pa.struct([view_field(kind.field(index)) for index in range(kind.num_fields)])
    if pa.types.is_list(kind):
        return pa.list_(view_field(kind.value_field))
    if pa.types.is_large_list(kind):
        return pa.large_list(view_field(kind.value_field))
    return kind


def view(array):
    """The same values. Children are made views one by one: Arrow's cast looks at what nulls cover."""
    kind = view_type(array.type)
    if kind == array.type:
        return array
    if pa.types.is_struct(kind):
        children = [view(array.field(index)) for index in range(kind.num_fields)]
    elif is_a_list(kind):
        children = [view(array.values)]
    else:
        return array.cast(kind)
    buffers = array.buffers()[:2 if is_a_list(kind) else 1]
    return pa.Array.from_buffers(kind, len(array), buffers, offset=array.offset, children=children)


# ------------------------------------------------------------------ nulls

def validity(rng, n):
    """True for valid rows, or None when all are."""
    pattern = pick(rng, ('none', 'none', 'some', 'some', 'few', 'runs', 'all', 'ends'))
    if pattern == 'none':
        return None
    if pattern == 'all':
        return np.zeros(n, bool)
    if pattern == 'runs':
        return runs(rng, np.array([True, False]), n)
    if pattern == 'ends':
        valid = np.ones(n, bool)
        valid[:1] = valid[-1:] = False
        return valid
    return rng.random(n) >= (.01 if pattern == 'few' else rng.random())


def bitmap(valid):
    return None if valid is None else pa.py_buffer(np.packbits(valid, bitorder='little').tobytes())


def runs(rng, values, n):
    """Values drawn from a pool, each repeated a while."""
    lengths = rng.integers(1, max(2, n // 10), n)
    return np.repeat(values[rng.integers(0, len(values), n)], lengths, axis=0)[:n]


def spread(rng, pool, n):
    """n values from a pool of anything indexable by arrays: each for itself, or in runs."""
    return runs(rng, pool, n) if rng.random() < .3 else pool[rng.integers(0, len(pool), n)]


# ------------------------------------------------------------- flat values

def flat_type(rng, version, dictionaries=True):
    family = pick(rng, ('int', 'int', 'float', 'float', 'bool', 'decimal', 'date', 'time', 'timestamp', 'duration',
                        'string', 'string', 'string', 'fixed binary', 'null') + ('dictionary',) * 2 * dictionaries)
    if family == 'int':
        return pick(rng, INDEX_TYPES)
    if family == 'float':
        return pick(rng, FLOATS)
    if family == 'bool':
        return pa.bool_()
    if family == 'decimal':
        return pick(rng, (pa.decimal128(38, 10), pa.decimal128(38, -3), pa.decimal256(76, 20), pa.decimal256(76, 0)))
    if family == 'date':
        return pick(rng, (pa.date32(), pa.date64()))
    if family == 'time':
        return pick(rng, (pa.time32('s'), pa.time32('ms'), pa.time64('us'), pa.time64('ns')))
    if family == 'timestamp':
        return pa.timestamp(pick(rng, UNITS), pick(rng, ZONES))
    if family == 'duration':
        return pa.duration(pick(rng, UNITS))
    if family == 'string':
        return pick(rng, STRINGS)
    if family == 'fixed binary':
        # Of values without bytes only 2.2 knows how many there are.
        return pa.binary(int(pick(rng, (0,) * (version == '2.2') + (1, 2, 3, 4, 8, 16, 33, 255, 256, 300))))
    if family == 'null':
        return pa.null()
    return pa.dictionary(pick(rng, INDEX_TYPES), pick(rng, DICTIONARY_VALUES))


def flat_column(rng, name, n, version, hints=False):
    """A field and its array. Hints steer how the reference encodes; lancet only has to keep them."""
    kind = flat_type(rng, version)
    valid = validity(rng, n)
    if pa.types.is_null(kind):
        return pa.field(name, kind), pa.nulls(n)
    array = flat_array(rng, kind, n, valid)
    metadata = hint(rng, kind) if hints and rng.random() < .3 else None
    return pa.field(name, kind, nullable=valid is not None or rng.random() < .7, metadata=metadata), array


def hint(rng, kind):
    choices = [{'lance-encoding:compression': pick(rng, ('zstd', 'lz4', 'none'))},
               {'lance-encoding:rle-threshold': pick(rng, ('0.0', '0.9')), 'lance-encoding:dict-divisor': '100000'},
               {'a key': 'a value'}]
    if pa.types.is_floating(kind):
        choices.append({'lance-encoding:compression': pick(rng, ('zstd', 'lz4')), 'lance-encoding:bss': 'on'})
    if kind in STRINGS:
        choices.append({'lance-encoding:compression': 'fsst', 'lance-encoding:dict-divisor': '100000'})
    if kind in STRINGS or pa.types.is_fixed_size_binary(kind):
        choices.append({'lance-encoding:structural-encoding': pick(rng, ('fullzip', 'miniblock'))})
    return pick(rng, choices)


def flat_array(rng, kind, n, valid):
    """An array of a flat type, with anything under its nulls."""
    if pa.types.is_dictionary(kind):
        return dictionary_array(rng, kind, n, valid)
    if kind in STRINGS:
        return string_array(rng, kind, n, valid)
    if pa.types.is_boolean(kind):
        bits = spread(rng, np.array([True, False][:int(rng.integers(1, 3))]), n)
        return pa.Array.from_buffers(kind, n, [bitmap(valid), bitmap(bits)])
    return pa.Array.from_buffers(kind, n, [bitmap(valid), pa.py_buffer(fixed_values(rng, kind, n).tobytes())])


def fixed_values(rng, kind, n):
    if pa.types.is_decimal(kind):
        return limbs(rng, kind.bit_width // 64, n)
    if pa.types.is_fixed_size_binary(kind):
        width = kind.byte_width
        pool = rng.integers(0, 256, (max(1, n if rng.random() < .5 else 3), width), np.uint8)
        return spread(rng, pool, n)
    if pa.types.is_floating(kind):
        return floats(rng, np.dtype(f'f{kind.bit_width // 8}'), n)
    if pa.types.is_integer(kind):
        signed = 'i' if pa.types.is_signed_integer(kind) else 'u'
        return integers(rng, np.dtype(f'{signed}{kind.bit_width // 8}'), n)
    if pa.types.is_date64(kind):
        return integers(rng, np.dtype('i8'), n, -10**6, 10**6) * DAY_MS
    if pa.types.is_time(kind):
        day = {'s': 86_400, 'ms': DAY_MS, 'us': DAY_MS * 10**3, 'ns': DAY_MS * 10**6}[kind.unit]
        return integers(rng, np.dtype(f'i{kind.bit_width // 8}'), n, 0, day)
    return integers(rng, np.dtype(f'i{kind.bit_width // 8}'), n)


def integers(rng, dtype, n, low=None, high=None):
    """Integers in low..high (all of the type unless told), in one of several shapes."""
    info = np.iinfo(dtype)
    low, high = (info.min, info.max) if low is None else (low, high - 1)
    shape = pick(rng, ('constant', 'few', 'small', 'around', 'full', 'edges', 'sorted'))
    if shape in ('constant', 'few'):
        return spread(rng, rng.integers(low, high, 1 if shape == 'constant' else 5, dtype, endpoint=True), n)
    if shape == 'small':
        return rng.integers(max(low, 0), min(high, int(pick(rng, (1, 3, 100, 5000)))), n, dtype, endpoint=True)
    if shape == 'around':
        middle = int(rng.integers(low, high, dtype=dtype))
        return rng.integers(max(low, middle - 50), min(high, middle + 50), n, dtype, endpoint=True)
    values = rng.integers(low, high, n, dtype, endpoint=True)
    if shape == 'edges':
        values[rng.random(n) < .2] = low
        values[rng.random(n) < .2] = high
    return np.sort(values) if shape == 'sorted' else values


def floats(rng, dtype, n):
    bits = np.dtype(f'u{dtype.itemsize}')
    shape = pick(rng, ('constant', 'few', 'normal', 'bits', 'special', 'steps'))
    if shape in ('constant', 'few'):
        return spread(rng, rng.normal(size=1 if shape == 'constant' else 6).astype(dtype), n)
    if shape == 'bits':
        return rng.integers(0, np.iinfo(bits).max, n, bits, endpoint=True).view(dtype)
    if shape == 'special':
        specials = np.array([0.0, -0.0, 1.0, np.inf, -np.inf, np.nan], dtype)
        # Other NaNs, and the smallest number of all.
        odd = (specials[-1:].view(bits) + np.array([1, 2], bits)).view(dtype)
        return spread(rng, np.concatenate([specials, odd, np.array([1], bits).view(dtype)]), n)
    if shape == 'steps':
        return (np.arange(n) / 8).astype(dtype)
    return rng.normal(size=n).astype(dtype)


def limbs(rng, count, n):
    """Decimals as 64-bit limbs, lowest first; below ten to the 38th or 76th."""
    values = np.zeros((n, count), np.int64)
    values[:, 0] = integers(rng, np.dtype('i8'), n)
    values[:, 1:] = (values[:, :1] < 0) * -1
    if rng.random() < .5:
        values[:, :-1] = rng.integers(-2**63, 2**63 - 1, (n, count - 1), np.int64)
        values[:, -1] = rng.integers(-10**18, 10**18, n, np.int64)
    return values


def most_entries(kind):
    """Entries of a dictionary of a table with several pages: the reference joins the dictionaries of pages without
    looking for equal entries, and fails when the keys no longer fit."""
    return 12 if kind.index_type.bit_width == 8 else 120


def dictionary_array(rng, kind, n, valid):
    entries = int(rng.integers(1, min(most_entries(kind), max(1, n)) + 1))
    values = flat_array(rng, kind.value_type, entries, None)
    if rng.random() < .5 and kind.index_type.bit_width <= 16:
        # As many as the keys can number.
        entries = 1 << kind.index_type.bit_width - pa.types.is_signed_integer(kind.index_type)
        values = flat_array(rng, kind.value_type, entries, None)
    elif rng.random() < .2:
        # Some of them more than once.
        values = values.take(pa.array(rng.integers(0, entries, entries)))
    keys = rng.integers(0, entries, n).astype(kind.index_type.to_pandas_dtype())
    indices = pa.Array.from_buffers(kind.index_type, n, [bitmap(valid), pa.py_buffer(keys.tobytes())])
    return pa.DictionaryArray.from_arrays(indices, values)


WORDS = np.array(['alpha', 'beta', 'γάμμα', 'https://example.org/', 'item-', 'a', '日本', '🦀', ' ', 'temperature=', '0', ''])


def string_array(rng, kind, n, valid):
    text = kind in (pa.utf8(), pa.large_utf8())
    pieces = string_values(rng, n, text)
    lengths = np.fromiter(map(len, pieces), np.int64, n)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype('i8' if kind in (pa.large_utf8(), pa.large_binary()) else 'i4')
    return pa.Array.from_buffers(kind, n, [bitmap(valid), pa.py_buffer(offsets.tobytes()), pa.py_buffer(b''.join(pieces))])


def string_values(rng, n, text):
    """n byte strings, valid UTF-8 where they are text."""
    shape = pick(rng, ('words', 'words', 'numbered', 'empty', 'constant', 'few', 'long', 'few long', 'bytes'))
    words = lambda most: ''.join(WORDS[rng.integers(0, len(WORDS), rng.integers(0, most))]).encode()
    if shape == 'empty':
        return [b''] * n
    if shape in ('constant', 'few'):
        pool = np.array([words(8) + b'.' for _ in range(1 if shape == 'constant' else 7)], object)
        return list(spread(rng, pool, n))
    if shape == 'numbered':
        start = int(rng.integers(0, 10**6))
        return [b'https://example.org/item/%d' % i for i in range(start, start + n)]
    if shape == 'bytes' and not text:
        return [rng.bytes(length) for length in rng.integers(0, 40, n)]
    if shape == 'long':
        # Some 300 bytes and up, for at most 300 KB or so.
        pool = [words(200) * 2 + bytes(str(i), 'ascii') * 60 for i in range(min(n, 500))]
        return [pool[i] for i in rng.integers(0, len(pool), n)] if n <= 500 else pool + [b'short'] * (n - len(pool))
    pieces = [words(9) for _ in range(n)]
    if shape == 'few long' and n:
        for i in rng.integers(0, n, 3):
            pieces[i] = b'long ' * int(rng.integers(52, 4000))
    return pieces


# ----------------------------------------------------------------- nested

@dataclasses.dataclass(frozen=True)
class Place:
    """Where a field stands."""
    version: str
    # Levels that may stand between it and its leaves.
    depth: int
    # Whether it is below a list or map.
    listed: bool = False

    def below(self, listed=False):
        return Place(self.version, self.depth - 1, self.listed or listed)


def nested_column(rng, name, n, version):
    special = rng.random()
    if special < .08:
        return packed_struct(rng, name, n, version)
    if special < .14:
        return blob(rng, name, n)
    return nested(rng, name, n, Place(version, int(pick(rng, (1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 6)))))


def nested(rng, name, n, place):
    """A field and its array."""
    if place.depth == 0:
        return leaf(rng, name, n, place)
    shape = pick(rng, ('struct', 'struct', 'list', 'list', 'large list', 'vector') + ('map',) * (place.version == '2.2'))
    if shape == 'struct':
        return struct(rng, name, n, place)
    if shape == 'vector' and place.depth < 3:
        return vector(rng, name, n)
    if shape == 'map':
        return map_column(rng, name, n, place)
    return list_column(rng, name, n, place, shape == 'large list')


def leaf(rng, name, n, place):
    """A field with a column of its own. The reference cannot read blobs below lists."""
    kind = rng.random()
    if kind < .06:
        return packed_struct(rng, name, n, place.version)
    if kind < .1 and not place.listed:
        return blob(rng, name, n)
    return vector(rng, name, n) if kind < .2 else flat_column(rng, name, n, place.version)


def struct_validity(rng, n, version):
    """2.0 has no null structs."""
    return None if version == '2.0' else validity(rng, n)


def struct(rng, name, n, place):
    children = [nested(rng, f'f{i}', n, place.below()) for i in range(rng.integers(1, 4 if place.depth < 4 else 3))]
    valid = struct_validity(rng, n, place.version)
    # A null struct makes its children null, so they must allow it.
    fields = [field.with_nullable(True) if valid is not None else field for field, _ in children]
    mask = None if valid is None else pa.array(~valid)
    array = pa.StructArray.from_arrays([array for _, array in children], fields=fields, mask=mask)
    return pa.field(name, array.type), array


def list_offsets(rng, n):
    """Lengths of n lists, as offsets; the items of all of them stay under some 20,000."""
    shape = pick(rng, ('short', 'short', 'sparse', 'none', 'one', 'long', 'huge'))
    if shape == 'short':
        lengths = rng.integers(0, 5, n)
    elif shape == 'sparse':
        lengths = (rng.random(n) < .05) * rng.integers(1, 4, n)
    elif shape == 'long':
        lengths = np.where(rng.random(n) < 4 / max(n, 4), rng.integers(0, 3000, n), rng.integers(0, 2, n))
    elif shape == 'huge':
        # One row over several chunks.
        lengths = np.zeros(n, np.int64)
        lengths[rng.integers(0, n, min(n, 1))] = rng.integers(5000, 20_000)
    else:
        lengths = np.full(n, int(shape == 'one'))
    ends = np.minimum(np.cumsum(lengths), 20_000)
    return np.concatenate([[0], ends])


def list_column(rng, name, n, place, large):
    offsets = list_offsets(rng, n)
    item, items = nested(rng, str(pick(rng, ('item', 'item', 'element'))), int(offsets[-1]), place.below(listed=True))
    return list_of(rng, name, n, offsets, item, items, large)


def list_of(rng, name, n, offsets, item, items, large=False):
    kind = pa.large_list(item) if large else pa.list_(item)
    width = 'i8' if large else 'i4'
    # From buffers: null lists then cover items, which must not show.
    array = pa.Array.from_buffers(kind, n, [bitmap(validity(rng, n)), pa.py_buffer(offsets.astype(width).tobytes())],
                                  children=[items])
    return pa.field(name, kind), array


def map_column(rng, name, n, place):
    offsets = list_offsets(rng, n)
    count = int(offsets[-1])
    key = pick(rng, (pa.utf8(), pa.int64(), pa.int32(), pa.large_utf8()))
    keys = flat_array(rng, key, count, None)
    item, items = nested(rng, 'value', count, place.below(listed=True))
    kind = pa.map_(pa.field('key', key, nullable=False), item)
    entries = pa.StructArray.from_arrays([keys, items], fields=[kind.key_field, kind.item_field])
    array = pa.Array.from_buffers(kind, n, [bitmap(validity(rng, n)), pa.py_buffer(offsets.astype('i4').tobytes())],
                                  children=[entries])
    return pa.field(name, kind), array


VECTOR_ITEMS = INDEX_TYPES + FLOATS * 3 + [pa.bool_()] * 2 + [
    pa.date32(), pa.date64(), pa.time32('s'), pa.time64('ns'), pa.timestamp('us'), pa.timestamp('ns', 'Europe/Berlin'),
    pa.duration('ms'), pa.decimal128(38, 2), pa.decimal256(76, 3), pa.binary(3)]


def vector(rng, name, n):
    """A fixed-size list of numbers, perhaps of lists of them; rows, inner lists and items may be null."""
    field, array = vector_of(rng, name, n, pick(rng, VECTOR_ITEMS), depth=int(pick(rng, (1, 1, 1, 2, 3))))
    return field, array


def vector_of(rng, name, n, item, depth):
    sizes = (1, 2, 3, 8, 16, 65) if n < 2000 and depth == 1 else (1, 2, 3, 8) if n < 10_000 else (1, 2)
    dimension = int(pick(rng, sizes))
    if depth > 1:
        _, items = vector_of(rng, 'item', n * dimension, item, depth - 1)
    else:
        items = flat_array(rng, item, n * dimension, validity(rng, n * dimension) if rng.random() < .5 else None)
    kind = pa.list_(items.type, dimension)
    valid = validity(rng, n) if rng.random() < .7 else None
    return pa.field(name, kind), pa.Array.from_buffers(kind, n, [bitmap(valid)], children=[items])


def fixed_size_list_of_struct(rng, n):
    dimension = int(rng.integers(1, 6))
    children = [flat_column(rng, f'x{i}', n * dimension, '2.2') for i in range(rng.integers(1, 4))]
    if rng.random() < .3:
        valid = validity(rng, n * dimension)
        fields = [field.with_nullable(True) for field, _ in children]
        inner = pa.StructArray.from_arrays([array for _, array in children], fields=fields, mask=None if valid is None else pa.array(~valid))
        children = [(pa.field('inner', inner.type), inner)]
    valid = validity(rng, n * dimension)
    fields = [field.with_nullable(True) for field, _ in children]
    items = pa.StructArray.from_arrays([array for _, array in children], fields=fields, mask=None if valid is None else pa.array(~valid))
    kind = pa.list_(pa.field('item', items.type), dimension)
    return pa.field('c0', kind), pa.Array.from_buffers(kind, n, [bitmap(validity(rng, n))], children=[items])


def packed_struct(rng, name, n, version):
    """Children without nulls, of whole bytes; since 2.2 also strings and vectors."""
    choices = INDEX_TYPES + FLOATS + [pa.timestamp('us'), pa.decimal128(38, 0), pa.date32(), pa.binary(5)]
    if version == '2.2':
        choices = choices + [pa.utf8(), pa.binary(), pa.large_utf8(), pa.list_(pa.float32(), 4), pa.list_(pa.int16(), 3)]
    elif version == '2.0':
        choices = choices + [pa.list_(pa.float32(), 4), pa.list_(pa.int16(), 3)]
    arrays = [packed_child(rng, pick(rng, choices), n, version) for _ in range(rng.integers(1, 4))]
    valid = struct_validity(rng, n, version)
    mask = None if valid is None else pa.array(~valid)
    array = pa.StructArray.from_arrays(arrays, names=[f'f{i}' for i in range(len(arrays))], mask=mask)
    return pa.field(name, array.type, metadata={'lance-encoding:packed': 'true'}), array


def packed_child(rng, kind, n, version):
    if not pa.types.is_fixed_size_list(kind):
        return flat_array(rng, kind, n, None)
    valid = None if version == '2.0' else validity(rng, n * kind.list_size)
    items = flat_array(rng, kind.value_type, n * kind.list_size, valid)
    return pa.Array.from_buffers(kind, n, [None], children=[items])


def blob(rng, name, n):
    array = string_array(rng, pa.large_binary(), n, validity(rng, n))
    return pa.field(name, array.type, metadata={'lance-encoding:blob': 'true'}), array


# ------------------------------------------------- more levels than values

def sparse_table(rng, version):
    """Hundreds of thousands of lists with a handful of items, or single rows of that many: levels outweigh values."""
    many = int(rng.integers(70_000, 300_000))
    if rng.random() < .5:
        return many, [sparse_lists(rng, f'c{i}', many, version) for i in range(rng.integers(1, 3))]
    # Rows of very many inner lists, most of them empty.
    rows = int(rng.integers(1, 6))
    cuts = np.sort(rng.integers(0, many + 1, rows - 1))
    _, inner = sparse_lists(rng, 'item', many, version)
    return rows, [list_of(rng, 'c0', rows, np.concatenate([[0], cuts, [many]]), pa.field('item', inner.type), inner)]


def sparse_lists(rng, name, n, version):
    lengths = (rng.random(n) < 10 / n) * rng.integers(1, 4, n)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    item, items = flat_column(rng, 'item', int(offsets[-1]), version)
    return list_of(rng, name, n, offsets, item, items, large=bool(rng.integers(2)))
