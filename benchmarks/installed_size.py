"""What an installation takes on disk: python benchmarks/installed_size.py, in an environment that has fmumbs.

A row for each package that `pip install fmumbs` brings, extras left out, and who asks for it.
"""

import argparse
import re
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path


def size(package: Distribution) -> int:
    """Of its files [bytes]; 0 for an editable install's."""
    paths = (Path(str(package.locate_file(file))) for file in package.files or ())
    return sum(path.stat().st_size for path in paths if path.is_file())


def needed(package: Distribution) -> list[str]:
    """The packages that it requires without an extra."""
    lines = (line for line in package.requires or () if "extra ==" not in line)
    return [re.split(r"[\s<>=!~;\[(]", line, maxsplit=1)[0] for line in lines]


def closure(first: str) -> dict[str, tuple[int, str]]:
    """Size and first asker of each package, by name."""
    found: dict[str, tuple[int, str]] = {}
    pending = [(first, "-")]
    while pending:
        name, asker = pending.pop(0)
        key = re.sub(r"[-_.]+", "-", name).lower()
        try:
            package = distribution(name)
        except PackageNotFoundError:  # for another system or Python
            continue
        if key not in found:
            found[key] = size(package), asker
            pending += [(other, key) for other in needed(package)]
    return found


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    rows = sorted(closure("fmumbs").items(), key=lambda row: -row[1][0])
    for name, (count, asker) in rows:
        print(f"{name:20} {count / 1e6:6.1f} MB   for {asker}")
    print(f"{'all':20} {sum(count for _, (count, _) in rows) / 1e6:6.1f} MB")
