"""Drives within loops: two that are incompatible are named, two that fit are not."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import fmumbs as fm
from fmumbs.readers import read_model
from support.closed_agreement import assert_closed


def driven(name: str, **modes: dict[str, Any]) -> fm.Model:
    """The shipped mechanism with drives in place of some revolutes about y."""
    near, model = read_model(name), fm.Model(name)
    model.add(*near.bodies)
    for joint in near.joints:
        if joint.name in modes:
            model.add(fm.Joint(joint.name, joint.F, joint.M, modes=[fm.Turn("y", role="excited", **modes[joint.name])]))
        else:
            model.add(joint)
    return model


def at(name: str, joint: str) -> float:
    """Where a joint of the shipped mechanism starts."""
    return float(read_model(name)[joint].q0)


def assembled(model: fm.Model) -> fm.Solver:
    solver = fm.Solver(model)
    solver.assemble()
    return solver


CONFLICT = "the drives of joints 'A' and 'D' conflict: the loops allow only one of them to move"


@pytest.mark.parametrize("apart", [0.0, 0.3])
def test_two_inputs_that_drive_one_degree_of_freedom_are_named(apart: float) -> None:
    """Also if they fit at the start, since inputs may diverge later."""
    A = {"input": "kappa_dot", "eta0": at("four_bar", "A")}
    D = {"input": "kappa_dot", "eta0": at("four_bar", "D") + apart}
    with pytest.raises(fm.AssemblyError, match=CONFLICT):
        assembled(driven("four_bar", A=A, D=D))


def test_conflicting_velocities_of_two_drives_are_named() -> None:
    A = {"path": fm.Path.polynomial(at("four_bar", "A"), 2.0)}
    D = {"path": fm.Path.polynomial(at("four_bar", "D"), 2.0)}
    with pytest.raises(fm.AssemblyError, match=CONFLICT):
        assembled(driven("four_bar", A=A, D=D))


def test_conflicting_accelerations_of_two_paths_are_named() -> None:
    A = {"path": fm.Path.polynomial(at("four_bar", "A"), 0.0, 2.0)}
    D = {"path": fm.Path.polynomial(at("four_bar", "D"), 0.0, 2.0)}
    with pytest.raises(fm.AssemblyError, match=CONFLICT):
        assembled(driven("four_bar", A=A, D=D))


def test_two_consistent_paths_drive_a_loop() -> None:
    """Cranks of a parallelogram that turn alike."""
    path = fm.Path.polynomial(0.9, 1.0)
    model = driven("ladder", A0={"path": path}, A1={"path": path})
    solver = assembled(model)
    assert solver.mobility == 0
    solver.step(0.2)
    assert abs(solver.get("A1.eta") - 1.1) < 1e-12
    assert abs(solver.get("B1.q") + 1.1) < 1e-9


def test_paths_that_diverge_later_are_named_then() -> None:
    together = fm.Path((0.0, 0.1), ((0.9, 1.0, 0, 0, 0, 0), (1.0, 1.0, 0, 0, 0, 0)))
    apart = fm.Path((0.0, 0.1), ((0.9, 1.0, 0, 0, 0, 0), (1.0, 1.0, 0, 50.0, 0, 0)))
    solver = assembled(driven("ladder", A0={"path": together}, A1={"path": apart}))
    with pytest.raises(fm.SolverError, match="the drives of joints 'A0' and 'A1' conflict"):
        solver.step(1.0)
    assert solver.time < 0.2


def test_one_drive_of_a_mechanism_that_cannot_move_is_named() -> None:
    model = fm.Model("triangle")
    a, b = (fm.Body.rod(name, length=1.0, mass=1.0, radius=0.05) for name in "ab")
    turn = fm.Turn("y", role="excited", input="kappa_dot", eta0=-np.pi / 3)
    A = fm.Joint("A", model.ground.at(), a.base, modes=[turn])
    model.add(a, b, A, fm.Revolute("B", model.ground.at(1, 0, 0), b.base, axis="y", q0=-2 * np.pi / 3))
    model.add(fm.Revolute("C", a.tip, b.tip, axis="y"))
    with pytest.raises(fm.AssemblyError, match=re.escape("the drive of joint 'A' cannot move: the loops lock it")):
        assembled(model)


def test_as_many_drives_as_degrees_of_freedom_start() -> None:
    """A row of cranks and rungs whose first crank is driven, and whose second rung may bend by a slide that is, too."""
    near = read_model("slider_crank")
    model = driven("slider_crank", A={"input": "eta", "cutoff": 50.0, "eta0": -0.8, "kappa0": 10.0})
    solver = assembled(model)
    assert solver.mobility == fm.uniqueness(model).mobility == 0
    assert abs(solver.get("S.q") - near["S"].q0) < 1e-9
    solver.set("A.eta_in", -0.3)
    solver.step(0.2)
    assert_closed_here(solver)


def assert_closed_here(solver: fm.Solver) -> None:
    assert solver.get("solver.position_violation") < 1e-11


def test_drives_in_trees_never_conflict() -> None:
    model = fm.Model("tree")
    a, b = (fm.Body.rod(name, length=1.0, mass=1.0, radius=0.05) for name in "ab")
    for i, (F, M) in enumerate(((model.ground.at(), a), (a.tip, b))):
        model.add(M, fm.Joint(f"J{i}", F, M.base, modes=[fm.Turn("y", role="excited", input="kappa_dot")]))
    near = read_model("four_bar")
    model.add(*near.bodies, *(replace(j) for j in near.joints))
    solver = assembled(model)
    assert solver.mobility == 1
    assert_closed(solver, near)
