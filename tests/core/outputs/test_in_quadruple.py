"""Values and exact derivatives beside those of the core in numbers of 113 bits, which takes derivatives by differences:
states, inputs and parameters, of rates and outputs, in a motion that a host integrates.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import fmumbs as fm
from fmumbs.compiler.layout import lib
from fmumbs.readers import read_model
from oracle.quadruple import Point, values_and_derivatives
from support.closed import CLOSING, cammed, closed_by, space
from support.drawing.mechanism import Refused, draw
from support.host import by_reference
from support.nonholonomic import nonholonomic
from support.sweeps import examples, first, seeds
from support.touching import CASES, touching

MODELS = sorted(path.stem for path in (Path(__file__).parents[3] / "models").glob("*.py"))

EXACT = 1e-9
"""Of a row's largest derivative, or a hundredth of the largest of all."""
ROUND_OFF = 1e-9
"""Of a value's size, or a thousandth of the largest of all: what is zero is a sum of others."""
LONG = {"branch_chain": 1e-6}
"""EXACT of a chain of a thousand bodies, whose derivatives are those of its inverse dynamics: 2e-7 was seen."""
TRANSPOSED = 1e-12
"""Of the sum of the sizes of all products in v' A s: the round-off of both sweeps."""
LEAST_ROW = 1e-3
"""Of the median row: no row counts as less, since what is zero is a sum of others."""
KINKS = (".slip", ".quat[")
"""Sizes, at zero; quaternions have the sign that continues their past."""
CONDITION = 1e3
"""Times the change by the last digits of all states: round-off of a thousand bodies, each with some of it."""
FEW = 20
"""States and parameters of one model, drawn, and five times as many outputs: bodies have ten, joints forty."""


def check(
    solver: fm.Solver, seed: int = 1, exact: float = EXACT, off: float = 0.0, apart: bool = False, element: str = ""
) -> None:
    """off: by how much of their sizes the states are moved, off the constraints and quaternions off unit length. apart:
    rows of different units, each beside its own largest change by the sizes of the knowns. element: its parameters are
    all asked for, others are drawn.
    """
    point = Point(solver)
    rng = np.random.default_rng(seed)
    if off > 0.0:
        point.move_to(point.x + off * point.nominals * rng.uniform(-1, 1, len(point.x)))
    table = list(enumerate(point.variables))
    outputs = [i for i, v in table if v.causality == "output" and v.variability == "continuous"]
    outputs = [i for i in outputs if not any(kink in point.variables[i].name for kink in KINKS)]
    inputs = [i for i, v in table if v.causality == "input"]
    parameters = [i for i, v in table if v.variability == "tunable" and solver.get(v.name) != 0.0]

    def few(of: list[int], count: int = FEW) -> list[int]:
        return sorted(rng.choice(of, min(count, len(of)), replace=False).tolist())

    unknowns = [u for u in [*point.rates, *few(outputs, 5 * FEW)] if point.has_adjoint(u, point.states[0])]
    own = [i for i in parameters if element and point.variables[i].name.startswith(f"{element}.")]
    parameters = [i for i in parameters if i not in own]
    knowns = [k for k in [*few(inputs), *own, *few(parameters)] if point.has_adjoint(point.rates[0], k)]
    knowns = [*few(point.states), *knowns]
    value, expected = values_and_derivatives(point, unknowns, knowns)
    signs = rng.choice([-1.0, 1.0], len(point.x))
    value_beside, beside = values_and_derivatives(point, unknowns, knowns, point.x * (1.0 + 2.0**-52 * signs))
    found = np.array([point.column(unknowns, k) for k in knowns]).T
    has_both = ~np.isnan(expected).all(axis=0)  # sides; a parameter at a bound has one, and no difference
    assert all(knowns[k] in (*own, *parameters) for k in np.flatnonzero(~has_both))
    found, expected, beside = (one[:, has_both] for one in (found, expected, beside))
    compared = [k for k, both in zip(knowns, has_both, strict=True) if both]
    assert np.isfinite(expected).all() and np.isfinite(beside).all()
    if apart:
        found, expected, beside = (point.sizes(compared) * one for one in (found, expected, beside))
    size = np.abs(expected).max(axis=1, keepdims=True)
    size = np.maximum(size, LEAST_ROW * np.median(size) if apart else 1e-2 * np.abs(expected).max())
    allowed = exact * size + CONDITION * np.abs(beside - expected).max(axis=1, keepdims=True)
    wrong = np.argwhere(~(np.abs(found - expected) <= allowed))
    assert not len(wrong), [
        (point.name(unknowns[i]), point.name(compared[k]), found[i, k], expected[i, k]) for i, k in wrong[:5]
    ]
    check_values(point, unknowns, value, CONDITION * np.abs(value_beside - value))
    weights = rng.uniform(-1, 1, len(unknowns)) / (size[:, 0] if apart else 1.0)
    seeds = rng.uniform(-1, 1, len(knowns)) * (point.sizes(knowns) if apart else 1.0)
    check_adjoint(point, unknowns, knowns, weights, seeds, TRANSPOSED * exact / EXACT)


def check_adjoint(
    point: Point, unknowns: list[int], knowns: list[int], v: NDArray[np.float64], s: NDArray[np.float64], allowed: float
) -> None:
    forward = by_reference(point.solver, lib.fm_directional_derivative, unknowns, knowns, s, len(unknowns))
    back = by_reference(point.solver, lib.fm_adjoint_derivative, unknowns, knowns, v, len(knowns))
    size = np.abs(v) @ np.abs(forward) + np.abs(back) @ np.abs(s)
    assert abs(v @ forward - back @ s) <= allowed * size


def check_values(point: Point, unknowns: list[int], expected: Any, moved: Any) -> None:
    """moved (unknowns): how far round-off of the states moves a value."""
    found = point.values(unknowns)
    angle = np.array([u < len(point.variables) and point.variables[u].unit == "rad" for u in unknowns])
    apart = np.where(angle, np.abs(np.sin((found - expected) / 2.0)), np.abs(found - expected))  # some of cut joints
    allowed = ROUND_OFF * np.maximum(np.abs(expected), 1e-3 * np.abs(expected).max()) + moved
    wrong = np.flatnonzero(~(apart <= allowed))
    assert not len(wrong), [(point.name(unknowns[i]), found[i], expected[i], allowed[i]) for i in wrong[:5]]


def pushed(model: Any, **options: Any) -> fm.Solver:
    """With forces and torques at all inputs that are such: where one is zero, loads by its size have a kink."""
    solver = fm.Solver(model, derivatives=True, **options)
    rng = np.random.default_rng(7)
    inputs = [v for v in solver.image.variables if v.causality == "input" and v.unit in ("N", "N.m")]
    solver.set_all({v.name: rng.uniform(0.5, 1.5) for v in inputs})
    solver.assemble()
    return solver


@pytest.mark.parametrize("name", MODELS)
def test_models_of_the_package(name: str) -> None:
    solver = pushed(read_model(name))
    solver.step(0.1)
    try:
        solver.adjoint([], [], [])
    except fm.SolverError as error:
        pytest.skip(str(error))
    check(solver, exact=LONG.get(name, EXACT))


def has_redundant_rows(solver: fm.Solver) -> bool:
    """Off the constraints the choice among them changes the motion, and two precisions choose otherwise."""
    rows, speeds = len(solver.image.arrays["row_kind"]), int(solver.image.sizes["speeds"])
    return rows > speeds - solver.mobility


def distance(seed: int) -> float:
    return float(10.0 ** np.random.default_rng(seed).uniform(-6, -2))


OFF = ("four_bar", "bennett", "governor", "heavy_top", "cardan_shaft", "engine", "flexible_four_bar", "rpsup", "crane")


@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@pytest.mark.parametrize("name", first(3, OFF))
def test_off_the_constraints(name: str, dynamics: str) -> None:
    """There the pull changes with all that masses, constraints and velocities follow."""
    solver = pushed(read_model(name), dynamics=dynamics)
    solver.step(0.1)
    check(solver, off=distance(len(name)))


@pytest.mark.parametrize("seed", seeds(6, 60))
def test_loops_off_the_constraints(seed: int) -> None:
    """Whatever closes them, with forces along it."""
    case = space(seed, ("spherical", "revolute", None)[seed % 3], driven=seed % 2 == 1)
    solver = pushed(case.model)
    if has_redundant_rows(solver):
        pytest.skip("redundant rows")
    check(solver, seed, off=distance(seed))


@pytest.mark.parametrize("kind", CLOSING)
def test_joints_of_loops_off_the_constraints(kind: str) -> None:
    check(pushed(closed_by(kind)), off=1e-3, apart=True)


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("seed", seeds(2, 40))
def test_cams(seed: int, closed: bool) -> None:
    """Polynomials and circles over a coordinate, in trees and loops."""
    solver = pushed(cammed(seed, closed).model)
    if has_redundant_rows(solver):
        pytest.skip("redundant rows")
    check(solver, seed)
    check(solver, seed, off=distance(seed))


def test_an_eccentric() -> None:
    """A circle over an angle has all derivatives, here by turns of 2 rad."""
    model = fm.Model("eccentric")
    shaft, mass = fm.Body("shaft", mass=1.0, inertia=(1, 0.01, 1)), fm.Body("mass", mass=0.8, inertia=(1, 1, 1))
    A = fm.Revolute("A", model.ground.at(), shaft.at(), axis="y", q0=0.4, u0=5.0)
    B = fm.Prismatic("B", model.ground.at(), mass.at(), axis="z")
    model.add(shaft, mass, A, B, fm.Cam("C", A, B, fm.Path.sine(0.2, 0.5, phase=0.3)))
    check(pushed(model), off=1e-3)


VALVE = {"rated_flow": 1e-3, "rated_drop": 35e5, "supply": 2e7, "tank": 1e5}


@pytest.mark.parametrize("seed", seeds(3, 60))
def test_cylinders(seed: int) -> None:
    """Between bodies of a loop or a tree: with flows as inputs, and with a valve whose opening is cut or not."""
    rng = np.random.default_rng(seed)
    plain = closed_by("ball") if seed % 2 else closed_by("screw")
    swing, body = plain.bodies
    model = fm.Model("rams", gravity=plain.gravity)
    model.add(*(one for one in plain.elements if seed % 4 or getattr(one, "name", "") != "c"))
    for k, opening in enumerate((None, 0.4, -0.3, 1.2, -1.1)[seed % 3 : seed % 3 + 3]):
        valve: dict[str, Any] = {} if opening is None else {"valve": fm.Valve(**VALVE), "opening": opening}
        area_A, area_B, dead_A, dead_B = rng.uniform(0.5, 1.0, 4) * (2e-3, 1e-3, 1e-3, 1e-3)
        p_A, p_B = rng.uniform(1e6, 5e6, 2)
        sizes = {"area_A": area_A, "area_B": area_B, "dead_volume_A": dead_A, "dead_volume_B": dead_B, "stroke": 6.0}
        P, Q = model.ground.at(*rng.uniform(2.0, 3.0, 3)), (swing, body)[k % 2].at(*rng.uniform(-0.2, 0.2, 3))
        sizes |= {"closed_length": 0.2, "leakage": 1e-11, "pressure_A": p_A, "pressure_B": p_B}
        model.add(fm.Cylinder(f"ram{k}", P, Q, **sizes, **valve))
    solver = pushed(model)
    check(solver, seed, apart=True)
    check(solver, seed, off=1e-4, apart=True)


@pytest.mark.parametrize("seed", seeds(4, 40))
def test_motors(seed: int) -> None:
    """In a loop, with the current as a state or at once, at its limit or not, and a gear that loses either way."""
    rng, plain = np.random.default_rng(seed), closed_by("ball")
    held, inductance = seed % 2 == 1, (2e-3, 0.0)[seed // 2 % 2]
    hinge = next(one for one in plain.joints if one.name == "A")
    sizes: dict[str, Any] = {
        "resistance": 0.5,
        "constant": 0.05,
        "gear": 10.0,
        "rotor_inertia": 1e-5,
        "inductance": inductance,
    }
    limits: dict[str, Any] = {
        "current_limit": 4.0 if held else 100.0,
        "voltage_limit": 40.0,
        "efficiency": rng.uniform(0.5, 0.9),
    }
    model = fm.Model("driven", gravity=plain.gravity)
    model.add(
        *plain.elements, fm.Motor("M", hinge, voltage=rng.choice((-1, 1)) * rng.uniform(10, 20), **sizes, **limits)
    )
    solver = pushed(model)
    solver.step(0.02)
    assert (abs(solver.get("M.current")) == 4.0) == held
    check(solver, seed, apart=True)
    point = Point(solver)
    if held and inductance > 0.0:  # whether it is held depends on the last digits of the state, which check() moves
        assert not any(point.column([point.rates[-1]], k)[0] for k in point.states)


@examples(4, 60, nonholonomic())
def test_nonholonomic_joints(plain: fm.Model) -> None:
    """Random ones with free, excited and locked modes, springs and dampers, on a body that moves freely."""
    model = fm.Model("sprung", gravity=plain.gravity)
    each = np.ones(len(plain["J"].q0))
    model.add(*plain.bodies, plain["A"], replace(plain["J"], stiffness=3.0 * each, damping=0.4 * each, rest=0.2 * each))
    solver = pushed(model)
    assert int(solver.image.sizes["generals"]) == 1
    check(solver, apart=True, element="J")


@pytest.mark.parametrize("seed", seeds(1, 10))
@pytest.mark.parametrize("slow", [True, False])
@pytest.mark.parametrize(("shape", "surface", "friction"), first(7, CASES))
def test_contacts(shape: str, surface: str, friction: str, slow: bool, seed: int) -> None:
    """That stick and slip, with bristles bent, on a body that moves, too; by other seeds than 0 as it comes."""
    solver = pushed(touching(seed, shape, surface, friction, slow))
    solver.step(2e-3)
    states = {solver.get(v.name) for v in solver.image.variables if v.kind == "state" and v.causality == "output"}
    assert seed > 0 or states - {0.0} == ({1.0} if friction == "none" or (slow and friction != "creep") else {2.0})
    check(solver, seed, apart=True, element="touch")


@pytest.mark.parametrize("seed", seeds(12, 600))
def test_any_mechanism(seed: int) -> None:
    try:
        solver = pushed(draw(seed).model)
        solver.step(1e-3)
        solver.adjoint([], [], [])
    except (Refused, fm.SolverError, fm.AssemblyError) as error:
        pytest.skip(str(error))
    if solver.mobility == 0 or not np.any(solver.image.arrays["gravity"]):
        pytest.skip("nothing moves, or at rest the pull to the constraints has a kink")
    check(solver, seed)
    if not has_redundant_rows(solver):
        check(solver, seed, off=distance(seed))
