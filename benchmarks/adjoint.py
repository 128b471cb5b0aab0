"""What an adjoint costs in evaluations, at ten knowns and at as many as a hundred: python benchmarks/adjoint.py.

One line a mechanism, all or those that are named: the least of several rounds of all, taken in turns in one process.
The unknowns are the rates of all states, the knowns inputs and parameters, and at last all states with the first ten of
these. An evaluation is that of accelerations,
fm_evaluate. Adjoints are measured where a parameter was changed before, with the evaluation that this takes, and again
at the same numbers, as one row of a Jacobian comes after the other. The calls from Python, about 0.2 us each, and
setting the parameter are subtracted.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np

import fmumbs as fm
from fmumbs.compiler.layout import ffi, lib
from fmumbs.readers import model_names, read_model

ROUNDS, CALLS = 20, 1000
FEW, MANY = 10, 100
CHAINS = (10, 20, 100)


def chain(bodies: int = 20) -> fm.Model:
    """Bodies on turns about x, y and z in turns."""
    model = fm.Model(f"chain_of_{bodies}")
    carrier = model.ground
    for i in range(bodies):
        body = fm.Body(f"b{i}", mass=1.0, com=(0.3, 0.02, 0.01), inertia=(0.1, 0.2, 0.25))
        place = carrier.at(0.5 if i else 0.0, 0.0, 0.0)
        model.add(body, fm.Revolute(f"j{i}", place, body.at(), axis="xyz"[i % 3], q0=0.1 * (i % 20), u0=0.3))
        carrier = body
    return model


def seconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def knowns_of(solver: fm.Solver) -> list[int]:
    """References of inputs and tunable parameters that have an adjoint, no more than are measured."""
    found: list[int] = []
    for variable in solver.image.variables:
        if len(found) == MANY:
            break
        if variable.causality != "input" and variable.variability != "tunable":
            continue
        try:
            solver.adjoint([], [variable.name], [])
        except fm.SolverError:
            continue
        found.append(variable.index)
    return found


def rates_of(solver: fm.Solver) -> list[int]:
    """References of the rates of all states: behind those of the table, the time and the states."""
    states = lib.fm_continuous_count(solver.instance)
    first = lib.fm_variable_count(solver.instance) + 1 + states
    return list(range(first, first + states))


class Adjoint:
    """Repeated adjoints by some knowns, with arrays that are made once; the last known is what is changed."""

    def __init__(self, solver: fm.Solver, knowns: list[int]) -> None:
        """Of `knowns` the last one must be a parameter."""
        rates = rates_of(solver)
        self.solver, self.changed = solver, ffi.new("uint32_t *", knowns[-1])
        start = ffi.new("double *")
        lib.fm_get(solver.instance, self.changed, 1, start)
        self.values = [ffi.new("double *", value) for value in (start[0], start[0] * (1.0 + 1e-9) + 1e-12)]
        rows, columns = ffi.new("uint32_t[]", rates), ffi.new("uint32_t[]", knowns)
        seed, result = ffi.new("double[]", [1.0] * len(rates)), ffi.new("double[]", len(knowns))
        self.arguments = (solver.instance, rows, len(rates), columns, len(knowns), seed, result)

    def again(self) -> None:
        for _ in range(CALLS):
            lib.fm_adjoint_derivative(*self.arguments)

    def at_new_numbers(self) -> None:
        for i in range(CALLS):
            lib.fm_set(self.solver.instance, self.changed, 1, self.values[i % 2])
            lib.fm_adjoint_derivative(*self.arguments)

    def change(self) -> None:
        for i in range(CALLS):
            lib.fm_set(self.solver.instance, self.changed, 1, self.values[i % 2])

    def call(self) -> None:
        for _ in range(CALLS):
            lib.fm_time(self.solver.instance)


def measure(name: str) -> str:
    model = chain(int(name.removeprefix("chain"))) if name.startswith("chain") else read_model(name)
    solver = fm.Solver(model, derivatives=True)
    solver.assemble()
    try:
        solver.adjoint([], [], [])
    except fm.SolverError:
        return f"{name}: no adjoint"
    knowns = knowns_of(solver)
    counts = (min(FEW, len(knowns)), min(MANY, len(knowns)))
    rates = rates_of(solver)
    states = [reference - len(rates) for reference in rates]
    few, many, all_states = (Adjoint(solver, each) for each in (
        knowns[: counts[0]], knowns[: counts[1]], [*states, *knowns[: counts[0]]]))  # fmt: skip
    calls = [
        lambda: solver.evaluate(CALLS),
        few.call,
        few.change,
        few.again,
        few.at_new_numbers,
        many.again,
        many.at_new_numbers,
        all_states.again,
        all_states.at_new_numbers,
    ]
    evaluation, call, change, *adjoints = np.min([[seconds(c) for c in calls] for _ in range(ROUNDS)], axis=0)
    cost = [(a - (change if i % 2 else 0.0) - call) / evaluation for i, a in enumerate(adjoints)]
    each = ", ".join(f"{cost[2 * i + 1]:.1f} and again {cost[2 * i]:.1f} at {count}" for i, count in enumerate(counts))
    each += f" knowns, {cost[5]:.1f} and again {cost[4]:.1f} with {len(states)} states"
    return f"{name}: an evaluation takes {evaluation / CALLS * 1e6:.2f} us, an adjoint as much as {each}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=[*(f"chain{count}" for count in CHAINS), *model_names()])
    for model in parser.parse_args().models:
        print(measure(model), flush=True)
