"""The reference of the Python package, out of its docstrings: `python tests/python/reference.py` writes it."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from pathlib import Path
from typing import Any

import lancet

TARGET = Path(__file__).parent.parent.parent / "crates/lancet-python/REFERENCE.md"
MAIN = [
    "open", "read_table", "write_table", "open_table", "create_table", "scan_polars", "col",
    "File", "Dataset", "Scan", "Table", "Batch", "Column", "Schema", "Field", "Writer", "Blobs", "Blob", "Expr", "Col",
]  # fmt: skip
ERRORS = ["Error", "CorruptFileError", "UnsupportedError", "LimitError", "UnknownColumnError", "ConflictError", "UncertainCommitError"]
MODULES = ["lancet.polars", "lancet.huggingface"]


def signature(thing: Any) -> str:
    text = str(inspect.signature(thing))
    # Annotations are texts, defaults stay as they are.
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", text)
    return re.sub(r"\((self|cls)(, )?", "(", text)


def prose(thing: Any) -> str:
    """A docstring; its examples become blocks of code."""
    lines, out, code = (inspect.getdoc(thing) or "").splitlines(), [], False
    for line in lines:
        is_code = line.startswith((">>>", "...")) or code and line.strip() != ""
        if is_code != code:
            out.append("```python" if is_code else "```")
            code = is_code
        out.append(line)
    return "\n".join([*out, "```"] if code else out)


def attributes(thing: type) -> list[str]:
    """What stands behind `#:` in the source, before an attribute."""
    # Exceptions say that they are of the package itself.
    module = "lancet._errors" if issubclass(thing, Exception) else thing.__module__
    whole = inspect.getsource(importlib.import_module(module))
    source = re.split(rf"^class {thing.__name__}\b", whole, flags=re.MULTILINE)[1].split("\nclass ")[0]
    found = re.findall(r"#: (.*)\n    (\w+): (.*)", source)
    return [f"- `{name}: {kind}` – {about}" for about, name, kind in found]


def entry(name: str, thing: Any) -> str:
    if not isinstance(thing, type):
        return f"### `{name}{signature(thing)}`\n\n{prose(thing)}\n"
    parts = [f"### `{name}`\n\n{prose(thing)}\n"]
    parts.extend(attributes(thing))
    members: dict[str, Any] = {}
    for base in reversed(thing.__mro__):
        if base.__module__.startswith("lancet"):
            members.update(vars(base))
    for member, value in members.items():
        if member.startswith("_") and member != "__getitem__":
            continue
        if isinstance(value, property):
            parts.append(f"- `{member}` – {prose(value)}")
        elif inspect.isfunction(value):
            parts.append(f"\n**`{member}{signature(value)}`**\n\n{prose(value)}\n")
    return "\n".join(parts) + "\n"


def reference() -> str:
    others = [name for name in lancet.__all__ if name not in MAIN and name not in ERRORS]
    parts = ["# Reference\n\nMade by `python tests/python/reference.py` out of the docstrings; every example is run by the tests.\n"]
    for title, names in (("Files, tables, rows", MAIN), ("Errors", ERRORS), ("Reports", others)):
        parts.append(f"## {title}\n")
        parts.extend(entry(f"lancet.{name}", getattr(lancet, name)) for name in names)
    for name in MODULES:
        module = importlib.import_module(name)
        parts.append(f"## `{name}`\n\n{prose(module)}\n")
        parts.extend(entry(f"{name}.{member}", getattr(module, member)) for member in module.__all__)
    return "\n".join(parts).rstrip() + "\n"


if __name__ == "__main__":
    TARGET.write_text(reference())
    sys.stdout.write(f"{TARGET}\n")
