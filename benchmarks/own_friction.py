"""Friction on the joints' own reactions beside friction with a preload: manipulator5 and rpsup of models/.

    python benchmarks/own_friction.py [--quick]

Both runs of a line are of one mechanism with friction in the same joints, by the same scheme, formulation and
tolerance. They take turns, and each shows the least processor time of its turns. The motions are not the same, so
steps and evaluations stand beside the times: `ratio` is that of whole runs, `each` that of times over evaluations.
--quick: a fifth of the motion.
"""

import argparse
from functools import partial
from pathlib import Path

from common import Measure, print_goals, print_table, processor_name, processor_seconds

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.readers import read_model

MODELS = Path(__file__).parents[1] / "models"
STOP = 1.0  # [s], the first edge
TOLERANCE = 1e-6
RK4 = 2e-4  # step [s], stable
TURNS = 5
GOAL = 2.0
CASES = {"rigid": {}, "flexible": {"link": "flexible", "support": "flexible", "elements": 2}}
SCHEMES = {"rigid": ("rk4", "dopri5", "dop853", "radau"), "flexible": ("radau",)}


class Side:
    """One of the two runs of a line."""

    def __init__(self, name: str, options: dict[str, object], **settings: object) -> None:
        self.image = compile(read_model(MODELS / f"{name}.py", options)).with_options(**settings)
        self.seconds = float("inf")

    def turn(self, stop: float) -> None:
        solver = fm.Solver(self.image)
        solver.assemble()
        self.seconds = min(self.seconds, processor_seconds(partial(solver.step, stop)))
        self.steps, self.evaluations = solver.get("solver.steps"), solver.get("solver.evaluations")


def measured(name: str, case: str, scheme: str, dynamics: str, stop: float) -> tuple[list[str], float]:
    """A line of the table and the ratio of times."""
    settings = {"scheme": scheme, "dynamics": dynamics, "tolerance": TOLERANCE, "step": RK4}
    own, preload = (Side(name, {**CASES[case], "friction": True, "own": own}, **settings) for own in (True, False))
    for _ in range(TURNS):
        own.turn(stop)
        preload.turn(stop)
    ratio = own.seconds / preload.seconds
    each = ratio * preload.evaluations / own.evaluations
    line = [
        f"{name} {case} {scheme} {dynamics}",
        f"{1e3 * preload.seconds:.3g}",
        f"{1e3 * own.seconds:.3g}",
        f"{ratio:.2f}",
    ]
    counts = [f"{side.steps:.0f} / {side.evaluations:.0f}" for side in (preload, own)]
    return [*line, *counts, f"{each:.2f}"], ratio


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a fifth of the motion")
    stop = STOP / 5 if parser.parse_args().quick else STOP
    print(processor_name())
    lines, worst = [], {}
    for name in ("manipulator5", "rpsup"):
        for case in CASES:
            for scheme in SCHEMES[case]:
                for dynamics in ("riccati", "copcod"):
                    line, ratio = measured(name, case, scheme, dynamics, stop)
                    lines.append(line)
                    worst[name] = max(worst.get(name, 0.0), ratio)
    print_table(["run", "preload ms", "own ms", "ratio", "steps / evaluations", "own", "each"], lines)
    print_goals(
        Measure(f"{name}: time beside a preload's, at worst", ratio, GOAL, "x") for name, ratio in worst.items()
    )


if __name__ == "__main__":
    main()
