"""Rows for people to look at: the first ten, long values cut."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lancet._data import _Rows

ROWS = 10
COLUMNS = 20
CELL = 40


def cell(value: Any) -> str:
    """A value in a few characters."""
    if value is None:
        return "null"
    if isinstance(value, (bytes, bytearray)):
        return _bytes(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        shown = ", ".join(cell(item) for item in value[:3])
        return f"[{shown}{f', … {len(value)}' if len(value) > 3 else ''}]"
    if isinstance(value, dict):
        shown = ", ".join(f"{name}: {cell(item)}" for name, item in list(value.items())[:4])
        return _cut(f"{{{shown}{', …' if len(value) > 4 else ''}}}")
    return _cut(str(value))


def _bytes(value: bytes | bytearray) -> str:
    size = len(value)
    for unit in ("bytes", "KB", "MB"):
        if size < 1000 or unit == "MB":
            return f"<{size:.3g} {unit}>" if unit != "bytes" else f"<{size} bytes>"
        size = size / 1000  # type: ignore[assignment]
    return ""


def _cut(text: str) -> str:
    line = text.replace("\r", " ").replace("\n", "⏎")
    return line if len(line) <= CELL else line[: CELL - 1] + "…"


def _cells(rows: _Rows) -> tuple[list[str], list[str], list[list[str]]]:
    """Names, types and rows of cells of what is shown."""
    schema, core = rows.schema, rows._core.slice(0, ROWS)
    names = schema.names[:COLUMNS]
    types = [schema.field(index).type for index in range(len(names))]
    columns = []
    for index in range(len(names)):
        column = core.column(index)
        try:
            values = [cell(value) for value in column.to_pylist()]
        except (ValueError, OverflowError, NotImplementedError):
            values = ["…"] * len(column)
        columns.append(values)
    return names, [_short_type(kind) for kind in types], [list(row) for row in zip(*columns)]


def _short_type(kind: str) -> str:
    return kind if len(kind) <= CELL else kind[: CELL - 1] + "…"


def _size(rows: _Rows, num_rows: int | None = None) -> str:
    def count(number: int, what: str) -> str:
        return f"{number:,} {what}{'' if number == 1 else 's'}"

    return f"{count(rows.num_rows if num_rows is None else num_rows, 'row')}, {count(rows.num_columns, 'column')}"


def text(rows: _Rows) -> str:
    """As lines of text."""
    names, types, lines = _cells(rows)
    all_lines = [names, types, *lines]
    if rows.num_rows > ROWS:
        all_lines.append(["…"] * len(names))
    if not names:
        return f"<{type(rows).__name__}: {_size(rows)}>"
    widths = [max(len(line[place]) for line in all_lines) for place in range(len(names))]
    drawn = ["  ".join(part.ljust(width) for part, width in zip(line, widths)).rstrip() for line in all_lines]
    drawn.insert(2, "  ".join("─" * width for width in widths))
    more = f" ({rows.num_columns - COLUMNS} columns not shown)" if rows.num_columns > COLUMNS else ""
    return f"<{type(rows).__name__}: {_size(rows)}>{more}\n" + "\n".join(drawn)


_STYLE = (
    "border-collapse:collapse;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;"
    "font-size:12px;line-height:1.5;border:0"
)
_HEAD = "text-align:{align};padding:4px 12px;border:0;border-bottom:1px solid rgba(128,128,128,.5);vertical-align:bottom"
_CELL = "text-align:{align};padding:3px 12px;border:0;border-bottom:1px solid rgba(128,128,128,.15);white-space:nowrap"
_FAINT = "font-weight:400;opacity:.6;font-size:11px"


def html(rows: _Rows, title: str | None = None, num_rows: int | None = None) -> str:
    """As a table for notebooks, which looks good on light and on dark. What is shown may be the first of more rows."""
    from html import escape

    names, types, lines = _cells(rows)
    aligns = ["right" if kind.startswith(("Int", "UInt", "Float", "Decimal")) else "left" for kind in types]
    num_rows = rows.num_rows if num_rows is None else num_rows
    head = "" if title is None else f'<div style="padding:4px 12px"><b>{escape(title)}</b></div>'
    parts = [f'<div style="overflow-x:auto">{head}<table style="{_STYLE}"><thead><tr>']
    for name, kind, align in zip(names, types, aligns):
        parts.append(
            f'<th style="{_HEAD.format(align=align)}">{escape(name)}<br><span style="{_FAINT}">{escape(kind)}</span></th>'
        )
    parts.append("</tr></thead><tbody>")
    for line in lines:
        parts.append("<tr>")
        for value, align in zip(line, aligns):
            shown = f'<span style="opacity:.4">{value}</span>' if value == "null" else escape(value)
            parts.append(f'<td style="{_CELL.format(align=align)}">{shown}</td>')
        parts.append("</tr>")
    left = [_size(rows, num_rows)]
    if num_rows > ROWS:
        left.append(f"the first {ROWS} are shown")
    if rows.num_columns > COLUMNS:
        left.append(f"{rows.num_columns - COLUMNS} columns are not")
    parts.append(f'</tbody></table><div style="{_FAINT};padding:4px 12px">{"; ".join(left)}</div></div>')
    return "".join(parts)
