"""Closed loops: the core beside Pinocchio, MuJoCo and Exudyn, in one run.

    python benchmarks/closed_loops.py [--quick] [--json FILE]

Every engine computes the accelerations of the same mechanism in the same state, in a C loop; Exudyn, which has no
such call, is timed by its step. README.md describes how the comparison is kept fair. Then the other goals of fmumbs are
measured. --quick leaves out the long measurements.
"""

import statistics

from common import Measure, Row, exponent, interleaved, print_goals, print_table, write_rows
from constraint_violation import RODS, step_seconds
from engines import Fmumbs, Unavailable, to_model
from exudyn_steps import ExudynSteps
from loops import CASES, Mechanism, fourbar, ladder, rod_loop
from side_by_side import arguments, introduced_tools, side_by_side

from fmumbs.compiler import compile
from fmumbs.run import Solver

QUICK: dict[str, tuple[int, ...]] = {"fourbar": (1,), "ladder": (10, 40, 100)}
FULL: dict[str, tuple[int, ...]] = {"fourbar": (1,), "ladder": (1, 10, 40, 100)}
GROWTH = (10, 30, 100, 300, 1000)  # windows, of fmumbs alone
ROUNDS = 7
STEP = 1e-3  # s
STEPS = 1000
SAME_MOTION = 1e-5  # rad, what a scheme of second order leaves in a second of such steps


def mechanism(case: str, n: int) -> Mechanism:
    return CASES[case](n)


def speed_measures(rows: list[Row]) -> list[Measure]:
    """The goals on these rows, for the tools that are installed."""
    us = {(row.case, row.n, row.tool): row.us_per_eval for row in rows}
    measures = [Measure("four-bar: evaluation, planar kernel", us["fourbar", 1, "fmumbs"], 0.15, "us")]
    for case, n, name, tool, goal in (
        ("fourbar", 1, "Pinocchio", "pinocchio", 8),
        ("fourbar", 1, "MuJoCo", "mujoco", 8),
        ("ladder", 100, "MuJoCo", "mujoco", 5),
        ("ladder", 100, "Pinocchio", "pinocchio", 10),
    ):
        if (case, n, tool) in us:
            ratio = us[case, n, tool] / us[case, n, "fmumbs"]
            measures.append(Measure(f"{case}, n = {n}: {name} / fmumbs", ratio, goal, "x", at_least=True))
    return measures


# A step beside Exudyn ---------------------------------------------------------------------------------------


def step_measures() -> tuple[list[Row], list[Measure]]:
    """The four-bar by RK4 with correction beside Exudyn's step, both from rest and 1 ms long."""
    released = fourbar(rate=0.0)
    released[1].torques[:] = 0.0
    solver = Solver(compile(to_model(*released)).with_options(scheme="rk4", step=STEP))
    solver.assemble()
    start = solver.state_save()

    def steps(times: int) -> None:
        solver.state_load(start)
        solver.step(times * STEP)

    ours = interleaved({"fmumbs": steps})["fmumbs"]
    rows = [Row("fourbar", 1, "fmumbs step", 1e6 * ours)]
    print(f"\nFour-bar, a step of 1 ms: fmumbs by RK4 with correction {1e6 * ours:.2f} us", end="")
    try:
        exudyn = ExudynSteps(released, STEP)
    except Unavailable as reason:
        print(f"; exudyn is missing: {reason}")
        return rows, []
    theirs = statistics.median(exudyn.seconds(STEPS) for _ in range(ROUNDS))
    rows.append(Row("fourbar", 1, "exudyn step", 1e6 * theirs))
    print(f", exudyn {exudyn.version} {1e6 * theirs:.2f} us")
    steps(STEPS)
    apart = abs(solver.get("J0.q") - released[1].positions[0] - exudyn.turned(STEPS))
    return rows, [
        Measure("four-bar: step of Exudyn / RK4 step of fmumbs", theirs / ours, 15, "x", at_least=True),
        Measure("four-bar: crank after 1 s beside Exudyn's", apart, SAME_MOTION, "rad"),
    ]


# fmumbs alone -----------------------------------------------------------------------------------------------


def rods_measure() -> Measure:
    """500 rods in a loop beside the same rods in an open chain."""
    engines = {"loop": Fmumbs(*rod_loop(500)), "chain": Fmumbs(*rod_loop(500, closed=False))}
    seconds = interleaved({name: engine.evaluate for name, engine in engines.items()})
    print(f"\n500 rods: loop {1e6 * seconds['loop']:.1f} us, open chain {1e6 * seconds['chain']:.1f} us")
    return Measure("500 rods: loop / open chain", seconds["loop"] / seconds["chain"], 3, "x")


def spatial_line() -> None:
    """The four-bar with the spatial kernels, in place of the planar ones that fmumbs uses."""
    engine = Fmumbs(*fourbar())
    engine.solver.use_planar(False)
    engine.solver.assemble()
    print(f"\nFour-bar in the spatial kernels: {1e6 * interleaved({'': engine.evaluate})['']:.3f} us")


def growth_measure() -> tuple[list[Row], Measure]:
    """How the time of a ladder grows with its windows; the exponent of a power law from the ends."""
    engines = {str(n): Fmumbs(*ladder(n)) for n in GROWTH}
    seconds = interleaved({n: engine.evaluate for n, engine in engines.items()})
    print("\nGrowth of ladder")
    lines = [[n, f"{1e6 * time:.1f}", f"{1e9 * time / int(n):.1f}"] for n, time in seconds.items()]
    print_table(["n", "us", "ns/window"], lines)
    rows = [Row("ladder", int(n), "fmumbs", 1e6 * time) for n, time in seconds.items()]
    what = f"ladder, n = {GROWTH[0]} to {GROWTH[-1]}: exponent of time"
    return rows, Measure(what, exponent(seconds), 1.05, "")


def correction_measures() -> list[Measure]:
    """The cost of keeping a loop of rods closed, in a step of RK4."""
    steps = {n: step_seconds(n) for n in RODS}
    shares = {how: [100 * (step[how] / step["off"] - 1) for step in steps.values()] for how in ("1e-10", "direct")}
    print("\nA step of RK4 of a loop of rods, and what the correction adds to it")
    lines = [
        [str(n), f"{1e6 * step['off']:.0f}", f"{to_goal:+.1f} %", f"{full:+.1f} %"]
        for (n, step), to_goal, full in zip(steps.items(), *shares.values(), strict=True)
    ]
    print_table(["rods", "step us", "to 1e-10", "to full precision"], lines)
    span = f"loops of {RODS[0]} to {RODS[-1]} rods: correction"
    return [
        Measure(f"{span} at 1e-10, of a step", max(shares["1e-10"]), 5, "%"),
        Measure(f"{span} at full precision, of a step", max(shares["direct"]), 25, "%"),
    ]


# The run ----------------------------------------------------------------------------------------------------


def main() -> None:
    """Measures, prints the tables, and writes the rows."""
    options = arguments(__doc__, "fourbar and ladders of 10, 40 and 100 windows alone; ends within a minute")
    tools = introduced_tools(loops=True)
    rows, measures = side_by_side(tools, QUICK if options.quick else FULL, mechanism, "window")
    measures += speed_measures(rows)
    spatial_line()
    for more_rows, more in (step_measures(), ([], [rods_measure()])):
        rows += more_rows
        measures += more
    if not options.quick:
        grown, growth = growth_measure()
        known = {row.n for row in rows if row.case == "ladder"}
        rows += [row for row in grown if row.n not in known]
        measures += [growth, *correction_measures()]
    if options.json:
        write_rows(options.json, rows)
    print_goals(measures)


if __name__ == "__main__":
    main()
