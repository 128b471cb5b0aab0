"""Cut joints with slides, balls and locked modes between turns, and helices: their rows follow from their modes."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from oracle import Oracle
from support.closed import BETWEEN, space, state_of
from support.closed_agreement import AGREEMENT, CLOSED, check, is_well, started
from support.sweeps import each_value, first


def well_placed(seed: int, kind: str, **options: Any) -> Any:
    """A mechanism that is not near a singular position, and its solver."""
    for draw in range(seed, seed + 400, 100):
        case = space(draw, kind, **options)
        solver = started(case.model, case.inputs)
        if is_well(Oracle(case.model), state_of(solver, case.model)):
            return case, solver
    raise AssertionError("all draws are near singular positions")


@pytest.mark.parametrize("seed", first(1, [3, 0, 1]))
@pytest.mark.parametrize("kind", BETWEEN)
def test_a_loop_closed_by_any_product_agrees_with_the_oracle(kind: str, seed: int) -> None:
    check(lambda draw: space(draw, kind, driven=seed == 3), seed)


@each_value
@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@pytest.mark.parametrize("kind", first(6, BETWEEN))
def test_a_run_keeps_the_loop_closed_and_its_energy(kind: str, dynamics: str) -> None:
    case, _ = well_placed(5, kind)
    model = fm.Model("free", gravity=case.model.gravity)
    still = {"damping": 0.0, "stiffness": 0.0}
    joints = [j if isinstance(j, fm.Joint) else replace(j, **still) for j in case.model.joints]
    model.add(*case.model.bodies, *joints)
    solver = fm.Solver(fm.compile(model).with_options(tolerance=1e-10, dynamics=dynamics))
    solver.assemble()
    energy, scale = solver.get("solver.energy"), 1.0
    for t in (0.1, 0.2, 0.3):
        solver.step(t)
        scale = max(scale, *(float(np.square(solver.get(f"{b.name}.v")).sum()) for b in model.bodies))
        assert solver.get("solver.position_violation") <= CLOSED
        assert_allclose(solver.get("solver.energy"), energy, rtol=0, atol=1e-7 * scale)


@pytest.mark.parametrize("kind", ["slide between", "two slides", "ball between", "helix"])
def test_which_joint_of_the_loop_is_cut_does_not_matter(kind: str) -> None:
    """The same mechanism with the product in the tree, and its coordinates and reactions."""
    free = [mode for mode in BETWEEN[kind] if mode.free]

    def mechanism(cut: str, start: Any = None) -> fm.Solver:
        model = fm.Model("loop", gravity=(1.0, -9.0, 2.0))
        shape = {"mass": 1.3, "inertia": (0.1, 0.12, 0.15), "com": (0.1, 0.2, -0.1)}
        bodies = [fm.Body(f"b{i}", **shape) for i in range(7 - len(free))]
        axes = [(1, 0, 0), (0, 1, 0.2), (0.1, 0.3, 1), (1, 1, 0), (0, 1, 1), (1, 0, 1)]
        carriers, at = [model.ground, *bodies], {}
        for i, body in enumerate(bodies):
            at[f"R{i}"] = (carriers[i].at(0.3, 0.2 * (i > 0), -0.1), body.at(-0.2, 0.1, 0.05 * i))
        q, u = start or ({}, {})
        joints: list[Any] = [
            fm.Revolute(name, F, M, axis=axes[i], q0=q.get(name, 0.3 - 0.2 * i), u0=u.get(name, 0.4), cut=name == cut)
            for i, (name, (F, M)) in enumerate(at.items())
        ]
        ends = model.ground.at(0.8, 0.3, 0.1), bodies[-1].at(0.2, 0.1, 0.2)
        given = {"q0": q["J"], "u0": u["J"]} if start else {}
        joints.append(fm.Joint("J", *ends, modes=BETWEEN[kind], cut=cut == "J", **given))
        model.add(*bodies, *joints)
        return started(model)

    first = mechanism("J")
    names = [name for name in first.image.variables.joint_names if name != "J"]
    q, u = ({n: first.get(f"{n}.{v}") for n in (*names, "J")} for v in ("q", "qd"))
    other = mechanism(names[1], ({n: q[n] if n == "J" else float(q[n]) for n in q}, u))
    assert first.image.cut_joints == ("J",) and other.image.cut_joints == (names[1],)
    for suffix in ("q", "qd", "qdd", "reaction.f", "reaction.t"):
        a, b = (np.concatenate([np.atleast_1d(s.get(f"{n}.{suffix}")) for n in (*names, "J")]) for s in (first, other))
        assert_allclose(a, b, rtol=0, atol=100 * AGREEMENT * max(1.0, np.abs(a).max()), err_msg=suffix)


def test_every_joint_of_a_loop_may_have_a_slide_between_its_turns() -> None:
    model = fm.Model("loop")
    a, b = (fm.Body(name, mass=1.0, inertia=(0.1, 0.1, 0.1)) for name in "ab")
    modes = [fm.Turn("z"), fm.Slide("x"), fm.Turn("y")]
    model.add(a, b, fm.Joint("A", model.ground.at(), a.at(), modes=modes, q0=(0.1, 0.2, 0.3)))
    model.add(fm.Joint("B", a.at(0, 1, 0), b.at(), modes=modes, q0=(-0.3, 0.4, 0.2)))
    model.add(fm.Joint("C", model.ground.at(0.5, 0.9, 0.2), b.at(0.2, 0, 0.1), modes=modes))
    solver = started(model)
    assert solver.get("solver.position_violation") <= CLOSED
    assert solver.mobility == 3
