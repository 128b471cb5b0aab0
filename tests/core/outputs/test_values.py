"""Values by name: what may be set to what, and the derivatives of outputs with respect to inputs and to time."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.compiler.schemes import SCHEMES
from fmumbs.readers import read_model
from fmumbs.run import Solver
from support.every_kind import every_kind
from support.strategies import Case, trees

ROUND_OFF = 1e-13
"""Of values of order one after a few operations."""

LINEAR = 1e-9
"""Accelerations and forces are linear in the inputs, so that a difference has no error but round-off: 1e-16 times
the condition of 1e5 of small random trees, of what remains after the subtraction."""


def started(model: fm.Model) -> Solver:
    solver = Solver(compile(model, everything=True))
    solver.assemble()
    return solver


def names_of(solver: Solver, causality: str) -> list[str]:
    """Of real variables."""
    return [v.name for v in solver.image.variables if v.causality == causality and v.type == "real"]


def values(solver: Solver, names: list[str]) -> np.ndarray:
    return np.array([solver.get(name) for name in names])


# Rules -------------------------------------------------------------------------------------------------------


def mechanism() -> fm.Model:
    """One of each: a slide, a ball, a spring, a load."""
    model = fm.Model("mechanism")
    cart = fm.Body.box("cart", size=(0.4, 0.3, 0.2), mass=2.0)
    bob = fm.Body.rod("bob", length=0.5, mass=1.0, radius=0.05, along="-z")
    A = fm.Prismatic("A", model.ground.at(), cart.at(), axis="x", q0=0.2, u0=0.1, stiffness=10.0, rotor_inertia=0.5)
    B = fm.Spherical("B", cart.at(), bob.base, damping=0.1)
    S = fm.Spring("S", model.ground.at(1, 0, 0), bob.tip, stiffness=5.0, free_length=0.4)
    model.add(cart, bob, A, B, S, fm.Load("L", bob.tip, force=(0, 0.5, 0)))
    return model


UNITS = {
    "A.f": "N", "A.q": "m", "A.qd": "m/s", "A.qdd": "m/s2", "A.reaction.f[1]": "N", "A.wrench.t[3]": "N.m",
    "A.stiffness": "N/m", "A.damping": "N.s/m", "A.rest": "m", "A.rotor_inertia": "kg",
    "B.tau[2]": "N.m", "B.q[1]": "", "B.w[1]": "rad/s", "B.alpha[3]": "rad/s2", "B.stiffness": "N.m/rad",
    "B.damping": "N.m.s/rad", "cart.r[1]": "m", "cart.quat[4]": "", "cart.a[2]": "m/s2", "cart.mass": "kg",
    "cart.inertia[6]": "kg.m2", "bob.tip.v[1]": "m/s", "S.length": "m", "S.f": "N", "S.damping": "N.s/m",
    "L.force[1]": "N", "L.torque[3]": "N.m", "gravity[3]": "m/s2", "solver.energy": "J", "solver.step": "s",
    "solver.tolerance": "", "solver.steps": "",
}  # fmt: skip


def test_units() -> None:
    """A slide has newtons and metres where a turn has newton metres and radians."""
    variables = started(mechanism()).image.variables
    found = {name: variables.find(name) for name in UNITS}
    assert {name: v.unit for name, v in found.items() if v is not None} == UNITS


def test_start_values_are_those_of_the_model() -> None:
    solver = started(mechanism())
    assert (solver.get("A.q"), solver.get("A.qd"), solver.get("A.f")) == (0.2, 0.1, 0.0)
    assert solver.get("L.force").tolist() == [0, 0.5, 0]
    assert solver.get("gravity").tolist() == [0, 0, -9.81]
    assert (solver.get("S.stiffness"), solver.get("cart.mass"), solver.get("A.rotor_inertia")) == (5.0, 2.0, 0.5)


@pytest.mark.parametrize("name", ["A.f", "B.tau[2]", "L.force[3]", "cart.mass", "S.free_length", "gravity[1]", "A.q"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_only_finite_numbers_are_taken(name: str, value: float) -> None:
    solver = started(mechanism())
    before, energy = solver.get(name), solver.get("solver.energy")
    with pytest.raises(fm.SolverError, match=r"is refused: it must be a finite number"):
        solver.set(name, value)
    assert (solver.get(name), solver.get("solver.energy")) == (before, energy)
    solver.step(0.01)


def test_a_vector_is_taken_whole_or_not_at_all() -> None:
    solver = started(mechanism())
    with pytest.raises(fm.SolverError, match=r"L\.force\[2\] = nan"):
        solver.set("L.force", (1.0, np.nan, 3.0))
    assert solver.get("L.force").tolist() == [0, 0.5, 0]
    with pytest.raises(fm.SolverError, match=r"'L\.force' .* 3 "):
        solver.set("L.force", (1.0, 2.0))
    solver.set("L.force[2]", 7.0)
    assert solver.get("L.force").tolist() == [0, 7, 0]


@pytest.mark.parametrize("name", ["A.qdd", "cart.r[1]", "B.reaction.f[1]", "S.f", "solver.energy", "solver.steps"])
def test_what_is_computed_cannot_be_set(name: str) -> None:
    with pytest.raises(fm.SolverError, match="computed and cannot be set"):
        started(mechanism()).set(name, 1.0)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("cart.mass", "it must be at least 0: give zero or a positive number"),
        ("cart.inertia[2]", "it must be at least 0"),
        ("A.rotor_inertia", "it must be at least 0"),
    ],
)
def test_inertia_is_not_negative(name: str, why: str) -> None:
    with pytest.raises(fm.SolverError, match=why):
        started(mechanism()).set(name, -1.0)


@pytest.mark.parametrize(("name", "nearest"), [("A.qdot", "A.q"), ("cart.mas", "cart.mass"), ("C.q", r"[AB]\.q")])
def test_the_message_about_an_unknown_name_has_the_nearest(name: str, nearest: str) -> None:
    solver = started(mechanism())
    for call in (solver.get, lambda name: solver.set(name, 1.0), solver.output_derivative):
        with pytest.raises(fm.SolverError, match=f"no variable '{name}'.*{nearest}"):
            call(name)


def test_unknown_references_are_refused() -> None:
    solver = started(mechanism())
    with pytest.raises(fm.SolverError, match="no variable with reference 9999"):
        solver.read(np.array([0, 9999], dtype=np.uint32))


def test_outputs_follow_at_once_what_is_set() -> None:
    """Without a step: the slide's 3 kg with rotor and bob's share, pushed by its spring and by the input."""
    solver = started(mechanism())
    before = solver.get("A.qdd")
    solver.set("A.f", 4.0)
    pushed = solver.get("A.qdd")
    assert pushed > before
    solver.set("cart.mass", 200.0)
    assert 0 < abs(solver.get("A.qdd")) < abs(pushed)
    solver.set("cart.mass", 2.0)
    solver.set("A.f", 0.0)
    assert solver.get("A.qdd") == before


def test_start_values_may_be_set_and_then_ask_for_an_assembly() -> None:
    solver = started(mechanism())
    solver.step(0.1)
    solver.set("A.q", 0.5)
    with pytest.raises(fm.SolverError, match="not assembled"):
        solver.step(0.2)
    solver.assemble(solver.time)
    assert solver.get("A.q") == 0.5
    solver.step(0.2)


def test_quaternions_are_normalised_at_the_start() -> None:
    solver = started(mechanism())
    solver.set("B.q", (2.0, 0.0, 0.0, 2.0))
    solver.assemble()
    assert_allclose(solver.get("B.q"), (np.sqrt(0.5), 0, 0, np.sqrt(0.5)), rtol=ROUND_OFF)
    solver.set("B.q", (0.0, 0.0, 0.0, 0.0))
    with pytest.raises(fm.FmumbsError, match=r"joint 'B'.*quaternion is zero"):
        solver.assemble()


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("half", range(4))
def test_half_turns_about_each_axis_are_orientations(half: int, sign: float) -> None:
    solver = started(mechanism())
    solver.set("B.q", sign * np.eye(4)[half])
    solver.assemble()
    assert_allclose(np.abs(solver.get("B.q")), np.eye(4)[half], atol=ROUND_OFF)


def test_parameters_belong_to_the_instance() -> None:
    image = compile(mechanism(), everything=True)
    one, other = Solver(image), Solver(image)
    whole = ("solver.scheme", "solver.equilibrium", "solver.correction")
    for name in names_of(one, "parameter"):
        more = 1.0 if name in whole else 0.001 if name.startswith("solver.") else 0.25
        one.set(name, one.get(name) + more)
        assert one.get(name) == other.get(name) + more


def test_wrong_options_are_refused_at_once() -> None:
    schemes = len(SCHEMES)
    wrong = [("solver.scheme", schemes), ("solver.scheme", 2.5), ("solver.step", 0.0), ("solver.tolerance", 1e-20)]
    for name, value in wrong:
        solver = Solver(compile(mechanism()))
        before = solver.get(name)
        with pytest.raises(fm.SolverError, match=rf"{name} = \S+ is refused: it must be"):
            solver.set(name, value)
        assert solver.get(name) == before


# Orientation over many turns -----------------------------------------------------------------------------------


TURNING = 0.2
"""[rad] between two looks at a body: a quaternion changes by half of it. A flip of its sign changes it by 2."""


def test_quaternion_of_a_turning_body_never_flips() -> None:
    """Thirty turns about a revolute; after one turn it is the negative of the first, after two the same."""
    model = fm.Model("wheel", gravity=(0, 0, 0))
    wheel = fm.Body("wheel", mass=1.0, inertia=(0.1, 0.1, 0.1))
    model.add(wheel, fm.Revolute("A", model.ground.at(), wheel.at(), axis="y", u0=1.0))
    solver = started(model)
    for t in TURNING * np.arange(1, 1000):
        solver.step(t)
        assert_allclose(solver.get("wheel.quat"), (np.cos(t / 2), 0, np.sin(t / 2), 0), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["arm6", "heavy_top", "double_pendulum"])
def test_quaternions_of_bodies_are_continuous(name: str) -> None:
    model = read_model(name)
    solver = started(model)
    before = {body.name: solver.get(f"{body.name}.quat") for body in model.bodies}
    for _ in range(2000):
        fastest = max(1.0, *(float(np.linalg.norm(solver.get(f"{body}.w"))) for body in before))
        solver.step(solver.time + TURNING / fastest)
        for body, old in before.items():
            before[body] = solver.get(f"{body}.quat")
            assert np.linalg.norm(before[body] - old) < TURNING


# Derivatives -----------------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(case=trees(), seed=st.integers(0, 2**32 - 1))
def test_directional_derivatives_are_exact(case: Case, seed: int) -> None:
    """Of every output with respect to all inputs: the difference that a step along the seed makes."""
    solver = started(case.model)
    for name, value in case.inputs.items():
        solver.set(name, value)
    inputs, outputs = names_of(solver, "input"), names_of(solver, "output")
    if not inputs:
        return
    direction = np.random.default_rng(seed).uniform(-1, 1, len(inputs))
    found = solver.directional_derivative(outputs, inputs, direction)
    before, base = values(solver, outputs), values(solver, inputs)
    for name, value in zip(inputs, base + direction, strict=True):
        solver.set(name, value)
    difference = values(solver, outputs) - before
    scale = max(1.0, np.abs(before).max(), np.abs(difference).max())
    assert_allclose(found, difference, rtol=0, atol=LINEAR * scale)


@settings(max_examples=25)
@given(trees())
def test_outputs_depend_only_on_the_inputs_in_the_table(case: Case) -> None:
    """Trees that stand on the ground by themselves do not feel each other at once, nor forces that do no work."""
    solver = started(case.model)
    table = list(solver.image.variables)
    outputs = [v for v in table if v.causality == "output" and v.type == "real" and v.dependencies is not None]
    for known in (v for v in table if v.causality == "input"):
        others = [v.name for v in outputs if known.index not in v.dependencies]
        found = solver.directional_derivative(others, [known.name], [1.0])
        assert_allclose(found, 0.0, rtol=0, atol=1e-12)  # forces that do no work leave round-off


def test_derivatives_ask_for_outputs_inputs_and_a_fitting_seed() -> None:
    solver = started(mechanism())
    for unknowns, knowns, seed in ((["A.f"], ["A.f"], [1]), (["A.q"], ["A.qdd"], [1]), (["A.q"], ["A.f"], [1, 2])):
        with pytest.raises(fm.SolverError):
            solver.directional_derivative(unknowns, knowns, seed)
    with pytest.raises(fm.SolverError, match="finite"):
        solver.directional_derivative(["A.qdd"], ["A.f"], [np.nan])
    with pytest.raises(fm.SolverError, match="only a real output"):
        solver.output_derivative("A.f")


STRIDES = (1e-3, 2e-4, 4e-5, 8e-6)  # [s] of the differences: the longest that follows the motion
FOLLOWS = 3e-4
"""What differences of second order may be off by, relative to the largest value: those of fourth order are then off by
1e-7. Round-off over 8e-6 s is 1e-8 of it."""
FLOW = 3e-7
"""Of the largest value; the solver's own derivatives are along the flow to 1e-9 of it."""


def rates_of_five_points(image: fm.ModelImage, case: Case, stride: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Rates of every output in the middle of a motion: the solver's and differences of fourth order, relative to the
    largest value; and by how much those of second order differ from the latter."""
    solver = Solver(image)
    solver.assemble()
    for name, value in case.inputs.items():
        solver.set(name, value)
    outputs = names_of(solver, "output")
    points = []
    for i in range(5):
        solver.step(i * stride)
        points.append(values(solver, outputs))
        if i == 2:
            found = np.array([solver.output_derivative(name) for name in outputs])
    rates = (points[0] - 8 * points[1] + 8 * points[3] - points[4]) / (12 * stride)
    coarse = (points[3] - points[1]) / (2 * stride)
    scale = max(1.0, np.abs(rates).max(), np.abs(points).max())
    return found / scale, rates / scale, float(np.abs(coarse - rates).max() / scale)


@settings(max_examples=40)
@given(trees())
def test_output_derivatives_are_those_along_the_flow(case: Case) -> None:
    image = compile(case.model, everything=True).with_options(tolerance=1e-13)
    for stride in STRIDES:
        found, rates, error = rates_of_five_points(image, case, stride)
        if error < FOLLOWS:
            break
    assert_allclose(found, rates, rtol=0, atol=FLOW)


# Free modes without inertia -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_needle_on_a_ball_joint_is_refused(seed: int) -> None:
    """A rod without axial inertia may turn about itself anyhow, however it lies in its joint."""
    rng = np.random.default_rng(seed)
    model = fm.Model("needle")
    needle = fm.Body.rod("needle", length=1.0, mass=1.0)
    turned = needle.at(0, 0, 0, rotation=fm.Rotation.rpy(*rng.uniform(-3, 3, 3)))
    model.add(needle, fm.Spherical("A", model.ground.at(), turned, q0=rng.normal(size=4)))
    with pytest.raises(fm.FmumbsError, match=r"joint 'A', mode [123]: this free mode has no inertia"):
        started(model)


@pytest.mark.parametrize(("kind", "mode"), [("Revolute", 1), ("Prismatic", 1), ("Spherical", 1), ("Free", 4)])
def test_massless_tip_is_refused(kind: str, mode: int) -> None:
    """The joint in front of it is at fault, not those behind."""
    model = fm.Model("tip")
    rod = fm.Body.rod("rod", length=1.0, mass=1.0, radius=0.1)
    tip = fm.Body("tip", mass=0.0, inertia=(0, 0, 0))
    joint = getattr(fm, kind)("B", rod.tip, tip.at(0.3, 0.2, 0.1))
    model.add(rod, tip, fm.Revolute("A", model.ground.at(), rod.base, axis="y"), joint)
    with pytest.raises(fm.FmumbsError, match=f"joint 'B', mode {mode}: this free mode has no inertia"):
        started(model)


def test_massless_body_between_others_is_none_of_these() -> None:
    """A cross of two revolutes: the inertia behind it opposes both. So do two needles welded across each other."""
    model = fm.Model("cross")
    cross = fm.Body("cross", mass=0.0, inertia=(0, 0, 0))
    rod = fm.Body.rod("rod", length=1.0, mass=1.0, along="-z")
    other = fm.Body.rod("other", length=1.0, mass=1.0, along="x")
    A = fm.Revolute("A", model.ground.at(), cross.at(), axis="x")
    B = fm.Revolute("B", cross.at(), rod.base, axis="y")
    model.add(cross, rod, other, A, B, fm.Weld("W", rod.tip, other.base))
    solver = started(model)
    solver.step(0.1)
    assert np.isfinite(solver.get("B.qdd"))


def test_mass_may_be_taken_away_only_where_something_remains() -> None:
    solver = started(mechanism())
    solver.set("cart.mass", 0.0)
    solver.assemble()
    solver.set("bob.mass", 0.0)
    solver.set("bob.inertia", (0.0,) * 6)
    with pytest.raises(fm.FmumbsError, match="joint 'B'"):
        solver.assemble()
    solver.reset()
    solver.assemble()
    solver.step(0.1)


@pytest.mark.parametrize("seed", range(0, 84, 12))
def test_values_read_together_have_the_bits_of_values_read_alone(seed: int) -> None:
    """In any order, in part, and twice: runs of components that belong together, and such that only look like it."""
    random = np.random.default_rng(seed)
    for name, image in islice(every_kind(seed), 12):
        solver = Solver(image)
        try:
            solver.assemble()
        except fm.AssemblyError:
            continue
        count = len(image.variables)
        alone = np.concatenate([solver.read(np.array([i], np.uint32)) for i in range(count)])
        pieces = [np.arange(a, a + n) % count for a, n in random.integers(1, [count, 12], (count // 3, 2))]
        for asked in (np.arange(count), random.permutation(count), random.integers(0, count, count), *pieces):
            assert solver.read(asked.astype(np.uint32)).tobytes() == alone[asked].tobytes(), name


def test_the_rate_of_a_quaternion_needs_no_reading_before_it() -> None:
    """A step makes what was computed for the last state invalid."""
    model = mechanism()
    read, unread = started(model), started(model)
    for solver in (read, unread):
        solver.get("bob.quat")
        solver.step(0.3)
    read.get("bob.quat")
    rates = [solver.output_derivative("bob.quat") for solver in (read, unread)]
    assert_allclose(rates[1], rates[0], rtol=0, atol=0)
    assert np.abs(rates[0]).max() > 1e-3
