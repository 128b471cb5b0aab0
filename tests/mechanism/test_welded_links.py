"""Chains of flexible links of one element: polygons against the theory of rods, straight ones against one link."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from support.sweeps import seeds

FORMULATIONS = ("riccati", "copcod")
Array = Any


class Rod:
    """A clamped rod of constant curvature under a force at its tip, by shooting along Kirchhoff's equations."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.length, self.mass = rng.uniform(0.5, 3.0), rng.uniform(0.5, 2.0)
        self.EIy, self.EIz, self.GJ = 10.0 ** rng.uniform(0.3, 1.6, 3)
        self.arc = rng.choice([0.0, 0.5, 1.0]) * np.pi  # [rad]
        side = rng.normal(size=3)
        self.force = 1.5 * min(self.EIy, self.EIz) / self.length**2 * side / np.linalg.norm(side)

    def _rate(self, y: Array) -> Array:
        R, moment = y[3:12].reshape(3, 3), y[12:]
        x, y_, z = (R.T @ moment) / (self.GJ, self.EIy, self.EIz) + (0, 0, self.arc / self.length)
        skew = np.array([[0, -z, y_], [z, 0, -x], [-y_, x, 0]])
        return np.concatenate([R[:, 0], (R @ skew).ravel(), -np.cross(R[:, 0], self.force)])

    def _end(self, moment: Array, points: int = 400) -> Array:
        y, h = np.concatenate([np.zeros(3), np.eye(3).ravel(), moment]), self.length / points
        for _ in range(points):
            k1 = self._rate(y)
            k2 = self._rate(y + h / 2 * k1)
            k3 = self._rate(y + h / 2 * k2)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + self._rate(y + h * k3))
        return y

    def tip(self) -> Array:
        """(3,) where its tip is [m]; the branch that grows with the force."""
        from scipy.optimize import fsolve

        whole, moment = self.force, np.zeros(3)
        for part in np.linspace(0.1, 1.0, 10):
            self.force = part * whole
            moment, _, found, why = fsolve(lambda m: self._end(m)[12:], moment, xtol=1e-11, full_output=True)
            assert found == 1, why
        return self._end(moment)[:3]

    def polygon(self, links: int, elements: int = 1) -> tuple[fm.Model, str]:
        """Tangents to the arc at their middles, welded; the model and the tip's variable."""
        model, corner = fm.Model("polygon", gravity=(0, 0, 0)), fm.Rotation.about((0, 0, 1), self.arc / links)
        at = model.ground.at(rotation=fm.Rotation.about((0, 0, 1), self.arc / links / 2))
        part = self.length / links
        for i in range(links):
            link = self.link(f"l{i}", part, elements)
            model.add(link, fm.Weld(f"w{i}", at, link.base))
            at = link.at(part, rotation=corner, name="end")
        model.add(fm.Load("load", at, force=self.force))
        return model, f"l{links - 1}_{elements + 1}.end.r"

    def link(self, name: str, length: float, elements: int, **other: Any) -> fm.FlexibleLink:
        own = {"EIy": self.EIy, "EIz": self.EIz, "GJ": self.GJ, "mass": self.mass * length / self.length}
        own["axial_inertia"] = 1e-3 * own["mass"]
        return fm.FlexibleLink(name, length=length, elements=elements, **(own | other))


@pytest.mark.parametrize("dynamics", FORMULATIONS)
@pytest.mark.parametrize("seed", seeds(3, 40))
def test_a_polygon_of_links_of_one_element_converges_with_second_order(seed: int, dynamics: str) -> None:
    rod = Rod(seed)
    exact, errors = rod.tip(), []
    for links in (8, 16, 32):
        model, name = rod.polygon(links)
        solver = fm.Solver(fm.compile(model).with_options(dynamics=dynamics), equilibrium=True)
        solver.assemble()
        errors.append(np.linalg.norm(solver.get(name) - exact))
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert orders[-1] > 1.9, (errors, orders)
    assert errors[-1] < 0.01 * rod.length


@pytest.mark.parametrize("dynamics", FORMULATIONS)
@pytest.mark.parametrize("seed", seeds(4, 60))
def test_links_of_one_element_that_are_welded_move_as_one_link(seed: int, dynamics: str) -> None:
    """Also where each one's section is turned about the axis by some multiple of 90 degrees."""
    rng, rod, n = np.random.default_rng([seed, 1]), Rod(seed), 5
    found = []
    for pieces in (1, n):
        model = fm.Model("cantilever", gravity=(0.3, -9.81, 2.0))
        at, total = model.ground.at(), fm.Rotation.identity()
        for i in range(pieces):
            quarters = int(rng.integers(4)) if pieces > 1 else 0
            turned, odd = fm.Rotation.about((1, 0, 0), np.pi / 2 * quarters), bool(quarters % 2)
            start = fm.Point(at.body, at.X_BP @ fm.Transform(total.inverse() @ turned, (0, 0, 0)), None)
            stiffness = {"EIy": rod.EIz, "EIz": rod.EIy} if odd else {}
            link = rod.link(f"l{i}", rod.length / pieces, n // pieces, damping=1e-3, **stiffness)
            model.add(link, fm.Weld(f"w{i}", start, link.base))
            at, total = link.tip, turned
        model.add(fm.Load("load", at, force=rod.force))
        image = fm.compile(model, everything=True).with_options(dynamics=dynamics, tolerance=1e-11)
        solver = fm.Solver(image)
        solver.assemble()
        solver.step(0.15)
        last = link.bodies[-1].name
        found.append(np.array([*solver.get(f"{last}.w"), *solver.get(f"{last}.alpha"), solver.get("solver.energy")]))
    assert_allclose(*found, rtol=1e-7, atol=1e-7 * np.abs(found[0][:6]).max())


@pytest.mark.parametrize("seed", seeds(10, 300))
@pytest.mark.parametrize("cut", [False, True], ids=["tree", "cut"])
def test_a_rotation_spring_is_the_spring_of_a_ball(seed: int, cut: bool) -> None:
    """Three turns with one, beside a Spherical with the diagonal matrix: the same potential at any angles."""
    rng = np.random.default_rng(seed)
    stiffness, angles = 10.0 ** rng.uniform(-1, 1, 3), rng.uniform(-1.2, 1.2, 3)
    turned, first = fm.Rotation.rpy(*rng.uniform(-3, 3, 3)), int(rng.integers(3))
    turns = [fm.Turn("xyz"[(first + i) % 3]) for i in range(3)]
    R = fm.Rotation.identity()
    for i in range(3):
        R = R @ fm.Rotation.about(np.eye(3)[(first + i) % 3], angles[i])
    found = []
    for ball in (True, False):
        model = fm.Model("spring", gravity=(0, 0, 0))
        body = fm.Body("b", mass=1.3, com=(0.1, 0.2, -0.1), inertia=(0.2, 0.3, 0.35))
        F, M = model.ground.at(0.1, 0.2, 0.3, rotation=turned), body.at(0.2, 0, 0)
        model.add(body)
        if ball:
            model.add(fm.Spherical("s", F, M, stiffness=np.diag(np.roll(stiffness, first)), q0=_quaternion(R)))
        elif cut:
            model.add(fm.Spherical("s", F, M, q0=_quaternion(R)))
            slides = [fm.Slide(a) for a in "xyz"]
            law = {"stiffness": (0, 0, 0, *stiffness), "rotation_spring": True}
            model.add(fm.Joint("c", F, M, modes=(*slides, *turns), cut=True, **law))
        else:
            model.add(fm.Joint("s", F, M, modes=turns, stiffness=stiffness, q0=angles, rotation_spring=True))
        solver = fm.Solver(fm.compile(model, everything=True).with_options(tolerance=1e-11))
        solver.assemble()
        start = [solver.get("b.alpha"), np.array([solver.get("solver.energy")])]
        solver.step(0.3)
        found.append([*start, solver.get("b.r"), solver.get("b.w"), np.array([solver.get("solver.energy")])])
    for one, other in zip(*found, strict=True):
        assert_allclose(one, other, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("modes", [("x", "y"), ("x", "z", "y"), (fm.Slide("x"), "y", "z")])
def test_a_rotation_spring_without_its_three_turns_is_refused(modes: Any) -> None:
    model, body = fm.Model("refused"), fm.Body("b", mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(fm.ModelError, match="rotation_spring is True, but its free modes have no three consecutive"):
        fm.Joint("j", model.ground.at(), body.at(), modes=[fm.Turn(m) if isinstance(m, str) else m for m in modes],
                 rotation_spring=True)  # fmt: skip


def _quaternion(R: fm.Rotation) -> Any:
    from scipy.spatial.transform import Rotation

    return np.roll(Rotation.from_matrix(R.matrix).as_quat(), 1)
