"""Joints with free, excited and locked modes and with rows of velocities: variables, states and derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.run import Solver
from oracle import Oracle
from support.joint_models import (
    mixed,
    mixed_solver,
)
from support.strategies import Case
from support.tree_agreement import assert_agrees, started


def test_the_variables_of_excited_modes() -> None:
    table = {v.name: v for v in compile(mixed()).variables}
    assert [n for n in table if n.startswith("J.") and table[n].causality == "input"] == [
        "J.f", "J.kappa_dot[1]", "J.eta_in[2]",
    ]  # fmt: skip
    assert table["J.kappa_dot[2]"].causality == table["J.kappa_dot[3]"].causality == "output"
    assert table["J.eta[1]"].initial == table["J.kappa[2]"].initial == "exact"
    assert table["J.eta[1]"].start == 0.3
    assert table["J.eta[3]"].initial == "calculated"
    assert table["J.eta[3]"].start is None
    assert [table[f"J.drive[{k}]"].unit for k in (1, 2, 3)] == ["N.m", "N.m", "N"]
    assert table["J.kappa[2]"].derivative_of == table["J.eta[2]"].index
    assert table["J.kappa_dot[2]"].derivative_of == table["J.kappa[2]"].index
    assert table["J.kappa_dot[1]"].derivative_of is None
    assert table["J.eta[1]"].dependencies == ()
    assert table["J.drive[1]"].dependencies is None
    assert [table[f"K.q[{i}]"].unit for i in (1, 2, 3)] == ["m", "m", "rad"]
    assert [table[f"K.u[{i}]"].unit for i in (1, 2)] == ["m/s", "rad/s"]
    assert table["K.udot[1]"].derivative_of == table["K.u[1]"].index
    assert not {n for n in table if n.startswith("K.stiffness") or n.startswith("K.qd")}


@pytest.mark.parametrize("backwards", [False, True])
def test_locked_modes_behind_the_last_moving_one_have_its_wrench_where_they_end(backwards: bool) -> None:
    """Each side of a joint of a tree may be its inner one."""
    modes = [fm.Turn("z"), fm.Slide("x", role="locked", value=0.4), fm.Turn("y", role="locked", value=0.7)]
    ends = [fm.Slide((1, 2, 0), role="locked", value=-0.3)]
    model = fm.Model("behind")
    a, b = (fm.Body(name, mass=1.0, com=(0.1, 0.2, 0.3), inertia=(1.0, 1.2, 1.3)) for name in "ab")
    F, M = a.at(1, 0, 0), b.at(0, 0.1, 0)
    model.add(a, b, fm.Joint("J", model.ground.at(0.1, 0, 0), a.at(0.1, 0.2, 0.1), modes=modes + ends, q0=[0.3]))
    modes = modes[::-1] if backwards else modes
    F, M = (M, F) if backwards else (F, M)
    model.add(fm.Joint("K", F, M, modes=ends + modes + ends, q0=[-0.8], u0=[1.5], stiffness=[3.0]))
    case = Case(model, {})
    assert_agrees(started(model), case)


def test_a_saved_state_continues_bit_for_bit() -> None:
    names = ("J.q", "J.eta", "J.kappa", "J.drive", "K.q", "K.u", "c.quat")
    one = mixed_solver()
    one.step(0.37)
    kept = one.state_save()
    other = Solver(one.image)
    other.state_load(kept)
    for solver in (one, other):
        solver.step(0.41)
        solver.step(1.3)
    for name in names:
        assert np.array_equal(one.get(name), other.get(name))
    one.state_load(kept)
    assert one.time == 0.37
    one.step(0.41)
    one.step(1.3)
    for name in names:
        assert np.array_equal(one.get(name), other.get(name))


def test_every_instruction_set_gives_the_same_bits() -> None:
    found = []
    for level in (0, 1):
        solver = mixed_solver()
        try:
            solver.use_level(level)
        except fm.SolverError:
            pytest.skip("this machine has one instruction set")
        solver.step(0.8)
        found.append(
            np.concatenate([np.ravel(solver.get(n)) for n in ("J.q", "J.drive", "K.q", "K.reaction.t", "b.quat")])
        )
    assert np.array_equal(*found)


OUTPUTS = (
    "J.qdd",
    "J.drive",
    "J.kappa_dot[2]",
    "J.kappa_dot[3]",
    "J.reaction.f",
    "J.wrench.t",
    "K.udot",
    "K.reaction.t",
    "c.a",
    "c.alpha",
)


def test_directional_derivatives_are_exact() -> None:
    """The accelerations are linear in the inputs, so that a difference over any distance is the derivative."""
    solver = mixed_solver()
    solver.step(0.6)
    for name in ("J.f", "J.kappa_dot[1]", "J.eta_in[2]", "K.tau[1]", "K.tau[2]"):
        before, value = [np.ravel(solver.get(n)) for n in OUTPUTS], solver.get(name)
        solver.set(name, value + 1.0)
        after = [np.ravel(solver.get(n)) for n in OUTPUTS]
        solver.set(name, value)
        exact = solver.directional_derivative(OUTPUTS, [name], [1.0])
        difference = np.concatenate(after) - np.concatenate(before)
        assert_allclose(exact, difference, rtol=0, atol=1e-10)


def test_output_derivatives_follow_from_the_motion() -> None:
    """Against differences of the motion itself, 1e-5 s to each side."""
    names = ("J.eta", "J.kappa", "K.q", "K.u", "J.q", "J.qd", "c.r", "c.v", "c.quat", "J.drive", "J.wrench.f")
    h, t = 1e-5, 0.6
    solver = mixed_solver()
    solver.step(t - h)
    before = [solver.get(n) for n in names]
    solver.step(t)
    rates = [solver.output_derivative(n) for n in names]
    solver.step(t + h)
    after = [solver.get(n) for n in names]
    for name, low, rate, high in zip(names, before, rates, after, strict=True):
        assert_allclose(rate, (high - low) / (2 * h), rtol=1e-5, atol=2e-4, err_msg=name)


def test_set_state_takes_the_coordinates_that_follow_no_path() -> None:
    solver = mixed_solver()
    solver.step(0.5)
    q = [*np.ravel(solver.get("J.q")), *solver.get("J.eta"), *solver.get("K.q")]
    u = [*np.ravel(solver.get("J.qd")), *solver.get("J.kappa"), *solver.get("K.u")]
    other = mixed_solver()
    other.step(0.5)
    other.set_state(q, u)
    for name in ("J.qdd", "J.drive", "K.udot"):
        assert_allclose(other.get(name), solver.get(name), rtol=0, atol=1e-10)


def test_mixed_mechanism_agrees_with_the_oracle() -> None:
    """The mixed mechanism on its way, at two times."""
    model = mixed()
    solver = mixed_solver()
    for t in (0.2, 0.7):
        solver.step(t)
        oracle = Oracle(model)
        state = oracle.state(
            {"J": solver.get("J.q"), "K": solver.get("K.q")},
            {"J": solver.get("J.qd"), "K": solver.get("K.u")},
            {"J": solver.get("J.eta")},
            {"J": solver.get("J.kappa")},
            t=t,
        )
        inputs = {"J.f": 0.4, "J.kappa_dot": (0.7, 0, 0), "J.eta_in": (0, 0.5, 0), "K.tau": (0.3, -0.2)}
        answer = oracle.solve(state, inputs)
        for name in ("J.qdd", "J.drive", "J.reaction.f", "J.wrench.t", "K.udot", "K.reaction.t", "c.a", "c.alpha"):
            assert_allclose(solver.get(name), answer[name], rtol=0, atol=1e-10, err_msg=name)
