"""Batches of random rows of a file, in worker processes, as a training loop takes them.

    python train.py vectors.lance
"""

from __future__ import annotations

import sys

from torch.utils.data import DataLoader

import lancet.torch


def main(path: str) -> None:
    """Goes through two epochs."""
    batches = lancet.torch.Batches(path, batch_rows=256, shuffle="rows", columns=["vector"])
    loader = DataLoader(batches, batch_size=None, num_workers=2)
    for epoch in range(2):
        batches.set_epoch(epoch)
        rows = sum(len(batch["vector"]) for batch in loader)
        print(f"epoch {epoch}: {rows} rows")


if __name__ == "__main__":
    main(sys.argv[1])
