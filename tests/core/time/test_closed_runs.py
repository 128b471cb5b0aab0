"""Long runs of closed mechanisms, against closed forms and equivalent pendulums."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.readers import read_model
from support.sweeps import each_value, first

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
def test_the_ladder_swings_as_its_equivalent_pendulum(windows: int) -> None:
    """Cranks that stay parallel and rungs that only move along: one degree of freedom q, with J q'' = -dV/dq."""
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


# Three parallel cranks ------------------------------------------------------------------------------------------

FEET = ((0.0, 0.0), (2.0, 0.0), (1.0, -0.7))  # x, z [m]: not in line, so that no position is singular
IN_LINE = ((0.0, 0.0), (2.0, 0.0), (1.0, 0.0))
LEAN, SPIN = 0.3, 9.0  # [rad], [rad/s]: they go over the top


def three_cranks(cut_last: tuple[int, int, int], feet: tuple[tuple[float, float], ...] = FEET) -> fm.Model:
    """A platform on them. The forces that do nothing lie along the cranks, so that each row follows from the others but
    twice in a turn, and no choice of rows is good all the way round."""
    model = fm.Model("three_cranks")
    platform = fm.Body.box("platform", size=(2.0, 0.1, 0.1), mass=4.0)
    rods = [fm.Body.rod(f"crank{i}", length=1.0, mass=1.0, radius=0.02, along="z") for i in range(3)]
    model.add(*rods, platform)
    for i, (x, z) in enumerate(feet):
        foot = model.ground.at(x, 0, z)
        model.add(fm.Revolute(f"foot{i}", foot, rods[i].base, axis="y", q0=LEAN, u0=SPIN))
    for i in cut_last:
        corner = platform.at(feet[i][0] - 1.0, 0, feet[i][1])
        model.add(fm.Revolute(f"top{i}", rods[i].tip, corner, axis="y", q0=-LEAN, u0=-SPIN))
    return model


def turning(cut_last: tuple[int, int, int], planar: bool, scheme: str, tolerance: float = 1e-11) -> fm.Solver:
    image = compile(three_cranks(cut_last), everything=True)
    solver = fm.Solver(image.with_options(scheme=scheme, step=2e-3, tolerance=tolerance))
    assert (solver.use_planar(planar) > 0) == planar
    solver.assemble()
    return solver


@each_value
@pytest.mark.parametrize("tolerance", first(3, [1e-5, 1e-7, 3e-9, 3e-6, 1e-6, 3e-8, 1e-8]))
@pytest.mark.parametrize("planar", [True, False])
@pytest.mark.parametrize("cut_last", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_parallel_cranks_turn_at_any_tolerance(cut_last: tuple[int, int, int], planar: bool, tolerance: float) -> None:
    """Near their singular positions velocities fit no positions that are off by more than round-off."""
    for scheme in ("dopri5", "dop853"):
        solver = turning(cut_last, planar, scheme, tolerance)
        for time in np.linspace(0.0, 3.0, 101)[1:]:
            solver.step(time)
        energy = turning(cut_last, planar, scheme).get("solver.energy")
        assert abs(solver.get("solver.energy") / energy - 1.0) < 100 * tolerance


@each_value
@pytest.mark.parametrize("scheme", ["dopri5", "rk4", "dop853"])
@pytest.mark.parametrize("planar", [True, False])
@pytest.mark.parametrize("cut_last", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_rows_are_exchanged_as_parallel_cranks_turn(cut_last: tuple[int, int, int], planar: bool, scheme: str) -> None:
    """Wherever they are cut they turn as one pendulum, J q'' = V sin q."""
    solver = turning(cut_last, planar, scheme)
    crank = three_cranks(cut_last)["crank0"]
    inertia = 3 * (crank.inertia[1][1] + crank.mass * 0.25) + 4.0
    moment = 9.81 * (3 * 0.5 * crank.mass + 4.0)
    times = np.linspace(0.0, 3.0, 101)
    pendulum = solve_ivp(
        lambda _, y: (y[1], moment * np.sin(y[0]) / inertia),
        (0.0, 3.0),
        (LEAN, SPIN),
        method="DOP853",
        t_eval=times,
        rtol=1e-12,
        atol=1e-12,
    ).y
    assert pendulum[0, -1] > 8 * np.pi
    closure = 1e-12 * solver.image.arrays["length"].item()  # what the correction promises
    choices = set()
    for time, q, u in zip(times, *pendulum, strict=True):
        solver.step(time)
        choices.add(tuple(np.flatnonzero(solver.active_rows)))
        for i in range(3):
            assert_allclose((solver.get(f"foot{i}.q"), solver.get(f"foot{i}.qd")), (q, u), rtol=0, atol=1e-7)
        assert solver.get("solver.position_violation") <= closure
        assert solver.mobility == 1
    assert len(choices) > 1
    assert {len(rows) for rows in choices} == {3}


@pytest.mark.parametrize("planar", [True, False])
@pytest.mark.parametrize("scheme", ["dopri5", "rk4", "dop853"])
def test_runs_with_exchanged_rows_continue_from_a_saved_state(scheme: str, planar: bool) -> None:
    first, second, third = (turning((2, 0, 1), planar, scheme) for _ in range(3))
    first.step(0.01)
    start = first.active_rows
    while (first.active_rows == start).all():
        first.step(first.time + 0.01)
    for solver in (second, third):
        solver.state_load(first.state_save())
    begun = first.time
    for n in range(1, 101):
        first.step(begun + 0.01 * n)
    for n in range(1, 101):
        second.step(begun + 0.01 * n)
        second.get("crank1.a")
        if n % 20 == 0:
            third.step(begun + 0.01 * n)
    assert first.state_save() == second.state_save()
    for i in range(3 if scheme == "dopri5" else 0):  # the other's steps begin at each communication point
        assert first.get(f"foot{i}.q") == third.get(f"foot{i}.q")


@pytest.mark.parametrize("planar", [True, False])
@pytest.mark.parametrize("scheme", ["dopri5", "rk4", "dop853"])
def test_a_rank_that_drops_at_one_position_leaves_the_number_of_rows(scheme: str, planar: bool) -> None:
    """Cranks on feet in line fold twice in a turn: fewer rows are independent there, and none is redundant for that."""
    image = compile(three_cranks((2, 0, 1), IN_LINE), everything=True)
    solver = fm.Solver(image.with_options(scheme=scheme, step=2e-3))
    solver.use_planar(planar)
    solver.assemble()
    for i in range(1, 101):
        solver.step(0.01 * i)
        assert np.count_nonzero(solver.active_rows) == 3
        assert_allclose(solver.get("foot1.q"), solver.get("foot0.q"), rtol=0, atol=1e-9)
    assert solver.get("foot0.q") > 2 * np.pi


@pytest.mark.parametrize(
    "closing",
    [
        partial(fm.Revolute, axis="y"),
        partial(fm.Cylindrical, axis="y"),
        partial(fm.Joint, modes=(fm.Turn("y"), fm.Turn("x"))),
    ],
    ids=["revolute", "cylindrical", "universal"],
)
def test_an_angle_that_closes_a_loop_is_counted_over_whole_turns_of_one_step(closing: Any) -> None:
    """Parallel cranks turn evenly without weight, so that a step of the integrator takes them round several times."""
    model = fm.Model("parallel", gravity=(0, 0, 0))
    sizes = {"left": 0.5, "rung": 0.8, "right": 0.5}
    left, rung, right = (fm.Body.rod(name, length=length, mass=1.0) for name, length in sizes.items())
    model.add(left, rung, right, fm.Revolute("A", model.ground.at(), left.base, axis="y", q0=0.3, u0=50.0))
    model.add(fm.Revolute("B", left.tip, rung.base, axis="y", q0=-0.3))
    model.add(fm.Revolute("D", model.ground.at(0.8, 0, 0), right.base, axis="y", q0=0.3))
    model.add(closing("C", rung.tip, right.tip, cut=True))
    angle = "C.q" if isinstance(model.joints[-1], fm.Revolute) else "C.q[1]"
    solver = fm.Solver(compile(model).with_options(tolerance=1e-7))
    solver.assemble()
    for time in (0.001, 0.1, 0.35, 2.0, 10.0):
        solver.step(time)
        assert_allclose(solver.get(angle), solver.get("D.q") - solver.get("A.q") - solver.get("B.q"), rtol=0, atol=1e-8)
    assert_allclose(solver.get(angle), 0.3 + 50.0 * 10.0, rtol=1e-6, atol=0)  # ten times the tolerance
    assert solver.get("solver.steps") < 100.0


def test_the_quaternion_of_a_cut_joint_without_constraints_is_continuous() -> None:
    """Of a rod that turns; a quaternion would change its sign at half a turn if it were not followed."""
    model = fm.Model("measured", gravity=(0, 0, 0))
    rod = fm.Body.rod("rod", length=1.0, mass=1.0)
    model.add(rod, fm.Revolute("A", model.ground.at(), rod.base, axis="y", u0=3.0))
    model.add(fm.Free("pose", model.ground.at(), rod.tip, cut=True))
    for scheme in ("dopri5", "rk4"):
        solver = fm.Solver(compile(model, everything=True).with_options(scheme=scheme, step=0.01))
        solver.assemble()
        for time in np.arange(0.1, 5.0, 0.1):
            solver.step(time)
            half = 1.5 * time
            assert_allclose(solver.get("pose.q"), [np.cos(half), 0, np.sin(half), 0], rtol=0, atol=1e-6)
