"""Joints that turn about three axes: motion to the limit of their angles ends at once, and names the joint."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fmumbs as fm
from fmumbs.compiler import compile
from oracle.joints import turn
from support.slave import DISCARD, ERROR, OK, Slave, unpacked_fmu
from support.sweeps import each_pair, seeds

MOST_STEPS = 1000
SCHEMES = ("dopri5", "dop853", "radau", "rk4")


def solver_of(model: fm.Model, **options: Any) -> fm.Solver:
    return fm.Solver(compile(model, everything=True).with_options(**options))


def pressed(cut: bool = False, beside: float = 0.0, **more: Any) -> fm.Model:
    """A body in a damped bushing that yields; `beside`: how far its centre of mass is from the bushing."""
    model = fm.Model("pressed", gravity=(0, 0, 0))
    body = fm.Body("body", mass=1, com=(beside,) * 3, inertia=(1, 1, 1))
    ends = (model.ground.at(), body.at())
    bushing = fm.Bushing("B", *ends, stiffness=[1] * 6, damping=[1] * 6, cut=cut, **more)
    model.add(body, bushing, *([fm.Free("S", *ends)] if cut else []))
    return model


@each_pair
@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("beside", [0.0, 1e-3])
@pytest.mark.parametrize("cut", [False, True])
def test_a_bushing_that_is_pressed_towards_90_degrees(cut: bool, beside: float, scheme: str, dynamics: str) -> None:
    solver = solver_of(pressed(cut, beside), scheme=scheme, dynamics=dynamics)
    solver.assemble()
    solver.set("B.tau", [0, 0, 0, 0, 5, 0])
    with pytest.raises(fm.SolverError, match="joint 'B' comes to the limit of its coordinates: its three axes"):
        solver.step(10.0)
    assert solver.get("solver.steps") + solver.get("solver.rejected") < MOST_STEPS
    assert 1.55 < solver.get("B.q")[4] < np.pi / 2
    with pytest.raises(fm.SolverError, match="joint 'B' comes to the limit"):
        solver.step(10.0)


@pytest.mark.parametrize("cut", [False, True])
def test_a_bushing_that_stays_below(cut: bool) -> None:
    """At rest, a torque of 1.5 N.m about y turns it by 1.5 rad, 4 degrees from the limit."""
    solver = solver_of(pressed(cut, damping_matrix=np.diag([1] * 3 + [5] * 3)))
    solver.assemble()
    solver.set("B.tau", [0, 0, 0, 0, 1.5, 0])
    solver.step(100.0)
    np.testing.assert_allclose(solver.get("B.q"), [0, 0, 0, 0, 1.5, 0], atol=1e-4)


@pytest.mark.parametrize("cut", [False, True])
def test_in_the_fmu(tmp_path: Path, cut: bool) -> None:
    slave = Slave(unpacked_fmu(tmp_path, pressed(cut, 1e-3)))
    slave.start(**{"B.tau[5]": 5.0})
    assert slave.step(0.0, 10.0) == DISCARD
    assert "joint 'B' comes to the limit of its coordinates" in slave.say
    slave.free()


def test_a_start_at_the_limit_is_refused_in_the_fmu(tmp_path: Path) -> None:
    slave = Slave(unpacked_fmu(tmp_path, pressed()))
    slave.initialize()
    assert slave.set("B.q[5]", np.pi / 2) == OK
    assert slave.call("fmi2ExitInitializationMode") == ERROR
    assert "joint 'B' starts at the limit" in slave.say
    slave.free()


def test_two_parallel_turns_and_a_third_have_no_limit() -> None:
    """Their axes lie in one plane wherever the joint is, and its modes are independent: a slide is between them."""
    model = fm.Model("crank", gravity=(0, 0, 0))
    body = fm.Body("body", mass=1, inertia=(1, 1, 1))
    modes = [fm.Turn("z"), fm.Slide("x", role="locked", value=1.0), fm.Turn("z"), fm.Turn("x")]
    model.add(body, fm.Joint("J", model.ground.at(), body.at(), modes=modes, u0=(1, 2, 3)))
    solver = solver_of(model)
    solver.assemble()
    solver.step(3.0)
    assert np.all(np.isfinite(solver.get("J.q")))


@pytest.mark.parametrize("seed", seeds(8, 200))
def test_pressed_at_random(seed: int) -> None:
    """Any three axes, torques and fixed turns between them: it ends below the limit, or names the joint. The product of
    the axes, found from the bodies' motion at unit velocities, never changes its sign."""
    rng = np.random.default_rng([243, seed])
    model = fm.Model("random", gravity=(0, 0, 0))
    body = fm.Body("body", mass=1, com=tuple(0.1 * rng.uniform(-1, 1, 3)), inertia=(1, 1.3, 0.9))
    axes = rng.normal(size=(3, 3))
    modes: list[Any] = []
    for axis in axes:
        modes += [fm.Turn(tuple(axis)), fm.Turn(tuple(rng.normal(size=3)), role="locked", value=rng.uniform(-1, 1))]
    ends = (model.ground.at(), body.at()) if rng.random() < 0.5 else (body.at(), model.ground.at())
    cut = bool(rng.random() < 0.5)
    try:
        joint = fm.Joint("J", *ends, modes=modes[:-1], stiffness=[0.2] * 3, damping=[0.3] * 3, cut=cut)
    except fm.ModelError:
        pytest.skip("dependent at the start")
    model.add(body, joint, *([fm.Spherical("S", *ends)] if cut else []))
    solver = solver_of(model, scheme=str(rng.choice(SCHEMES)), dynamics=str(rng.choice(["riccati", "copcod"])))
    message, products = "", []
    try:
        solver.assemble()
        solver.set("J.tau", rng.uniform(-3, 3, 3))
        for t in np.linspace(0, 10, 41)[1:]:
            solver.step(t)
            products.append(product_of_axes(modes[:-1], solver.get("J.q")))
    except (fm.AssemblyError, fm.SolverError) as error:
        message = str(error)
    assert not message or re.search("joint 'J' (starts at|comes to) the limit of its coordinates", message)
    assert len({np.sign(p) for p in products}) <= 1
    assert solver.get("solver.steps") + solver.get("solver.rejected") < 30_000


def product_of_axes(modes: list[Any], q: Any) -> float:
    R, axes, angles = np.eye(3), [], iter(q)
    for mode in modes:
        axis = np.array(mode.axis) / np.linalg.norm(mode.axis)
        if mode.role != "locked":
            axes.append(R @ axis)
        R = R @ turn(axis, mode.value if mode.role == "locked" else next(angles))
    return float(np.linalg.det(axes))
