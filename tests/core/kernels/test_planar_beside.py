"""Trees and loops in the plane beside bodies in space, with cut joints that take no freedom between any of them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.mechanism.given import UnsetNumbers
from support.closed import at, axis, body, orientation
from support.sweeps import seeds

EQUAL = 1e-10
"""Relative to the largest acceleration: the parts are solved by other kernels, and start at rounded positions."""
DYNAMICS = ("riccati", "copcod")


def beside(model: fm.Model | None = None) -> fm.Model:
    """A pendulum in the plane, two bodies in space, and a cut bushing at them whose start is given."""
    model = model or fm.Model("beside")
    g = model.ground
    a, b, c = (fm.Body(name, mass=1, com=(0.1, 0.2, 0.3), inertia=(1, 1, 1)) for name in "abc")
    model.add(a, b, c, fm.Revolute("A", g.at(), a.at()), fm.Spherical("B", g.at(1, 0, 0), b.at()))
    bushing = fm.Bushing("F", g.at(3, 0, 0), c.at(1, 0, 0), cut=True, q0=[0] * 6, stiffness=[100] * 6)
    model.add(fm.Revolute("C", b.at(1, 0, 0), c.at(), axis="y"), bushing)
    return model


@pytest.mark.parametrize("dynamics", DYNAMICS)
def test_a_given_start_of_a_cut_joint_in_space_beside_a_tree_in_the_plane(dynamics: str, tmp_path: Path) -> None:
    image = compile(beside(), everything=True).with_options(dynamics=dynamics)
    solver = fm.Solver(image)
    solver.assemble()
    assert_allclose(solver.get("F.q"), 0, atol=1e-14)
    assert solver.get("A.qdd") == pytest.approx(0.0, abs=1e-14)  # gravity acts along its axis
    solver.step(0.1)
    fmu = fm.export_fmu(image, tmp_path / "beside.fmu")
    rows = fmpy.simulate_fmu(str(fmu), stop_time=0.1, step_size=0.1, output=["C.q", "C.qd", "C.qdd"])
    for name in ("C.q", "C.qd", "C.qdd"):
        assert rows[name][-1] == pytest.approx(solver.get(name), rel=1e-6)


def in_plane(rng: np.random.Generator, g: Any) -> tuple[list[Any], list[Any]]:
    """A chain of pins about one axis, or a four-bar, anywhere: bodies and joints."""
    tilt = fm.Rotation(np.asarray(orientation(rng)))
    rods = [fm.Body.rod(f"p{i}", length=long, mass=1.0, radius=0.02) for i, long in enumerate((0.1, 0.26, 0.22))]
    base, pivot = g.at(rotation=tilt), g.at(*(tilt.matrix @ (0.25, 0.0, 0.0)), rotation=tilt)
    joints: list[Any] = [fm.Revolute("P0", base, rods[0].base, axis="y", q0=float(rng.uniform(-1, 1)), u0=3.0)]
    joints.append(fm.Revolute("P1", rods[0].tip, rods[1].base, axis="y", q0=0.5))
    if rng.random() < 0.4:
        return rods[:2], joints
    joints.append(fm.Revolute("P2", pivot, rods[2].base, axis="y", q0=-1.5))
    return rods, [*joints, fm.Revolute("P3", rods[1].tip, rods[2].tip, axis="y")]


def in_space(rng: np.random.Generator, g: Any) -> tuple[list[Any], list[Any]]:
    """A chain of one to three bodies: its last joints at least leave any plane."""
    bodies, joints, last = [], [], g
    for i in range(int(rng.integers(1, 4))):
        bodies.append(body(rng, f"s{i}"))
        ends = [at(end, rng.uniform(-1, 1, 3), orientation(rng)) for end in (last, bodies[-1])]
        if rng.random() < 0.5 or not i:
            joints.append(fm.Spherical(f"S{i}", *ends, u0=rng.uniform(-1, 1, 3)))
        else:
            joints.append(fm.Revolute(f"S{i}", *ends, axis=axis(rng), u0=float(rng.uniform(-1, 1))))
        last = bodies[-1]
    return bodies, joints


def free_cut(rng: np.random.Generator, name: str, F: Any, M: Any) -> Any:
    """A cut joint with six freedoms, whose start is given or not; it carries no force."""
    ends = at(F, rng.uniform(-1, 1, 3), orientation(rng)), at(M, rng.uniform(-1, 1, 3), orientation(rng))
    given = rng.random() < 0.7
    match rng.integers(3):
        case 0:
            q0 = (*rng.uniform(-1, 1, 3), *(v := rng.normal(size=4)) / np.linalg.norm(v))
            return fm.Free(name, *ends, cut=True, q0=q0 if given else UnsetNumbers((0, 0, 0, 1, 0, 0, 0)))
        case 1:
            q0 = rng.uniform(-0.5, 0.5, 6)
            return fm.Bushing(name, *ends, cut=True, q0=q0 if given else UnsetNumbers([0.0] * 6), stiffness=[0] * 6)
        case _:
            q0 = rng.uniform(-0.5, 0.5, 6)
            modes = (*map(fm.Slide, "xyz"), *map(fm.Turn, "xyz"))
            return fm.Joint(name, *ends, modes=modes, cut=True, q0=q0 if given else UnsetNumbers([0.0] * 6))


def rates(solver: fm.Solver, joints: list[Any], of: str) -> np.ndarray:
    """Velocities ("qd") or accelerations ("qdd") of joints that are in its tree."""
    names = {"qd": {True: "w", False: "qd"}, "qdd": {True: "alpha", False: "qdd"}}[of]
    there = [joint for joint in joints if joint.name not in solver.image.cut_joints]
    return np.concatenate([np.ravel(solver.get(f"{j.name}.{names[isinstance(j, fm.Spherical)]}")) for j in there])


@pytest.mark.parametrize("dynamics", DYNAMICS)
@pytest.mark.parametrize("seed", seeds(6, 400))
def test_what_moves_in_the_plane_moves_there_as_alone(seed: int, dynamics: str) -> None:
    """Parts that only joints with six freedoms connect do not feel one another, whether or not these have a start."""
    rng = np.random.default_rng([24, seed])
    model = fm.Model("both", gravity=tuple(rng.uniform(-5, 5, 3)))
    parts = [in_plane(rng, model.ground), in_space(rng, model.ground)]
    ends = [model.ground, *(one for bodies, _ in parts for one in bodies)]
    cuts = []
    for i in range(int(rng.integers(1, 3))):
        F, M = rng.choice(len(ends), 2, replace=False)
        cuts.append(free_cut(rng, f"X{i}", ends[F], ends[M]))
    model.add(*(one for bodies, _ in parts for one in bodies), *(one for _, joints in parts for one in joints), *cuts)
    both = fm.Solver(compile(model, everything=True).with_options(dynamics=dynamics))
    both.assemble()
    both.step(0.05)
    for bodies, joints in parts:
        alone = fm.Model("alone", gravity=model.gravity)
        alone.add(*bodies, *(replace(joint, **state_of_joint(both, joint)) for joint in joints))
        solver = fm.Solver(compile(alone, everything=True).with_options(dynamics=dynamics))
        solver.assemble()
        both_cut = {*both.image.cut_joints, *solver.image.cut_joints}
        compared = [joint for joint in joints if joint.name not in both_cut]
        for of in ("qd", "qdd"):
            found, expected = rates(both, compared, of), rates(solver, compared, of)
            assert_allclose(found, expected, rtol=0, atol=EQUAL * max(1.0, float(np.abs(expected).max())), err_msg=of)


def state_of_joint(solver: fm.Solver, joint: Any) -> dict[str, Any]:
    ball = isinstance(joint, fm.Spherical)
    u0: Any = solver.get(f"{joint.name}.{'w' if ball else 'qd'}")
    return {"q0": solver.get(f"{joint.name}.q"), "u0": u0}


@pytest.mark.parametrize("dynamics", DYNAMICS)
@pytest.mark.parametrize("reads", [False, True])
@pytest.mark.parametrize("coupler", ["body", "rod"])
def test_turns_of_a_cut_joint_without_rows_are_counted_beside_loops_in_the_plane(
    coupler: str, reads: bool, dynamics: str
) -> None:
    """Whether or not outputs are read in between: a crank of a four-bar that turns round, six modes beside its pin. Its
    loop is closed by a pin, which has a coordinate, or by a rod, which has none."""
    model = fm.Model("turns", gravity=(0, 0, 0))
    g = model.ground
    a, b, c = (fm.Body.rod(name, length=long, mass=1.0) for name, long in (("a", 0.1), ("b", 0.26), ("c", 0.22)))
    model.add(a, c, fm.Revolute("A", g.at(), a.base, axis="y", q0=0.3, u0=40.0))
    if coupler == "body":
        model.add(b, fm.Revolute("B", a.tip, b.base, axis="y"), fm.Revolute("C", b.tip, c.tip, axis="y"))
    else:
        model.add(fm.Distance("B", a.tip, c.tip, length=0.26))
    model.add(fm.Revolute("D", g.at(0.25, 0, 0), c.base, axis="y", q0=-1.9))
    model.add(fm.Joint("X", g.at(), a.base, cut=True, modes=(*map(fm.Slide, "xyz"), *map(fm.Turn, "xzy"))))
    solver = fm.Solver(compile(model, everything=True).with_options(dynamics=dynamics))
    solver.assemble()
    for time in np.arange(0.05, 0.52, 0.05):
        solver.step(float(time))
        if reads:
            solver.get("X.q")
    assert solver.get("A.q") > 6 * np.pi
    assert solver.get("X.q")[5] == pytest.approx(solver.get("A.q"), abs=1e-9)
