"""Builds the counting core: python cmake/counting.py FOLDER, the package's _fmu, at the end of its build."""

import sys
from pathlib import Path

import deflate  # noqa: F401  the packages without numpy

from fmumbs.export.counting import build

if __name__ == "__main__":
    print(build(Path(sys.argv[1])).name)
