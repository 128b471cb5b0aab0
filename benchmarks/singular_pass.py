"""A row of four-bars folds: both formulations pass the same singular position.

    python benchmarks/singular_pass.py [--quick]

All loops are singular at once, and what is found out there, whether branches cross or touch, takes hundreds of
factors of the constraint rows. Shown are evaluations and processor time of the half turn, the least of several turns
that both formulations take one after the other. --quick leaves out the longest row.
"""

import argparse
import time

from common import Measure, print_goals, print_table

import fmumbs as fm
from fmumbs.compiler import ModelImage, compile

LOOPS = (10, 20, 40, 80)
GOAL_AT = 40
GOAL = 5.0
HALF_TURN = 1.0  # s
ROUNDS = 5


def four_bars(loops: int) -> fm.Model:
    """Unit rods in a row of squares; the first crank turns, and all rods lie on the line of the pivots at once."""
    model = fm.Model("four_bars")
    cranks = [fm.Body.rod(f"crank{i}", length=1.0, mass=1.0, radius=0.02, along="z") for i in range(loops + 1)]
    rungs = [fm.Body.rod(f"rung{i}", length=1.0, mass=1.0, radius=0.02) for i in range(loops)]
    for i, body in enumerate(cranks):
        pivot, start = model.ground.at(i, 0, 0), {} if i > 0 else {"u0": -1.0}
        model.add(body, fm.Revolute(f"A{i}", pivot, body.base, axis="y", **start))
    for i, body in enumerate(rungs):
        model.add(body, fm.Revolute(f"B{i}", cranks[i].tip, body.base, axis="y"))
        model.add(fm.Revolute(f"C{i}", body.tip, cranks[i + 1].tip, axis="y"))
    return model


def half_turn(image: ModelImage) -> tuple[int, float]:
    """Evaluations and processor time [s]."""
    solver = fm.Solver(image)
    solver.assemble()
    start = time.process_time()
    solver.step(HALF_TURN)
    return int(solver.get("solver.evaluations")), time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="without the longest row")
    rows, goals = [], []
    for loops in LOOPS[:-1] if parser.parse_args().quick else LOOPS:
        image = compile(four_bars(loops))
        images = {dynamics: image.with_options(dynamics=dynamics) for dynamics in ("riccati", "copcod")}
        turns = [{name: half_turn(one) for name, one in images.items()} for _ in range(ROUNDS)]
        least = {name: min(turn[name][1] for turn in turns) for name in images}
        ratio = least["copcod"] / least["riccati"]
        cells = [f"{turns[0][name][0]} evaluations, {1e3 * least[name]:.3g} ms" for name in images]
        rows.append([str(loops), *cells, f"{ratio:.2f}"])
        if loops == GOAL_AT:
            goals.append(Measure(f"{loops} four-bars fold: copcod / riccati", ratio, GOAL, "x"))
    print_table(["loops", "riccati", "copcod", "ratio"], rows)
    print_goals(goals)


if __name__ == "__main__":
    main()
