"""Steady motions and what is linear about them, beside closed forms."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.errors import EquilibriumError, ModelError
from fmumbs.readers import read_model
from run.test_linearize import bicycle

DIGITS = 1e-8
G, L = 9.81, 0.7


def conical(driven: bool) -> fm.Model:
    """A point mass on a massless rod that a vertical hinge carries around."""
    model = fm.Model("conical")
    bob = fm.Body("bob", mass=1.3, com=(0, 0, -L))
    post = fm.Body("post", mass=0.0, inertia=(0, 0, 0) if not driven else (1, 1, 1))
    turn = fm.Turn("z", role="excited", eta0=0.0, kappa0=6.0, input="kappa_dot") if driven else fm.Turn("z")
    model.add(
        post, bob, fm.Joint("A", model.ground.at(), post.at(), modes=[turn], **({} if driven else {"u0": (6.0,)}))
    )
    model.add(fm.Revolute("B", post.at(), bob.at(), axis="y", q0=1.0))
    return model


@pytest.mark.parametrize(("driven", "rate"), [(False, "A.qd"), (True, "A.kappa")])
def test_conical_pendulum(driven: bool, rate: str) -> None:
    """Omega sqrt(1 + 3 cos^2) where it turns freely, Omega sin where its turning is driven."""
    omega = 5.5
    found = fm.steady(conical(driven), {rate: omega})
    angle = found.positions["B.q"]
    assert_allclose(np.cos(angle), G / (L * omega**2), rtol=1e-9)
    assert_allclose(found.rates[rate], omega, rtol=1e-12)
    assert list(found.rates) == [rate]
    linear = fm.linearize(found.solver, at=found)
    assert linear.at_rest and not any(name in linear.states for name in ("A.q", "A.eta"))
    expected = omega * (np.sin(angle) if driven else np.sqrt(1 + 3 * np.cos(angle) ** 2))
    assert_allclose(linear.modes.frequencies.max(), expected, rtol=DIGITS)


def test_sleeping_top() -> None:
    """(I3 w)^2 = 4 I1 m g l, its point on a ball joint: below it falls, above it sleeps."""
    m, arm, I1, I3 = 2.0, 0.4, 0.5, 0.3
    model = fm.Model("top")
    own = I1 - m * arm**2
    body = fm.Body("top", mass=m, com=(0, 0, arm), inertia=(own, own, I3))
    model.add(body, fm.Spherical("S", model.ground.at(), body.at(), u0=(0.0, 0.0, 10.0)))
    limit = np.sqrt(4 * I1 * m * G * arm) / I3
    for speed in (0.9 * limit, 0.999 * limit, 1.001 * limit, 1.5 * limit):
        found = fm.steady(model, {"S.w[3]": speed})
        linear = fm.linearize(model, at=found)
        growth = np.linalg.eigvals(linear.A).real.max()
        assert (growth > 1e-3) == (speed < limit)
        if speed < limit:
            continue
        # nutation and precession in axes that spin with the body
        a, b = I3 * speed / (2 * I1), np.sqrt((I3 * speed / (2 * I1)) ** 2 - m * G * arm / I1)
        expected = np.sort(np.abs([a + b - speed, a - b - speed]))
        values = np.sort(linear.modes.eigenvalues[linear.modes.eigenvalues.imag > 1e-6].imag)
        assert_allclose(values, expected, rtol=1e-7)


def gimballed(k: float, Id: float, Ip: float) -> fm.Model:
    model = fm.Model("disc", gravity=(0, 0, 0))
    disc = fm.Body("disc", mass=1.0, inertia=(Id, Id, Ip))
    turns = [fm.Turn("x"), fm.Turn("y"), fm.Turn("z")]
    model.add(disc, fm.Joint("J", model.ground.at(), disc.at(), modes=turns, stiffness=(k, k, 0.0)))
    return model


@pytest.mark.parametrize("speed", [0.0, 3.0, 40.0])
def test_gimballed_disc(speed: float) -> None:
    """w = +-Ip Omega/(2 Id) + sqrt((Ip Omega/(2 Id))^2 + k/Id)."""
    k, Id, Ip = 7.0, 0.2, 0.35
    model = gimballed(k, Id, Ip)
    linear = fm.linearize(model, at=fm.steady(model, {"J.qd[3]": speed}))
    a = Ip * speed / (2 * Id)
    root = np.sqrt(a * a + k / Id)
    values = linear.modes.eigenvalues
    assert_allclose(np.sort(values[values.imag > 1e-3].imag), np.sort([root - a, root + a]), rtol=DIGITS)


def whirling(k1: float, k2: float) -> fm.Model:
    """A mass on springs across in a frame whose turning is driven."""
    model = fm.Model("frame", gravity=(0, 0, 0))
    frame, mass = fm.Body("frame", mass=1.0, inertia=(1, 1, 1)), fm.Body("mass", mass=2.0, inertia=(0.1, 0.1, 0.1))
    turn = fm.Turn("z", role="excited", eta0=0.0, kappa0=0.0, input="kappa_dot")
    model.add(frame, mass, fm.Joint("R", model.ground.at(), frame.at(), modes=[turn]))
    model.add(fm.Joint("C", frame.at(), mass.at(), modes=[fm.Slide("x"), fm.Slide("y")], stiffness=(k1, k2)))
    return model


def test_unequal_springs_in_a_turning_frame() -> None:
    """Unstable between sqrt(k1/m) and sqrt(k2/m)."""
    model = whirling(50.0, 98.0)
    for speed, unstable in (
        (4.9, False),
        (4.999, False),
        (5.001, True),
        (6.0, True),
        (6.999, True),
        (7.001, False),
        (9.0, False),
    ):
        linear = fm.linearize(model, at=fm.steady(model, {"R.kappa": speed}))
        assert (np.linalg.eigvals(linear.A).real.max() > 1e-4) == unstable


def test_bicycle_at_a_speed() -> None:
    """It finds the steady way ahead from another speed, and the benchmark's eigenvalues there."""
    found = fm.steady(bicycle()(4.0), {"rear_hub.qd": 5.0 / 0.3})
    assert_allclose(found.rates["free.v[1]"], 5.0, rtol=1e-9)
    linear = fm.linearize(found.solver, at=found)
    assert not {"rear_hub.q", "front_hub.q", "free.r[1]"} & set(linear.states)
    values = linear.modes.eigenvalues
    assert_allclose(values[values.imag > 1e-3], [-0.77534188 + 4.46486771j], rtol=0, atol=1e-8)


def test_campbell_of_a_gimballed_disc() -> None:
    """Forward and backward whirl, each followed; only the backward one of a flat disc becomes critical."""
    k, Id, Ip = 7.0, 0.2, 0.35
    root = np.sqrt(k / Id)
    diagram = fm.campbell(gimballed(k, Id, Ip), "J.qd[3]", np.linspace(1.0, 12.0, 6))
    values, a = diagram.eigenvalues, Ip * diagram.speeds / (2 * Id)
    forward, backward = (np.sqrt(a * a + root**2) + sign * a for sign in (1, -1))
    whirl = diagram.whirl.mean(axis=0)
    assert_allclose(values[:, int(np.argmax(whirl))].imag, forward, rtol=DIGITS)
    assert_allclose(values[:, int(np.argmin(whirl))].imag, backward, rtol=DIGITS)
    assert_allclose([whirl.max(), whirl.min()], [1.0, -1.0], atol=1e-6)
    ((speed, mode),) = diagram.critical  # w = Omega: Omega^2 (Id + Ip) = k backwards
    assert mode == int(np.argmin(whirl))
    assert_allclose(speed, np.sqrt(k / (Id + Ip)), rtol=1e-8)
    assert diagram.limits == () and diagram.stable.all()


def test_campbell_leaves_a_solver_as_it_is() -> None:
    """It begins where the Solver stands, which is not at its start any more."""
    solver = fm.Solver(conical(driven=True))
    solver.assemble()
    solver.step(0.3)
    before = solver.state_save()
    diagram = fm.campbell(solver, "A.kappa", [5.5, 6.0])
    assert solver.time == 0.3 and solver.state_save() == before
    angles = [np.arccos(G / (L * speed**2)) for speed in (5.5, 6.0)]
    assert_allclose(diagram.eigenvalues.imag.max(axis=1), np.array([5.5, 6.0]) * np.sin(angles), rtol=DIGITS)


def test_campbell_finds_limits(tmp_path: Path) -> None:
    """Of unequal springs in a turning frame; the picture is written."""
    diagram = fm.campbell(whirling(50.0, 98.0), "R.kappa", [3.0, 4.5, 6.0, 8.0])
    assert_allclose([speed for speed, _ in diagram.limits], [5.0, 7.0], rtol=1e-6)
    assert [stable for _, stable in diagram.limits] == [False, True]
    assert diagram.stable.tolist() == [True, True, False, True]
    assert "unstable above 5" in str(diagram)
    diagram.plot(path=tmp_path / "campbell.png")
    assert (tmp_path / "campbell.png").stat().st_size > 1000


@pytest.mark.slow
def test_campbell_of_a_bicycle() -> None:
    """It balances itself between these speeds [m/s] (Meijaard and others, table 3)."""
    diagram = fm.campbell(bicycle()(3.5), "rear_hub.qd", np.array([3.5, 5.0, 7.0]) / 0.3)
    limits = [0.3 * speed for speed, _ in diagram.limits]
    assert_allclose(limits, [4.29238253634111, 6.02426201538837], rtol=0, atol=2e-8)


def test_what_is_refused() -> None:
    pendulum = read_model("double_pendulum")
    with pytest.raises(ModelError, match=r"the dynamics depend on 'A\.q', so that no motion is steady"):
        fm.steady(pendulum, {"A.qd": 3.0})
    with pytest.raises(ModelError, match=r"has no velocity 'A\.q'\. The nearest name is 'A\.qd'"):
        fm.steady(pendulum, {"A.q": 3.0})
    model = fm.Model("rotor", gravity=(0, 0, 0))
    disc = fm.Body("disc", mass=1.0, inertia=(1, 1, 1))
    model.add(disc, fm.Revolute("R", model.ground.at(), disc.at(), axis="z", damping=0.1))
    with pytest.raises(EquilibriumError, match=r"the rate of 'R\.qd' remains\. .* an input that holds the rates"):
        fm.steady(model, {"R.qd": 3.0})
    driven: Any = fm.Revolute("R", model.ground.at(), disc.at(), axis="z", damping=0.1, tau=0.3)
    again = fm.Model("rotor", gravity=(0, 0, 0))
    again.add(disc, driven)
    assert_allclose(fm.steady(again, {"R.qd": 3.0}).rates["R.qd"], 3.0)
