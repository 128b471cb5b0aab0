"""Long runs of closed mechanisms, beside formulas of their own and pendulums that they come to."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.readers import read_model

CLOSURE = 1e-12  # [m] over 10 s
ENERGY = 1e-9  # [J] over 10 s by RK4 at 1 ms


# Three rods of 1 kg and 1 m, pivots 1.5 m apart, in the plane x-y -----------------------------------------------

BASE, START, ACROSS, AXIAL, G = 1.5, 0.5, 0.0839583333333333, 0.00125, 9.81


def four_bar(pin: type[fm.Joint]) -> fm.Model:
    """Two rods hang on their pivots, the third lies between their tips; at rest."""
    tip = np.array([np.sin(START), -np.cos(START)])
    across = np.array([BASE, 0]) - tip
    apart = np.linalg.norm(across)
    below = np.array([across[1], -across[0]]) / apart
    other = tip + across / 2 + below * np.sqrt(1 - apart**2 / 4)
    lies = np.arctan2(other[1] - tip[1], other[0] - tip[0])
    model = fm.Model("four_bar", gravity=(0, -G, 0))
    left, right = (
        fm.Body(name, mass=1, com=(0, -0.5, 0), inertia=(ACROSS, AXIAL, ACROSS)) for name in ("left", "right")
    )
    middle = fm.Body("middle", mass=1, com=(0.5, 0, 0), inertia=(AXIAL, ACROSS, ACROSS))
    model.add(left, middle, right, fm.Revolute("A", model.ground.at(), left.at(), axis="z", q0=START))
    model.add(fm.Revolute("B", left.at(0, -1, 0), middle.at(), axis="z", q0=lies - START))
    q0 = np.arctan2(other[0] - BASE, -other[1])
    model.add(fm.Revolute("D", model.ground.at(BASE, 0, 0), right.at(), axis="z", q0=q0))
    axis = {"axis": "z"} if pin is fm.Revolute else {}
    model.add(pin("C", middle.at(1, 0, 0), right.at(0, -1, 0), **axis))
    return model


def gap(a: float, b: float, d: float) -> float:
    """Between the tips that the closing pin joins, from the angles alone [m]."""
    x, y = np.sin(a) + np.cos(a + b) - BASE - np.sin(d), -np.cos(a) + np.sin(a + b) + np.cos(d)
    return float(np.hypot(x, y))


def energy(a: float, b: float, d: float, va: float, vb: float, vd: float) -> float:
    """From the angles and their rates alone [J]."""
    lies, spins = a + b, va + vb
    vx, vy = np.cos(a) * va - 0.5 * np.sin(lies) * spins, np.sin(a) * va + 0.5 * np.cos(lies) * spins
    kinetic = 0.5 * (ACROSS + 0.25) * (va**2 + vd**2) + 0.5 * (vx**2 + vy**2) + 0.5 * ACROSS * spins**2
    return float(kinetic + G * (-0.5 * np.cos(a) - 0.5 * np.cos(d) - np.cos(a) + 0.5 * np.sin(lies)))


@pytest.mark.parametrize("pin", [fm.Revolute, fm.Cylindrical, fm.Spherical])
def test_a_four_bar_keeps_closed_and_its_energy_over_ten_seconds(pin: type[fm.Joint]) -> None:
    solver = fm.Solver(compile(four_bar(pin), everything=True).with_options(scheme="rk4", step=1e-3))
    solver.assemble()
    read = [f"{name}.{kind}" for kind in ("q", "qd") for name in "ABD"]
    start = energy(*map(solver.get, read))
    for i in range(1, 201):
        solver.step(0.05 * i)
        values = [solver.get(name) for name in read]
        assert gap(*values[:3]) <= CLOSURE
        assert abs(energy(*values) - start) <= ENERGY
    assert solver.get("solver.steps") == 10_000
    assert solver.get("solver.corrections") > 0


# The ladder ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("windows", [1, 3, 12])
def test_the_ladder_swings_as_the_pendulum_that_it_comes_to(windows: int) -> None:
    """Cranks that stay parallel and rungs that only move along: one freedom q, with J q'' = -dV/dq."""
    model = read_model("ladder", {"windows": windows})
    crank, rung, first = model["crank0"], model["rung1"], model["A0"]
    length = 0.5
    inertia = (windows + 1) * (crank.inertia[1][1] + crank.mass * crank.com[0] ** 2) + windows * rung.mass * length**2
    moment = 9.81 * ((windows + 1) * crank.mass * crank.com[0] + windows * rung.mass * length)
    times = np.linspace(0.0, 4.0, 41)
    pendulum = solve_ivp(
        lambda _, y: (y[1], moment * np.cos(y[0]) / inertia),
        (0.0, 4.0),
        (first.q0, first.u0),
        method="DOP853",
        t_eval=times,
        rtol=1e-12,
        atol=1e-12,
    ).y
    assert np.sin(pendulum[0]).min() > 0.5  # it never folds
    solver = fm.Solver(compile(model, everything=True).with_options(tolerance=1e-11))
    solver.assemble()
    for time, q, u in zip(times, *pendulum, strict=True):
        solver.step(time)
        for i in range(windows + 1):
            assert_allclose((solver.get(f"A{i}.q"), solver.get(f"A{i}.qd")), (q, u), rtol=0, atol=2e-9)
        assert_allclose(solver.get("rung1.w"), 0, atol=1e-10)
    assert solver.mobility == 1
    assert solver.redundant_rows == 3 * windows
