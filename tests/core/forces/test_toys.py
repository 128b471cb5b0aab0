"""What balls, tops, stones and coins are known to do, in Python and in FMUs of both versions."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

import fmumbs as fm
from support.both_ways import runs

G = 9.81
ATTITUDE = [f"f.q[{k}]" for k in (1, 2, 3, 4)]
PLACE, SPIN = ([f"f.{what}[{k}]" for k in (1, 2, 3)] for what in "rw")


def free(name: str, mass: float, inertia: Any, r: Any, q: Any = (1, 0, 0, 0), u: Any = (0,) * 6) -> fm.Model:
    model = fm.Model(name, gravity=(0, 0, -G))
    body = fm.Body("b", mass=mass, inertia=tuple(inertia))
    model.add(body, fm.Free("f", model.ground.at(), body.at(), q0=(*r, *q), u0=u))
    return model


def matrices(found: Any) -> Any:
    return Rotation.from_quat(np.stack([found[name] for name in ATTITUDE], 1), scalar_first=True).as_matrix()


def rebounds(found: Any) -> Iterator[tuple[float, float, float, float, float]]:
    """Of a ball of radius 0.1: when it strikes, how fast; when it leaves, how fast; and when it strikes again."""
    t, v, on = found["t"], found["f.v[3]"], found["touch.gap"] < 0.0
    strikes, leaves = np.flatnonzero(~on[:-1] & on[1:]), np.flatnonzero(on[:-1] & ~on[1:])

    def at(i: int) -> tuple[float, float]:
        """Between two samples in free flight, when the gap was zero, and how fast."""
        k = i if not on[i] else i + 1
        gap, speed = found["touch.gap"][k], v[k]
        late = speed / G - math.copysign(math.sqrt(speed**2 + 2 * G * gap), speed) / G
        return t[k] + late, speed - G * late

    for first, leave, again in zip(strikes, leaves, strikes[1:], strict=False):
        (T, down), (T_up, up), (T_next, _) = at(first), at(leave), at(again)
        yield T, -down, T_up, up, T_next


@pytest.mark.parametrize("exponent", [1.0, 1.5])
def test_a_bouncing_ball(tmp_path: Path, exponent: float) -> None:
    """Each rebound by c (v + v') = ln((1 + c v)/(1 - c v')) to g T/v, T the contact's duration; it rests at the end."""
    mass, c, k = 2.0, 0.4, {1.0: 1e6, 1.5: 1e8}[exponent]
    model = free("bounce", mass, (0.008,) * 3, (0, 0, 0.3))
    press = fm.Press(k, exponent=exponent, damping=c)
    model.add(fm.Contact("touch", fm.Sphere(model["b"].at(), 0.1), fm.Plane(model.ground.at()), press))
    names = ["touch.gap", "f.v[3]"]
    for what, time, found in runs(tmp_path, model, names, stop=7.0, interval=5e-4, tolerance=1e-9):
        seen = 0
        for T, v, T_up, up, T_next in rebounds({**found, "t": time}):
            if v < 0.15:
                break
            exact = brentq(lambda w, v=v: c * (v + w) - math.log((1 + c * v) / (1 - c * w)), 1e-9 * v, v)
            near = 2.0 * G * (T_up - T) / v
            assert_allclose(up, exact, rtol=near, err_msg=what)
            assert_allclose(T_next - T_up, 2 * up / G, rtol=1e-6, err_msg=what)
            seen += 1
        assert seen >= 10, what
        assert_allclose(-found["touch.gap"][-1], (mass * G / k) ** (1 / exponent), rtol=2e-3, err_msg=what)
        assert abs(found["f.v[3]"][-1]) < 1e-4, what


def test_a_tippe_top_turns_over(tmp_path: Path) -> None:
    """Jellett's integral, L . r of the point of contact, drifts by less than the penetration over the radius."""
    R, mass, off, depth = 0.02, 0.02, 0.3, 1e-3  # the centre of mass is off R below the middle; depth of R
    inertia = 0.4 * mass * R**2
    q = Rotation.from_euler("x", 0.1)
    r = 0, 0, R * (1 - off * math.cos(0.1) - depth)
    w = q.as_matrix().T @ (0, 0, 150.0)
    model = free("tippe", mass, (inertia,) * 3, r, q.as_quat(scalar_first=True), (0, 0, 0, *w))
    press, rub = fm.Press(mass * G / (depth * R), damping=20.0), fm.Coulomb(0.3, creep=1e-3)
    model.add(fm.Contact("touch", fm.Sphere(model["b"].at(0, 0, off * R), R), fm.Plane(model.ground.at()), press, rub))
    names = [*ATTITUDE, *SPIN, "touch.gap"]
    for what, _, found in runs(tmp_path, model, names, stop=5.0, interval=0.05, tolerance=1e-8):
        turned = matrices(found)
        w = np.stack([found[name] for name in SPIN], 1)
        arm = off * R * turned[:, :, 2] - np.outer(R + 0.5 * found["touch.gap"], (0, 0, 1))
        jellett = np.einsum("nij,nj,ni->n", turned, w, arm)
        assert np.ptp(jellett) < depth * abs(jellett[0]), what
        assert turned[0, 2, 2] > 0.99 and turned[-1, 2, 2] < -0.9, what


def test_a_rattleback_reverses(tmp_path: Path) -> None:
    """Its principal axes are 0.1 rad off those of its ellipsoid: one way it turns back, the other it goes on."""
    mass, half, low = 0.1, np.array([0.1, 0.02, 0.015]), 0.003
    inertia = mass / 5 * ((half**2).sum() - half**2)
    k = mass * G / 2e-5
    for sense in (1.0, -1.0):
        start = (0, 0, half[2] - low - 2e-5)
        model = free("rattleback", mass, inertia, start, u=(0, 0, 0, 0.02, 0.02, 5.0 * sense))
        shape = fm.Ellipsoid(model["b"].at(0, 0, low, rotation=fm.Rotation.about("z", 0.1)), tuple(half))
        rub = fm.Coulomb(2.0, stiffness=k)
        model.add(fm.Contact("touch", shape, fm.Plane(model.ground.at()), fm.Press(k, damping=10.0), rub))
        for what, _, found in runs(tmp_path, model, [*SPIN, "touch.gap"], stop=2.5, interval=0.05, tolerance=1e-8):
            spin = found["f.w[3]"]
            if sense > 0.0:
                assert spin.min() < -3.0, what
            else:
                assert spin.max() < -4.5, what
            assert found["touch.gap"].max() < 0.0, what


def test_a_coin_rolls_falls_over_and_lies_flat(tmp_path: Path) -> None:
    """It goes in a curve, wobbles, and at the end only its thickness is left of its height."""
    R, mass, thick = 0.012, 0.006, 0.0015
    k, lean = mass * G / 1e-5, 0.5 * math.pi - 0.15
    q = Rotation.from_euler("x", lean)
    inertia = mass * R**2 * np.array([0.25, 0.25, 0.5])
    start = {"q": q.as_quat(scalar_first=True), "u": (0.3, 0, 0, 0, 0, -0.3 / R)}
    model = free("coin", mass, inertia, (0, 0, R * math.sin(lean)), **start)
    arms = {"rolling_arm": 1e-4, "drilling_arm": 2e-4, "turning_stiffness": 1e-4}
    shape, rub = fm.Disc(model["b"].at(), R, thickness=thick), fm.Coulomb(0.3, stiffness=k, **arms)
    model.add(fm.Contact("touch", shape, fm.Plane(model.ground.at()), fm.Press(k, damping=5.0), rub))
    names = [*ATTITUDE, *PLACE, *SPIN, "solver.energy"]
    for what, time, found in runs(tmp_path, model, names, stop=6.0, interval=0.02, tolerance=1e-7):
        upright, late = matrices(found)[:, 2, 2], time > 5.5
        way = np.hypot(found["f.r[1]"], found["f.r[2]"])
        assert abs(upright[time < 0.2]).max() < 0.5 and way.max() > 5 * R, what
        assert abs(upright[late]).min() > 0.9999, what
        assert_allclose(found["f.r[3]"][-1], 0.5 * thick - 1e-5, atol=1e-6, err_msg=what)
        assert max(np.abs(found[name][-1]) for name in SPIN) < 1e-3, what
        assert np.diff(found["solver.energy"]).max() < 1e-8 * np.ptp(found["solver.energy"]), what
