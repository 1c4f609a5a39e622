"""Exact comparison of Arrow tables.

Two tables are equal when their types, names, nullability and metadata are, and when their values are, bit by
bit: NaN equals the same NaN, 0.0 is not -0.0. What lies under a null, chunks, offsets and the order of
dictionary entries do not count.
"""
import numpy as np
import pyarrow as pa


def difference(got, want):
    """None, or the first difference between two tables in words."""
    found = schema_difference(got.schema, want.schema)
    if found:
        return found
    if got.num_rows != want.num_rows:
        return f'{got.num_rows} rows instead of {want.num_rows}'
    for name, one, other in zip(want.schema.names, got.columns, want.columns):
        found = column_difference(name, one, other)
        if found:
            return found
    return None


def schema_difference(got, want):
    """None, or the first difference between two schemas in words."""
    if got.names != want.names:
        return f'columns {got.names} instead of {want.names}'
    for one, other in zip(got, want):
        if one.nullable != other.nullable:
            return f'{other.name}: nullable is {one.nullable}'
        if one.type != other.type or not one.equals(other, check_metadata=True):
            return f'{other.name}: {described(one)} instead of {described(other)}'
    if (got.metadata or {}) != (want.metadata or {}):
        return f'schema metadata {got.metadata} instead of {want.metadata}'
    return None


def described(field):
    return pa.schema([field]).to_string(show_field_metadata=True)


def column_difference(name, got, want):
    """Compares the parts of two columns, in order; the first that differs tells where."""
    for (path, what, one), (_, _, other) in zip(parts(name, got), parts(name, want)):
        if one.shape != other.shape:
            return f'{path}: {len(one)} of {what} instead of {len(other)}'
        if not np.array_equal(one, other):
            at = int(np.argwhere(one != other)[0][0])
            return f'{path}: {what} {at} of {len(one)} is {shown(one[at])} instead of {shown(other[at])}'
    return None


def shown(value):
    """Raw bytes as hex, least significant first, as in the file."""
    return value.tobytes().hex() if isinstance(value, np.ndarray) else value


def parts(path, column):
    """All that a column says, as numpy arrays: validity, then lengths and the parts below, or values.

    Yields lazily: what follows a difference is not looked at, so it need not fit together.
    Joins the chunks here, because pyarrow does not join every kind of dictionary.
    """
    chunks = [decoded(chunk) for chunk in column.chunks or [pa.nulls(0, column.type)]]
    for of_chunks in zip(*(array_parts(path, chunk) for chunk in chunks)):
        path, what, _ = of_chunks[0]
        yield path, what, np.concatenate([values for _, _, values in of_chunks])


def decoded(array):
    """The array with every dictionary in it decoded: pyarrow cannot flatten lists of some of them."""
    kind = array.type
    if not has_dictionary(kind):
        return array
    if pa.types.is_dictionary(kind):
        return array.dictionary_decode()
    mask = array.is_null()
    if pa.types.is_struct(kind):
        children = [decoded(array.field(i)) for i in range(kind.num_fields)]
        return pa.StructArray.from_arrays(children, [field.name for field in kind], mask=mask)
    if pa.types.is_fixed_size_list(kind):
        items = decoded(array.values.slice(array.offset * kind.list_size, len(array) * kind.list_size))
        return pa.FixedSizeListArray.from_arrays(items, kind.list_size, mask=mask)
    # A copy: pyarrow takes no mask beside a slice.
    offsets = pa.array(np.array(array.offsets))
    if pa.types.is_map(kind):
        return pa.MapArray.from_arrays(offsets, decoded(array.keys), decoded(array.items), mask=mask)
    lists = pa.LargeListArray if pa.types.is_large_list(kind) else pa.ListArray
    return lists.from_arrays(offsets, decoded(array.values), mask=mask)


def has_dictionary(kind):
    return pa.types.is_dictionary(kind) or any(has_dictionary(kind.field(i).type) for i in range(kind.num_fields))


def array_parts(path, array):
    """The parts of one chunk."""
    array = plain(array)
    kind = array.type
    valid = np.asarray(array.is_valid())
    yield path, 'validity', valid
    if pa.types.is_null(kind):
        return
    if pa.types.is_struct(kind):
        # Makes the children null where the struct is.
        for field, child in zip(kind, array.flatten()):
            yield from array_parts(f'{path}.{field.name}', child)
    elif pa.types.is_fixed_size_list(kind):
        yield from array_parts(path + '[]', array.flatten())
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_map(kind):
        offsets = np.asarray(array.offsets)
        yield path, 'list length', np.diff(offsets)[valid]
        if pa.types.is_map(kind):
            entries = pa.StructArray.from_arrays([array.keys, array.items], names=['key', 'value'])
            array = pa.Array.from_buffers(pa.list_(entries.type), len(array), [
                pa.py_buffer(np.packbits(valid, bitorder='little')), pa.py_buffer(offsets)], children=[entries])
        # Leaves out the items of null lists; knows about slices.
        yield from array_parts(path + '[]', array.flatten())
    else:
        yield from leaf_parts(path, array.drop_null())


def leaf_parts(path, array):
    """The parts of an array without nulls and without children."""
    kind = array.type
    count = len(array)
    if pa.types.is_boolean(kind):
        yield path, 'value', array.to_numpy(zero_copy_only=False)
    elif is_variable(kind):
        array = array.cast(pa.large_binary()) if not is_large(kind) else array
        buffers = array.buffers()
        offsets = np.zeros(1, np.int64)
        if count:
            offsets = np.frombuffer(buffers[1], np.int64, count + 1, array.offset * 8)
        yield path, 'value length', np.diff(offsets)
        data = np.frombuffer(buffers[2] or b'', np.uint8)
        yield path, 'byte', data[offsets[0]:offsets[-1]]
    else:
        width = kind.bit_width // 8
        data = np.zeros(0, np.uint8)
        if count and width:
            data = np.frombuffer(array.buffers()[1], np.uint8, count * width, array.offset * width)
        yield path, 'value', data.reshape(count, width)


def plain(array):
    """The array without the wrapping of extension types and dictionaries."""
    if isinstance(array, pa.ExtensionArray):
        return plain(array.storage)
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def is_large(kind):
    return pa.types.is_large_string(kind) or pa.types.is_large_binary(kind)


def is_variable(kind):
    return is_large(kind) or pa.types.is_string(kind) or pa.types.is_binary(kind)


def rows(table, indices):
    """Rows of a table in the order given. By slices: pyarrow takes wrongly from lists of fixed-size lists."""
    return pa.concat_tables([table.slice(0, 0)] + [table.slice(index, 1) for index in indices])
