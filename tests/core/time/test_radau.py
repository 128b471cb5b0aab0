"""Radau IIA for stiff mechanisms: its order, its steps where stiffness says nothing about the motion, and the same
motions as by the explicit scheme.
"""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.readers import read_model
from support.both_schemes import agree, ends, started
from support.braked import stick_slip
from support.closed import space
from support.strategies import Case, trees
from support.sweeps import examples, seeds

ERRORS = 100
"""Times the tolerance: what may come of a motion of less than a second."""


def swing(stiffness: float, damping: float, q0: float = 0.0) -> fm.ModelImage:
    """A pendulum on the tip of an arm, the arm on a stiff pin in the ground."""
    model = fm.Model("swing")
    arm, bob = (fm.Body(name, mass=1.0, com=(0, 0, -0.25), inertia=(0.02, 0.02, 0.02)) for name in ("arm", "bob"))
    model.add(
        arm, bob, fm.Revolute("A", model.ground.at(), arm.at(), axis="y", stiffness=stiffness, damping=damping, q0=q0),
        fm.Revolute("B", arm.at(0, 0, -0.5), bob.at(), axis="y", q0=1.0),
    )  # fmt: skip
    return compile(model, everything=True)


def beam(elements: int, modulus: float = 50.0, delay: float = 1e-4) -> fm.ModelImage:
    """A cantilever of 1 m and 0.5 kg let go from the horizontal: rigid elements with springs of EI = `modulus` N.m2."""
    length, mass = 1.0 / elements, 0.5 / elements
    model = fm.Model("beam")
    before: Any = model.ground.at()
    for i in range(elements):
        part = fm.Body(f"b{i}", mass=mass, com=(length / 2, 0, 0), inertia=(mass * length**2 / 12,) * 3)
        k = modulus / length * (2 if i == 0 else 1)
        model.add(part, fm.Revolute(f"J{i}", before, part.at(), axis="y", stiffness=k, damping=delay * k))
        before = part.at(length, 0, 0)
    return compile(model, everything=True)


def order(image: fm.ModelImage, stop: float) -> float:
    """Power of the mean step with which the error at the end falls."""
    found, steps = ends(image, stop, "radau", [10.0**-n for n in range(4, 10)])
    exact = ends(image, stop, "radau", [1e-12])[0][0]
    return float(-np.polyfit(np.log(steps), [np.log(np.abs(one - exact).max()) for one in found], 1)[0])


def test_order_is_five() -> None:
    assert_allclose(order(swing(3.0, 0.1, 0.5), 1.0), 5.0, atol=0.5)  # the next power of the steps is a part


def test_order_is_at_least_three_on_a_stiff_pin() -> None:
    """1e7 N.m/rad and 1e4 N.m.s/rad, whose own motion is over in 1e-6 s, or as slow as a second."""
    assert order(swing(1e7, 1e4), 1.0) > 3.0


@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-8])
def test_error_is_the_tolerance(tolerance: float) -> None:
    image = beam(8)
    (found,), _ = ends(image, 0.1, "radau", [tolerance])
    (exact,), _ = ends(image, 0.1, "dopri5", [1e-11])
    assert (np.abs(found - exact) / np.maximum(1.0, np.abs(exact))).max() < ERRORS * tolerance


def test_steps_follow_the_motion_and_not_the_stiffness() -> None:
    """On the slow motion a hundred times the stiffness and damping changes hardly anything."""
    slow = [ends(swing(k, 1e-2 * k), 2.0, "radau", [1e-6])[1][0] for k in (1e4, 1e6, 1e8)]
    assert max(slow) < 2 * min(slow)
    assert slow[1] < 0.02 * ends(swing(1e6, 1e4), 0.1, "dopri5", [1e-6])[1][0] * 20


def swinging_link(bending: float, elements: int = 4) -> fm.ModelImage:
    """A flexible link of 1 kg and EI = `bending` N.m2 swings on a pin, undeformed at the start."""
    model = fm.Model("swinging", gravity=(0, -9.81, 0))
    link = fm.FlexibleLink("l", length=1.0, EIz=bending, mass=1.0, damping=1e-2, elements=elements, plane="xy")
    model.add(link, fm.Revolute("A", model.ground.at(), link.base, axis="z", q0=0.4))
    return compile(model, everything=True)


def test_a_flexible_link_has_the_order_and_the_steps_of_its_motion() -> None:
    assert order(swinging_link(1e4), 0.5) > 3.5
    taken = [ends(swinging_link(bending), 0.5, "radau", [1e-7])[1][0] for bending in (1e4, 1e6, 1e8)]
    assert max(taken) < 2 * min(taken)


@pytest.mark.parametrize(
    ("bending", "elements", "dynamics"),
    [*((EI, 4, "riccati") for EI in (1e4, 1e6, 1e8)), (1e6, 4, "copcod"), (1e8, 4, "copcod"), (1e8, 40, "riccati")],
)
def test_forces_of_a_stiff_link_have_the_order_of_its_motion(bending: float, elements: int, dynamics: str) -> None:
    """Within the steps, too: forces are a stiffness of up to 4e8 N.m/rad times the errors of positions.

    Few coordinates are found by Newton's method; the others stage by stage, whose errors stiff parts make much of.
    """
    image, names = swinging_link(bending, elements), ("A.q", "A.qd", "A.reaction.f")

    def motion(tolerance: float) -> tuple[float, list[np.ndarray]]:
        solver, rows = started(image, scheme="radau", tolerance=tolerance, dynamics=dynamics), []
        for stop in np.linspace(0.05, 0.5, 10):
            solver.step(float(stop))
            rows.append([np.ravel(solver.get(name)) for name in names])
        return solver.get("solver.steps"), [np.array(column) for column in zip(*rows, strict=True)]

    _, exact = motion(1e-11)
    steps, found = zip(*(motion(10.0**-n) for n in np.arange(3.0, 8.0, 0.5)), strict=True)
    errors = [[np.abs(a - b).max() for a, b in zip(one, exact, strict=True)] for one in found]
    powers = -np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert (powers > [3.0, 3.0, 2.5]).all()  # measured: 4.3 to 5.6 of each
    assert errors[0][2] < 0.02  # of 30 N, at a tolerance of 1e-3


def test_a_beam_takes_a_tenth_of_the_steps() -> None:
    image = beam(20)
    (implicit,), (explicit,) = (ends(image, 0.05, scheme, [1e-5])[1] for scheme in ("radau", "dopri5"))
    assert 8 * implicit < explicit


@pytest.mark.parametrize("elements", [20, 30])
def test_the_stages_of_a_beam_converge_in_three_iterations(elements: int) -> None:
    """All stages together, and of more elements one after the other."""
    solver = started(beam(elements), scheme="radau", tolerance=1e-8)
    solver.step(0.2)
    assert solver.get("solver.evaluations") < 12.0 * solver.get("solver.steps")  # three each, and three beside


@examples(10, 25, case=trees(max_bodies=4))
def test_trees_with_stiff_springs_move_as_by_the_explicit_scheme(case: Case) -> None:
    agree(compile(case.model, everything=True), 0.1, case.inputs)


@pytest.mark.parametrize(
    "name", ["four_bar", "bricard", "parallel_cranks", "four_link_flexible", "slider_crank", "ladder"]
)
def test_loops_move_as_by_the_explicit_scheme(name: str) -> None:
    image = compile(read_model(name), everything=True)
    (found,), _ = ends(image, 0.3, "radau", [1e-8])
    (exact,), _ = ends(image, 0.3, "dopri5", [1e-10])
    assert_allclose(found, exact, rtol=1e-5, atol=1e-5 * max(1.0, np.abs(exact).max()))


@pytest.mark.parametrize("seed", seeds(2, 40, start=40))
def test_loops_with_stiff_springs_move_as_by_the_explicit_scheme(seed: int) -> None:
    agree(compile(space(seed, spare=1).model, everything=True), 0.2)


def test_friction_sticks_and_slips_as_by_the_explicit_scheme() -> None:
    image = compile(stick_slip(), everything=True)
    exact = ends(image, 2.0, "dopri5", [1e-10])[0][0]
    for found, tolerance in zip(ends(image, 2.0, "radau", [1e-5, 1e-7])[0], [1e-5, 1e-7], strict=True):
        assert np.abs(found - exact).max() < ERRORS * tolerance


def test_steps_after_friction_sticks_or_slips_are_neither_refused_nor_many() -> None:
    """They begin short, and their dense output leaves a bound to the right side: 265 steps."""
    solver = started(compile(stick_slip(), everything=True), scheme="radau", tolerance=1e-8)
    solver.step(2.0)
    assert solver.get("solver.rejected") <= 2
    assert solver.get("solver.steps") < 350


@pytest.mark.parametrize("scheme", ["dopri5", "dop853", "radau", "auto"])
@pytest.mark.parametrize("tolerance", [1e-3, 1e-4, 1e-6])
def test_switches_cost_the_same_whatever_the_communication_step(scheme: str, tolerance: float) -> None:
    """A law leaves a bound at rest: long steps were looked through in a hundred thousand evaluations."""

    def evaluations(steps: int) -> float:
        solver = started(compile(stick_slip(), everything=True), scheme=scheme, tolerance=tolerance)
        for k in range(steps):
            solver.step(2.0 * (k + 1) / steps)
        return float(solver.get("solver.evaluations"))

    counts = [evaluations(steps) for steps in (1, 5, 200)]
    assert max(counts) < 1.3 * min(counts) and max(counts) < 2000


def driven() -> fm.ModelImage:
    """A rod under a hinge that follows a path."""
    model = fm.Model("driven", gravity=(0, 0, -2))
    upper, lower = fm.Body.rod("upper", length=1.0, mass=1.0), fm.Body.rod("lower", length=0.8, mass=0.5)
    path = fm.Path((0.0,), ((0.1, 0.3, -0.5, 0.4, 0.2, -0.3, 0.2, -0.05),))
    model.add(upper, fm.Joint("A", model.ground.at(), upper.base, modes=(fm.Turn("y", role="excited", path=path),)))
    model.add(lower, fm.Revolute("B", upper.tip, lower.base, axis="y", q0=-0.4, u0=0.3, stiffness=1.0))
    return compile(model, everything=True)


@pytest.mark.parametrize("image", [driven(), swing(3.0, 0.1, 0.5)], ids=["driven", "swing"])
def test_steps_follow_the_root_of_the_tolerance(image: fm.ModelImage) -> None:
    """A hundred times as fine takes 100^(1/5) times as many steps, also where accelerations depend on the time."""
    steps = [ends(image, 2.0, "radau", [tolerance])[1][0] for tolerance in (1e-6, 1e-8)]
    assert_allclose(steps[1] / steps[0], 100**0.2, rtol=0.1)


def test_steps_whose_stages_do_not_converge_are_refused() -> None:
    """A body on a hinge between stiff springs, one of which hardly damps: errors stay a tenth of the tolerance."""
    model = fm.Model("between", gravity=(0, 3, -9.81))
    body = fm.Body("b", mass=1.6, com=(-0.2, 0.2, 0.1), inertia=(0.1, 0.12, 0.15))
    at = model.ground.at(0.04, -0.26, 0.11), body.at(-0.08, 0.05, -0.14)
    model.add(body, fm.Revolute("J", *at, axis="x", q0=0.19, u0=7.5))
    for name, F, M, k, d, free in (
        ("one", (-0.87, 0.7, 0.97), (-0.15, -0.3, -0.21), 7.3e5, 700.0, 0.64),
        ("other", (-0.19, -0.55, 0.22), (0.22, -0.09, 0.26), 2.2e6, 6.3e4, 0.92),
    ):
        model.add(fm.Spring(name, model.ground.at(*F), body.at(*M), stiffness=k, damping=d, free_length=free))
    image = compile(model, everything=True)
    (exact,), _ = ends(image, 0.1, "dop853", [1e-12])
    for tolerance in (1e-3, 1e-4):
        (found,), _ = ends(image, 0.1, "radau", [tolerance])
        assert np.abs(found - exact).max() < 0.1 * tolerance


@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
def test_a_motion_that_depends_on_time_is_that_of_another_scheme(dynamics: str) -> None:
    """A pendulum on a slide that shakes it faster than it swings: each stage has the slide's acceleration at its own
    time."""
    model = fm.Model("shaken")
    slide = fm.Slide("x", role="excited", path=fm.Path.sine(0.05, 4.0))
    cart, rod = fm.Body.box("cart", size=(0.1, 0.1, 0.1), mass=1.0), fm.Body.rod("rod", length=0.5, mass=1.0)
    joint = fm.Joint("S", model.ground.at(), cart.at(), modes=[slide])
    model.add(cart, rod, joint, fm.Revolute("A", cart.at(), rod.base, axis="y", q0=0.4, stiffness=3.0, damping=0.1))
    runs = []
    for scheme, tolerance in (("radau", 1e-9), ("dop853", 1e-12)):
        solver = fm.Solver(fm.compile(model, scheme=scheme, tolerance=tolerance, dynamics=dynamics))
        solver.assemble()
        solver.step(1.0)
        runs.append((solver.get("A.q"), solver.get("A.qd"), solver.get("solver.steps")))
    assert_allclose(runs[0][:2], runs[1][:2], rtol=0, atol=1e-7)
    assert runs[0][2] < 1000
