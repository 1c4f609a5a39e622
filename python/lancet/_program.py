"""The program `lancet`."""

from __future__ import annotations

import sys

from lancet import _lancet


def main() -> int:
    """Runs the program with the arguments of this process."""
    import signal

    # The program has its own way with Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _lancet.run(["lancet", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
