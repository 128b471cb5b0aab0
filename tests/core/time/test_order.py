"""The orders of the schemes of Dormand and Prince and of their dense output, each from single steps of a known length.

A step under a loose tolerance is as long as the communication step after a change, and ten times as long as what was
asked for where the integrator runs ahead. Halving it divides the error of a scheme of order p by 2^(p+1).
"""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.compiler.schemes import SCHEMES
from fmumbs.readers import read_model
from fmumbs.run import Solver

LOOSE, EXACT = 0.1, 1e-13

ORDERS = {"dopri5": (SCHEMES["dopri5"].order, 4), "dop853": (SCHEMES["dop853"].order, 7)}
"""Of the scheme, and of its dense output."""

NEAR = {"dopri5": 0.2, "dop853": 0.6}
"""Of the exponent: the next power of steps as long as these."""

AHEAD = 10
"""How many times as far as it was asked for the integrator goes after a change."""

FAR = 2.0
"""[s] after which the controller would have far longer steps than those that are measured."""


def tumbling() -> fm.Model:
    """A body that turns about all axes and whose ball joint is pulled back."""
    model = fm.Model("tumbling")
    body = fm.Body("body", mass=1.0, com=(0.1, 0.0, -0.4), inertia=(0.1, 0.2, 0.25))
    ball = fm.Spherical("A", model.ground.at(), body.at(), q0=(0.9, 0.2, -0.3, 0.1), u0=(0.5, -0.7, 0.6), stiffness=1.0)
    model.add(body, ball)
    return model


def linked() -> fm.Model:
    """Two rods, one below the other, about different axes and with little gravity: slow beside the steps."""
    model = fm.Model("linked", gravity=(0, 0, -2))
    upper, lower = fm.Body.rod("upper", length=1.0, mass=1.0), fm.Body.rod("lower", length=0.8, mass=0.5)
    A = fm.Revolute("A", model.ground.at(), upper.base, axis="y", q0=0.8, u0=0.5)
    B = fm.Revolute("B", upper.tip, lower.base, axis=(0, 0.8, 0.6), q0=-0.4, u0=0.3, stiffness=1.0)
    model.add(upper, lower, A, B)
    return model


def driven() -> fm.Model:
    """A rod under a hinge that follows a path, so that accelerations depend on the time itself."""
    model = fm.Model("driven", gravity=(0, 0, -2))
    upper, lower = fm.Body.rod("upper", length=1.0, mass=1.0), fm.Body.rod("lower", length=0.8, mass=0.5)
    path = fm.Path((0.0,), ((0.1, 0.3, -0.5, 0.4, 0.2, -0.3, 0.2, -0.05),))
    A = fm.Joint("A", model.ground.at(), upper.base, modes=(fm.Turn("y", role="excited", path=path),))
    model.add(upper, lower, A, fm.Revolute("B", upper.tip, lower.base, axis="y", q0=-0.4, u0=0.3, stiffness=1.0))
    return model


MODELS: dict[str, tuple[Callable[[], fm.Model], tuple[str, ...], str]] = {
    "linked": (linked, ("A.q", "B.q", "A.qd", "B.qd"), "A.tau"),
    "tumbling": (tumbling, ("A.q", "A.w"), "A.tau"),
    "driven": (driven, ("B.q", "B.qd"), "B.tau"),
}

FREE = ("linked", "tumbling")

STEPS = {"dopri5": (0.04, 0.02, 0.01), "dop853": (0.1, 0.07, 0.05)}
"""[s] by scheme."""


def read(solver: Solver, names: Sequence[str]) -> np.ndarray:
    return np.concatenate([np.atleast_1d(solver.get(name)) for name in names])


def change(solver: Solver, force: str) -> None:
    """And back: the integrator begins again where it is."""
    value = solver.get(force)
    solver.set(force, np.add(value, 1.0))
    solver.set(force, value)


def loose_and_exact(name: str, scheme: str) -> tuple[Solver, Solver, float, tuple[str, ...], str]:
    """Both at the same state; the first one's controller wants long steps."""
    build, names, force = MODELS[name]
    image = compile(build(), everything=True)
    loose = Solver(image.with_options(tolerance=LOOSE, scheme=scheme))
    exact = Solver(image.with_options(tolerance=EXACT))
    loose.assemble()
    t = 0.0
    while t < FAR:
        t += 2 * STEPS[scheme][0]
        loose.step(t)
    exact.assemble(t)
    variables = image.variables
    exact.set_state(loose.read(variables.positions()), loose.read(variables.speeds()))
    return loose, exact, t, names, force


def orders(errors: Sequence[float], steps: Sequence[float]) -> np.ndarray:
    return np.log(np.divide(errors[:-1], errors[1:])) / np.log(np.divide(steps[:-1], steps[1:]))


def errors_of(name: str, scheme: str, parts: Sequence[float], begin: float = 0.0) -> list[float]:
    """The largest error at these parts of one step, for each length of the step; `begin`: part asked for first."""
    loose, exact, t, names, force = loose_and_exact(name, scheme)
    here, there, errors = loose.state_save(), exact.state_save(), []
    for h in STEPS[scheme]:
        loose.state_load(here)
        exact.state_load(there)
        change(loose, force)
        if begin:
            loose.step(t + begin * h)
        taken, worst = loose.get("solver.steps"), []
        for part in parts:
            loose.step(t + part * h)
            exact.step(t + part * h)
            worst.append(np.abs(read(loose, names) - read(exact, names)).max())
        assert loose.get("solver.steps") == taken + 1
        errors.append(max(worst))
    return errors


@pytest.mark.parametrize("name", FREE)
@pytest.mark.parametrize("scheme", ORDERS)
def test_one_step_has_the_order_of_its_scheme(scheme: str, name: str) -> None:
    found = orders(errors_of(name, scheme, [1.0]), STEPS[scheme])
    assert_allclose(found[-1], ORDERS[scheme][0] + 1, atol=NEAR[scheme])


@pytest.mark.parametrize("name", FREE)
@pytest.mark.parametrize("scheme", ORDERS)
def test_dense_output_has_its_order(scheme: str, name: str) -> None:
    """At some places of one step, the largest of their errors; at its end it is the step itself."""
    errors = errors_of(name, scheme, [1 / AHEAD, 0.3, 0.5, 0.7, 0.9], begin=1e-9)
    assert_allclose(orders(errors, STEPS[scheme])[-1], ORDERS[scheme][1] + 1, atol=NEAR[scheme])
    assert errors[-1] > 0.0


@pytest.mark.parametrize("scheme", ORDERS)
def test_dense_output_of_a_motion_that_depends_on_time_has_at_least_its_order(scheme: str) -> None:
    errors = errors_of("driven", scheme, [1 / AHEAD, 0.3, 0.5, 0.7, 0.9], begin=1e-9)
    assert orders(errors, STEPS[scheme])[-1] > ORDERS[scheme][1] + 1 - NEAR[scheme]


@pytest.mark.parametrize("name", FREE)
@pytest.mark.parametrize("scheme", ORDERS)
def test_step_follows_the_root_of_the_tolerance(scheme: str, name: str) -> None:
    """With a scheme of order p, a tolerance that is 1e5 times as fine takes 10^(5/p) times as many steps."""
    image, steps = compile(MODELS[name][0](), everything=True), []
    for tolerance in (1e-7, 1e-12):
        solver = Solver(image.with_options(tolerance=tolerance, scheme=scheme))
        solver.assemble()
        solver.step(10.0)
        steps.append(solver.get("solver.steps"))
    assert_allclose(steps[1] / steps[0], 10 ** (5 / ORDERS[scheme][0]), rtol=0.1)


def test_dense_output_ends_in_the_corrected_state() -> None:
    """So a loop that is read shortly before the end of a step has hardly to be corrected."""
    solver = Solver(compile(read_model("four_bar"), everything=True).with_options(tolerance=1e-4, closure=CLOSED))
    solver.assemble()
    corrected, before, reads = 0, 0.0, []
    for t in 1e-4 * np.arange(1, 10_000):
        steps, iterations = solver.get("solver.steps"), solver.get("solver.iterations")
        solver.step(t)
        if solver.get("solver.steps") > steps:
            reads.append(before)
            corrected += solver.get("solver.iterations") > iterations
        before = solver.get("solver.iterations") - iterations
    assert len(reads) > 40 and corrected > 0.8 * len(reads)
    assert np.count_nonzero(reads) < 0.2 * len(reads)


CLOSED = 1e-6
"""Times the model's length: a step leaves more, and the last tenth of a millisecond less."""
