"""Open chains and trees: the core beside Pinocchio's ABA and MuJoCo's mj_forward, in one run.

    python benchmarks/open_chains.py [--quick] [--json FILE]

Every engine computes the accelerations of the same tree in the same state, in a C loop; README.md describes how the
comparison is kept fair. Then the other goals of fmumbs are measured: RK4, scaling, memory, and the calls of an FMU.
--quick leaves out the long measurements.
"""

import itertools
import statistics
import tempfile
from pathlib import Path

import trees
from common import (
    Measure,
    Row,
    allocated_bytes,
    exponent,
    interleaved,
    print_goals,
    print_table,
    processor_seconds,
    wall_seconds,
    write_rows,
)
from engines import to_model
from fmu_calls import RK4_STEP, Fmu, do_step_overhead, load_seconds
from side_by_side import arguments, introduced_tools, side_by_side

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.run import Solver

QUICK: dict[str, tuple[int, ...]] = dict.fromkeys(trees.CASES, (6, 10, 100))
FULL: dict[str, tuple[int, ...]] = {
    "arm": (6, 10, 30, 100, 500),
    "spherical": (6, 10, 30, 100, 500),
    "planar": (6, 10, 30, 100, 500),
    "branch": (10, 100, 500),
}
GROWTH = (100, 300, 1000, 3000, 10_000)
FROM_REST = (500, 2000, 10_000)


# The goals of side by side ------------------------------------------------------------------------------------


def speed_measures(rows: list[Row]) -> list[Measure]:
    """The goals on these rows, for the cases that were run."""
    us = {(row.case, row.n, row.tool): row.us_per_eval for row in rows}

    def worst_ratio(case: str, tool: str, sizes: list[int]) -> list[float]:
        found = [us[case, n, tool] / us[case, n, "fmumbs"] for n in sizes if (case, n, tool) in us]
        return [min(found)] if found else []

    measures: list[Measure] = []
    goals: tuple[tuple[str, float, float, dict[int, float]], ...] = (  # ns a body, times Pinocchio, times MuJoCo
        ("arm", 60, 4, {10: 2.5, 100: 8.0}),
        ("spherical", 60, 4, {100: 100.0}),
        ("planar", 25, 8, {}),
    )
    for case, most, pinocchio_goal, mujoco_goals in goals:
        sizes = sorted({row.n for row in rows if row.case == case and 10 <= row.n <= 500})
        if not sizes:
            continue
        span = f"{case}, n = {sizes[0]} to {sizes[-1]}"
        a_body = max(1e3 * us[case, n, "fmumbs"] / n for n in sizes)
        measures.append(Measure(f"{span}: a body", a_body, most, "ns"))
        measures += [
            Measure(f"{span}: Pinocchio / fmumbs", ratio, pinocchio_goal, "x", at_least=True)
            for ratio in worst_ratio(case, "pinocchio", sizes)
        ]
        measures += [
            Measure(f"{case}, n = {n}: MuJoCo / fmumbs", ratio, goal, "x", at_least=True)
            for n, goal in mujoco_goals.items()
            for ratio in worst_ratio(case, "mujoco", [n])
        ]
    if ("branch", 500, "fmumbs") in us:
        measures.append(Measure("branch, 500 bodies: evaluation", us["branch", 500, "fmumbs"], 30, "us"))
    return measures


# fmumbs alone -----------------------------------------------------------------------------------------------


def rk4_measure() -> Measure:
    """1 s of the branch system of 500 bodies by RK4 at 1 ms."""
    tree = trees.branch(500)
    solver = Solver(compile(to_model(tree, trees.near_rest(tree))))
    solver.set("solver.scheme", 1)
    solver.set("solver.step", 1e-3)
    solver.assemble()
    start = solver.state_save()
    samples = []
    for _ in range(3):
        solver.state_load(start)
        samples.append(processor_seconds(lambda: solver.step(1.0)))
    return Measure("branch, 500 bodies: 1 s by RK4 at 1 ms", statistics.median(samples), 0.15, "s")


def growth_measures() -> list[Measure]:
    """Time and memory of a chain over its number of bodies; exponents of a power law through the ends."""
    measures = []
    for case in ("arm", "spherical"):
        print(f"\nGrowth of {case}")
        solvers: dict[str, Solver] = {}
        memory: dict[str, int] = {}
        for n in GROWTH:
            tree = trees.CASES[case](n)
            image = compile(to_model(tree, trees.random_state(tree)))
            solvers[str(n)] = Solver(image)  # which takes the instance that was opened to check the image
            before = allocated_bytes()
            another = Solver(image)
            memory[str(n)] = allocated_bytes() - before
            del another
            solvers[str(n)].assemble()
        seconds = interleaved({n: solver.evaluate for n, solver in solvers.items()})
        lines = [
            [n, f"{1e6 * time:.1f}", f"{1e9 * time / int(n):.1f}", f"{memory[n] / int(n):.0f}"]
            for n, time in seconds.items()
        ]
        print_table(["n", "us", "ns/body", "bytes/body"], lines)
        span = f"{case}, n = {GROWTH[0]} to {GROWTH[-1]}: exponent of"
        measures.append(Measure(f"{span} time", exponent(seconds), 1.03, ""))
        if all(memory.values()):
            measures.append(Measure(f"{span} memory", exponent(memory), 1.01, ""))
    return measures


def rest_measures() -> list[Measure]:
    """A tree at rest, along which the motion decays to denormal numbers, compared with a random state."""
    measures = []
    lines: list[list[str]] = []
    for case in ("arm", "spherical", "branch"):
        for n in FROM_REST:
            tree = trees.CASES[case](n)
            solvers = {
                start: Solver(compile(to_model(tree, state(tree))))
                for start, state in (("random", trees.random_state), ("from rest", trees.from_rest))
            }
            for solver in solvers.values():
                solver.assemble()
                solver.step(1e-3)
            seconds = interleaved({start: solver.evaluate for start, solver in solvers.items()})
            lines.append([case, str(n), *(f"{1e9 * time / n:.1f}" for time in seconds.values())])
            ratio = seconds["from rest"] / seconds["random"]
            measures.append(Measure(f"{case}, n = {n}: from rest / random state", ratio, 1.1, "x"))
    print("\nFrom rest [ns/body]")
    print_table(["case", "n", "random", "from rest"], lines)
    return measures


def fmu_measures() -> list[Measure]:
    """Export, load and doStep of an arm of ten bodies."""
    tree = trees.arm(10)
    model = to_model(tree, trees.near_rest(tree))
    with tempfile.TemporaryDirectory() as folder:
        paths = (Path(folder) / f"arm{k}.fmu" for k in itertools.count())
        exports = [wall_seconds(lambda: fm.export_fmu(model, next(paths))) for _ in range(9)]
        fmu = Fmu(fm.export_fmu(model, next(paths), scheme="rk4", step=RK4_STEP))
        load, overhead = load_seconds(fmu), do_step_overhead(fmu)
    return [
        Measure("export of a 10-body mechanism", 1e3 * statistics.median(exports), 50, "ms"),
        Measure("load and instantiate its FMU", 1e3 * load, 5, "ms"),
        Measure("one doStep beside its integration", 1e6 * overhead, 1, "us"),
    ]


# The run ----------------------------------------------------------------------------------------------------


def main() -> None:
    """Measures, prints the tables, and writes the rows."""
    options = arguments(__doc__, "n = 6, 10 and 100 alone; ends within a minute")
    tools = introduced_tools()
    rows, measures = side_by_side(tools, QUICK if options.quick else FULL, _mechanism, "body")
    if options.json:
        write_rows(options.json, rows)
    measures += speed_measures(rows)
    if not options.quick:
        measures += [rk4_measure(), *growth_measures(), *rest_measures()]
    print_goals(measures + fmu_measures())


def _mechanism(case: str, n: int) -> tuple[trees.Tree, trees.State]:
    tree = trees.CASES[case](n)
    return tree, trees.random_state(tree)


if __name__ == "__main__":
    main()
