"""Solids that stiffen geometrically, beside nonlinear finite elements of large displacements and rotating beams."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation as Turn

import fmumbs as fm
from support import meshes
from support.both_ways import runs
from support.sweeps import first

pytest.importorskip("skfem")

SIDES = (0.5, 0.06, 0.05)
E, NU, DENSITY = 7e6, 0.3, 2700.0  # soft, so that loads of some newtons bend it by a tenth
LAM, MU = E * NU / ((1 + NU) * (1 - 2 * NU)), E / (2 * (1 + NU))


class Nonlinear:
    """A block of linear tetrahedra of Saint Venant and Kirchhoff's material, its base held, a wrench at its tip."""

    def __init__(self, mesh: meshes.Mesh, tie: str, weights: Any, beside: Any) -> None:
        """beside: of the tip's frame, from the mean of its nodes."""
        self.mesh, self.tie, self.beside = mesh, tie, np.array(beside)
        self.tip, self.weights = np.array(mesh.ends[1]), np.array(weights) / np.sum(weights)
        corners = mesh.nodes[mesh.cells]
        P = np.concatenate([np.ones((*corners.shape[:2], 1)), corners], axis=2)
        self.volumes, self.slopes = abs(np.linalg.det(P)) / 6, np.linalg.inv(P)[:, 1:]
        self.at = self.weights @ mesh.nodes[self.tip]
        self.arms = mesh.nodes[self.tip] - self.at
        moves = np.ones(len(mesh.nodes), bool)
        moves[mesh.ends[0]] = False
        moves[mesh.ends[1] if tie == "rigid" else []] = False
        self.free = np.flatnonzero(moves)

    def forces(self, u: Any) -> Any:
        """(nodes, 3): the gradient of the strain energy."""
        F = np.eye(3) + np.einsum("ena,ebn->eab", u[self.mesh.cells], self.slopes)
        strain = (np.swapaxes(F, 1, 2) @ F - np.eye(3)) / 2
        S = 2 * MU * strain + LAM * np.trace(strain, axis1=1, axis2=2)[:, None, None] * np.eye(3)
        each = np.einsum("e,eab,ebn->ena", self.volumes, F @ S, self.slopes)
        out = np.zeros_like(u)
        np.add.at(out, self.mesh.cells, each)
        return out

    def displacements(self, x: Any) -> Any:
        u = np.zeros_like(self.mesh.nodes)
        u[self.free] = x[: 3 * len(self.free)].reshape(-1, 3)
        if self.tie == "rigid":
            t, turn = x[-6:-3], x[-3:]
            u[self.tip] = t + Turn.from_rotvec(turn).apply(self.arms) - self.arms
        return u

    def frame(self, u: Any) -> tuple[Any, Any]:
        """Displacement and rotation of the tip's frame."""
        t, R = self.turned(u)
        return t + R @ self.beside - self.beside, R

    def turned(self, u: Any) -> tuple[Any, Any]:
        """Displacement of the mean of its nodes, and of all rotations that from which they deviate least."""
        places = self.mesh.nodes[self.tip] + u[self.tip]
        middle = self.weights @ places
        U, _, V = np.linalg.svd((self.weights[:, None] * (places - middle)).T @ self.arms)
        return middle - self.at, U @ np.diag([1.0, 1.0, np.linalg.det(U @ V)]) @ V

    def residual(self, x: Any, wrench: Any) -> Any:
        u = self.displacements(x)
        g = self.forces(u)
        t, R = self.turned(u)
        arms, force = self.arms @ R.T, wrench[:3]
        torque = wrench[3:] + np.cross(R @ self.beside, force)
        if self.tie == "rigid":
            tip = g[self.tip]
            return np.concatenate(
                [g[self.free].ravel(), tip.sum(axis=0) - force, np.cross(arms, tip).sum(axis=0) - torque]
            )
        y = self.mesh.nodes[self.tip] + u[self.tip] - self.at - t
        A = np.einsum("i,iab->ab", self.weights, (y * arms).sum(axis=1)[:, None, None] * np.eye(3)
                      - arms[:, :, None] * y[:, None, :])  # fmt: skip
        shared = self.weights[:, None] * (force + np.cross(np.linalg.solve(A.T, torque), arms))
        g[self.tip] -= shared
        return g[self.free].ravel()

    def answer(self, wrench: Any) -> tuple[Any, Any]:
        """Newton's method."""
        x = np.zeros(3 * len(self.free) + 6 * (self.tie == "rigid"))
        for _ in range(30):
            r = self.residual(x, wrench)
            if abs(r).max() < 1e-9 * abs(wrench).max():
                return self.frame(self.displacements(x))
            small = 1e-6 * np.eye(len(x))
            J = np.array([self.residual(x + d, wrench) - self.residual(x - d, wrench) for d in small]).T / 2e-6
            x = x - np.linalg.solve(J, r)
        raise AssertionError("Newton's method does not converge")


def solid(mesh: meshes.Mesh, tip: Any, **changes: Any) -> fm.ModalBody:
    given: dict[str, Any] = {"modes": 24, "damping": 0.0, "stiffening": True, "method": "craig-bampton"}
    return fm.ModalBody.from_solid(
        "b", nodes=mesh.nodes, tetrahedra=mesh.cells, E=E, nu=NU, density=DENSITY,
        interfaces={"base": mesh.ends[0], "tip": tip}, **(given | changes),
    )  # fmt: skip


def bent(body: fm.ModalBody, wrench: Any) -> tuple[Any, Any]:
    """Displacement and rotation of the tip in equilibrium."""
    model = fm.Model("bent", gravity=(0, 0, 0))
    light = fm.Body("w", mass=1e-9, inertia=(1e-12, 1e-12, 1e-12))
    model.add(body, light, fm.Weld("held", model.ground.at(*body.point("base").X_BP.offset), body.point("base")))
    model.add(fm.Weld("seen", body.point("tip"), light.at()))
    model.add(fm.Load("P", body.point("tip"), force=wrench[:3], torque=wrench[3:]))
    solver = fm.equilibrium(model).solver
    w, x, y, z = solver.get("w.quat")
    return solver.get("w.r") - body.point("tip").X_BP.offset, Turn.from_quat((x, y, z, w)).as_matrix()


WRENCH = np.array([-6.0, 1.5, 2.0, 0.15, -0.2, 0.1])  # N, N.m: deflections of a tenth


def errors(oracle: Nonlinear, body: fm.ModalBody, wrench: Any) -> Any:
    """Of displacements over the length, and of rotations, by the wrench and by its half."""
    found = []
    for part in (1.0, 0.5):
        (t, R), (wanted, turned) = bent(body, part * wrench), oracle.answer(part * wrench)
        found.append([np.linalg.norm(t - wanted) / SIDES[0], np.linalg.norm(R - turned)])
    return np.array(found)


CASES = [
    {"tie": "rigid"}, {"tie": "averaged", "modes": 30}, {"tie": "rigid", "frame": "base"},
    {"tie": "averaged", "frame": "tip", "modes": 30}, {"tie": "rigid", "frame": "tip"},
    {"tie": "averaged", "method": "free", "modes": 30}, {"tie": "averaged", "modes": 30, "beside": (0.1, -0.05, 0.2)},
    {"tie": "rigid", "beside": (0.1, -0.05, 0.2)},
]  # fmt: skip


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", first(1, range(3)))
def test_statics_are_those_of_nonlinear_elements_to_second_order(case: Any, seed: int) -> None:
    """All modes: errors are of third order in the load; without stiffening they are of second."""
    changes = dict(case)
    rng = np.random.default_rng(seed)
    mesh, tie = meshes.block((3, 1, 1), SIDES, rng, E=E), changes.pop("tie")
    weights = rng.uniform(0.5, 2.0, 4) if tie == "averaged" else np.ones(4)
    beside = np.array(changes.pop("beside", (0.0, 0.0, 0.0)))
    at = np.average(mesh.nodes[mesh.ends[1]], axis=0, weights=weights) + beside
    tip = fm.Interface(mesh.ends[1], tie=tie, weights=None if tie == "rigid" else weights, at=at)
    oracle, wrench = Nonlinear(mesh, tie, weights, beside), 0.1 * WRENCH
    stiff, plain = (errors(oracle, solid(mesh, tip, stiffening=s, **changes), wrench) for s in (True, False))
    assert (plain[0] > 1e-8).all()
    if frame := changes.get("frame"):
        assert abs(solid(mesh, tip, **changes).second_order.rows[["base", "tip"].index(frame)]).max() < 1e-9
    assert (stiff[0] > 6.0 * stiff[1]).all() and (stiff[0] < 1e-2 * plain[0]).all()


BLADE = (1.0, 0.03, 0.02)


def blade(**changes: Any) -> fm.ModalBody:
    """Of elements of second order without lateral strain, as a beam's."""
    mesh = meshes.block((12, 1, 1), BLADE)
    nodes, cells = meshes.with_middles(mesh)
    ends = {name: np.flatnonzero(nodes[:, 0] == x) for name, x in (("base", 0.0), ("tip", BLADE[0]))}
    given: dict[str, Any] = {"interfaces": ends, "modes": 6, "damping": 0.0, "stiffening": True, "frame": "base"}
    return fm.ModalBody.from_solid(
        "b", nodes=nodes, tetrahedra=cells, E=2e9, nu=0.0, density=1000.0, **(given | changes)
    )


def frequencies(body: fm.ModalBody, speed: float) -> Any:
    """[rad/s] about the stretched state, on a heavy hub that turns about z: the base at its axis."""
    model = fm.Model("rotor", gravity=(0, 0, 0))
    hub = fm.Body("hub", mass=1.0, inertia=(1e12, 1e12, 1e12))
    model.add(hub, body, fm.Revolute("j", model.ground.at(), hub.at()), fm.Weld("w", hub.at(), body.point("base")))
    solver = fm.Solver(model)
    solver.assemble()
    solver.set("j.qd", speed)

    def accelerations(q: Any) -> Any:
        solver.set("b.q", q)
        solver.evaluate()
        return solver.get("b.qdd").copy()

    q, small = np.zeros(body.modes), 1e-6
    for _ in range(4):
        A = [accelerations(q + d) - accelerations(q - d) for d in small * np.eye(len(q))]
        J = np.array(A).T / (2 * small)
        q = q - np.linalg.solve(J, accelerations(q))
    return np.sqrt(np.sort(-np.linalg.eigvals(J).real))


def test_a_solid_blade_that_turns_has_the_frequencies_of_a_beam() -> None:
    """To what shear, rotary inertia and a coarse mesh change."""
    mass, inertia = 1000.0 * np.prod(BLADE), np.array([BLADE[1] ** 3 * BLADE[2], BLADE[1] * BLADE[2] ** 3]) / 12
    beam = fm.ModalBody.beam(
        "b", length=BLADE[0], mass=mass, EI=tuple(2e9 * inertia[[1, 0]]), modes=4, plane=None, axial_inertia=1e-5,
        stiffening=True,
    )  # fmt: skip
    bodies, unit = (blade(), beam), np.sqrt(2e9 * inertia[1] / mass)
    squares = [np.array([frequencies(body, part * unit)[:4] ** 2 for part in (0.0, 3.0, 12.0)]) for body in bodies]
    assert_allclose(squares[0][0], squares[1][0], rtol=2e-2)
    assert_allclose(squares[0][1:] - squares[0][0], squares[1][1:] - squares[1][0], rtol=2e-2)


WRIGHT = {  # Wright, Smith, Thresher and Wang (1982), table 1: no hub, the first three flap frequencies
    3.0: (4.7973, 23.3203, 62.9850),
    12.0: (13.1702, 37.6031, 79.6145),
}


@pytest.mark.slow
def test_a_slender_solid_that_turns_has_wright_s_frequencies() -> None:
    """Ten modes in each plane; shear and the mesh leave 1.4e-4. Lag^2 = flap^2 - speed^2: what flap is off, the first
    lag at speed 12 is off by six times as much.
    """
    thick = 0.003
    nodes, cells = meshes.with_middles(meshes.block((100, 1, 1), (1.0, thick, thick)))
    body = fm.ModalBody.from_solid(
        "b", nodes=nodes, tetrahedra=cells, E=2e9, nu=0.0, density=1000.0, modes=20, damping=0.0, stiffening=True,
        interfaces={"base": np.flatnonzero(nodes[:, 0] == 0.0)}, frame="base",
    )  # fmt: skip
    unit = np.sqrt(2e9 * thick**2 / 12 / 1000.0)
    for speed, flap in WRIGHT.items():
        found = frequencies(body, speed * unit)[:6] / unit
        assert_allclose(found[1::2], flap, rtol=2e-4)
        assert_allclose(np.sqrt(found[::2] ** 2 + speed**2), flap, rtol=2e-4)
        assert_allclose(found[::2], np.sqrt(np.square(flap) - speed**2), rtol=3e-4)


def flying(body: fm.ModalBody) -> fm.Model:
    model = fm.Model("flying", gravity=(0.0, 0.0, 0.0))
    weight = fm.Body("w", mass=0.05, inertia=(1e-4, 2e-4, 3e-4), com=(0.02, 0.0, 0.0))
    model.add(body, weight, fm.Free("F", model.ground.at(), body.point("base"), u0=(0.1, 0.2, 0.3, 1.0, -2.0, 15.0)))
    model.add(fm.Revolute("T", body.point("tip"), weight.at(0, 0, 0), axis="z", u0=-1.0))
    return model


def rod(**changes: Any) -> fm.ModalBody:
    mesh = meshes.block((3, 1, 1), SIDES, E=E)
    return solid(mesh, mesh.ends[1], modes=2, q0=1e-3 * np.linspace(1.0, -1.0, 8), **changes)


def test_it_keeps_its_energy_and_momentum_and_runs_alike_in_both_formulations_and_fmus(tmp_path: Any) -> None:
    names = ["w.r[1]", "w.r[2]", "w.r[3]"]
    options = {"stop": 0.02, "tolerance": 1e-11}
    result = fm.simulate(flying(rod()), **options)
    energy = result["solver.energy"]
    assert abs(energy - energy[0]).max() < 1e-8 * energy[0]
    for other in (fm.simulate(flying(rod()), **options, **o) for o in ({"dynamics": "copcod"}, {"scheme": "radau"})):
        for name in names:
            assert_allclose(other[name], result[name], atol=1e-8)
    found = [values for _, _, values in runs(tmp_path, flying(rod()), names, stop=0.01, interval=0.01)]
    for other in found[1:]:
        for name in names:
            assert_allclose(other[name], found[0][name], rtol=0, atol=1e-12)


def test_frames_differ_by_less_than_a_body_without_it() -> None:
    """The motion of a solid does not depend on the frame in which it is described."""

    def apart(stiffening: bool, size: float) -> float:
        paths = []
        for frame in (None, "base"):
            mesh = meshes.block((3, 1, 1), SIDES, E=E)
            body = solid(mesh, mesh.ends[1], modes=24, frame=frame, stiffening=stiffening)
            model = fm.Model("pulled", gravity=(0, 0, 0))
            model.add(body, fm.Weld("w", model.ground.at(*body.point("base").X_BP.offset), body.point("base")))
            load = fm.Load("P", body.point("tip"), force=size * WRENCH[:3])
            model.add(load, see := fm.Body("s", mass=1e-3, inertia=(1e-6, 1e-6, 1e-6)))
            model.add(fm.Weld("t", body.point("tip"), see.at()))
            paths.append(fm.simulate(model, stop=0.02, tolerance=1e-8, scheme="radau", outputs=["s.r"])["s.r[1]"])
        return float(abs(paths[0] - paths[1]).max())

    assert apart(True, 0.3) < 0.05 * apart(False, 0.3)
