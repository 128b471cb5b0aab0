"""One branch system of smooth ball joints, described twice: as in riccati-mstmm and as a Model.

Subchains run from free tips towards the inputs of one hub; the hub's output is connected to the ground, or a further
chain, whose transfer direction is reversed (step B2), leads from a fixed tip on the ground to its last input.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import fmumbs as fm
from oracle.riccati import FIXED, FREE, PLANE, Array, Branch, Chain, Layout, RigidBody, chain_elements

GRAVITY = np.array([0.0, -9.81, 0.0])


@dataclass(frozen=True)
class Link:
    """A body whose frame has its origin at the (first) input; inputs, output and C in its axes.

    A: (3, 3) its axes in the world; Omega: its angular velocity in world axes.
    """

    name: str
    mass: float
    com: Array
    inertia: Array
    output: Array
    A: Array
    Omega: Array
    inputs: tuple[Array, ...] = (np.zeros(3),)

    def upside_down(self) -> Link:
        """The same rod with its input where its output was."""
        back, com = -self.output, self.com - self.output
        return Link(self.name, self.mass, com, self.inertia, back, self.A, self.Omega)

    def rigid_body(self) -> RigidBody:
        steiner = self.com @ self.com * np.eye(3) - np.outer(self.com, self.com)
        return RigidBody(
            mass=self.mass,
            J=self.inertia + self.mass * steiner,
            A=self.A,
            Omega=self.Omega,
            r_IC=self.A @ self.com,
            r_IO=self.A @ self.output,
            f_C=self.mass * GRAVITY,
            r_II=tuple(self.A @ r for r in self.inputs[1:]),
        )


@dataclass(frozen=True)
class System:
    """Subchains from tip to hub, the hub, and the links from the ground to the hub (may be empty)."""

    layout: Layout
    subchains: Sequence[Sequence[Link]]
    hub: Link
    support: Sequence[Link] = ()

    @property
    def links(self) -> list[Link]:
        return [link for chain in self.subchains for link in chain] + [self.hub, *self.support]

    def branch(self) -> Branch:
        """The paper's view."""
        chains = [(chain, FREE) for chain in self.subchains]
        chains += [(self.support, FIXED)] if self.support else []
        made = [
            Chain(chain_elements([link.rigid_body() for link in links], self.layout), self.layout, known)
            for links, known in chains
        ]
        return Branch(made, self.hub.rigid_body(), FREE if self.support else FIXED)

    def model(self) -> fm.Model:
        """The engineer's view; joint J_NAME carries the link NAME."""
        model = fm.Model("branch", gravity=GRAVITY)
        bodies = {
            link.name: fm.Body(
                link.name, mass=link.mass, com=link.com, inertia=link.inertia, points={"out": link.output}
            )
            for link in self.links
        }
        model.add(*bodies.values())
        before, at = None, np.zeros(3)
        for link in self.support:
            self._join(model, bodies, before, at, link, np.zeros(3))
            before, at = link, link.output
        self._join(
            model,
            bodies,
            before,
            at,
            self.hub,
            self.hub.inputs[-1] if before or not self.subchains else self.hub.output,
        )
        for chain, at in zip(self.subchains, self.hub.inputs, strict=False):
            before, where = self.hub, at
            for link in reversed(chain):
                self._join(model, bodies, before, where, link, link.output)
                before, where = link, np.zeros(3)
        return model

    def _join(self, model: fm.Model, bodies: dict, parent: Link | None, at: Array, child: Link, own: Array) -> None:
        F = bodies[parent.name].at(*at) if parent else model.ground.at(*at)
        A, Omega = (parent.A, parent.Omega) if parent else (np.eye(3), np.zeros(3))
        R, w = A.T @ child.A, child.A.T @ (child.Omega - Omega)
        M, name = bodies[child.name].at(*own), f"J_{child.name}"
        if self.layout is PLANE:
            angle = np.arctan2(R[1, 0], R[0, 0])
            model.add(fm.Revolute(name, F, M, axis="z", q0=angle, u0=w[2]))
        else:
            model.add(fm.Spherical(name, F, M, q0=fm.Rotation(R).as_quaternion(), u0=w))

    def expected(self) -> dict[str, Array]:
        """By the paper: angular accelerations, accelerations of the outputs, forces of joints in F's axes.

        In the plane only the plane's components: [Omega'], [x'', y''] and [q_x, q_y].
        """
        output, states = self.branch().solve()
        values: dict[str, Array] = {}
        for links, passed in zip([*self.subchains, self.support], states, strict=False):
            for k, link in enumerate(links):
                values |= self._motion(link, passed[2 * k], passed[2 * k + 1])
        values |= self._motion(self.hub, output, output)
        for chain, passed in zip(self.subchains, states, strict=False):
            for k, link in enumerate(chain):
                parent = chain[k + 1] if k + 1 < len(chain) else self.hub
                values[f"J_{link.name}.reaction.f"] = self._force(passed[2 * k + 1], -1.0, parent.A)
        if not self.support:
            values[f"J_{self.hub.name}.reaction.f"] = self._force(output, -1.0, np.eye(3))
        for k, link in enumerate([*self.support, self.hub] if self.support else []):
            A = self.support[k - 1].A if k else np.eye(3)
            passed = states[-1]
            values[f"J_{link.name}.reaction.f"] = self._force(passed[max(2 * k - 1, 0)], 1.0, A)
        return values

    def _motion(self, link: Link, at_input: Array, at_output: Array) -> dict[str, Array]:
        r, o = self.layout.block(1), self.layout.block(2)
        return {f"{link.name}.alpha": at_input[o], f"{link.name}.out.a": at_output[r]}

    def _force(self, z: Array, sign: float, A: Array) -> Array:
        q = np.zeros(3)
        q[: self.layout.translations] = sign * z[self.layout.block(4)]
        return (A.T @ q)[: self.layout.translations]


def in_layout(layout: Layout, name: str, value: Array) -> Array:
    """The components of a Solver's value that the layout has."""
    if layout is not PLANE:
        return value
    return value[2:] if name.endswith("alpha") else value[:2]


def equations_39_and_40(angle: float, rate: float) -> tuple[Array, Array]:
    """S_2 and e_2 of a rod with m = 1 kg, 2a = 1 m behind a free tip, as printed."""
    m, a, g = 1.0, 0.5, 9.81
    c, s = np.cos(angle), np.sin(angle)
    S = [[m * a * s, -m * a * c, 4 * m * a**2 / 3], [-m, 0, -m * a * s], [0, -m, m * a * c]]
    e = [-m * a * g * c, -m * a * c * rate**2, -m * a * s * rate**2 - m * g]
    return np.array(S), np.array(e)


def turn_about_z(angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def demonstration(angles: Sequence[float], rates: Sequence[float]) -> System:
    """Section 5.1: rods of 1 kg and 1 m; angles and rates of the rods 1, 3, 5, 7 about z."""
    inertia = np.diag([0.0, 1.0, 1.0]) / 12  # 4 m a^2 / 3 about the end

    def rod(number: int, output: float, inputs: Sequence[float], k: int) -> Link:
        along = np.array([1.0, 0.0, 0.0])
        at = tuple(x * along for x in inputs)
        A, Omega = turn_about_z(angles[k]), np.array([0, 0, rates[k]])
        return Link(f"rod{number}", 1.0, along / 2, inertia, output * along, A, Omega, at)

    rods = [rod(number, 1.0, (0.0,), k) for k, number in enumerate((1, 3, 5))]
    return System(PLANE, [[rods[0]], [rods[1], rods[2]]], rod(7, 0.5, (0.0, 1.0), 3))


def random_system(layout: Layout, seed: int) -> System:
    """General bodies: one to three subchains, none to two links above the hub.

    Subchains have up to three links in the plane and two in space, where the recursion reaches no further.
    """
    rng = np.random.default_rng(seed)
    flat = np.array([1.0, 1.0, 0.0]) if layout is PLANE else np.ones(3)

    def rotation() -> Array:
        turn = turn_about_z(rng.uniform(-np.pi, np.pi))
        if layout is PLANE:
            return turn
        return fm.Rotation.rpy(*rng.uniform(-np.pi, np.pi, 3)).matrix

    def link(name: str, inputs: int = 1) -> Link:
        a, b, c = rng.uniform(0.02, 0.1, 3)
        axes = np.eye(3) if layout is PLANE else rotation()
        mass = rng.uniform(0.5, 2.0)
        inertia = mass * axes @ np.diag([b + c, c + a, a + b]) @ axes.T
        Omega = rng.uniform(-2, 2, 3) * (1 - flat if layout is PLANE else 1)
        where = [np.zeros(3), *(rng.uniform(-1, 1, 3) * flat for _ in range(inputs - 1))]
        output = rng.uniform(-1, 1, 3) * flat
        com = 0.5 * output + rng.uniform(-0.2, 0.2, 3) * flat
        return Link(name, mass, com, inertia, output, rotation(), Omega, tuple(where))

    lengths = rng.integers(1, 4 if layout is PLANE else 3, rng.integers(1, 4))
    subchains = [[link(f"b{k}_{i}") for i in range(n)] for k, n in enumerate(lengths)]
    support = [link(f"s{i}") for i in range(rng.integers(0, 3))]
    return System(layout, subchains, link("hub", len(lengths) + bool(support)), support)


def hanging_chain(count: int, seed: int = 0) -> System:
    """A plane chain of rods of 1 kg and 1 m that hang, disturbed, from the ground; the last is the hub."""
    rng = np.random.default_rng(seed)
    along = np.array([1.0, 0.0, 0.0])
    rods = [
        Link(
            f"rod{k}",
            1.0,
            along / 2,
            np.diag([0.0, 1.0, 1.0]) / 12,
            along,
            turn_about_z(-np.pi / 2 + rng.uniform(-0.5, 0.5)),
            np.array([0, 0, rng.uniform(-1, 1)]),
        )
        for k in range(count)
    ]
    return System(PLANE, [], rods[-1], rods[:-1])
