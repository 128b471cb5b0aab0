"""Motions through change points, where loops are singular: they continue on their branch at every tolerance."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import fmumbs as fm
from fmumbs.compiler import compile
from support.branches import KINDS, Branch, angles_of, branch, model_of, rates_of
from support.sweeps import each_value, first

Pin = type[fm.Revolute] | type[fm.Spherical]
STARTS = 3
TIMES = np.linspace(0.0, 1.2, 13)
GLOBAL = 3000  # errors that remain of those of each step, times the tolerance
FIXED = 1e-4  # [rad], of Runge-Kutta 4 at 1 ms and up to 9 rad/s


@cache
def motion_of(kind: str, seed: int) -> np.ndarray:
    b, _, angle, speed = start(kind, seed)
    return b.motion(angle, speed, TIMES)


def start(
    kind: str, seed: int, pin: type[fm.Revolute] | type[fm.Spherical] = fm.Revolute, size: float = 1.0
) -> tuple[Branch, fm.Model, float, float]:
    rng = np.random.default_rng([KINDS.index(kind), seed])
    b = branch(kind, rng, size)
    angle, speed = float(rng.uniform(-np.pi, np.pi)), float(rng.uniform(1, 9) * rng.choice([-1, 1]))
    return b, model_of(b, angle, speed, rng, turn=True, pin=pin), angle, speed


def solver_of(b: Branch, model: fm.Model, planar: bool, **options: object) -> fm.Solver:
    solver = fm.Solver(compile(model, everything=True).with_options(**options))
    solver.use_planar(planar)
    solver.assemble()
    solver.set("A.tau", b.torque)
    return solver


def passes(b: Branch, angles: np.ndarray) -> bool:
    """Whether a motion passes a change point."""
    at = np.pi / 2 if b.kind == "slider" else 0.0
    return len(np.unique(np.floor((angles - at) / np.pi))) > 1


@each_value
@pytest.mark.parametrize("planar", [True, False])
@pytest.mark.parametrize("tolerance", first(4, [1e-5, 1e-8, 1e-10, None, 1e-6, 1e-7, 1e-9]))
@pytest.mark.parametrize("kind", KINDS)
def test_a_motion_continues_along_its_branch(kind: str, tolerance: float | None, planar: bool) -> None:
    """As its own equation of motion has it; loads on the crank alone make multipliers grow as 1 / x."""
    scheme = {"scheme": "rk4", "step": 1e-3} if tolerance is None else {"tolerance": tolerance}
    enough = FIXED if tolerance is None else GLOBAL * tolerance
    passed = 0
    for seed in range(STARTS):
        b, model, _, _ = start(kind, seed, fm.Revolute if seed % 2 else fm.Spherical)
        solver = solver_of(b, model, planar, **scheme)
        motion = motion_of(kind, seed)
        passed += passes(b, motion[0])
        for time, q, u in zip(TIMES, *motion, strict=True):
            solver.step(time)
            rates = rates_of(b, q, u)
            scale = max(1.0, abs(u))
            assert_allclose(solver.get("A.q"), q, rtol=0, atol=enough * max(1.0, abs(q)))
            for name, rate in zip("ABD", rates, strict=True):
                assert_allclose(solver.get(f"{name}.qd"), rate, rtol=0, atol=enough * scale * 3)
            apart = solver.get("D.q") - angles_of(b, q)[2]
            assert abs(np.remainder(apart + np.pi, 2 * np.pi) - np.pi) <= 3 * enough
    assert passed >= STARTS // 2


@each_value
@pytest.mark.parametrize("size", [1.0, 1e4])
@pytest.mark.parametrize("kind", ["slider", "anti"])
def test_accelerations_are_right_at_any_distance_to_a_change_point(kind: str, size: float) -> None:
    """And at any size: slides count relative to the model's length."""
    at, speed = (np.pi / 2 if kind == "slider" else 0.0), 3.0
    for seed, distance in enumerate(10.0 ** -np.arange(2, 13, 2)):
        rng = np.random.default_rng([KINDS.index(kind), seed % 2])
        b = branch(kind, rng, size)
        model = model_of(b, at + distance, speed, rng, turn=True, pin=fm.Revolute)
        solver = solver_of(b, model, planar=seed % 3 == 0)
        q, u = solver.get("A.q"), solver.get("A.qd")
        expected = b.rates()(0.0, np.array([q, u]))[1]
        assert_allclose(solver.get("A.qdd"), expected, rtol=0, atol=1e-8 * max(u**2, abs(expected)))


# Rows of windows ------------------------------------------------------------------------------------------------


def windows(count: int, q0: float, u0: float, crank: float = 1.0, **gravity: tuple[float, float, float]) -> fm.Model:
    """Parallelograms with bars of 1 kg and 1 m in the plane x-z."""
    model = fm.Model("windows", **gravity)
    cranks = [fm.Body.rod(f"crank{i}", length=crank, mass=1.0, radius=0.01) for i in range(count + 1)]
    rungs = [fm.Body.rod(f"rung{i}", length=1.0, mass=1.0, radius=0.01) for i in range(1, count + 1)]
    for i, body in enumerate(cranks):
        model.add(body, fm.Revolute(f"A{i}", model.ground.at(i, 0, 0), body.base, axis="y", q0=q0, u0=u0))
    for i, body in enumerate(rungs, 1):
        model.add(body, fm.Revolute(f"B{i}", cranks[i - 1].tip, body.base, axis="y", q0=-q0, u0=-u0))
        model.add(fm.Revolute(f"C{i}", body.tip, cranks[i].tip, axis="y"))
    return model


WINDOWS = [(2, None), (2, 1e-5), (40, 1e-7), (2, 1e-9), (2, 1e-7), (40, 1e-5), (40, 1e-9)]


@each_value
@pytest.mark.parametrize(("count", "tolerance"), first(5, [*WINDOWS, (2, 1e-10), (40, 1e-10), (40, None)]))
def test_windows_swing_as_one_pendulum_through_every_fold(count: int, tolerance: float | None) -> None:
    scheme = {"scheme": "rk4", "step": 1e-3} if tolerance is None else {"tolerance": tolerance}
    times = np.linspace(0.0, 3.0, 16)
    slow = 0.04011814711833539  # it passes the next fold slowly, and soon turns back
    for q0 in (slow, *np.random.default_rng(count).uniform(-np.pi, np.pi, 4 if count == 2 else 1)):
        model = windows(count, float(q0), 1.0)
        first = model["crank0"]
        inertia = (count + 1) * (first.inertia[1][1] + 0.25) + count
        moment = 9.81 * ((count + 1) * 0.5 + count)
        motion = solve_ivp(
            lambda _, y: (y[1], moment * np.cos(y[0]) / inertia),  # noqa: B023
            (0.0, 3.0),
            (q0, 1.0),
            "DOP853",
            times,
            rtol=1e-12,
            atol=1e-12,
        ).y
        solver = fm.Solver(compile(model, everything=True).with_options(**scheme))
        solver.assemble()
        enough = FIXED if tolerance is None else GLOBAL * tolerance
        for time, q, u in zip(times, *motion, strict=True):
            solver.step(time)
            for i in range(count + 1):
                assert_allclose((solver.get(f"A{i}.q"), solver.get(f"A{i}.qd")), (q, u), rtol=0, atol=enough)
        assert solver.mobility == 1


def test_steps_that_come_near_a_fold_are_made_on_the_branch_from_their_beginning() -> None:
    """Without gravity a parallelogram turns evenly; at the finest tolerance the two kinds of accelerations differ."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        q0, u0 = float(rng.uniform(-1.5, 1.5)), float(rng.uniform(1, 5))
        options = {"scheme": "dopri5", "tolerance": 3e-13, "dynamics": "copcod"}
        solver = fm.Solver(compile(windows(1, q0, u0, gravity=(0, 0, 0)), everything=True).with_options(**options))
        solver.assemble()
        solver.step(3.0)
        assert_allclose(solver.get("A0.q"), q0 + 3.0 * u0, rtol=0, atol=1e-9)


def swinging(torque: float, planar: bool, tolerance: float = 1e-9) -> fm.Solver:
    """One window that falls through its fold, at half a radian before."""
    solver = fm.Solver(compile(windows(1, 0.5, -8.0), everything=True).with_options(tolerance=tolerance))
    solver.use_planar(planar)
    solver.assemble()
    solver.set("A0.tau", torque)
    return solver


@pytest.mark.parametrize("planar", [True, False])
@pytest.mark.parametrize("torque", [0.0, 3.0])
def test_reactions_are_right_up_to_the_fold(torque: float, planar: bool) -> None:
    """The rung does not turn: its tips bear equal forces across it; along it, what turns a crank, over sin q."""
    solver = swinging(torque, planar)
    crank = windows(1, 0.0, 0.0)["crank0"]
    inertia, seen = crank.inertia[1][1] + 0.25, 0
    while solver.get("A0.q") > -0.02:
        solver.step(solver.time + (1e-3 if solver.get("A0.q") > 0.03 else 5e-5))
        q, u, acceleration = (solver.get(f"A0.{name}") for name in ("q", "qd", "qdd"))
        if abs(q) < 1e-4:
            continue
        seen += abs(q) < 2e-3
        total = -np.cos(q) * acceleration + np.sin(q) * u**2 + 9.81  # upwards, on the rung of 1 kg
        turning = inertia * acceleration - 9.81 * 0.5 * np.cos(q)
        along = (turning - total / 2 * np.cos(q)) / np.sin(q)
        assert_allclose(solver.get("A1.qdd"), acceleration, rtol=0, atol=1e-5)
        found = [solver.get(f"C1.reaction.f[{i}]") for i in (1, 3)]
        assert_allclose(found, (-along, -total / 2), rtol=1e-5, atol=1e-4)
    assert seen > 3


@pytest.mark.parametrize("planar", [True, False])
@pytest.mark.parametrize("x", [0.1, 1e-3, 1e-5, -1e-6, 1e-7, -1e-8, 1e-12, 0.0])
def test_outputs_at_a_fold_are_right_or_not_a_number(x: float, planar: bool) -> None:
    """Accelerations stay smooth; a torque on one crank makes the forces along the rung grow as 1 / x."""
    solver = fm.Solver(compile(windows(1, x, -4.0), everything=True))
    solver.use_planar(planar)
    solver.assemble()
    solver.set("A0.tau", 3.0)
    total = 2 * (windows(1, 0.0, 0.0)["crank0"].inertia[1][1] + 0.25) + 1.0
    acceleration = (9.81 * 2.0 * np.cos(x) + 3.0) / total
    for i in range(2):
        assert_allclose(solver.get(f"A{i}.qdd"), acceleration, rtol=1e-9)
        turning = solver.get(f"crank{i}.alpha[2]")
        assert (np.isnan(turning) and abs(x) < 1e-10) or turning == pytest.approx(acceleration, rel=2e-6)
    along = ((total - 1.0) / 2 + 0.5 * np.cos(x) ** 2) / total / np.sin(x) if x else np.nan
    found = solver.directional_derivative(["A0.qdd", "A1.qdd", "C1.reaction.f[1]"], ["A0.tau"], [1.0])
    assert_allclose(found, [1.0 / total, 1.0 / total, -along] if x else [np.nan] * 3, rtol=1e-6)
    force = solver.get("C1.reaction.f[1]")
    assert x or np.isnan(force)
    solver.set("A0.tau", 0.0)
    change = force - solver.get("C1.reaction.f[1]")
    assert (np.isnan(change) and abs(x) < 1e-10) or change == pytest.approx(-3.0 * along, rel=1e-5)
    assert np.isfinite(solver.get("C1.reaction.f[1]"))


@pytest.mark.parametrize("scheme", ["dopri5", "rk4", "dop853"])
def test_a_saved_state_continues_through_a_fold_bit_for_bit(scheme: str) -> None:
    image = compile(windows(2, 0.3, -8.0), everything=True).with_options(scheme=scheme, tolerance=1e-9, step=1e-3)
    first, second = fm.Solver(image), fm.Solver(image)
    first.assemble()
    second.assemble()
    while first.get("A0.q") > 0.004:
        first.step(first.time + 1e-3)
    saved = first.state_save()
    for solver in (first, second):
        solver.state_load(saved)
        for _ in range(20):
            solver.step(solver.time + 1e-3)
            if solver is second:
                solver.get("C1.reaction.f[1]")
    assert first.state_save() == second.state_save()


@pytest.mark.parametrize("interval", [0.3, 0.01, 7e-5])
def test_the_communication_step_changes_nothing_at_a_fold(interval: float) -> None:
    solver = swinging(1.0, True)
    while solver.time < 0.3:
        solver.step(min(0.3, solver.time + interval))
    once = swinging(1.0, True)
    once.step(0.3)
    for name in ("A0.q", "A0.qd", "A1.qd", "B1.qd"):
        assert_allclose(solver.get(name), once.get(name), rtol=0, atol=1e-7)
    assert solver.get("solver.position_violation") <= 1e-12 * solver.image.arrays["length"].item()


# Starts and ends ------------------------------------------------------------------------------------------------


@each_value
@pytest.mark.parametrize("off", [0.0, 1e-13, 1e-9, -1e-7, 1e-5, -1e-3])
@pytest.mark.parametrize("kind", KINDS)
def test_a_start_at_a_change_point_follows_its_velocity(kind: str, off: float) -> None:
    rng = np.random.default_rng(KINDS.index(kind))
    b = branch(kind, rng)
    angle = (np.pi / 2 if kind == "slider" else 0.0) + off
    solver = solver_of(b, model_of(b, angle, 4.0, rng, turn=True, pin=fm.Revolute), True, tolerance=1e-8)
    assert solver.mobility == 1
    q, u = b.motion(angle, 4.0, np.array([0.0, 0.5]))[:, 1]
    solver.step(0.5)
    assert_allclose(solver.get("A.q"), q, rtol=0, atol=1e-5)
    for name, rate in zip("ABD", rates_of(b, q, u), strict=True):
        assert_allclose(solver.get(f"{name}.qd"), rate, rtol=0, atol=1e-4)


@pytest.mark.parametrize("speeds", [(0.0, 0.0, 0.0), (1.0, 0.0, -1.0)])
def test_a_start_at_a_change_point_without_a_branch_is_refused(speeds: tuple[float, float, float]) -> None:
    model = fm.Model("folded")
    old = windows(1, 0.0, 0.0)
    model.add(*old.bodies)
    u0 = dict(zip(("A0", "A1", "B1"), speeds, strict=True))
    for joint in old.joints:
        model.add(replace(joint, u0=u0[joint.name]) if joint.name in u0 else joint)
    with pytest.raises(fm.AssemblyError, match=r"singular at the start: 1 constraint rows .* 2 nearby.*none of"):
        fm.Solver(model).assemble()


@pytest.mark.parametrize("scheme", ["dopri5", "rk4", "dop853"])
def test_a_motion_that_comes_to_rest_at_a_change_point_is_refused(scheme: str) -> None:
    """A damper that takes all of its momentum on half a radian."""
    model, damping = fm.Model("damped", gravity=(0, 0, 0)), 1.0
    old = windows(1, -0.5, 0.0)
    inertia = 2 * (old["crank0"].inertia[1][1] + 0.25) + 1.0
    u0 = 0.5 * damping / inertia
    model.add(*old.bodies)
    for joint in old.joints:
        sign = {"A": 1.0, "B": -1.0, "C": 0.0}[joint.name[0]]
        model.add(replace(joint, u0=sign * u0, damping=damping if joint.name == "A0" else 0.0))
    solver = fm.Solver(compile(model, everything=True).with_options(scheme=scheme, step=5e-3, tolerance=1e-8))
    solver.assemble()
    with pytest.raises(fm.SolverError, match=r"at t = 3.* the loop C1-A1-B1-A0 is at a singular position.*Hold"):
        solver.step(60.0)
    assert_allclose(solver.get("A0.q"), 0.0, atol=1e-6)


def test_a_motion_follows_its_branch_where_two_nearly_cross() -> None:
    """A rung that is too long by a thousandth: nearly folded, the other crank turns back, as the geometry has it."""
    model = fm.Model("nearly")
    old = windows(1, 0.5, -8.0)
    rung = fm.Body.rod("rung1", length=1.001, mass=1.0, radius=0.01)
    model.add(old["crank0"], rung, old["crank1"])
    for joint in old.joints:
        if joint.name == "B1":
            joint = replace(joint, M=rung.base)
        elif joint.name == "C1":
            joint = replace(joint, F=rung.tip)
        model.add(joint)
    solver = fm.Solver(compile(model, everything=True).with_options(tolerance=1e-9))
    solver.assemble()
    before = solver.get("solver.energy")
    for i in range(1, 31):
        solver.step(0.01 * i)
        assert solver.get("solver.position_violation") <= 1e-11
        assert_allclose(solver.get("solver.energy"), before, rtol=1e-6)
    gap = np.array([solver.get(f"crank1.r[{i}]") for i in (1, 3)])
    assert np.isfinite(gap).all()


@pytest.mark.parametrize("planar", [True, False])
def test_a_motion_continues_if_a_step_ends_at_a_fold(planar: bool) -> None:
    """Without weight: a fixed step ends where only round-off reveals the fold."""
    image = compile(windows(2, 0.2, -8.0, gravity=(0, 0, 0)), everything=True).with_options(scheme="rk4", step=1e-3)
    solver = fm.Solver(image)
    solver.use_planar(planar)
    solver.assemble()
    for i in range(1, 41):
        solver.step(1e-3 * i)
        for k in range(3):
            assert_allclose((solver.get(f"A{k}.q"), solver.get(f"A{k}.qd")), (0.2 - 8e-3 * i, -8.0), rtol=0, atol=1e-8)
