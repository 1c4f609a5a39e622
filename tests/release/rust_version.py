"""Fails if a crate says it builds with a Rust that one of its dependencies is too new for.

Cargo looks at this only when dependencies are chosen. What the crates use of the standard library is
checked against the same version by clippy, as they are built.
"""

import json
import subprocess
import sys


def version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in (text + ".0.0").split(".")[:3])


def main() -> int:
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--all-features"]
    metadata = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    uses = {
        node["id"]: [
            used["pkg"] for used in node["deps"] if any(kind["kind"] is None for kind in used["dep_kinds"])
        ]
        for node in metadata["resolve"]["nodes"]
    }
    failed = 0
    for member in metadata["workspace_members"]:
        package = packages[member]
        if package["publish"] == []:
            continue
        seen, left = set(), [member]
        while left:
            current = left.pop()
            if current not in seen:
                seen.add(current)
                left.extend(uses[current])
        needed = [(version(packages[p]["rust_version"]), packages[p]["name"]) for p in seen if packages[p]["rust_version"]]
        newest, name = max(needed)
        said = version(package["rust_version"])
        fits = newest <= said
        failed += not fits
        print(f"{package['name']}: {package['rust_version']}" + ("" if fits else f", but {name} needs {newest}"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
