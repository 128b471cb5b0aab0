"""Beams by modes that bend in both planes, twist and stretch, against closed forms and against chains of elements."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from support.scripts import load
from support.sweeps import first

PARALLELOGRAM = Path(__file__).parents[3] / "models" / "parallelogram_pendulum.py"

L, MASS, EIY, EIZ, GJ, EA, AXIAL = 1.3, 0.7, 12.0, 30.0, 5.0, 900.0, 4e-3
SMALL = 1e-4


def beam(name="b", modes=6, twist=6, stretch=6, **given):
    options = {"length": L, "mass": MASS, "EI": (EIY, EIZ), "GJ": GJ, "EA": EA, "axial_inertia": AXIAL, "plane": None}
    return fm.ModalBody.beam(name, **(options | {"modes": modes, "twist": twist, "stretch": stretch} | given))


def clamped(made, **load):
    model = fm.Model("clamped", gravity=(0, 0, 0))
    model.add(made, fm.Weld("wall", model.ground.at(), made.base), fm.Load("load", made.tip, **load))
    return model


@pytest.mark.parametrize("along", first(1, ["-z", "x", "y"]))
def test_loads_at_the_tip_deflect_it_as_beam_theory_says(along):
    """Deflections by a series of 1 / b^4; torsion, stretch and slopes by 1 / b^2, of which 6 modes leave 3.4 %."""
    k, sign = "xyz".index(along[-1]), (-1.0 if along[0] == "-" else 1.0)
    unit = np.eye(3)
    axis, one, two = sign * unit[k], unit[(k + 1) % 3], unit[(k + 2) % 3]
    cases = [
        ("force", one, one * L**3 / (3 * EIZ), 2e-4),
        ("force", two, two * L**3 / (3 * EIY), 2e-4),
        ("force", axis, axis * L / EA, 0.035),
    ]
    for what, direction, deflection, tolerance in cases:
        found = fm.equilibrium(clamped(beam(along=along), **{what: SMALL * direction})).solver
        moved = found.get("b.tip.r") - L * axis
        assert_allclose(moved, SMALL * deflection, atol=tolerance * SMALL * np.abs(deflection).max())
    for direction, stiffness, tolerance in ((axis, GJ, 0.035), (one, EIY, 0.1), (two, EIZ, 0.1)):
        model = clamped(beam(along=along), torque=SMALL * direction)
        flag = fm.Body("flag", mass=1e-9, inertia=(1e-12, 1e-12, 1e-12))
        model.add(flag, fm.Weld("mast", model["b"].tip, flag.at()))
        turned = 2 * fm.equilibrium(model).solver.get("flag.quat")[1:]
        assert_allclose(turned, SMALL * L / stiffness * direction, atol=tolerance * SMALL * L / stiffness)


def test_its_frequencies_are_those_of_bending_torsion_and_stretch():
    made = beam(modes=2, twist=2, stretch=2)
    bending = np.array((1.8751040687, 4.6940911330)) ** 2
    waves = np.array((0.5, 1.5)) * np.pi
    expected = np.concatenate(
        [bending * np.sqrt(E / (MASS * L**3)) for E in (EIY, EIZ)]
        + [waves * np.sqrt(GJ / (AXIAL * L)), waves * np.sqrt(EA / (MASS * L))]
    )
    assert_allclose(np.sort(made.frequencies), np.sort(expected), rtol=1e-9)
    assert_allclose(fm.equilibrium(clamped(made)).frequencies, np.sort(expected), rtol=1e-6)


def test_it_swings_in_space_as_a_chain_of_elements():
    """On a ball, with a body askew at its tip, thrown; both converge to one motion while deflections are small."""
    made = {
        "modes": beam(modes=3, twist=3, stretch=2, EI=(1200, 3000), GJ=500.0, EA=9e4, boundary="clamped-free"),
        "elements": fm.FlexibleLink("b", length=L, mass=MASS, EIy=1200, EIz=3000, GJ=500, EA=9e4, stretch=True,
                                    axial_inertia=AXIAL, elements=8),
    }  # fmt: skip
    paths = []
    for part in made.values():
        model = fm.Model("thrown")
        bob = fm.Body("bob", mass=0.5, com=(0.05, 0.1, -0.05), inertia=(0.01, 0.012, 0.009))
        model.add(part, bob, fm.Spherical("A", model.ground.at(), part.base, u0=(1.0, 2.0, -1.5)))
        model.add(fm.Weld("W", part.tip, bob.at()))
        paths.append(fm.simulate(model, stop=0.5, interval=0.05, outputs=["bob.r"], tolerance=1e-8))
    for k in (1, 2, 3):
        assert_allclose(paths[0][f"bob.r[{k}]"], paths[1][f"bob.r[{k}]"], atol=2e-3)


@pytest.mark.slow
def test_the_fix_that_check_names_for_the_parallelogram_can_be_followed():
    build = load(PARALLELOGRAM).build
    before, after = fm.uniqueness(build()), fm.uniqueness(build(EA=1e6))
    assert before.redundant == 1
    assert {"body1", "body2", "body3", "body4"} <= set(before.flexible)
    assert all(joint.unique for joint in after.joints)
    solver = fm.Solver(build(EA=1e6))
    solver.assemble()
    assert np.isfinite([solver.get(f"{name}.reaction.f") for name in "ACEG"]).all()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"plane": "xy"}, "two numbers, but it bends in one plane"),
        ({"plane": "xy", "EI": 1.0}, "twists, which needs plane=None"),
        ({"axial_inertia": 0.0}, "needs plane=None and an axial_inertia"),
        ({"GJ": None}, "GJ"),
        ({"modes": 30, "twist": 3, "stretch": 3}, "66 modes, but at most 64"),
        ({"EI": (1, 2, 3)}, "EI"),
    ],
)
def test_bad_beams_are_refused(given, told):
    with pytest.raises(fm.ModelError, match=told):
        beam(**given)
