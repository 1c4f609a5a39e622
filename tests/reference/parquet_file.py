"""Cuts the data pages out of a Parquet file: uncompressed, of flat columns, without dictionaries.

| part of a page | v1 | v2 |
|---|---|---|
| header | thrift, compact protocol | the same |
| definition levels | 4-byte length, then runs | runs; the header has their length |
| values | to the end | to the end |
"""
import dataclasses
import struct

import pyarrow.parquet as pq

ENCODINGS = {0: 'PLAIN', 5: 'DELTA_BINARY_PACKED', 6: 'DELTA_LENGTH_BYTE_ARRAY', 7: 'DELTA_BYTE_ARRAY'}
DATA_PAGE, DATA_PAGE_V2 = 0, 3


@dataclasses.dataclass
class Page:
    """The value section of a page, and what is needed to decode it."""
    column: str
    type: str
    encoding: str
    version: int
    num_values: int
    payload: bytes


def pages(path):
    """The data pages of a file: all of the first column, all of the next, for each row group."""
    raw = path.read_bytes()
    file = pq.ParquetFile(path)
    for group in range(file.metadata.num_row_groups):
        for index in range(file.metadata.num_columns):
            chunk = file.metadata.row_group(group).column(index)
            assert chunk.compression == 'UNCOMPRESSED', chunk.compression
            at, values = chunk.data_page_offset, 0
            while values < chunk.num_values:
                header, start = struct_at(raw, at)
                at = start + header[3]
                page, entries = page_of(file.schema.column(index), header, raw[start:at])
                values += entries
                yield page


def page_of(column, header, body):
    """The page, and how many entries it has, nulls included."""
    optional = column.max_definition_level == 1
    assert column.max_definition_level < 2 and column.max_repetition_level == 0
    if header[1] == DATA_PAGE:
        version, about = 1, header[5]
        entries, encoding = about[1], about[2]
        nulls = 0
        if optional:
            length = struct.unpack_from('<I', body)[0]
            nulls = entries - sum(levels(body[4:4 + length], entries))
            body = body[4 + length:]
    elif header[1] == DATA_PAGE_V2:
        version, about = 2, header[8]
        entries, nulls, encoding = about[1], about[2], about[4]
        body = body[about[5] + about[6]:]
    else:
        raise ValueError(f'page of type {header[1]}')
    name = column.physical_type
    if name == 'FIXED_LEN_BYTE_ARRAY':
        name += f'({column.length})'
    return Page(column.name, name, ENCODINGS[encoding], version, entries - nulls, body), entries


def levels(runs, count):
    """Levels of one bit: runs of one value, and bits eight at a time."""
    found, at = [], 0
    while len(found) < count:
        head, at = varint(runs, at)
        if head & 1:
            for byte in runs[at:at + (head >> 1)]:
                found += [byte >> bit & 1 for bit in range(8)]
            at += head >> 1
        else:
            found += [runs[at]] * (head >> 1)
            at += 1
    return found[:count]


def varint(raw, at):
    value, shift = 0, 0
    while True:
        value |= (raw[at] & 0x7f) << shift
        shift += 7
        at += 1
        if raw[at - 1] < 0x80:
            return value, at


def zigzag(raw, at):
    value, at = varint(raw, at)
    return (value >> 1) ^ -(value & 1), at


def struct_at(raw, at):
    """A thrift struct as field id to value, and where it ends."""
    fields, field = {}, 0
    while True:
        head = raw[at]
        at += 1
        if head == 0:
            return fields, at
        if head >> 4:
            field += head >> 4
        else:
            field, at = zigzag(raw, at)
        fields[field], at = value_at(raw, at, head & 15)


def value_at(raw, at, kind):
    if kind in (1, 2):
        return kind == 1, at
    if kind in (3, 4, 5, 6):
        return (raw[at], at + 1) if kind == 3 else zigzag(raw, at)
    if kind == 7:
        return struct.unpack_from('<d', raw, at)[0], at + 8
    if kind == 8:
        length, at = varint(raw, at)
        return raw[at:at + length], at + length
    if kind == 12:
        return struct_at(raw, at)
    raise ValueError(f'thrift type {kind}')
