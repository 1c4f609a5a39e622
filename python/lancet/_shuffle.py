"""Random orders of rows that need no list of all rows.

A Feistel network mixes the bits of a number under keys, and so maps the numbers below a power of four onto each other. Numbers
that land outside of the rows are mapped again until they land inside. What is at a place is known without what is at others:
that is how an epoch is resumed, and shared by workers.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ROUNDS = 6
#: Neighbouring rows that stay together until they are in memory, and how many of such blocks are mixed.
BLOCK = 1024
WINDOW = 32


def _keys(numpy: Any, seed: int, epoch: int, stream: int) -> Any:
    return numpy.random.SeedSequence((seed % 2**63, epoch, stream)).generate_state(_ROUNDS, numpy.uint64)


def _mix(numpy: Any, values: Any, key: Any) -> Any:
    """A hash of numbers: multiplications and shifts, which wrap around."""
    values = (values + key) * numpy.uint64(0x9E3779B97F4A7C15)
    values ^= values >> numpy.uint64(29)
    values *= numpy.uint64(0xBF58476D1CE4E5B9)
    return values ^ (values >> numpy.uint64(32))


def permuted(places: Any, count: int, keys: Any) -> Any:
    """For each place below `count`, what a random order of the numbers below `count` has there."""
    import numpy

    half = max(1, (max(count - 1, 1).bit_length() + 1) // 2)
    bits, mask = numpy.uint64(half), numpy.uint64((1 << half) - 1)

    def once(numbers: Any) -> Any:
        left, right = numbers >> bits, numbers & mask
        for key in keys:
            left, right = right, left ^ (_mix(numpy, right, key) & mask)
        return left << bits | right

    numbers = once(numpy.asarray(places, dtype=numpy.uint64))
    outside = numbers >= count
    while outside.any():
        numbers[outside] = once(numbers[outside])
        outside = numbers >= count
    return numbers


def rows(places: range, total: int, seed: int, epoch: int) -> Any:
    """The rows at some places of a random order of all rows."""
    import numpy

    return permuted(numpy.arange(places.start, places.stop), total, _keys(numpy, seed, epoch, 0))


def blocks(places: range, total: int, seed: int, epoch: int) -> Any:
    """The same with blocks of rows in random order, and the rows of some blocks at a time in random order.

    The rows behind the last whole block come last.
    """
    import numpy

    wanted = numpy.arange(places.start, places.stop, dtype=numpy.uint64)
    whole = total // BLOCK * BLOCK
    if whole == 0:
        return rows(places, total, seed, epoch)
    found = numpy.empty(len(wanted), dtype=numpy.uint64)
    last = wanted >= whole
    found[last] = whole + permuted(wanted[last] - numpy.uint64(whole), total - whole, _keys(numpy, seed, epoch, 1))
    inside = wanted[~last]
    size = BLOCK * WINDOW
    mixed = numpy.empty(len(inside), dtype=numpy.uint64)
    for window in numpy.unique(inside // size):
        here = inside // size == window
        start = int(window) * size
        count = min(size, whole - start)
        keys = _keys(numpy, seed, epoch, 2 + int(window))
        mixed[here] = start + permuted(inside[here] - numpy.uint64(start), count, keys)
    block = permuted(mixed // BLOCK, whole // BLOCK, _keys(numpy, seed, epoch, 0))
    found[~last] = block * numpy.uint64(BLOCK) + mixed % BLOCK
    return found
