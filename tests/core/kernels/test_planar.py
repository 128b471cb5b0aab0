"""Trees that move in a plane: their kernels against those in space, against the oracle, and in long chains."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.errors import AssemblyError, SolverError
from fmumbs.run import Solver
from oracle.extended import accelerations
from support.planar_trees import planar_cases, planar_links
from support.strategies import Case
from support.sweeps import examples
from support.tree_agreement import assert_agrees, started

EQUAL = 1e-12
"""Relative to the largest value of a kind (kinematic or not) in the mechanism: what is left of 1e-16 by the
condition of trees of a few bodies."""

PRECISION = 1e-11
"""Of the largest acceleration: what is asked of chains of 1000 joints, in a plane as in space."""

KINEMATIC = ("qdd", "a", "alpha", "r", "v", "w", "quat", "q", "qd", "length", "eta", "kappa", "kappa_dot", "eta_in")


def chain(length: int, u0: Any, q0: Any) -> fm.Model:
    model = fm.Model("chain")
    end = model.ground.at()
    for i in range(length):
        body = fm.Body.rod(f"b{i}", length=1.0, mass=1.0, radius=0.05, along="x")
        model.add(body, fm.Revolute(f"j{i}", end, body.base, axis="y", q0=q0(i), u0=u0(i)))
        end = body.tip
    return model


# Beside the kernels in space ---------------------------------------------------------------------------------------


def all_values(solver: Solver) -> dict[str, NDArray[np.float64]]:
    """By name, of everything that is computed."""
    stems = dict.fromkeys(variable.name.split("[")[0] for variable in solver.image.variables)
    return {name: np.atleast_1d(solver.get(name)) for name in stems if not name.startswith("solver.")}


def assert_equal(found: dict[str, Any], right: dict[str, Any], tolerance: float = EQUAL) -> None:
    for kinematic in (True, False):
        names = [name for name in right if (name.split(".")[-1] in KINEMATIC) == kinematic]
        scale = max([1.0, *(np.abs(right[name]).max(initial=0.0) for name in names)])
        for name in names:
            assert_allclose(found[name], right[name], rtol=0, atol=tolerance * scale, err_msg=name)


def in_plane_and_in_space(solver: Solver, model: fm.Model) -> tuple[dict[str, Any], dict[str, Any]]:
    assert solver.use_planar(True) >= planar_links(model)
    planar = all_values(solver)
    assert solver.use_planar(False) == 0
    spatial = all_values(solver)
    solver.use_planar(True)
    return planar, spatial


@examples(25, 100, planar_cases())
def test_planar_and_spatial_kernels_agree(case: Case) -> None:
    assert_equal(*in_plane_and_in_space(started(case.model, case.inputs), case.model))


@examples(15, 60, planar_cases())
def test_planar_kernels_agree_with_the_oracle(case: Case) -> None:
    solver = started(case.model, case.inputs)
    assert solver.use_planar(True) >= planar_links(case.model)
    assert_agrees(solver, case)


@examples(12, 20, planar_cases())
def test_planar_and_spatial_motions_agree(case: Case) -> None:
    solver = started(case.model, case.inputs)
    solver.set("solver.scheme", 1)
    start = solver.state_save()
    ends: list[dict[str, Any]] = []
    for on in (True, False):
        solver.state_load(start)
        solver.use_planar(on)
        solver.step(0.01)
        ends.append({name: value for name, value in all_values(solver).items() if name.endswith((".q", ".qd"))})
    assert_equal(ends[0], ends[1])


@examples(12, 25, planar_cases(), st.integers(0, 2**32 - 1))
def test_tuned_parameters_keep_a_tree_in_the_plane(case: Case, seed: int) -> None:
    rng = np.random.default_rng(seed)
    solver = started(case.model, case.inputs)
    solver.set("gravity", rng.uniform(-5, 5, 3))
    for body in case.model.bodies:
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = rng.uniform(0.7, 1.3) * np.array(body.inertia)
        solver.set(f"{body.name}.mass", body.mass * rng.uniform(0.7, 1.3))
        solver.set(f"{body.name}.inertia", (xx, yy, zz, xy, xz, yz))
    for load in case.model.loads:
        solver.set(f"{load.name}.force", rng.uniform(-5, 5, 3))
        solver.set(f"{load.name}.torque", rng.uniform(-5, 5, 3))
    assert_equal(*in_plane_and_in_space(solver, case.model))


@examples(12, 25, planar_cases())
def test_derivatives_along_inputs_are_the_same(case: Case) -> None:
    solver = started(case.model, case.inputs)
    inputs = [v.name for v in solver.image.variables if v.causality == "input"]
    outputs = [v.name for v in solver.image.variables if v.name.split("[")[0].endswith((".qdd", ".a", ".f", ".t"))]
    constants = {v.name for v in solver.image.variables if v.causality != "output"}
    outputs = [name for name in outputs if name not in constants]
    if not inputs:
        return
    seed = np.linspace(-1, 1, len(inputs))
    found = []
    for on in (True, False):
        solver.use_planar(on)
        found.append(solver.directional_derivative(outputs, inputs, seed))
    assert_allclose(found[0], found[1], rtol=0, atol=EQUAL * max(1.0, np.abs(found[1]).max()))


@examples(12, 25, planar_cases())
def test_every_instruction_set_gives_the_same_bits(case: Case) -> None:
    solver = started(case.model, case.inputs)
    found = []
    for level in (0, 1):
        try:
            solver.use_level(level)
        except SolverError:
            pytest.skip("this machine has one instruction set")
        found.append(np.concatenate(list(all_values(solver).values())))
    assert found[0].tobytes() == found[1].tobytes()


@examples(12, 25, planar_cases())
def test_values_do_not_depend_on_what_was_read_before(case: Case) -> None:
    solver = started(case.model, case.inputs)
    names = [f"{joint.name}.wrench.t" for joint in case.model.joints]
    names += [f"{body.name}.{part}" for body in case.model.bodies for part in ("a", "r", "w", "alpha")]
    names += [f"{joint.name}.qdd" for joint in case.model.joints if isinstance(joint, fm.Revolute | fm.Prismatic)]
    found = []
    for order in (names, names[::-1]):
        solver.use_planar(True)  # forgets what was computed
        values = {name: np.atleast_1d(solver.get(name)) for name in order}
        found.append(np.concatenate([values[name] for name in names]))
    assert found[0].tobytes() == found[1].tobytes()


# Which trees ------------------------------------------------------------------------------------------------------


def counted(*pieces: Any, model: fm.Model | None = None) -> int:
    model = model or fm.Model("counted")
    model.add(*pieces)
    return Solver(compile(model)).use_planar(True)


def test_trees_in_a_plane_are_found() -> None:
    model = fm.Model("found")
    a, b, c, d, e = (fm.Body.rod(name, length=1.0, mass=1.0, radius=0.1) for name in "abcde")
    ground = model.ground
    tilted = fm.Rotation.rpy(0.3, -0.4, 0.5)
    joints = (
        fm.Revolute("A", ground.at(rotation=tilted), a.base, axis="y"),
        fm.Prismatic("B", a.tip, b.base, axis=(0.6, 0.0, 0.8)),
        fm.Revolute("C", b.tip, c.at(rotation=fm.Rotation.about("x", np.pi / 2)), axis="-y"),
        fm.Weld("D", a.tip, d.at(0, 0, 0.3, rotation=fm.Rotation.about("y", 0.7))),
        fm.Revolute("E", c.at(0, 0.2, 0.4, rotation=fm.Rotation.about("x", np.pi / 2)), e.base, axis="y"),
    )
    assert counted(a, b, c, d, *joints[:4], model=model) == 4
    model.add(e, joints[4])
    assert Solver(compile(model)).use_planar(True) == 5


@pytest.mark.parametrize(
    "second",
    [
        lambda F, M: fm.Revolute("B", F, M, axis="x"),
        lambda F, M: fm.Revolute("B", F, M, axis=(1e-9, 1.0, 0.0)),
        lambda F, M: fm.Prismatic("B", F, M, axis="y"),
        lambda F, M: fm.Prismatic("B", F, M, axis=(1.0, 1e-9, 0.0)),
        lambda F, M: fm.Revolute("B", F, M, axis="y", rotor_inertia=0.1),
        lambda F, M: fm.Spherical("B", F, M),
        lambda F, M: fm.Joint("B", F, M, modes=(fm.Helix("y", pitch=0.1, role="excited", input="kappa_dot"),)),
        lambda F, M: fm.Joint("B", F, M, modes=(fm.Turn("x", role="excited", input="kappa_dot"),)),
    ],
)
def test_trees_out_of_the_plane_use_the_spatial_kernels(second: Any) -> None:
    model = fm.Model("left")
    a, b, alone = (fm.Body.rod(name, length=1.0, mass=1.0, radius=0.1) for name in ("a", "b", "alone"))
    joint = second(a.tip, b.base)
    first = fm.Revolute("A", model.ground.at(), a.base, axis="y")
    swing = fm.Revolute("S", model.ground.at(1, 0, 0), alone.base, axis="x")
    assert counted(a, b, alone, first, joint, swing, model=model) == 1
    case = Case(model, {"A.tau": 0.3})
    assert_agrees(started(model, case.inputs), case)


def test_weld_alone_has_no_coordinates() -> None:
    model = fm.Model("fixed")
    body = fm.Body.rod("b", length=1.0, mass=1.0, radius=0.1)
    assert counted(body, fm.Weld("W", model.ground.at(), body.base), model=model) == 0


def test_mode_without_inertia_is_refused_in_a_plane_too() -> None:
    model = fm.Model("massless")
    rod = fm.Body("rod", mass=1.0, com=(0, 0.5, 0), inertia=(0.1, 0.1, 0.1))
    model.add(rod, fm.Revolute("A", model.ground.at(), rod.at(), axis="y"))
    solver = Solver(compile(model))
    assert solver.use_planar(True) == 1
    solver.set("rod.inertia[2]", 0.0)
    with pytest.raises(AssemblyError, match=r"'A'.*has no inertia"):
        solver.assemble()


def test_saved_state_does_not_depend_on_the_kernels() -> None:
    """Assembled, saved and loaded: the same accelerations to the bit."""
    model = chain(9, u0=lambda i: 0.1 * i, q0=lambda i: 0.3 * i)
    one, other = started(model), Solver(compile(model))
    other.state_load(one.state_save())
    assert [one.get(f"j{i}.qdd") for i in range(9)] == [other.get(f"j{i}.qdd") for i in range(9)]


# Long chains --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("q0", "u0"),
    [
        pytest.param("anyhow", "anyhow", id="anyhow"),
        pytest.param("straight", "at rest", id="straight out, released", marks=pytest.mark.slow),
        pytest.param("tilted", "at rest", id="straight and tilted, released"),
        pytest.param("folded", "at rest", id="folded", marks=pytest.mark.slow),
        pytest.param("hanging", "anyhow", id="hanging and spinning", marks=pytest.mark.slow),
    ],
)
def test_thousand_joints(q0: str, u0: str) -> None:
    """Beside forty digits."""
    rng = np.random.default_rng(23)
    number = 1000
    first = {"tilted": 0.7, "hanging": np.pi / 2}.get(q0, 0.0)
    later = {"folded": np.pi - 0.01}.get(q0, 0.0)
    angles = rng.uniform(-3, 3, number) if q0 == "anyhow" else np.array([first] + [later] * (number - 1))
    rates = rng.uniform(-1, 1, number) if u0 == "anyhow" else np.zeros(number)
    model = chain(number, q0=lambda i: float(angles[i]), u0=lambda i: float(rates[i]))
    solver = started(model)
    assert solver.use_planar(True) == number
    exact = accelerations(model)
    scale = max(np.abs(value).max() for value in (*exact.a.values(), *exact.alpha.values()))  # rods of one metre
    for name, a in exact.a.items():
        assert_allclose(solver.get(f"{name}.a"), a, rtol=0, atol=PRECISION * scale)
        assert_allclose(solver.get(f"{name}.alpha"), exact.alpha[name], rtol=0, atol=PRECISION * scale)


def test_tuned_body_changes_the_motion() -> None:
    model = chain(5, q0=lambda i: 0.2, u0=lambda i: 0.1)
    heavier = fm.Model("chain")
    heavier.add(*(replace(body, mass=3.0) if body.name == "b2" else body for body in model.bodies), *model.joints)
    solver = started(model)
    solver.set("b2.mass", 3.0)
    assert_agrees(solver, Case(heavier, {}))
