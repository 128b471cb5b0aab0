"""Flexible bodies in trees and loops against the oracle of mass points."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler.kinds import BODY
from fmumbs.compiler.names import Names
from fmumbs.run import Solver
from oracle.flexible import FlexibleOracle, Present
from support.flexible_models import BOUNDARIES, Flexible, bent_in_space, plane_loops, plane_tree, space_loop, space_tree
from support.sweeps import seeds
from support.tree_agreement import started

AGREEMENT = 1e-9
"""Relative to the largest acceleration or force: the oracle's mass matrix has a condition of up to 1e6."""


def present(solver: Solver, case: Flexible) -> Present:
    q: dict[str, Any] = {}
    u: dict[str, Any] = {}
    for joint in case.model.joints:
        if joint.name in case.cuts(solver.image) or isinstance(joint, fm.Weld):
            continue
        if isinstance(joint, fm.Free):
            q[joint.name] = np.concatenate([solver.get(f"{joint.name}.r"), solver.get(f"{joint.name}.q")])
            u[joint.name] = np.concatenate([solver.get(f"{joint.name}.v"), solver.get(f"{joint.name}.w")])
        else:
            q[joint.name], u[joint.name] = solver.get(f"{joint.name}.q"), solver.get(f"{joint.name}.qd")
    for name in case.clouds:
        q[name], u[name] = np.atleast_1d(solver.get(f"{name}.q")), np.atleast_1d(solver.get(f"{name}.qd"))
    return Present(q, u)


def assert_agrees(solver: Solver, case: Flexible) -> None:
    oracle = FlexibleOracle(case.model, case.clouds, case.cuts(solver.image))
    answer = oracle.solve(present(solver, case), case.inputs)
    scale = max(1.0, *(np.abs(value).max(initial=0.0) for value in answer.udot.values()))
    for name, expected in answer.udot.items():
        if name in case.clouds:
            found: Any = np.atleast_1d(solver.get(f"{name}.qdd"))
        elif isinstance(case.model[name], fm.Weld):
            continue
        elif isinstance(case.model[name], fm.Free):
            found = np.concatenate([solver.get(f"{name}.a"), solver.get(f"{name}.alpha")])
        else:
            found = np.atleast_1d(solver.get(f"{name}.qdd"))
        assert_allclose(found, expected, rtol=0, atol=AGREEMENT * scale, err_msg=name)
    for name, (r, v, a) in answer.points.items():
        assert_allclose(solver.get(f"{name}.r"), r, rtol=0, atol=1e-12 * max(1.0, np.abs(r).max()))
        assert_allclose(solver.get(f"{name}.v"), v, rtol=0, atol=1e-11 * max(1.0, np.abs(v).max()))
        assert_allclose(solver.get(f"{name}.a"), a, rtol=0, atol=AGREEMENT * scale, err_msg=name)
    for b in case.model.bodies:
        r, R = answer.poses[b.name]
        assert_allclose(solver.get(f"{b.name}.r"), r, rtol=0, atol=1e-12 * max(1.0, np.abs(r).max()))
        turned = fm.Rotation.quaternion(*solver.get(f"{b.name}.quat")).matrix
        assert_allclose(turned, R, rtol=0, atol=1e-12)
    assert_allclose(solver.get("solver.energy"), answer.energy, rtol=1e-10, atol=1e-10)
    assert_forces_balance(solver, case, oracle, answer, scale)


def assert_forces_balance(solver: Solver, case: Flexible, oracle: Any, answer: Any, scale: float) -> None:
    """What crosses a joint is what its subtree's masses take, less what acts on them from elsewhere."""
    frames = {p: oracle.frame(answer.poses, present(solver, case).q, p) for p in points_of(case.model)}
    state = present(solver, case)
    zero = np.zeros(oracle.count)
    positions = oracle.points(state, zero)
    firsts = np.cumsum([0, *(len(c.masses) for c in oracle.clouds.values())])
    where = {name: positions[a:b] for name, a, b in zip(oracle.clouds, firsts, firsts[1:], strict=False)}
    for joint in oracle.tree:
        force, torque = np.zeros(3), np.zeros(3)
        origin = frames[joint.M][0]
        carried = oracle.subtree(joint)
        for name in carried:
            pull = oracle.clouds[name].masses[:, None] * (answer.accelerations[name] - np.array(case.model.gravity))
            force += pull.sum(axis=0)
            torque += np.cross(where[name] - origin, pull).sum(axis=0)
        for load in case.model.loads:
            if load.P.body.name in carried:
                at, axes = frames[load.P]
                turn = axes if load.axes == "point" else np.eye(3)
                f, t = turn @ solver.get(f"{load.name}.force"), turn @ solver.get(f"{load.name}.torque")
                force -= f
                torque -= t + np.cross(at - origin, f)
        for spring in case.model.springs:
            for end, other in ((spring.P, spring.Q), (spring.Q, spring.P)):
                if end.body.name in carried:
                    d = frames[other][0] - frames[end][0]
                    f = solver.get(f"{spring.name}.f") * d / np.linalg.norm(d)
                    force -= f
                    torque -= np.cross(frames[end][0] - origin, f)
        for cut in oracle.cuts:
            for end, sign in ((cut.M, 1.0), (cut.F, -1.0)):
                if end.body.name in carried:
                    R, at = frames[cut.F][1], frames[cut.M][0]
                    f = sign * (R @ solver.get(f"{cut.name}.reaction.f"))
                    force -= f
                    torque -= sign * (R @ solver.get(f"{cut.name}.reaction.t")) + np.cross(at - origin, f)
        R = frames[joint.F][1]
        most = max(1.0, np.abs(force).max(), np.abs(torque).max(), scale)
        assert_allclose(solver.get(f"{joint.name}.wrench.f"), R.T @ force, rtol=0, atol=AGREEMENT * most)
        assert_allclose(solver.get(f"{joint.name}.wrench.t"), R.T @ torque, rtol=0, atol=AGREEMENT * most)


def points_of(model: fm.Model) -> list[fm.Point]:
    return [end for e in (*model.joints, *model.springs, *model.loads) for end in e.ends]


# Against the oracle -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("seed", seeds(1, 20))
def test_trees_in_a_plane(boundary: str, seed: int) -> None:
    case = plane_tree(seed, boundary)
    solver = started(case.model, case.inputs)
    assert_agrees(solver, case)
    solver.step(0.02)
    assert_agrees(solver, case)


@pytest.mark.parametrize("seed", seeds(3, 50))
def test_trees_in_space(seed: int) -> None:
    case = space_tree(seed)
    assert_agrees(started(case.model, case.inputs), case)


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("seed", seeds(2, 40))
def test_bodies_that_deform_in_space(closed: bool, seed: int) -> None:
    case = bent_in_space(seed, closed)
    solver = started(case.model, case.inputs)
    assert_agrees(solver, case)
    if closed:
        assert_jacobian(solver, case)


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("seed", seeds(1, 20))
def test_loops_in_a_plane(boundary: str, seed: int) -> None:
    case = plane_loops(seed, boundary)
    solver = started(case.model, case.inputs)
    assert solver.get("solver.position_violation") < 1e-11
    assert_agrees(solver, case)
    solver.step(0.02)
    assert solver.get("solver.position_violation") < 1e-11
    assert_agrees(solver, case)
    assert_jacobian(solver, case)


@pytest.mark.parametrize("seed", seeds(3, 8))
def test_loops_in_space(seed: int) -> None:
    case = space_loop(seed)
    solver = started(case.model, case.inputs)
    assert solver.get("solver.position_violation") < 1e-11
    assert_agrees(solver, case)
    assert_jacobian(solver, case)


def assert_jacobian(solver: Solver, case: Flexible) -> None:
    """Its rows span what a complex step of the geometry gives."""
    oracle = FlexibleOracle(case.model, case.clouds, case.cuts(solver.image))
    state, arrays = present(solver, case), solver.image.arrays
    theirs = oracle.jacobian(lambda delta: oracle.constraint(state, delta))
    starts = dict(zip(solver.joint_names, arrays["joint_u"].tolist(), strict=True))
    names = Names(arrays).elements(BODY)
    starts |= {name: arrays["link_u"][arrays["body_link"][names.index(name)]] for name in case.clouds}
    order = np.concatenate([starts[name] + np.arange(part.stop - part.start) for name, part in oracle.slices.items()])
    spans = []
    for J in (solver.jacobian[:, order.astype(int)], theirs):
        _, size, rows = np.linalg.svd(J)
        rows = rows[: int(np.sum(size > 1e-9 * size[0]))]
        spans.append(rows.T @ rows)
    assert_allclose(*spans, rtol=0, atol=1e-10)


def test_derivatives_of_outputs() -> None:
    case = plane_tree(3)
    solver = started(case.model, case.inputs)
    assert_allclose(solver.output_derivative("b0.q"), solver.get("b0.qd"), rtol=1e-14)
    assert_allclose(solver.output_derivative("b0.qd"), solver.get("b0.qdd"), rtol=1e-14)
    assert_allclose(solver.output_derivative("b0.tip.v"), solver.get("b0.tip.a"), rtol=1e-14)
    unknowns, h = ["j0.qdd", "b0.tip.a[2]", "j0.wrench.t[3]"], 1e-2
    found = solver.directional_derivative(unknowns, ["l.force[1]"], [1.0])
    sides = []
    for side in (-h, h):
        force = np.array(case.model["l"].force)
        solver.set("l.force[1]", force[0] + side)
        sides.append([solver.get(name) for name in unknowns])
    assert_allclose(found, (np.array(sides[1]) - sides[0]) / (2 * h), rtol=1e-7, atol=1e-9)
