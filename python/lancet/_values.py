"""Dates, times and decimals out of whole numbers. The extension module calls these."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable
    from decimal import Decimal

_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def _micros(value: int, unit: str) -> int:
    if unit != "ns":
        return value * (1_000_000 // _PER_SECOND[unit])
    micros, rest = divmod(value, 1_000)
    if rest:
        raise ValueError(
            "a value has nanoseconds, which Python's times cannot hold; use `to_numpy`, `to_polars` or `to_pyarrow`"
        )
    return micros


def date(per_day: int) -> Callable[[int], dt.date]:
    """Days since 1970, which come as so many for each."""
    import datetime as dt

    first = dt.date(1970, 1, 1).toordinal()
    return lambda value: dt.date.fromordinal(first + value // per_day)


def time(unit: str) -> Callable[[int], dt.time]:
    """Times of day."""
    import datetime as dt

    midnight = dt.datetime(1970, 1, 1)
    return lambda value: (midnight + dt.timedelta(microseconds=_micros(value, unit))).time()


def duration(unit: str) -> Callable[[int], dt.timedelta]:
    """Time spans."""
    import datetime as dt

    return lambda value: dt.timedelta(microseconds=_micros(value, unit))


def timestamp(unit: str, zone: str | None) -> Callable[[int], dt.datetime]:
    """Instants; those with a time zone as that zone shows them."""
    import datetime as dt

    if zone is None:
        epoch = dt.datetime(1970, 1, 1)
        return lambda value: epoch + dt.timedelta(microseconds=_micros(value, unit))
    start, info = dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc), _zone(zone)
    return lambda value: (start + dt.timedelta(microseconds=_micros(value, unit))).astimezone(info)


def _zone(name: str) -> dt.tzinfo:
    import datetime as dt

    if name.upper() in ("UTC", "Z"):
        return dt.timezone.utc
    if name[:1] in "+-":
        sign = -1 if name[0] == "-" else 1
        hours, minutes = int(name[1:3]), int(name[-2:])
        return dt.timezone(sign * dt.timedelta(hours=hours, minutes=minutes))
    from zoneinfo import ZoneInfo

    return ZoneInfo(name)


def decimal(text: str) -> Decimal:
    """A decimal, exactly."""
    from decimal import Decimal

    return Decimal(text)
