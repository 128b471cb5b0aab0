"""What an adjoint costs in evaluations, at ten knowns and at as many as a hundred: python benchmarks/adjoint.py.

One line a mechanism: the least of several rounds of both, taken in turns in one process. The unknowns are all joint
accelerations, the knowns inputs and parameters. An evaluation is that of accelerations, fm_evaluate; the calls from
Python, about 0.2 us each, are subtracted.
"""

import time
from collections.abc import Callable

import numpy as np

import fmumbs as fm
from fmumbs.compiler.layout import ffi, lib
from fmumbs.readers import read_model

ROUNDS, CALLS = 20, 1000
MODELS = ("arm6", "chain", "governor", "heavy_top", "four_bar", "bennett")


def chain(bodies: int = 20) -> fm.Model:
    """Bodies on turns about x, y and z in turns."""
    model = fm.Model("chain")
    carrier = model.ground
    for i in range(bodies):
        body = fm.Body(f"b{i}", mass=1.0, com=(0.3, 0.02, 0.01), inertia=(0.1, 0.2, 0.25))
        place = carrier.at(0.5 if i else 0.0, 0.0, 0.0)
        model.add(body, fm.Revolute(f"j{i}", place, body.at(), axis="xyz"[i % 3], q0=0.1 * i, u0=0.3))
        carrier = body
    return model


def seconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def knowns_of(solver: fm.Solver) -> list[int]:
    """References of inputs and tunable parameters that have an adjoint."""
    found = []
    for variable in solver.image.variables:
        if variable.causality != "input" and variable.variability != "tunable":
            continue
        try:
            solver.adjoint([], [variable.name], [])
        except fm.SolverError:
            continue
        found.append(variable.index)
    return found


def repeated(solver: fm.Solver, unknowns: list[int], knowns: list[int]) -> Callable[[], None]:
    rows, columns = ffi.new("uint32_t[]", unknowns), ffi.new("uint32_t[]", knowns)
    seed, result = ffi.new("double[]", [1.0] * len(unknowns)), ffi.new("double[]", len(knowns))
    arguments = (solver.instance, rows, len(unknowns), columns, len(knowns), seed, result)

    def run() -> None:
        for _ in range(CALLS):
            lib.fm_adjoint_derivative(*arguments)

    return run


def empty(solver: fm.Solver) -> None:
    for _ in range(CALLS):
        lib.fm_time(solver.instance)


def measure(name: str) -> str:
    solver = fm.Solver(chain() if name == "chain" else read_model(name), derivatives=True)
    solver.assemble()
    unknowns = [
        v.index for v in solver.image.variables if v.kind == "qdd" or v.description.startswith("time derivative of w")
    ]
    knowns = knowns_of(solver)
    counts = (min(10, len(knowns)), min(100, len(knowns)))
    calls = [lambda: solver.evaluate(CALLS), lambda: empty(solver)]
    calls += [repeated(solver, unknowns, knowns[:count]) for count in counts]
    least = np.min([[seconds(call) for call in calls] for _ in range(ROUNDS)], axis=0) / CALLS
    evaluation, call, *adjoints = least
    each = ", ".join(f"{(a - call) / evaluation:.1f} at {n}" for a, n in zip(adjoints, counts, strict=True))
    return f"{name}: an evaluation takes {evaluation * 1e6:.2f} us, an adjoint as much as {each} knowns"


if __name__ == "__main__":
    for model in MODELS:
        print(measure(model), flush=True)
