"""The closed forms of contacts in FMUs of both versions, as in Python (test_contacts.py)."""

import math
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from core.forces.test_contacts import CLOSED_FORM, MASS, RADIUS, G, ball, crate
from support.both_ways import runs
from support.sweeps import first


@pytest.mark.parametrize("exponent", [1.0, 1.5])
@pytest.mark.parametrize("speed", [0.1, 0.5, 1.0, 2.0, 3.0])
def test_rebounds(tmp_path: Path, speed: float, exponent: float) -> None:
    """c (v + v') = ln((1 + c v)/(1 - c v'))."""
    c, k = 0.5, 1e5
    model = ball(fm.Press(k, exponent=exponent, damping=c), v0=(0, 0, -speed), r0=(0, 0, 0.11))
    stop = 0.1 / speed + 0.1
    for what, _, found in runs(tmp_path, model, ["f.v[3]"], stop=stop, interval=stop, tolerance=1e-11):
        after = found["f.v[3]"][-1]
        exact = math.log((1 + c * speed) / (1 - c * after))
        assert_allclose(c * (speed + after), exact, rtol=CLOSED_FORM, err_msg=what)


def test_hertz(tmp_path: Path) -> None:
    """T = 2.943275 d/v, d = (5 m v^2/(4 k))^(2/5): by where the ball is afterwards."""
    law, v = fm.Hertz(1e9, 0.3, 0.05), 0.7
    model = ball(law, v0=(0, 0, -v), r0=(0, 0, RADIUS + 1e-3))
    lasts = 2.943275 * (5 * MASS * v**2 / (4 * law.stiffness)) ** 0.4 / v
    stop = 2 * (1e-3 / v + lasts)
    names = ["f.v[3]", "f.r[3]"]
    for what, time, found in runs(tmp_path, model, names, stop=stop, interval=stop / 4, tolerance=1e-11):
        assert_allclose(found["f.v[3]"][-1], v, rtol=CLOSED_FORM, err_msg=what)
        left = time[-1] - (found["f.r[3]"][-1] - RADIUS) / v - 1e-3 / v
        assert_allclose(left, lasts, rtol=1e-6, err_msg=what)  # of the seven digits of the factor


def test_a_ball_that_slides_comes_to_roll(tmp_path: Path) -> None:
    """At 2 v/(7 mu g), with 5 v/7."""
    overlap, mu = 1e-4 * RADIUS, 0.3
    model = ball(
        fm.Press(MASS * G / overlap), fm.Coulomb(mu, stiffness=2e6), gravity=(0, 0, -G),
        r0=(0, 0, RADIUS - overlap), v0=(1.0, 0, 0),
    )  # fmt: skip
    names = ["f.v[1]", "f.w[2]", "touch.state"]
    for what, time, found in runs(tmp_path, model, names, stop=0.3, interval=1e-3, tolerance=1e-8):
        assert_allclose(time[found["touch.state"] == 1.0][0], 2 / (7 * mu * G), atol=2e-3, err_msg=what)
        assert_allclose([found["f.v[1]"][-1], RADIUS * found["f.w[2]"][-1]], 5 / 7, rtol=1e-3, err_msg=what)


@pytest.mark.parametrize(("mu", "e", "v"), [(0.2, 0.8, 3.0), (0.1, 1.0, 2.0), (0.4, 0.3, 5.0)])
def test_oblique_impacts(tmp_path: Path, mu: float, e: float, v: float) -> None:
    """Tangential v - mu (1 + e) v_n, spin 5 mu (1 + e) v_n/(2 R), where v > 3.5 mu (1 + e) v_n."""
    press = fm.Press(1e8, damping=0.0) if e == 1.0 else fm.Press(1e8, restitution=e, speed=1.0)
    model = ball(press, fm.Coulomb(mu, stiffness=1e9), r0=(0, 0, 0.11), v0=(v, 0, -1.0))
    gained = mu * (1 + e)
    assert v > 3.5 * gained
    for what, _, found in runs(tmp_path, model, ["f.v[1]", "f.w[2]"], stop=0.05, interval=0.01, tolerance=1e-9):
        assert_allclose(found["f.v[1]"][-1], v - gained, rtol=1e-3, err_msg=what)
        assert_allclose(found["f.w[2]"][-1], 2.5 * gained / RADIUS, rtol=1e-3, err_msg=what)


@pytest.mark.parametrize("stop", first(1, [50.0, 1000.0]))
def test_a_crate_holds_below_the_friction_angle(tmp_path: Path, stop: float) -> None:
    model = crate(0.3, fm.Coulomb(0.4, stiffness=1e6), height=0.0999)
    options: dict[str, Any] = {"stop": stop, "interval": 1.0, "equilibrium": True, "tolerance": 1e-8}
    for what, _, found in runs(tmp_path, model, ["f.r[1]"], **options):
        assert np.abs(found["f.r[1]"] - found["f.r[1]"][1]).max() < 1e-9, what


def test_a_crate_above_the_friction_angle_slides(tmp_path: Path) -> None:
    model = crate(0.6, fm.Coulomb(0.4, stiffness=1e5), height=0.0999)
    for what, _, found in runs(tmp_path, model, ["f.v[1]"], stop=4.0, interval=0.1, tolerance=1e-9):
        rate = np.diff(found["f.v[1]"][-5:]) / 0.1
        assert_allclose(rate, G * (math.sin(0.6) - 0.4 * math.cos(0.6)), rtol=1e-6, err_msg=what)


@pytest.mark.parametrize("cycles", first(1, [30, 1000]))
def test_what_shakes_a_crate_below_its_limit_does_not_move_it(tmp_path: Path, cycles: int) -> None:
    """All cycles move it no further than the first ten; an FMU gets the force held within each quarter of a cycle."""
    model, step = crate(0.1, fm.Coulomb(0.5, stiffness=1e5), height=0.0999, normal=fm.Press(1e5, damping=0.5)), 0.025
    model.add(fm.Load("push", model["b"].at()))
    quarters = np.arange(4 * cycles + 1)
    given = np.array(
        list(zip(step * quarters, np.sin(0.5 * math.pi * quarters), strict=True)),
        dtype=[("time", float), ("push.force[1]", float)],
    )
    for fmi in (2, 3):
        path = fm.export_fmu(
            model, tmp_path / f"crate{fmi}.fmu", fmi=fmi, equilibrium=True, scheme="radau", tolerance=1e-6
        )
        found = fmpy.simulate_fmu(
            str(path), stop_time=step * quarters[-1], step_size=step, output_interval=step, input=given,
            output=["f.r[1]"],
        )  # fmt: skip
        x = found["f.r[1]"] - found["f.r[1]"][0]
        assert np.abs(x).max() <= 1.001 * np.abs(x[:40]).max()
        assert np.ptp(x) > 1e-6
