"""Mechanisms that ship with flexible links: beside published figures, and beside each other."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from support import rod_mesh
from support.scripts import load

ROOT = Path(__file__).parents[2]
MODELS, EXAMPLES = ROOT / "models", ROOT / "examples"


def build(name, **given):
    return load(MODELS / f"{name}.py").build(**given)


def test_the_cantilever_sags_as_beam_theory_says():
    found = fm.equilibrium(build("cantilever", elements=12))
    section, steel = fm.Section.rectangle(0.004, 0.02), fm.Material.steel()
    weight = steel.density * section.area * 9.81
    tip = found.solver.get("strip_tip.q")
    assert_allclose(tip[2], -weight / (8 * steel.E * section.Iy), rtol=5e-3)
    assert_allclose(tip[1], 1 / (3 * steel.E * section.Iz), rtol=5e-3)
    assert found.stable


def test_the_spun_up_beam_lags_as_published_and_comes_back():
    """Extreme of the deflection of the tip -0.57 to -0.6 m at 6 to 8 s, small vibration at the end."""
    result = fm.simulate(build("spin_up_beam"), outputs=["beam_tip.q"])
    tip, t = result["beam_tip.q[2]"], result.time
    assert -0.61 < tip.min() < -0.56
    assert 6.0 < t[tip.argmin()] < 8.0
    assert np.abs(tip[t > 16]).max() < 0.01


def test_the_spun_up_beam_stretches_by_what_the_centrifugal_force_asks():
    """The steady extension tan(w L / c) / (w / c) - L, c^2 = EA / rhoA; n elements give 1 / (8 n^2) more.

    That is the error of the midpoint rule for the centrifugal force, which falls with the square of the radius.
    """
    model = build("spin_up_beam", elements=3, stretch=True, damping=2e-3)
    result = fm.simulate(model, outputs=["beam_tip.q", *names(model)], interval=0.5)
    stretch = sum(result[name][-1] for name in names(model))
    k = 6.0 * np.sqrt(1.2 / 2.8e7)
    assert_allclose(stretch, (np.tan(10 * k) / k - 10) * (1 + 1 / (8 * 3**2)), rtol=1e-3)


def names(model):
    return [angles["stretch"] for angles in model["beam"].angles]


def test_two_flexible_four_bars_agree_as_modes_and_elements_grow():
    """A stiff enough coupler, so that the modal beam's small deflections hold; frequency and deflection at rest."""
    EI = 2000.0
    chains = [fm.equilibrium(build("flexible_four_bar", EI=EI, elements=n)) for n in (4, 8, 16)]
    modals = [fm.equilibrium(build("four_link_flexible", EI=EI, modes=n)) for n in (3, 6, 12)]
    chain, modal = chains[-1], modals[-1]
    by_elements = [np.abs(one.frequencies[1:3] / modal.frequencies[1:3] - 1) for one in chains]
    by_modes = [np.abs(one.frequencies[1:3] / chain.frequencies[1:3] - 1) for one in modals]
    assert (np.diff(by_elements, axis=0) < 0).all()
    assert (np.diff(by_modes, axis=0) < 0).all()
    assert_allclose(chain.frequencies[0], modal.frequencies[0], rtol=1e-6)
    assert_allclose(chain.frequencies[1:3], modal.frequencies[1:3], rtol=5e-4)
    assert_allclose(chain.solver.get("A.q"), modal.solver.get("A.q"), rtol=1e-4)
    runs = [
        fm.simulate(build(name, EI=EI, **given), stop=1.0, outputs=["A.q"])
        for name, given in (("four_link_flexible", {"modes": 3}), ("flexible_four_bar", {"elements": 12}))
    ]
    assert np.abs(runs[0]["A.q"] - runs[1]["A.q"]).max() < 1e-3


def test_the_governor_keeps_its_angular_momentum():
    model = build("governor")
    bodies = list(model.bodies)
    outputs = [f"{body.name}.{what}" for body in bodies for what in ("r", "quat", "v", "w")] + ["S.q", "A.qd"]
    result = fm.simulate(model, stop=0.4, interval=0.1, outputs=outputs)
    found = []
    for i in range(len(result.time)):
        total = 0.0
        for body in bodies:
            r, quat, v, w = (
                np.array([result[f"{body.name}.{what}[{k + 1}]"][i] for k in range(n)])
                for what, n in (("r", 3), ("quat", 4), ("v", 3), ("w", 3))
            )
            R = fm.Rotation.quaternion(*quat).matrix
            arm = R @ body.com
            spin = R @ np.array(body.inertia) @ R.T @ w
            total += (np.cross(r + arm, body.mass * (v + np.cross(w, arm))) + spin)[2]
        found.append(total)
    assert_allclose(found, found[0], rtol=1e-6)
    assert np.ptp(result["S.q"]) > 1e-3
    assert np.ptp(result["A.qd"]) > 1e-2


def test_the_crane_hangs_still_in_its_equilibrium_and_the_ground_adds_to_its_deflection(tmp_path):
    found, results = load(EXAMPLES / "flexible_crane.py").main(tmp_path)
    for picture in ("boom", "comparison"):
        assert (tmp_path / f"{picture}.png").read_bytes().startswith(b"\x89PNG")
    assert all(one.stable for one in found.values())
    soft, hard, stiff = (found[name].frequencies for name in ("flexible", "rigid ground", "stiff boom"))
    assert (soft[:4] <= hard[:4]).all()
    assert (soft[:4] <= stiff[:4]).all()
    assert np.ptp(results["flexible"]["boom_tip.q[3]"]) > 10 * np.ptp(results["stiff boom"]["boom_tip.q[3]"])
    slow = build("crane", time=1e5)
    still = fm.simulate(slow, inputs=fm.equilibrium(slow).starts, stop=0.1, interval=0.02, outputs=["boom_tip.q"])
    assert np.ptp(still["boom_tip.q[3]"]) < 1e-7


def test_the_blade_flaps_as_fast_as_one_that_centrifugal_force_stiffens() -> None:
    """13.17 times its unit of 2 rad/s at 12 such units (Wright and others, 1982); without stiffening 3.5 times."""
    result = fm.simulate(build("rotor_blade"), times=np.arange(10.0, 14.0, 2e-3), outputs=["blade.q"])
    flap = result["blade.q"][:, 3] - result["blade.q"][:, 3].mean()
    rises = np.flatnonzero((flap[:-1] < 0.0) & (flap[1:] >= 0.0))
    times = result.time[rises] - 2e-3 * flap[rises] / (flap[rises + 1] - flap[rises])
    assert 2.0 * np.pi * (len(times) - 1) / np.ptp(times) == pytest.approx(2.0 * 13.17, rel=5e-3)


def test_the_solid_rod_is_the_mesh_that_ships_and_moves_the_piston_as_a_rigid_one() -> None:
    assert (MODELS / "connecting_rod.msh").read_text() == rod_mesh.text()
    model = build("solid_engine")
    result = fm.simulate(model, stop=0.02, interval=1e-4, outputs=["bearing.q", "bore.q", "rod.shank.stress"])
    s, c = np.sin(result["bearing.q"]), np.cos(result["bearing.q"])
    rigid = 0.04 * c + np.sqrt(0.14**2 - (0.04 * s) ** 2)
    assert abs(result["bore.q"] - rigid).max() < 2e-5
    # halfway the shank carries the piston and the part of the rod beyond; its middle less than its sides
    second = np.gradient(np.gradient(result["bore.q"], 1e-4), 1e-4)[60:-3]
    force = (0.5 + 0.4) * second + 3e4 * (result["bore.q"][60:-3] - 0.14) + 0.9 * 9.81
    slope, _ = np.polyfit(-force / (0.0330 * 0.018), found := result["rod.shank.stress"][60:-3, 2], 1)
    assert 0.7 < slope < 0.95
    assert np.corrcoef(force, found)[0, 1] < -0.995
