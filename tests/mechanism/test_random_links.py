"""Flexible links drawn over the whole API: sections, materials, axes, planes, numbers of elements, frames, loops."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from support.sweeps import seeds

SMALL = 1e-3
"""Largest deflection over the length: theory is linear."""


def section(rng: Any) -> fm.Section:
    kind, size = rng.integers(4), 10 ** rng.uniform(-2.5, -1)
    if kind == 0:
        return fm.Section.circle(size)
    if kind == 1:
        return fm.Section.tube(size, rng.uniform(0.05, 0.9) * size)
    if kind == 2:
        return fm.Section.rectangle(size, rng.uniform(0.2, 5.0) * size)
    Iy, Iz = size**4 * rng.uniform(0.1, 3, 2)
    return fm.Section(area=size**2, Iy=Iy, Iz=Iz, J=rng.uniform(0.05, 1) * (Iy + Iz))


def material(rng: Any) -> fm.Material:
    if rng.random() < 0.3:
        return fm.Material.steel() if rng.random() < 0.5 else fm.Material.aluminium()
    return fm.Material(E=10 ** rng.uniform(9, 11.5), density=rng.uniform(500, 9000), poisson=rng.uniform(0, 0.5))


class Drawn:
    """A link, and its stiffnesses; k, j, m: indices of its axis and of the section's axes; side: of its direction."""

    def __init__(self, seed: int, flat: bool = False, elements: int = 0) -> None:
        self.rng = rng = np.random.default_rng(seed)
        self.along = str(rng.choice(("x", "y", "z", "-x", "-y", "-z")))
        self.side, self.k = (-1.0 if self.along[0] == "-" else 1.0), "xyz".index(self.along[-1])
        self.j, self.m = (self.k + 1) % 3, (self.k + 2) % 3
        self.length, drawn = rng.uniform(0.3, 4.0), int(rng.integers(6, 14))
        self.n = elements or drawn
        planes = [name for name in ("xy", "xz", "yz") if self.along[-1] in name]
        self.plane = str(rng.choice(planes)) if flat or rng.random() < 0.4 else None
        self.stretch = not flat and bool(rng.random() < 0.4)
        shape, stuff = section(rng), material(rng)
        self.EA, self.EIy, self.EIz = (stuff.E * value for value in (shape.area, shape.Iy, shape.Iz))
        self.link = fm.FlexibleLink(
            "l", length=self.length, section=shape, material=stuff, along=self.along, plane=self.plane,
            stretch=self.stretch, elements=self.n,
        )  # fmt: skip
        self.R = fm.Rotation.rpy(*rng.uniform(-3, 3, 3))
        self.model = fm.Model("drawn", gravity=(0, 0, 0))
        ground = self.model.ground.at(*rng.uniform(-1, 1, 3), rotation=self.R)
        self.model.add(self.link, fm.Weld("wall", ground, self.link.base))

    def bends(self, axis: int) -> bool:
        """Whether it deflects along this axis of its frame."""
        return self.plane is None or "xyz"[axis] in self.plane


def many(seed: int) -> int:
    """A number of elements up to 1000."""
    return int(10 ** np.random.default_rng([seed, 77]).uniform(1, 3))


@pytest.mark.parametrize("seed", seeds(12, 150))
def test_the_tip_of_a_cantilever_moves_as_beam_theory_has_it(seed: int) -> None:
    tip_moves_as_beam_theory_has_it(Drawn(seed))


@pytest.mark.parametrize("seed", seeds(4, 100))
def test_the_tip_of_a_cantilever_of_up_to_1000_elements_moves_as_beam_theory_has_it(seed: int) -> None:
    tip_moves_as_beam_theory_has_it(Drawn(seed, elements=many(seed)))


def tip_moves_as_beam_theory_has_it(d: Drawn) -> None:
    k, j, m, L = d.k, d.j, d.m, d.length
    weakest = min(d.EIy, d.EIz)
    force, torque = d.rng.uniform(-1, 1, (2, 3)) * SMALL * weakest / L**2 * np.array([[1.0], [L]])
    for axis in (j, m):
        if not d.bends(axis):
            force[axis] = 0.0
    if d.plane is not None:
        torque[:] *= [d.plane not in ("xy", "xz", "yz") or "xyz"[i] not in d.plane for i in range(3)]
    d.model.add(fm.Load("tip", d.link.tip, force=d.R @ force, torque=d.R @ torque))
    expected = np.zeros(3)
    expected[j] = (force[j] * L / 3 + d.side * torque[m] / 2) * L**2 / d.EIz
    expected[m] = (force[m] * L / 3 - d.side * torque[j] / 2) * L**2 / d.EIy
    expected[k] = force[k] * L / d.EA if d.stretch else 0.0
    solver = fm.Solver(fm.compile(d.model), equilibrium=True)
    solver.assemble()
    growth, departing = solver.departure
    assert departing == ""
    assert growth == 0.0 or d.plane is None  # a torque in world axes has no potential in space: it may flutter
    tip = solver.get("l_tip.q")
    most = np.abs(expected).max()
    assert_allclose(tip[:3], expected, rtol=0, atol=(0.3 / d.n**2 + 3 * SMALL) * most + 2 * SMALL**2 * L)


@pytest.mark.parametrize("seed", seeds(6, 60, 300))
def test_a_propped_cantilever_rests_on_its_prop_as_beam_theory_has_it(seed: int) -> None:
    """A loop: the tip is held across, and free to slide and turn. Prop force P a^2 (3 L - a) / (2 L^3)."""
    prop_bears_as_beam_theory_has_it(Drawn(seed, flat=True))


@pytest.mark.parametrize("seed", [12, 15, *seeds(2, 60, 301)])
def test_a_propped_cantilever_of_up_to_1000_elements_rests_as_beam_theory_has_it(seed: int) -> None:
    prop_bears_as_beam_theory_has_it(Drawn(seed, flat=True, elements=max(many(seed), 500 if seed < 20 else 0)))


def prop_bears_as_beam_theory_has_it(d: Drawn) -> None:
    L, axis = d.length, next(i for i in (d.j, d.m) if d.bends(i))
    normal = 3 - axis - d.k
    EI = d.EIz if axis == d.j else d.EIy
    a = round(d.rng.uniform(0.3, 0.9) * d.n) / d.n * L
    place, force, prop = np.zeros(3), np.zeros(3), np.zeros(3)
    place[d.k], prop[d.k] = d.side * a, d.side * L
    force[axis] = SMALL * EI / L**2
    wall = d.model["wall"].F
    end = wall.body.at(*(np.array(wall.X_BP.offset) + d.R @ prop), rotation=d.R)
    modes = (fm.Slide("xyz"[d.k]), fm.Turn("xyz"[normal]))
    d.model.add(fm.Joint("prop", end, d.link.tip, modes=modes))
    d.model.add(fm.Load("P", d.link.at(*place), force=d.R @ force))
    solver = fm.Solver(fm.compile(d.model), equilibrium=True)
    solver.assemble()
    assert solver.departure == (0.0, "")
    reaction = solver.get("prop.reaction.f")[axis]
    assert_allclose(reaction, -force[axis] * a**2 * (3 * L - a) / (2 * L**3), rtol=4.0 / d.n**2 + SMALL**2)


@pytest.mark.parametrize("seed", seeds(6, 60, 600))
def test_mass_and_lowest_frequencies_of_a_cantilever(seed: int) -> None:
    """Its bodies have the section's mass; both planes' first frequencies are those of beam theory."""
    d = Drawn(seed)
    section, stuff = d.link.section, d.link.material
    assert section is not None
    assert stuff is not None
    mass = section.area * stuff.density * d.length
    assert_allclose(sum(body.mass for body in d.link.bodies), mass, rtol=1e-12)
    found = fm.equilibrium(d.model).frequencies
    for axis, EI in ((d.j, d.EIz), (d.m, d.EIy)):
        slender = 1e-4 * d.length**2 > EI / d.EA  # without the inertia of cross-sections
        if d.bends(axis) and slender:
            first = 1.8751040687**2 * np.sqrt(EI / (mass * d.length**3))
            assert np.abs(found / first - 1).min() < 1.0 / d.n**2 + 5e-3
