"""Constraint violation with and without the direct correction, and its cost: the study of constraint-jacobians.

    python benchmarks/constraint_violation.py [--quick] [--json FILE] [--plot FILE]

Its three examples over 200 s by RK4 at 0.01 s, and closed chains of 100 to 500 rods. README.md says what is compared.
--quick: 20 s, and chains of 100 and 500 rods.
"""

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from common import Measure, interleaved, print_goals, print_table, processor_name
from plane import Plane

import fmumbs as fm
from fmumbs.compiler import ModelImage, compile
from fmumbs.readers import read_model

EXAMPLES = ("four_link_flexible", "multi_loop_flexible", "sliders")
STEP = 0.01  # s, as in the paper
SAMPLES = 1000  # of the violation over a run
TOLERANCE = 1e-10  # the paper's
RODS = (100, 200, 300, 500)
STEPS, REPEATS = 40, 7  # of a chain
CHAIN_STEP = 0.1  # s, over the number of rods: longer ones are not stable


@dataclass(frozen=True)
class Run:
    """One run: at each time the violation so far [m or rad], and the processor time [s] and iterations it took."""

    case: str
    correction: str
    time: list[float]
    violation: list[float]
    seconds: list[float]
    iterations: list[float]

    def until(self, stop: float) -> int:
        return int(np.searchsorted(self.time, stop - 1e-9))


def image_of(name: str, correction: str, step: float = STEP, **parameters: float) -> ModelImage:
    """correction: "off", "baumgarte", "direct" at full precision, or "1e-10": direct to the paper's tolerance."""
    image = compile(read_model(name, parameters), everything=True).with_options(scheme="rk4", step=step)
    if correction != "1e-10":
        return image.with_options(correction=correction)
    length = float(image.arrays["length"].item())
    return image.with_options(correction="direct", closure=TOLERANCE / length)


def run(name: str, correction: str, stop: float) -> Run:
    solver = fm.Solver(image_of(name, correction))
    solver.assemble()
    found = Run(name, correction, [], [], [], [])
    spent = 0.0
    for t in np.linspace(0.0, stop, SAMPLES + 1)[1:]:
        start = time.thread_time()
        try:
            solver.step(float(t))
        except fm.SolverError:
            break  # it has opened so far that it cannot go on
        spent += time.thread_time() - start
        found.time.append(float(t))
        found.violation.append(float(solver.get("solver.position_violation")))
        found.seconds.append(spent)
        found.iterations.append(float(solver.get("solver.iterations")))
    return found


# The three examples -------------------------------------------------------------------------------------------


def study(stop: float) -> tuple[list[Run], list[Measure]]:
    """Runs every example without and with correction and prints the paper's tables; what was promised of them."""
    runs: list[Run] = []
    measures: list[Measure] = []
    for name in EXAMPLES:
        without, baumgarte, ours = (run(name, how, stop) for how in ("off", "baumgarte", "1e-10"))
        runs += [without, baumgarte, ours]
        again = _direct_differentiation(name)
        print(f"\n{name}: processor time [s] and violation so far [m]")
        lines = list(_lines(without, baumgarte, ours, again, stop))
        headings = ["simulated s", "without s", "ours s", "Algorithm 2 s", "without m", "Baumgarte m", "ours m"]
        print_table(headings, lines)
        worst = max(ours.violation)
        measures.append(Measure(f"{name}: violation with correction", worst, TOLERANCE, "m"))
        drift = max(without.violation) / worst
        measures.append(Measure(f"{name}: violation without, beside that with", drift, 1e3, "x", at_least=True))
    return runs, measures


def _lines(without: Run, baumgarte: Run, ours: Run, again: float, stop: float) -> Iterator[list[str]]:
    for part in (0.25, 0.5, 1.0):
        until = stop * part
        if not without.time or without.time[-1] < until - 1e-9:
            spent, open_by = "-", "failed"
        else:
            i = without.until(until)
            spent, open_by = f"{without.seconds[i]:.3f}", f"{max(without.violation[: i + 1]):.1e}"
        k = ours.until(until)
        differentiated = ours.seconds[k] + again * ours.iterations[k]
        held = f"{max(baumgarte.violation[: baumgarte.until(until) + 1]):.1e}"
        worst = f"{max(ours.violation[: k + 1]):.1e}"
        yield [f"{until:g}", spent, f"{ours.seconds[k]:.3f}", f"{differentiated:.3f}", open_by, held, worst]


def _direct_differentiation(name: str) -> float:
    """Additional cost of an iteration with the Jacobian by Algorithm 2 in place of Algorithm 1 [s]."""
    model = read_model(name)
    solver = fm.Solver(image_of(name, "1e-10"))
    solver.assemble()
    plane = Plane(model, solver, "z")
    seconds = interleaved({"1": plane.algorithm_1(), "2": plane.algorithm_2()})
    return seconds["2"] - seconds["1"]


# Chains of rods -----------------------------------------------------------------------------------------------


def chains(sizes: tuple[int, ...]) -> tuple[list[dict[str, float]], list[Measure]]:
    """The Jacobian of one loop by both algorithms, and what the correction adds to a step."""
    rows = []
    for n in sizes:
        model = read_model("rod_loop", {"rods": n})
        solver = fm.Solver(compile(model, everything=True))
        solver.assemble()
        plane = Plane(model, solver)
        seconds = interleaved({"1": plane.algorithm_1(), "2": plane.algorithm_2()})
        plane.algorithm_1()(1)
        swept = plane.jacobian
        plane.algorithm_2()(1)
        apart = float(np.abs(plane.jacobian - swept).max())
        step = step_seconds(n)
        row = {"rods": n, "algorithm_1": seconds["1"], "algorithm_2": seconds["2"], "apart": apart}
        rows.append(row | {f"step_{how}": value for how, value in step.items()})
    print("\nA closed chain of rods: its Jacobian, and a step of RK4")
    print_table(
        ["rods", "Algorithm 1 us", "Algorithm 2 us", "ratio", "apart", "step us", "to 1e-10", "to full precision"],
        [
            [
                f"{row['rods']:.0f}",
                f"{1e6 * row['algorithm_1']:.1f}",
                f"{1e6 * row['algorithm_2']:.1f}",
                f"{row['algorithm_2'] / row['algorithm_1']:.0f}",
                f"{row['apart']:.0e}",
                f"{1e6 * row['step_off']:.0f}",
                *(f"{100 * (row[f'step_{how}'] / row['step_off'] - 1):+.1f} %" for how in ("1e-10", "direct")),
            ]
            for row in rows
        ],
    )
    last = rows[-1]
    measures = [
        Measure(
            f"{last['rods']:.0f} rods: Algorithm 2 / Algorithm 1",
            last["algorithm_2"] / last["algorithm_1"],
            5,
            "x",
            at_least=True,
        )
    ]
    for how, goal in (("1e-10", 5.0), ("direct", 25.0)):
        worst = max(100 * (row[f"step_{how}"] / row["step_off"] - 1) for row in rows)
        measures.append(Measure(f"{len(rows)} chains: correction, {how}, of a step", worst, goal, "%"))
    return rows, measures


def step_seconds(rods: int) -> dict[str, float]:
    """Times of one RK4 step without correction and with each, the least of several interleaved runs."""
    step = CHAIN_STEP / rods
    solvers = {how: fm.Solver(image_of("rod_loop", how, step, rods=rods)) for how in ("off", "1e-10", "direct")}
    starts = {}
    for how, solver in solvers.items():
        solver.assemble()
        starts[how] = solver.state_save()
    least = dict.fromkeys(solvers, np.inf)
    for _ in range(REPEATS):
        for how, solver in solvers.items():
            solver.state_load(starts[how])
            before = time.thread_time()
            solver.step(STEPS * step)
            least[how] = min(least[how], (time.thread_time() - before) / STEPS)
    return least


def plot(runs: list[Run], path: Path) -> None:
    """The violation over time, a picture for each example."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 3.6), layout="constrained")
    for axes, name in zip(figure.subplots(1, len(EXAMPLES), sharey=True), EXAMPLES, strict=True):
        for one in (one for one in runs if one.case == name):
            axes.semilogy(one.time, np.maximum(one.violation, 1e-17), label=one.correction, linewidth=0.8)
        axes.set(title=name, xlabel="time [s]")
        axes.axhline(TOLERANCE, color="grey", linewidth=0.6)
    figure.axes[0].set_ylabel("violation [m]")
    figure.axes[-1].legend(title="correction")
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="20 s, and chains of 100 and 500 rods")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write runs and chains")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the violations over time")
    options = parser.parse_args()
    print(processor_name())
    runs, measures = study(20.0 if options.quick else 200.0)
    rows, more = chains((100, 500) if options.quick else RODS)
    if options.json:
        options.json.write_text(json.dumps({"runs": [asdict(one) for one in runs], "chains": rows}, indent=1) + "\n")
    if options.plot:
        plot(runs, options.plot)
    print_goals([*measures, *more])


if __name__ == "__main__":
    main()
