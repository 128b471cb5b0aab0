"""Flexible bodies in mechanisms that move in a plane: the planar kernels against those in space and the oracle."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from core.tree.test_flexible import assert_agrees
from fmumbs.compiler import compile
from fmumbs.run import Solver
from oracle.flexible import FlexibleOracle
from oracle.joints import turn
from support.flexible_models import Flexible, lumped, random_beam, starting
from support.sweeps import first, seeds
from support.tree_agreement import started

EQUAL = 1e-11
"""Relative to the largest value: round-off of a few bodies whose S_qq has a condition of up to 1e4."""


def frame(rng: Any, part: Any) -> fm.Point:
    """A point of a body whose z is the normal of the plane, or opposite to it."""
    across = part.plane_axes if isinstance(part, fm.ModalBody) else fm.Rotation.identity()
    R = across @ fm.Rotation.about("z", rng.uniform(-3, 3)) @ fm.Rotation.about("x", rng.choice((0.0, np.pi)))
    if not isinstance(part, fm.ModalBody):
        return part.at(*rng.uniform(-0.5, 0.5, 3), rotation=R)
    if part.bending is None:
        return part.at(*dict(part_points(part))[str(rng.choice(("one", "two")))], rotation=R)
    return part.at(rng.choice((0.0, 0.3, 1.0)) * part.bending.length, *rng.uniform(-0.1, 0.1, 2), rotation=R)


def part_points(part: fm.ModalBody) -> list[tuple[str, Any]]:
    return [(point.name, point.X_BP.offset) for point in part.points]


def joint(rng: Any, name: str, F: fm.Point, M: fm.Point, first: bool, driven: bool) -> Any:
    kinds = ("revolute", "revolute", "prismatic", "weld", *(("driven", "driven") if driven else ()))
    kind = "revolute" if first else str(rng.choice(kinds))
    if kind == "weld":
        return fm.Weld(name, F, M)
    if kind == "driven":
        angle, path = rng.uniform(-3, 3), fm.Path.polynomial(*rng.uniform(-1, 1, 4))
        mode = fm.Turn("z") if rng.random() < 0.5 else fm.Slide((np.cos(angle), np.sin(angle), 0))
        return fm.Joint(name, F, M, modes=(replace(mode, role="excited", path=path),))
    how: dict[str, Any] = {"q0": rng.uniform(-1, 1), "u0": rng.uniform(-2, 2), "stiffness": 3.0, "damping": 0.1}
    if kind == "revolute":
        return fm.Revolute(name, F, M, axis=str(rng.choice(("z", "-z"))), **how)
    angle = rng.uniform(-3, 3)
    return fm.Prismatic(name, F, M, axis=(np.cos(angle), np.sin(angle), 0), **how)


def in_any_plane(seed: int, closed: bool, driven: bool = False) -> Flexible:
    """Flexible and rigid bodies in a plane of any direction; with closed, the last one is pinned to the ground.

    driven: some joints are driven (which the oracle of flexible bodies does not know).
    """
    rng = np.random.default_rng(seed)
    model = fm.Model("in_any_plane", gravity=rng.uniform(-10, 10, 3))
    clouds: dict[str, Any] = {}
    parts: list[Any] = []
    for i in range(int(rng.integers(3, 6))):
        kind = rng.random()
        if kind < 0.4:
            part, clouds[f"b{i}"] = random_beam(rng, f"b{i}", plane=str(rng.choice(("xy", "xz"))))
        elif kind < 0.7:
            part, clouds[f"b{i}"] = lumped(rng, f"b{i}", str(rng.choice(("xy", "xz", "yz"))), int(rng.integers(1, 4)))
        else:
            part = fm.Body(f"b{i}", mass=0.7, com=rng.uniform(-0.2, 0.2, 3), inertia=(0.02, 0.03, 0.025))
        if parts:
            F = frame(rng, parts[rng.integers(len(parts))])
        else:
            F = model.ground.at(*rng.uniform(-1, 1, 3), rotation=fm.Rotation(turn(rng.uniform(-2, 2, 3))))
        model.add(part, joint(rng, f"j{i}", F, frame(rng, part), not parts, driven))
        parts.append(part)
    case = Flexible(model, clouds, {"j0.tau": float(rng.uniform(-1, 1))})
    P = frame(rng, parts[-1])
    if rng.random() < 0.5:
        model.add(fm.Load("l", P, force=rng.uniform(-3, 3, 3), torque=rng.uniform(-1, 1, 3)))
    if closed and rng.random() < 0.5:  # between two bars on the first body: both ways pass its frames
        bars = [fm.Body(f"bar{i}", mass=0.4, inertia=(0.01, 0.01, 0.02)) for i in range(2)]
        for bar in bars:
            model.add(bar, fm.Revolute(f"on_{bar.name}", frame(rng, parts[0]), bar.at(), q0=rng.uniform(-1, 1)))
        P = bars[0].at(0.3, 0.1)
        poses, q = starting(case)
        p, R = FlexibleOracle(model, clouds).frame(poses, q, P)
        own, A = poses[bars[1].name]
        model.add(fm.Revolute("c", P, bars[1].at(*(A.T @ (p - own)), rotation=fm.Rotation(A.T @ R))))
    elif closed:
        poses, q = starting(case)
        p, R = FlexibleOracle(model, clouds).frame(poses, q, P)
        model.add(fm.Revolute("c", P, model.ground.at(*p, rotation=fm.Rotation(R))))
    return case


def values(solver: Solver) -> dict[str, Any]:
    stems = dict.fromkeys(variable.name.split("[")[0] for variable in solver.image.variables)
    return {name: np.atleast_1d(solver.get(name)) for name in stems if not name.startswith("solver.")}


@pytest.mark.parametrize("which", ["open", "closed", "driven"])
@pytest.mark.parametrize("seed", first(8, [0, *range(2, 8), 24, 1, *range(8, 24), *range(25, 200)]))
def test_all_values_are_those_of_the_kernels_in_space(seed: int, which: str) -> None:
    case = in_any_plane(seed, closed=which == "closed", driven=which == "driven")
    solver = started(case.model, case.inputs)
    assert solver.use_planar(True) == solver.image.sizes["links"]
    planar = values(solver)
    assert solver.use_planar(False) == 0
    spatial = values(solver)
    scale = max(1.0, *(np.abs(value).max(initial=0.0) for value in spatial.values()))
    for name, value in spatial.items():
        assert_allclose(planar[name], value, rtol=0, atol=EQUAL * scale, err_msg=name)


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("seed", seeds(8, 60, 500))
def test_they_agree_with_the_oracle(seed: int, closed: bool) -> None:
    case = in_any_plane(seed, closed)
    solver = started(case.model, case.inputs)
    assert solver.use_planar(True) > 0
    assert_agrees(solver, case)


@pytest.mark.parametrize("seed", seeds(3, 30, 900))
def test_closed_mechanisms_run_as_in_space(seed: int) -> None:
    """Projections of positions and velocities too, with the multipliers' response in the plane."""
    ends = []
    for planar in (True, False):
        case = in_any_plane(seed, True)
        solver = started(case.model, case.inputs)
        solver.use_planar(planar)
        solver.set("solver.tolerance", 1e-9)
        solver.step(0.2)
        assert solver.get("solver.position_violation") < 1e-11
        ends.append(np.concatenate([np.atleast_1d(solver.get(f"{name}.r")) for name in bodies_of(solver)]))
    assert_allclose(ends[0], ends[1], rtol=0, atol=1e-7)


def bodies_of(solver: Solver) -> list[str]:
    names = {v.name.split(".")[0] for v in solver.image.variables if v.name.endswith(".quat[1]")}
    return sorted(names)


def test_a_body_that_leaves_its_plane_takes_the_kernels_in_space() -> None:
    """A beam with modes across the plane of its joints, one that twists, and one turned about its axis."""
    for plane, axis, planar in (("xy", "z", True), ("xz", "z", False), (None, "z", False), ("xz", "y", True)):
        beam = fm.ModalBody.beam(
            "b", length=1.0, mass=1.0, EI=10.0 if plane else (10.0, 10.0), plane=plane, axial_inertia=0.01
        )
        model = fm.Model("m")
        model.add(beam, fm.Revolute("j", model.ground.at(), beam.base, axis=axis))
        solver = Solver(compile(model))
        assert (solver.use_planar(True) > 0) == planar


@pytest.mark.parametrize("which", ["open", "closed", "driven"])
def test_the_implicit_scheme_takes_the_same_steps_in_the_plane_as_in_space(which: str) -> None:
    """Its iteration has the modes' stiffness and damping beside their inertia in both."""
    runs = []
    for planar in (True, False):
        model = in_any_plane(2, which == "closed", which == "driven").model
        solver = Solver(compile(model).with_options(scheme="radau", tolerance=1e-7))
        solver.assemble()
        solver.use_planar(planar)
        solver.step(0.2)
        runs.append((solver.get("solver.steps"), [solver.get(f"{name}.r") for name in bodies_of(solver)]))
    assert runs[0][0] == runs[1][0]
    assert_allclose(runs[0][1], runs[1][1], rtol=0, atol=1e-9)
