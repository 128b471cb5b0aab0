"""Closed loops by the Modelica Standard Library, and the IFToMM library's spatial slider-crank.

Each tolerance is three times the deviation that the published curve was measured to have.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from references import msl
from references.figures import assert_follows, run

FOURBAR1 = 3 * 9.3e-4, 3 * 2.3e-3  # [rad], [rad/s]
FOURBAR2 = 3 * 7.7e-4, 3 * 1.9e-3
PLANAR = 3 * 7.0e-4, 3 * 3.9e-3
ENGINE = 3 * 1.5e-4, 3 * 2.1e-4
GAS = 3 * 2.4e-4, 3 * 2.7e-3
SLIDER_CRANK = 1e-4  # [m], as the published submissions agree
RECOMPUTED = 2e-7  # [m] and [rad]: rounded to seven digits or more

SPEED = 5.235987755982989  # [rad/s]: 300 degrees a second


def crank_and_slider(name: str) -> tuple[fm.Model, fm.Body, fm.Body]:
    model = msl.model(name)
    b1, b2 = msl.cylinder("b1", (0, 0.5, 0.1), 0.05), msl.cylinder("b2", (0, 0.2, 0), 0.05)
    j1 = fm.Revolute("j1", model.ground.at(), b1.at(), axis="x", u0=SPEED, held=True)
    j2 = fm.Prismatic("j2", model.ground.at(1.2, 0, 0), b2.at(), axis="x", q0=-0.2)
    model.add(b1, b2, j1, j2)
    return model, b1, b2


def test_fourbar1_by_a_universal_joint_and_a_ball(published):
    model, b1, b2 = crank_and_slider("fourbar1")
    b3 = msl.cylinder("b3", (-1, 0.3, 0.1), 0.05)
    universal = fm.Universal("universal", b2.at(0, 0.2, 0), b3.at(), axes=("y", "z"))
    model.add(b3, universal, fm.Spherical("ball", b1.at(0, 0.5, 0.1), b3.at(-1, 0.3, 0.1)))
    expected = {"j1.q": ("j1.phi", FOURBAR1[0]), "j1.qd": ("j1.w", FOURBAR1[1])}
    assert_follows(model, published("msl_fourbar1"), expected)


@pytest.mark.parametrize("name", ["reference", "fourbar_analytic"])
def test_fourbar2_by_a_distance(published, name):
    model, b1, b2 = crank_and_slider("fourbar2")
    model.add(fm.Distance("rod", b2.at(0, 0.2, 0), b1.at(0, 0.5, 0.1), length=np.sqrt(1.1)))
    expected = {"j1.q": ("j1.phi", FOURBAR2[0]), "j1.qd": ("j1.w", FOURBAR2[1])}
    assert_follows(model, published("msl_fourbar2", name), expected)


PINS = {
    "a pin in space": lambda F, M: fm.Revolute("pin", F, M, axis="z"),
    "a cylindrical joint": lambda F, M: fm.Cylindrical("pin", F, M, axis="z"),
    "a ball": lambda F, M: fm.Spherical("pin", F, M),
    "a point on a line": lambda F, M: fm.PointOnLine("pin", F, M, axis="z"),
}


@pytest.mark.parametrize("pin", PINS)
def test_planar_fourbar_by_each_closing_pin(published, pin):
    model = msl.model("planar_fourbar")
    body1, body2 = msl.box("body1", (0.4, 0, 0), 0.05, 0.05), msl.box("body2", (0.1, 1.1, 0), 0.05, 0.05)
    body4 = msl.box("body4", (0.65, 0.1, 0), 0.05, 0.05)
    first = fm.Revolute("revolute1", model.ground.at(), body1.at(), axis="z", damping=0.1)
    second = fm.Revolute("revolute2", body1.at(0.4, 0, 0), body2.at(), axis="z")
    third = fm.Revolute("revolute3", model.ground.at(-0.15, 1, 0), body4.at(), axis="z")
    closing = PINS[pin](body2.at(0.1, 1.1, 0), body4.at(0.65, 0.1, 0))
    model.add(body1, body2, body4, first, second, third, closing)
    expected = {"revolute1.q": ("revolute1.phi", PLANAR[0]), "revolute1.qd": ("revolute1.w", PLANAR[1])}
    assert_follows(model, published("msl_planarfourbar"), expected)


def engine(name: str) -> tuple[fm.Model, fm.Prismatic]:
    model = msl.model(name)
    parts = [
        msl.cylinder("crank", (0.1, 0, 0), 0.05),
        shifted(web("crank2", 0.1), (0.1, 0, 0)),
        shifted(msl.cylinder("crank3", (0.1, 0, 0), 0.03), (0.1, 0.1, 0)),
        shifted(web("crank4", -0.1), (0.2, 0.1, 0)),
    ]
    whole = parts[0].spatial_inertia
    for part in parts[1:]:
        whole = whole + part.spatial_inertia
    crank = fm.Body("crank", mass=whole.mass, com=whole.com, inertia=whole.inertia)
    rod_mass = 7700.0 * 0.2 * 0.02 * 0.06
    moments = rod_mass / 12 * np.array([0.2**2 + 0.06**2, 0.02**2 + 0.06**2, 0.2**2 + 0.02**2])
    rod = fm.Body("rod", mass=rod_mass, com=(0, 0.1, 0), inertia=moments)
    piston = msl.cylinder("piston", (0, 0.1, 0), 0.1)
    bearing = fm.Revolute("bearing", model.ground.at(), crank.at(), axis="x", u0=10.0, held=True, rotor_inertia=1.0)
    pin = fm.Revolute("pin", crank.at(0.15, 0.1, 0), rod.at(), axis="x")
    bore = fm.Prismatic("bore", model.ground.at(0.15, 0.45, 0), piston.at(0, 0.1, 0), axis="-y", q0=0.05)
    model.add(crank, rod, piston, bearing, pin, bore, fm.Revolute("gudgeon", rod.at(0, 0.2, 0), piston.at(), axis="x"))
    return model, bore


def test_engine1a(published):
    model, _ = engine("engine1a")
    expected = {"bearing.q": ("inertia.phi", ENGINE[0]), "bearing.qd": ("inertia.w", ENGINE[1])}
    assert_follows(model, published("msl_engine1"), expected)


COMPRESSION = (2.4, -24.9973, 151.8252, -287.2189, 177.4132), (2129670, -9158505, 14761814, -10569296, 2836360)
EXPANSION = (2.4, 17.9272, 17.3438, -131.707, 145.930), (-3036495, 12964477, -20747000, 14748765, -3929704)


def test_engine1b_with_a_gas_force_that_jumps_at_the_dead_centres(published):
    """p = 1e5 Pa poly(x), x = 1 - s / 0.35 m, on a piston of 0.1 m: other polynomials with each sign of ds/dt, and
    beyond a place in the bore."""
    model, bore = engine("engine1b")
    area, stroke = np.pi * 0.1**2 / 4, 0.35

    def gas(poly, **bounds):
        """A polynomial of s in place of x."""
        in_s = np.polynomial.Polynomial(poly)(np.polynomial.Polynomial((1.0, -1.0 / stroke)))
        return fm.Piece([[1e5 * area * c] for c in in_s.coef], **bounds)

    closed, opened = (1 - 0.986061) * stroke, (1 - 0.933) * stroke
    pieces = [
        gas(COMPRESSION[0], v_upper=0.0, lower=closed),
        gas(COMPRESSION[1], v_upper=0.0, upper=closed),
        gas(EXPANSION[0], v_lower=0.0, lower=opened),
        gas(EXPANSION[1], v_lower=0.0, upper=opened),
    ]
    model.add(fm.Law("gas", bore, pieces=pieces))
    expected = {"bearing.q": ("inertia.phi", GAS[0]), "bearing.qd": ("inertia.w", GAS[1])}
    assert_follows(model, published("msl_engine1", "engine1b"), expected)


def web(name: str, y: float) -> fm.Body:
    """A box along y, 0.05 m high along z and 0.02 m wide along x."""
    length, height, width = abs(y), 0.05, 0.02
    mass = 7700.0 * length * height * width
    moments = mass / 12 * np.array([length**2 + height**2, width**2 + height**2, length**2 + width**2])
    return fm.Body(name, mass=mass, com=(0, y / 2, 0), inertia=moments)


def shifted(body: fm.Body, by: tuple[float, float, float]) -> fm.Body:
    return fm.Body(body.name, mass=body.mass, com=np.asarray(body.com) + by, inertia=body.inertia)


def test_spatial_slider_crank(published):
    model = fm.Model("slider_crank")
    ground = model.ground
    crank = fm.Body("crank", mass=0.12, com=(0, 0, 0.04), inertia=(1e-4, 1e-4, 1e-5))
    along = np.array([0.2, -0.1, -0.2]) / 0.3
    second = np.array([0, -2, 1]) / np.sqrt(5)
    X = fm.Rotation(np.column_stack([along, second, np.cross(along, second)]))
    rod = fm.Body("rod", mass=0.5, com=(0.15, 0, 0), inertia=(4e-4, 4e-3, 4e-3))
    slider = fm.Body("slider", mass=2.0, inertia=(1e-4, 1e-4, 1e-4))
    A = fm.Revolute("A", ground.at(0, 0.1, 0.12), crank.at(), axis="x", u0=6.0, held=True)
    S = fm.Prismatic("S", ground.at(), slider.at(), axis="x", q0=0.2)
    # at the universal joint's zero the rod is parallel to the world, turned by X about its own axes
    C = fm.Universal("C", slider.at(), rod.at(0.3, 0, 0, rotation=X.inverse()), axes=("x", tuple(second)))
    B = fm.Spherical("B", crank.at(0, 0, 0.08), rod.at())
    model.add(crank, rod, slider, A, S, C, B)
    curve = published("iftomm_spatial_slidercrank")
    found = run(model, curve.time, ["S.q", "A.q", "S.qd", "A.qd"])
    assert_allclose(found["S.q"], curve["slider_x_published_Gonzalez"], rtol=0, atol=SLIDER_CRANK)
    assert_allclose(found["S.q"], curve["slider_x_recomputed"], rtol=0, atol=RECOMPUTED)
    assert_allclose(found["A.q"], np.abs(curve["crank_angle_recomputed"]), rtol=0, atol=RECOMPUTED)
