"""Time of the analysis of reaction uniqueness over the number of bodies.

    python benchmarks/reactions.py [--quick] [--json FILE]

A ladder of windows and a tower of platforms have local loops, a rod loop has a single one; for these the time should be
proportional to the number of bodies. In a star, one platform on many parallel rods, all loops are coupled. Timed is the
analysis, including the positions of bodies and joints, of an assembled mechanism.
"""

import argparse
import math
from collections.abc import Callable
from pathlib import Path

from common import Row, print_table, processor_name, processor_seconds, write_rows

import fmumbs as fm
from fmumbs.analysis.uniqueness import uniqueness
from fmumbs.readers import read_model
from fmumbs.run.reactions import place

SIZES = (30, 100, 300, 1000, 3000)
GOAL = 2.0  # seconds for 1000 bodies
REPEATS = 3


def ladder(bodies: int) -> fm.Model:
    return read_model("ladder", {"windows": (bodies - 1) // 2})


def rod_loop(bodies: int) -> fm.Model:
    return read_model("rod_loop", {"rods": bodies})


def tower(bodies: int) -> fm.Model:
    """Storeys of a platform on three parallel cranks: seven redundant rows each."""
    model = fm.Model("tower")
    below, feet = model.ground, ((0, 0), (2, 0), (1, 1))
    for storey in range(bodies // 4):
        platform = fm.Body.box(f"platform{storey}", size=(2, 1, 0.1), mass=4.0, along="z")
        rods = [fm.Body.rod(f"rod{storey}_{i}", length=1.0, mass=1.0, radius=0.02, along="z") for i in range(3)]
        for i, (rod, foot) in enumerate(zip(rods, feet, strict=True)):
            model.add(rod, fm.Revolute(f"below{storey}_{i}", below.at(*foot, 0), rod.base, axis="y", q0=0.2))
        model.add(platform)
        for i, (rod, foot) in enumerate(zip(rods, feet, strict=True)):
            model.add(fm.Revolute(f"above{storey}_{i}", rod.tip, platform.at(*foot, 0), axis="y", q0=-0.2))
        below = platform
    return model


def star(bodies: int) -> fm.Model:
    """A platform on parallel rods with balls at their ends, on a circle."""
    model = fm.Model("star")
    platform = fm.Body.cylinder("platform", length=0.1, radius=1.0, mass=4.0, along="z")
    turned = fm.Rotation.about("y", 0.2)
    rods = [fm.Body.rod(f"rod{i}", length=1.0, mass=1.0, radius=0.02, along="z") for i in range(bodies - 1)]
    feet = [(math.cos(2.4 * i), math.sin(2.4 * i), 0.0) for i in range(len(rods))]
    for i, (rod, foot) in enumerate(zip(rods, feet, strict=True)):
        model.add(rod, fm.Spherical(f"below{i}", model.ground.at(*foot), rod.base, q0=turned.as_quaternion()))
    model.add(platform)
    for i, (rod, foot) in enumerate(zip(rods, feet, strict=True)):
        q0 = turned.inverse().as_quaternion()
        model.add(fm.Spherical(f"above{i}", rod.tip, platform.at(*foot), q0=q0))
    return model


CASES: dict[str, tuple[Callable[[int], fm.Model], int]] = {  # with the most bodies that are tried
    "ladder": (ladder, 3000),
    "tower": (tower, 1000),
    "rod loop": (rod_loop, 3000),
    "star": (star, 300),
}


def one_case(case: str, bodies: int) -> tuple[Row, list[str]]:
    model = CASES[case][0](bodies)
    solver = fm.Solver(model)
    solver.assemble()
    seconds = [processor_seconds(lambda: uniqueness(place(model, solver)).joints) for _ in range(REPEATS)]
    found = uniqueness(place(model, solver))
    row = Row(case, len(model.bodies), "fmumbs", 1e6 * min(seconds))
    rows_rank = f"{found.rows}, {found.rank}, {found.redundant}"
    gap = f"{found.gap.kept:.0e} / {found.gap.dropped:.0e}"
    return row, [case, str(row.n), rows_rank, gap, f"{min(seconds):.4f}", f"{1e6 * min(seconds) / row.n:.0f}"]


def exponents(rows: list[Row]) -> dict[str, float]:
    """Of a power law through the two largest sizes of each case, with the log of n log n taken out."""
    found = {}
    for case in CASES:
        mine = sorted((row for row in rows if row.case == case), key=lambda row: row.n)[-2:]
        if len(mine) == 2:
            one, other = mine
            linearithmic = math.log(other.n * math.log(other.n)) - math.log(one.n * math.log(one.n))
            found[case] = math.log(other.us_per_eval / one.us_per_eval) / linearithmic
    return found


def main() -> None:
    """Measures, prints the table, and writes the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="up to 300 bodies")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write rows {case, n, tool, us_per_eval}")
    options = parser.parse_args()
    sizes = [size for size in SIZES if not options.quick or size <= 300]
    print(processor_name())
    rows: list[Row] = []
    lines = []
    for case, (_, most) in CASES.items():
        for bodies in sizes:
            if bodies <= most:
                row, line = one_case(case, bodies)
                rows.append(row)
                lines.append(line)
    print_table(["case", "bodies", "rows, rank, redundant", "kept / dropped", "seconds", "us/body"], lines)
    print()
    for case, exponent in exponents(rows).items():
        print(f"{case}: time as (n log n) to the power of {exponent:.2f}")
    slowest = max((row.us_per_eval for row in rows if 900 <= row.n <= 1100), default=0.0)
    if slowest:
        print(f"1000 bodies: at most {1e-6 * slowest:.2f} s, goal {GOAL:g} s")
    if options.json:
        write_rows(options.json, rows)


if __name__ == "__main__":
    main()
