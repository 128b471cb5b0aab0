"""Mechanisms with one degree of freedom at change points, where two branches of motion cross; their equation of motion.

On a branch all positions are analytic functions of the first crank's angle, J(a) a'' + J'(a) a'^2 / 2 = Q(a, a'); J and
the potential V are Fourier series of samples, whose derivatives are those of the positions by complex steps.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import fmumbs as fm

Array = NDArray[np.float64]
SAMPLES = 1024
KINDS = ("parallel", "anti", "kite", "slider")
G = 9.81


@dataclass
class Link:
    """Its two ends in the plane, the first being its origin; com beside the line between them."""

    ends: Callable[[complex], tuple[NDArray[np.complex128], NDArray[np.complex128]]]
    mass: float
    com: tuple[float, float]
    inertia: float
    turning: bool = True

    def at(self, angle: complex) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
        """Centre of mass and direction."""
        first, second = self.ends(angle)
        along = second - first
        e = along / np.sqrt(along @ along) if self.turning else np.array([1.0 + 0j, 0.0])
        return first + self.com[0] * e + self.com[1] * np.array([-e[1], e[0]]), e


@dataclass
class Branch:
    """A planar loop on one branch: its data and the quantities that follow from them."""

    kind: str
    crank: float
    base: float
    links: list[Link] = field(default_factory=list)
    gravity: tuple[float, float] = (0.0, -G)
    torque: float = 0.0  # on the crank
    damping: float = 0.0  # of the crank

    def far_end(self, angle: complex) -> NDArray[np.complex128]:
        """Of the coupler; a slider's pin."""
        P = self.crank * np.array([np.cos(angle), np.sin(angle)])
        D = np.array([self.base + 0j, 0.0])
        if self.kind == "slider":
            return np.array([2.0 * P[0], 0.0 * P[0]])
        X = np.array([0.0 * P[0], 0.0 * P[0]]) if self.kind == "kite" else P + D
        if self.kind == "parallel":
            return X
        d, u = D - P, X - P
        return P + 2.0 * (u @ d) / (d @ d) * d - u

    def series(self) -> tuple[Array, Array]:
        """Fourier coefficients of J and V."""
        angles = np.arange(SAMPLES) * 2.0 * np.pi / SAMPLES
        J, V = np.zeros(SAMPLES), np.zeros(SAMPLES)
        for i, angle in enumerate(angles):
            for link in self.links:
                r, e = link.at(angle + 1e-30j)
                v, turn = r.imag / 1e-30, (e[0].real * e[1].imag - e[1].real * e[0].imag) / 1e-30
                J[i] += link.mass * v @ v + (link.inertia * turn**2 if link.turning else 0.0)
                V[i] -= link.mass * (self.gravity[0] * r[0].real + self.gravity[1] * r[1].real)
        return np.fft.rfft(J) / SAMPLES, np.fft.rfft(V) / SAMPLES

    def rates(self) -> Callable[[float, Array], tuple[float, float]]:
        """Rates of the crank's angle and speed."""
        J, V = self.series()
        n = np.arange(len(J))
        weight = np.where(n == 0, 1.0, 2.0)

        def found(_: float, y: Array) -> tuple[float, float]:
            wave = weight * np.exp(1j * n * y[0])
            j, dj, dv = (J * wave).real.sum(), (1j * n * J * wave).real.sum(), (1j * n * V * wave).real.sum()
            return y[1], (self.torque - self.damping * y[1] - dv - 0.5 * dj * y[1] ** 2) / j

        return found

    def motion(self, angle: float, speed: float, times: Array) -> Array:
        """(2, n) angle and speed of the crank."""
        found = solve_ivp(self.rates(), (0.0, times[-1]), (angle, speed), "DOP853", times, rtol=1e-12, atol=1e-12)
        return np.asarray(found.y)


def branch(kind: str, rng: np.random.Generator, size: float = 1.0) -> Branch:
    """With random sizes, masses, centres and loads; size: of all lengths, with gravity, so that it turns alike."""
    crank = size * float(rng.uniform(0.3, 1.0))
    base = crank * float(rng.uniform(1.5, 2.5))
    lead = float(rng.uniform(-np.pi, np.pi))
    made = Branch(kind, crank, base, gravity=(size * G * np.cos(lead), size * G * np.sin(lead)))

    def first(a: complex) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
        return np.array([0j, 0j]), crank * np.array([np.cos(a), np.sin(a)])

    def second(a: complex) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
        return first(a)[1], made.far_end(a)

    def third(a: complex) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
        return np.array([base if kind != "slider" else made.far_end(a)[0], 0j]), made.far_end(a)

    for i, ends in enumerate((first, second, third)):
        slides = kind == "slider" and i == 2
        com = (0.0, 0.0) if slides else (size * float(rng.uniform(0.0, 0.5)), size * float(rng.uniform(-0.2, 0.2)))
        mass, inertia = float(rng.uniform(0.5, 2)), size**2 * float(rng.uniform(0.02, 0.1))
        made.links.append(Link(ends, mass, com, inertia, not slides))
    if rng.random() < 0.5:
        made.torque = size**2 * float(rng.uniform(-2.0, 2.0))
    if rng.random() < 0.5:
        made.damping = size**2 * float(rng.uniform(0.0, 0.2))
    return made


def turned(rng: np.random.Generator, much: bool) -> fm.Rotation:
    return fm.Rotation.rpy(*(rng.uniform(-3, 3, 3) if much else (0.0, 0.0, 0.0)))


def model_of(b: Branch, angle: float, speed: float, rng: np.random.Generator, *, turn: bool, pin: type) -> fm.Model:
    """The loop, cut at its last pin, which is of the type `pin`; `turn`: links and ground have frames of their own."""
    world = turned(rng, turn)
    W = np.asarray(world.matrix)
    model = fm.Model(b.kind, gravity=tuple(W @ (*b.gravity, 0.0)))
    lengths = (b.crank, b.base, b.crank) if b.kind in ("parallel", "anti") else (b.crank, b.crank, b.base)
    points = []
    for name, link, length in zip("RST", b.links, lengths, strict=True):
        own = turned(rng, turn)
        C = np.asarray(own.matrix)
        turned_inertia = C @ np.diag([link.inertia / 2, link.inertia / 2, link.inertia]) @ C.T
        six = tuple(turned_inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])
        body = fm.Body(name, mass=link.mass, com=tuple(C @ (*link.com, 0.0)), inertia=six)
        far = C @ (length, 0.0, 0.0)
        points.append((body, body.at(rotation=own), body.at(*far, rotation=own)))
    places, rates = angles_of(b, angle), rates_of(b, angle, speed)
    ground = [model.ground.at(*(W @ (x, 0.0, 0.0)), rotation=world) for x in (0.0, b.base)]
    (one, one_base, one_tip), (two, two_base, two_tip), (three, three_base, three_tip) = points
    model.add(one, two, three)
    model.add(fm.Revolute("A", ground[0], one_base, axis="z", q0=places[0], u0=rates[0], damping=b.damping))
    model.add(fm.Revolute("B", one_tip, two_base, axis="z", q0=places[1], u0=rates[1]))
    if b.kind == "slider":
        model.add(fm.Prismatic("D", ground[0], three_base, axis="x", q0=places[2], u0=rates[2]))
    else:
        model.add(fm.Revolute("D", ground[1], three_base, axis="z", q0=places[2], u0=rates[2]))
    to = three_base if b.kind == "slider" else three_tip
    model.add(pin("C", two_tip, to, cut=True, **({"axis": "z"} if pin is not fm.Spherical else {})))
    return model


def angles_of(b: Branch, angle: float) -> Array:
    """Of the joints A, B and D."""
    directions = [link.at(angle)[1] for link in b.links]
    at = [float(np.arctan2(e[1].real, e[0].real)) for e in directions]
    last = float(b.far_end(angle)[0].real) if b.kind == "slider" else at[2]
    return np.array([angle, at[1] - angle, last])


def rates_of(b: Branch, angle: float, speed: float) -> Array:
    directions = [link.at(angle + 1e-30j)[1] for link in b.links]
    turn = [(e[0].real * e[1].imag - e[1].real * e[0].imag) / 1e-30 for e in directions]
    last = float(b.far_end(angle + 1e-30j)[0].imag / 1e-30) if b.kind == "slider" else turn[2]
    return speed * np.array([1.0, turn[1] - 1.0, last])
