"""How many robots from files are read, and whether their dynamics are those of Pinocchio and MuJoCo.

FOLDER has files of robots, such as unpacked packages; each content counts once. A URDF is also read by Pinocchio, an
MJCF file by MuJoCo. With M, b, D and f their mass matrix, bias forces, damping and dry friction at three random states
and random forces tau, the accelerations a of fmumbs must make

    G' (M a + b + D u + f - tau) = 0

where G are the independent motions that couplings leave; the largest entry relative to the largest term is shown.
"""

import argparse
import json
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import with_mujoco
import with_pinocchio

import fmumbs as fm
from fmumbs.readers.mjcf import read_mjcf
from fmumbs.readers.urdf import read_urdf

SAME = 1e-10
LEFT_OUT = ("random_urdfs",)  # a thousand bodies of pybullet's, alike but for their meshes


@dataclass
class Row:
    """One file. error: relative to the largest term; None if there is nothing to compare, for the reason `other`."""

    file: str
    kind: str
    read: str  # "yes", "massless fixed", or the reason
    other: str = ""
    error: float | None = None
    seconds: float = 0.0


def files(folder: Path, suffix: str) -> Iterator[Path]:
    """Each content once, in the order of the paths."""
    seen: set[bytes] = set()
    for path in sorted(folder.rglob(f"*{suffix}")):
        if any(word in path.parts for word in LEFT_OUT) or not path.is_file():
            continue
        data = path.read_bytes()
        if suffix == ".xml" and b"<mujoco" not in data:
            continue
        if data not in seen:
            seen.add(data)
            yield path


def urdf_row(path: Path, folder: Path) -> Row:
    began, row = time.process_time(), Row(str(path.relative_to(folder)), "urdf", "yes")
    try:
        model = read_urdf(path, meshes=False)
    except fm.ModelError as error:
        row.read = str(error).replace(str(path), path.name)
        try:
            model = read_urdf(path, meshes=False, massless="fix")
        except fm.ModelError:
            return row
        row.read = "massless fixed"
    row.seconds = time.process_time() - began
    row.other, row.error = with_pinocchio.compare(path, model)
    if row.error is None or row.error <= SAME:
        _compare_free(path, row)
    return row


def _compare_free(path: Path, row: Row) -> None:
    """The same robot on a free base, which bodies that a fixed one holds need to move."""
    try:
        model = read_urdf(path, "free", meshes=False, massless="refuse" if row.read == "yes" else "fix")
    except fm.ModelError:
        return
    other, error = with_pinocchio.compare(path, model, free=True)
    if error is not None:
        row.other, row.error = other, max(error, row.error or 0.0)


def mjcf_row(path: Path, folder: Path) -> Row | None:
    """None for a file that MuJoCo does not compile, such as a part of another."""
    if not with_mujoco.compiles(path):
        return None
    began, row = time.process_time(), Row(str(path.relative_to(folder)), "mjcf", "yes")
    try:
        model = read_mjcf(path, meshes=False)
    except fm.ModelError as error:
        row.read = str(error).replace(str(path), path.name)
        return row
    row.seconds = time.process_time() - began
    row.other, row.error = with_mujoco.compare(path, model)
    return row


def report(kind: str, rows: list[Row], verbose: bool) -> None:
    read = [row for row in rows if row.read in ("yes", "massless fixed")]
    compared = [row for row in read if row.error is not None]
    far = [row for row in compared if not row.error <= SAME]  # type: ignore[operator]
    fixed = sum(row.read == "massless fixed" for row in read)
    print(f"{kind}: {len(read)} of {len(rows)} read ({100 * len(read) / max(len(rows), 1):.1f} %), ", end="")
    print(f"{fixed} of them with massless='fix'; {len(compared)} compared, {len(far)} differ by more than {SAME:g}")
    if compared:
        print(f"  largest difference {max(row.error for row in compared if row.error is not None):.1e}")
    for row in rows:
        if row not in read:
            print(f"  refused: {row.file}: {row.read}")
        elif row in far:
            print(f"  differs by {row.error:.1e}: {row.file}")
        elif verbose and row.error is None:
            print(f"  not compared: {row.file}: {row.other}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="with .urdf and .xml files, in any depth")
    parser.add_argument("--only", choices=["urdf", "mjcf"], help="one of the two formats")
    parser.add_argument("--word", default="", help="only files with this word in their path")
    parser.add_argument("--json", type=Path, help="writes a row for each file")
    parser.add_argument("--verbose", action="store_true", help="also lists what was not compared, and why")
    options = parser.parse_args()
    warnings.simplefilter("ignore", fm.StartWarning)
    every: list[Row] = []
    for kind, suffix, row_of in (("urdf", ".urdf", urdf_row), ("mjcf", ".xml", mjcf_row)):
        if options.only in (None, kind):
            paths = [path for path in files(options.folder, suffix) if options.word in str(path)]
            rows = [row for path in paths if (row := row_of(path, options.folder)) is not None]
            report(kind, rows, options.verbose)
            every += rows
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in every], indent=1))
    sys.exit(any(row.error is not None and not row.error <= SAME for row in every))


if __name__ == "__main__":
    main()
