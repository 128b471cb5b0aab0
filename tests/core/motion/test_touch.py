"""Positions where branches of motion share a tangent: no velocity tells them apart, so the motion ends there.

A crank A swings a rocker O by the coupler K through the rocker's extreme position. The rocker is the first crank of a
parallelogram whose bars are all parallel just there. As A goes on through it at x = 0, O turns back as -k x^2, and the
other crank H may go on as a parallelogram's or as an antiparallelogram's, both with velocity zero.
"""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import compile
from support.sweeps import each_value, first

SCHEMES = [*((0, 10.0**-k) for k in range(5, 11)), (1, 1e-6)]


def angle(v: np.ndarray) -> float:
    return float(np.arctan2(v[1], v[0]))


def along(a: float) -> np.ndarray:
    return np.array([np.cos(a), np.sin(a)])


def swung(seed: int, x: float, speed: float, gap: float = 0.0) -> tuple[fm.Model, float]:
    """With random sizes, and the angle of A where the rocker turns back, `gap` before the fold."""
    rng = np.random.default_rng(seed)
    crank, coupler, rocker = rng.uniform([0.1, 0.5, 0.4], [0.2, 0.8, 0.6])
    base = rocker * rng.uniform(1.5, 2.5)
    lead = float(rng.uniform(0.8, np.pi - 0.8))  # of K to the rocker, at the fold
    Q = rocker * along(-gap) - (crank + coupler) * along(lead - gap)
    top, turn = lead - gap, int(rng.integers(2))
    T = Q + crank * along(top + x)
    d = float(np.hypot(*T))
    u = (d**2 + rocker**2 - coupler**2) / (2.0 * d)
    across = np.sqrt(rocker**2 - u**2) * np.array([-T[1], T[0]]) / d
    P = min((u * T / d + across, u * T / d - across), key=lambda p: abs(angle(p) + gap))
    phi, D = angle(P), np.array([base, 0.0])
    X = P + D
    if turn:
        X = P + 2.0 * ((X - P) @ (D - P)) / ((D - P) @ (D - P)) * (D - P) - (X - P)
    swing = speed * crank * along(top + x + np.pi / 2)
    rate = (P - T) @ swing / ((P - T) @ (rocker * along(phi + np.pi / 2)))
    model = fm.Model("touch", gravity=(0.0, 0.0, 0.0))
    A, K, rock, B, H = (
        fm.Body.rod(name, length=float(length), mass=float(rng.uniform(0.5, 2)), radius=0.01)
        for name, length in zip("AKOBH", (crank, coupler, rocker, base, rocker), strict=True)
    )
    ground = model.ground
    model.add(A, K, rock, B, H)
    model.add(fm.Revolute("A_pin", ground.at(*Q, 0), A.base, axis="z", q0=top + x, u0=speed))
    model.add(fm.Revolute("O_pin", ground.at(0, 0, 0), rock.base, axis="z", q0=phi, u0=rate))
    model.add(fm.Revolute("K_pin", A.tip, K.base, axis="z", q0=angle(P - T) - top - x))
    model.add(fm.Revolute("K_end", K.tip, rock.tip, axis="z", cut=True))
    model.add(fm.Revolute("B_pin", rock.tip, B.base, axis="z", q0=angle(X - P) - phi))
    model.add(fm.Revolute("H_pin", ground.at(*D, 0), H.base, axis="z", q0=angle(X - D)))
    model.add(fm.Revolute("B_end", B.tip, H.tip, axis="z", cut=True))
    return model, top


def drawn(k: int) -> tuple[int, float, float, float]:
    """Seed of the sizes, speed and start of the crank, and a fixed step."""
    rng = np.random.default_rng(k)
    speed = float(rng.uniform(1, 9) * rng.choice([-1, 1]))
    x, step = -float(np.sign(speed)) * float(rng.uniform(0.02, 0.3)), float(rng.uniform(0.3e-3, 1.5e-3))
    return int(rng.integers(8)), speed, x, step


def solver_of(
    model: fm.Model,
    scheme: float,
    tolerance: float,
    planar: bool = True,
    step: float = 1e-3,
    correction: str = "direct",
) -> fm.Solver:
    options = {
        "scheme": "rk4" if scheme else "dopri5",
        "step": step,
        "tolerance": tolerance,
        "correction": correction,
    }
    solver = fm.Solver(compile(model, everything=True).with_options(**options))
    solver.use_planar(planar)
    solver.assemble()
    return solver


def run_to(solver: fm.Solver, stop: float, interval: float) -> None:
    while solver.time < stop:
        solver.step(min(stop, solver.time + interval))


@each_value
@pytest.mark.parametrize("planar", [True, False])
@pytest.mark.parametrize(("scheme", "tolerance"), first(4, [*SCHEMES[:3], SCHEMES[-1], *SCHEMES[3:-1]]))
@pytest.mark.parametrize("interval", [0.5, 1e-3])
def test_a_motion_ends_where_branches_share_a_tangent(
    scheme: int, tolerance: float, planar: bool, interval: float
) -> None:
    """Before it, near it in time, and by name; whatever the speed, so that steps begin and end anywhere around it."""
    for seed in (int(-np.log10(tolerance)) % 3, 3 + int(planar) + int(interval < 0.1)):
        speed = (1.0, -3.0, 30.0)[seed % 3]
        x = -np.sign(speed) * (0.4, 0.05)[seed % 2]
        model, top = swung(seed, x, speed)
        solver = solver_of(model, scheme, tolerance, planar)
        stop = 1.0 / abs(speed)
        says = r"at t = (.*) s the loop .*B_end.* singular .*(share a tangent|more than one way).*Hold joint '[BH]_"
        with pytest.raises(fm.SolverError, match=says) as raised:
            run_to(solver, stop, interval / abs(speed))
        ahead = float(re.search(says, str(raised.value))[1]) - solver.time  # type: ignore[index]
        assert ahead >= 0.0
        assert abs(solver.get("A_pin.q") + ahead * solver.get("A_pin.qd") - top) < 0.02
        assert solver.get("A_pin.q") * np.sign(speed) <= top * np.sign(speed) + 1e-3
        assert abs(solver.get("A_pin.q") - top) < 0.2
        assert np.sign(solver.get("A_pin.qd")) == np.sign(speed)


@pytest.mark.parametrize("planar", [True, False])
@pytest.mark.parametrize("case", [16, 26, 37])
def test_a_start_close_to_it_does_not_step_over_it(case: int, planar: bool) -> None:
    """Pivots are small at such a start, and so no measure of what is small; steps soon grow to a tenth of a radian."""
    seed, speed, x, _ = drawn(case)
    model, _ = swung(seed, x, speed)
    solver = solver_of(model, 0, 1e-5, planar)
    with pytest.raises(fm.SolverError, match="share a tangent"):
        solver.step(1.0 / abs(speed))


@pytest.mark.parametrize(
    ("correction", "case"),
    [("direct", 95), *(("baumgarte", k) for k in (7, 13, 25, 91)), *(("off", k) for k in (7, 15, 20))],
)
def test_no_fixed_step_changes_the_branch_there(correction: str, case: int) -> None:
    """Nor with constraints that something else keeps: a leap of the velocities is not a result."""
    seed, speed, x, step = drawn(case)
    model, top = swung(seed, x, speed)
    solver = solver_of(model, 1, 1e-6, step=step, correction=correction)
    with pytest.raises(fm.SolverError, match=r"B_end.* singular .*(share a tangent|more than one way)"):
        run_to(solver, (abs(x) + 0.1) / abs(speed), step)
    assert abs(solver.get("A_pin.q") - top) < 0.05


@pytest.mark.parametrize("step", [2e-5, 1e-4])
def test_short_fixed_steps_do_not_pass_it(step: float) -> None:
    model, _ = swung(1, -0.02, 2.0)
    solver = solver_of(model, 1, 1e-6, step=step)
    with pytest.raises(fm.SolverError, match="share a tangent"):
        solver.step(0.03)


@pytest.mark.parametrize(("scheme", "tolerance"), SCHEMES)
def test_a_motion_passes_branches_that_do_not_meet(scheme: int, tolerance: float) -> None:
    """A rocker that turns back some thousandths before the fold: each branch is a motion of its own."""
    for seed in range(3):
        model, top = swung(seed, -0.4, 2.0, gap=0.004)
        solver = solver_of(model, scheme, tolerance)
        before = solver.get("solver.energy")
        together = np.isclose(solver.get("O_pin.q"), solver.get("H_pin.q"))
        solver.step(0.4)
        assert solver.get("A_pin.q") > top + 0.05
        assert_allclose(solver.get("solver.energy"), before, rtol=max(1e3 * tolerance, 1e-6))
        assert np.isclose(solver.get("O_pin.q"), solver.get("H_pin.q"), atol=1e-3) == together


def test_a_start_where_branches_share_a_tangent_is_refused() -> None:
    for seed in range(4):
        model, _ = swung(seed, 0.0, 2.0)
        with pytest.raises(fm.FmumbsError, match="singular"):
            solver_of(model, 0, 1e-6).step(0.01)
