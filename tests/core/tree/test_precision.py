"""Long chains and wide trees, of spherical joints and of all kinds, against the same mechanics in forty digits."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.run import Solver
from oracle.extended import Answer, accelerations
from support.long_trees import KINDS, long_tree
from support.sweeps import first

JOINTS = 1000
GRAVITY = 9.81  # [m/s2], a Model's own

PRECISION = 1e-11
"""Of the largest acceleration in the mechanism, and of the largest force of spherical joints: what is asked of 1000
joints. Recursions that keep round-off where the joints leave zeros lose a digit every six of them."""

WRENCHES = 1e-9
"""Of the largest force or torque: those of joints with a fixed axis hold long arms, which round-off has turned."""

KEPT = 1e-10
"""Of the energy, with that as the tolerance of the integration."""

CARRYING = tuple(kind for kind in KINDS if kind not in ("weld", "geared"))

Vectors = dict[str, NDArray[np.float64]]  # (3,) each, by element name


def rod(i: int) -> fm.Body:
    return fm.Body.rod(f"b{i}", length=1.0, mass=1.0, radius=0.05, along="x")


def chain(q0: Callable[[int], object], u0: Callable[[int], object]) -> fm.Model:
    """Rods one behind the other, each turned against the one before."""
    model = fm.Model("chain")
    end = model.ground.at()
    for i in range(JOINTS):
        body = rod(i)
        model.add(body, fm.Spherical(f"j{i}", end, body.base, q0=q0(i), u0=u0(i)))
        end = body.tip
    return model


def tree(rng: np.random.Generator) -> fm.Model:
    """Every rod is attached to either end of an earlier one, or on the ground."""
    model = fm.Model("tree")
    ends = [model.ground.at()]
    for i in range(JOINTS):
        body = rod(i)
        end = ends[rng.integers(max(0, len(ends) - 40), len(ends))]
        model.add(body, fm.Spherical(f"j{i}", end, body.at(), q0=rng.normal(size=4), u0=rng.normal(size=3)))
        ends += [body.base, body.tip]
    return model


def at_rest(i: int) -> tuple[float, ...]:
    return (0.0, 0.0, 0.0)


def straight(i: int) -> tuple[float, ...]:
    return (1.0, 0.0, 0.0, 0.0)


def downwards(i: int) -> tuple[float, ...]:
    """The first rod from along x to along -z, the others as the one before."""
    return (np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0) if i == 0 else straight(i)


def folded(i: int) -> tuple[float, ...]:
    """To and fro, almost: each rod lies along the one before."""
    angle = np.pi - 0.01
    return (np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0)


def at_random(rng: np.random.Generator, size: int) -> Callable[[int], object]:
    return lambda i: rng.normal(size=size)


def mechanism(name: str) -> fm.Model:
    rng = np.random.default_rng(17)
    match name:
        case "anyhow":
            return chain(at_random(rng, 4), at_random(rng, 3))
        case "hanging and spinning":
            return chain(downwards, at_random(rng, 3))
        case "straight out, released":
            return chain(straight, at_rest)
        case "folded":
            return chain(folded, at_rest)
        case _:
            return tree(rng)


def started(model: fm.Model) -> Solver:
    solver = Solver(compile(model))
    solver.assemble()
    return solver


def world_forces(solver: Solver, model: fm.Model) -> Vectors:
    """Each joint's force is in its parent's axes."""
    found: Vectors = {}
    for joint in model.joints:
        found[joint.name] = solver.get(f"{joint.name}.reaction.f")
        if isinstance(joint.F.body, fm.Body):
            turn = fm.Rotation.quaternion(*solver.get(f"{joint.F.body.name}.quat"))
            found[joint.name] = turn @ found[joint.name]
    return found


def error(found: Vectors, exact: Vectors) -> float:
    """The largest difference, relative to the largest value, or to one."""
    largest = max(1.0, *(np.abs(value).max() for value in exact.values()))
    return float(max(np.abs(found[name] - value).max() for name, value in exact.items()) / largest)


@pytest.mark.parametrize(
    "name", first(1, ["anyhow", "branched anyhow", "hanging and spinning", "straight out, released", "folded"])
)
def test_thousand_spherical_joints(name: str) -> None:
    model = mechanism(name)
    solver = started(model)
    exact = accelerations(model)
    assert_accelerations(solver, exact)
    forces = {joint.name: solver.get(f"{joint.name}.reaction.f") for joint in model.joints}
    assert error(forces, {name: wrench[3:] for name, wrench in exact.wrench.items()}) < PRECISION


def assert_accelerations(solver: Solver, exact: Answer) -> None:
    for what, values in (("a", exact.a), ("alpha", exact.alpha)):
        assert error({name: solver.get(f"{name}.{what}") for name in values}, values) < PRECISION


def assert_exact(model: fm.Model) -> None:
    solver, exact = started(model), accelerations(model)
    assert_accelerations(solver, exact)
    parts = {name: [solver.get(f"{name}.wrench.{part}") for part in "tf"] for name in exact.wrench}
    assert error({name: np.concatenate(pair) for name, pair in parts.items()}, exact.wrench) < WRENCHES


@pytest.mark.parametrize(("joints", "back"), first(1, [(300, 30), (JOINTS, 30), (JOINTS, 1)]))
def test_many_joints_of_all_kinds(joints: int, back: int) -> None:
    """Between random frames, about random axes, a third of them towards the ground."""
    assert_exact(long_tree(41 + back, joints, tuple(kind for kind in CARRYING if kind != "free"), back=back))


@pytest.mark.parametrize(("joints", "back"), first(1, [(300, 20), (JOINTS, 20), (JOINTS, 1)]))
def test_many_joints_keep_their_energy(joints: int, back: int) -> None:
    kinds = tuple(kind for kind in CARRYING if kind not in ("excited", "free"))
    solver = Solver(compile(long_tree(7, joints, (*kinds, "geared"), back=back)).with_options(tolerance=1e-10))
    solver.assemble()
    before = solver.get("solver.energy")
    solver.step(0.05)
    assert abs(solver.get("solver.energy") - before) < KEPT * before


@pytest.mark.parametrize("kind", CARRYING)
def test_each_kind_of_joint_in_a_chain(kind: str) -> None:
    """Long enough for what grows with every joint by a factor."""
    assert_exact(long_tree(CARRYING.index(kind), 50, (kind, "weld") if kind == "free" else (kind,)))


def test_hanging_chain_stays_at_rest() -> None:
    """Every joint carries the rods below it, and nothing moves."""
    model = chain(downwards, at_rest)
    solver = started(model)
    weights = {f"j{i}": np.array([0.0, 0.0, (JOINTS - i) * GRAVITY]) for i in range(JOINTS)}
    assert error(world_forces(solver, model), weights) < PRECISION
    for body in model.bodies:
        assert np.abs(solver.get(f"{body.name}.a")).max() < PRECISION * GRAVITY
