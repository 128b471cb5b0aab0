"""Open chains and trees: the core beside Pinocchio's ABA and MuJoCo's mj_forward, in one run.

    python benchmarks/open_chains.py [--quick] [--json FILE]

Every engine computes the accelerations of the same tree in the same state, in a C loop; README.md says how
that is kept fair. Then what fmumbs promises besides: RK4, growth, memory, and the calls of an FMU. --quick
leaves out what takes long.
"""

import argparse
import itertools
import math
import statistics
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import trees
from common import (
    Row,
    allocated_bytes,
    clock_gigahertz,
    interleaved,
    print_table,
    processor_name,
    processor_seconds,
    wall_seconds,
    write_rows,
)
from engines import Engine, Tool, Unavailable, find_tools, to_model
from fmu_calls import RK4_STEP, Fmu, do_step_overhead, load_seconds

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
AGREEMENT = 1e-6  # relative; what MuJoCo keeps of 500 ball joints


@dataclass(frozen=True)
class Measure:
    """A measured value and the goal that it must not exceed, or must reach where `at_least`."""

    what: str
    value: float
    goal: float
    unit: str
    at_least: bool = False

    @property
    def met(self) -> bool:
        return self.value >= self.goal if self.at_least else self.value <= self.goal

    def cells(self) -> list[str]:
        bound = "at least" if self.at_least else "at most"
        return [
            self.what,
            f"{bound} {self.goal:g} {self.unit}",
            f"{self.value:.3g} {self.unit}",
            "yes" if self.met else "NO",
        ]


# Side by side -----------------------------------------------------------------------------------------------


def side_by_side(tools: list[Tool], plan: dict[str, tuple[int, ...]]) -> tuple[list[Row], list[Measure]]:
    """Times all tools on all cases of the plan and prints a line for each; rows, and how well the tools agree."""
    rows: list[Row] = []
    lines: list[list[str]] = []
    nearest: list[float] = []
    for case, n in ((case, n) for case, sizes in plan.items() for n in sizes):
        timed, differences = _one_case(tools, case, n)
        rows += timed
        nearest += [min(differences.values())] if differences else []
        lines.append(_line(timed, [tool.name for tool in tools], differences))
    others = [tool.name for tool in tools[1:]]
    headings = ["case", "n", *(f"{tool.name} us" for tool in tools), "ns/body"]
    headings += [f"{name} / fmumbs" for name in others] + [f"differs from {name}" for name in others]
    print("One evaluation of the accelerations")
    print_table(headings, lines)
    what = "accelerations beside the nearer engine's, all cases"
    return rows, [Measure(what, max(nearest), AGREEMENT, "")] if nearest else []


def _one_case(tools: list[Tool], case: str, n: int) -> tuple[list[Row], dict[str, float]]:
    """The rows of one case, and how far the accelerations of each other tool are from fmumbs'."""
    tree = trees.CASES[case](n)
    state = trees.random_state(tree)
    engines: dict[str, dict[str, Engine]] = {}
    for tool in tools:
        try:
            engines[tool.name] = {variant: make(tree, state) for variant, make in tool.variants.items()}
        except Unavailable as reason:
            print(f"{case} {n}: {tool.name} {reason}")
    seconds = interleaved({v: e.evaluate for variants in engines.values() for v, e in variants.items()})
    rows = [Row(case, n, name, 1e6 * min(seconds[v] for v in variants)) for name, variants in engines.items()]
    ours = engines["fmumbs"]["fmumbs"].accelerations()
    return rows, {
        name: min(_relative(engine.accelerations(), ours) for engine in variants.values())
        for name, variants in engines.items()
        if name != "fmumbs"
    }


def _relative(a: trees.Floats, b: trees.Floats) -> float:
    difference = float(np.linalg.norm(a - b) / np.linalg.norm(b))
    return difference if math.isfinite(difference) else math.inf


def _line(rows: list[Row], names: list[str], differences: dict[str, float]) -> list[str]:
    us = {row.tool: row.us_per_eval for row in rows}
    times = [f"{us[name]:.2f}" if name in us else "-" for name in names]
    ratios = [f"{us[name] / us['fmumbs']:.1f}" if name in us else "-" for name in names[1:]]
    apart = [f"{differences[name]:.0e}" if name in differences else "-" for name in names[1:]]
    return [rows[0].case, str(rows[0].n), *times, f"{1e3 * us['fmumbs'] / rows[0].n:.1f}", *ratios, *apart]


def speed_measures(rows: list[Row]) -> list[Measure]:
    """The goals that stand on the rows, as far as their cases were run."""
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
    """How time and memory of a chain grow with its bodies; exponents of a power law from the ends."""
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
        measures.append(Measure(f"{span} time", _exponent(seconds), 1.03, ""))
        if all(memory.values()):
            measures.append(Measure(f"{span} memory", _exponent(memory), 1.01, ""))
    return measures


def _exponent(values: Mapping[str, float]) -> float:
    """Of the power law through the first and the last."""
    first, *_, last = values
    return math.log(values[last] / values[first]) / math.log(int(last) / int(first))


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


_LAYOUT = argparse.RawDescriptionHelpFormatter


def main() -> None:
    """Measures, prints the tables, and writes the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_LAYOUT)
    parser.add_argument("--quick", action="store_true", help="n = 6, 10 and 100 alone; ends within a minute")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write rows {case, n, tool, us_per_eval}")
    options = parser.parse_args()

    print(f"{processor_name()}, measured clock {clock_gigahertz():.2f} GHz")
    tools, missing = find_tools()
    print(", ".join(f"{tool.name} {tool.version}" for tool in tools))
    for name, reason in missing.items():
        print(f"{name} is missing: {reason}")
    print()
    rows, measures = side_by_side(tools, QUICK if options.quick else FULL)
    if options.json:
        write_rows(options.json, rows)
    measures += speed_measures(rows)
    if not options.quick:
        measures += [rk4_measure(), *growth_measures()]
    measures += fmu_measures()
    print("\nGoals")
    print_table(["measure", "goal", "measured", "met"], [measure.cells() for measure in measures])


if __name__ == "__main__":
    main()
